"""Tools that agree: belief in what they find. Tools that differ: evidence of its own, and a doubt about what rests on it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chathpc.diagnosis.draft import Draft, belief, confidence, fact
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.joined import disagreement_evidence, with_agreement, with_disagreements
from chathpc.diagnosis.records import Place
from chathpc.profile.merge import merge
from chathpc.profile.profile import Profile, Source
from chathpc.profile.remark import Disagreement
from tests.diagnosis.kernels import LATENCY, one, report, with_stalls
from tests.diagnosis.parts import diagnosed, finding, function, libc, main, statements
from tests.profile.build import build, call, entry, gpu_op, kernel, line

LAUNCH = Disagreement(
    "void axpy<4>(float*)",
    "time of a launch",
    "gpu.kernel.time",
    "s",
    (("Nsight Systems", 4e-5), ("Nsight Compute", 8e-5)),
    0,
)
SHARE = Disagreement("solve", "part of the time", "cpu.time", "ratio", (("HPCToolkit", 0.5), ("perf", 0.25)), 0)
PROFILE = replace(build(call("solve", time=2.0)), disagreements=(LAUNCH, SHARE))


def draft(metric, **where):
    facts = Facts(PROFILE)
    item = fact(facts, "It takes 2 s.", 2.0, subject="solve", how="by hand", metric=metric, unit="s")
    return Draft("hot-compute", Place(**where), "It is slow.", 2.0, 1.0, (item,))


def test_each_difference_is_one_item_with_both_tools():
    launch, share = disagreement_evidence(PROFILE)
    assert launch.statement.startswith(
        "Time of a launch of void axpy<4> by Nsight Compute takes 80.0 µs, by Nsight Systems 40.0 µs (2.00 times as much); a tool that"
    )
    assert (launch.value, launch.unit, launch.tool) == (80e-6, "s", "Nsight Systems, Nsight Compute")
    assert launch.where is not None
    assert launch.where.kernel == "void axpy<4>(float*)"
    assert share.statement.startswith(
        "Part of the time of solve by perf is 25.0 %, by HPCToolkit 50.0 % (0.500 times as much)"
    )
    assert share.where is not None
    assert share.where.kernel is None


def test_how_long_a_kernel_takes_is_no_doubt_about_what_the_device_waits_for():
    start = replace(draft("gpu.kernel.time", kernel="void axpy<4>(float*)"), cause="gpu-start-up")
    assert with_disagreements([start], disagreement_evidence(PROFILE)) == [start]


def test_a_finding_about_the_same_thing_gets_the_evidence_and_a_doubt_if_it_rests_on_it():
    evidence = disagreement_evidence(PROFILE)
    doubted, aware, other = with_disagreements(
        [draft("cpu.time", function="solve"), draft("cpu.cycles", function="solve"), draft("cpu.time", function="f")],
        evidence,
    )
    assert evidence[1] in doubted.evidence
    assert len(doubted.against) == 1
    assert evidence[1] in aware.evidence
    assert aware.against == ()
    assert len(other.evidence) == 1


def test_a_difference_without_a_place_or_a_first_value_is_told_all_the_same():
    lost = replace(SHARE, node=-1, values=(("A", 0.0), ("B", 0.5)), quantity="something else", unit="count")
    (item,) = disagreement_evidence(replace(PROFILE, disagreements=(lost,)))
    assert item.statement == "Something else of solve by B has 0.500, by A 0."
    assert item.value == 0.5


# -- tools that agree ------------------------------------------------------------------------------------------


def by(tool: str, profile: Profile, **facts: object) -> Profile:
    return replace(profile, format=tool, sources=(Source(Path(tool), tool),), **facts)  # type: ignore[arg-type]


def writing(seconds: float = 5.0) -> Profile:
    """Samples of a program that spends that of ten seconds in write."""
    sink = function("sink", line("app.c:11", libc("write", time=seconds)), at="app.c:9")
    return by("HPCToolkit", build(main(sink, function("rest", line("app.c:40", time=10.0 - seconds), at="app.c:39"))))


def log(seconds: float = 5.0) -> Profile:
    """Darshan's log of such a run: few large requests."""
    sums = {
        "io.time": seconds, "io.write.time": seconds, "io.write.bytes": 4e10, "io.write.count": 1000.0, "io.sized.count": 1000.0,
        "io.large.count": 1000.0, "run.time": 10.0,
    }  # fmt: skip
    return by("Darshan", build(entry("/scratch/out.bin", values=sums)), timed=True)


def test_a_log_and_samples_that_both_find_the_run_bound_by_its_files_agree() -> None:
    alone = [finding(diagnosed(profile), "io-bound") for profile in (writing(), log())]
    assert not any("agree" in found.confidence_reason for found in alone)
    both = [found for found in diagnosed(merge([log(), writing()])).findings if found.cause == "io-bound"]
    assert [found.where.function for found in both] == ["sink", "/scratch/out.bin"]
    for before, after in zip(alone, both, strict=True):
        assert ", 2 tools agree, " in after.confidence_reason
        assert after.confidence > before.confidence
        signs = int(before.confidence_reason.split()[0])
        assert after.confidence == round(belief(signs, len(after.against), agreeing=1), 2)


def test_where_only_one_of_the_tools_finds_the_cause_nothing_agrees() -> None:
    (found,) = (each for each in diagnosed(merge([log(0.05), writing()])).findings if each.cause == "io-bound")
    assert "agree" not in found.confidence_reason


def counters(**facts: float) -> Profile:
    """A report of a kernel that uses nothing well; warps wait at barriers where stall reasons are given."""
    idle = one("stencil", **LATENCY, **facts)
    return report(with_stalls(idle, barrier=6.0))


def sampled(part: float, name: str = "stencil") -> Profile:
    """PC samples of a kernel by another tool, of which a part waits at barriers; that tool knows when the others ran, no more."""
    values = {"gpu.instructions": 10_000.0, "gpu.stall.barrier": 10_000 * part, "gpu.stall.any": 10_000 * part}
    runs = {"gpu.kernel.time": 1.0, "gpu.time": 1.0}
    kernels = [kernel(each, values=runs | (values if each == name else {})) for each in ("stencil", "another")]
    return by("HPCToolkit", build(main(*(gpu_op("<gpu kernel>", each) for each in kernels))))


def test_samples_and_counters_that_give_one_reason_for_the_waiting_agree() -> None:
    found = finding(diagnosed(merge([sampled(0.6), counters()])), "gpu-barrier-stall")
    assert ", 2 tools agree, " in found.confidence_reason
    alone = finding(diagnosed(counters()), "gpu-barrier-stall")
    assert found.confidence > alone.confidence
    said = statements(diagnosed(merge([sampled(0.6), counters()])), "gpu-barrier-stall")
    assert "Waiting for other warps at a barrier has 60.0 % of the warp samples of stencil." in said


@pytest.mark.parametrize("other", [sampled(0.05), sampled(0.6, "another")])
def test_samples_of_another_kernel_or_without_that_reason_agree_with_nothing(other: Profile) -> None:
    findings = diagnosed(merge([other, counters()])).findings
    assert "gpu-barrier-stall" in [found.cause for found in findings if found.where.kernel == "stencil"]
    assert not any("agree" in found.confidence_reason for found in findings)


def test_samples_that_stand_in_for_counters_are_no_second_witness() -> None:
    """Without stall counters the reasons come from the other tool's samples: that is one sign, not two."""
    bare = report(one("stencil", **LATENCY))
    found = finding(diagnosed(merge([sampled(0.6), bare])), "gpu-barrier-stall")
    assert "agree" not in found.confidence_reason


def test_one_tool_does_not_agree_with_itself() -> None:
    drafts = [draft("cpu.time", function="solve"), draft("cpu.cycles", function="solve")]
    assert with_agreement(Facts(PROFILE), drafts) == drafts


def test_a_tool_that_differs_takes_away_what_one_that_agrees_brings() -> None:
    facts = Facts(merge([log(), writing()]))
    item = fact(facts, "It takes 2 s.", 2.0, subject="solve", how="by hand", metric="cpu.time", unit="s")
    other = replace(item, metric="io.time", tool="Darshan")
    one, two = (Draft("io-bound", Place(function="sink"), "", 2.0, 0.5, (each,)) for each in (item, other))
    agreeing = with_agreement(facts, [one, two])[0]
    assert agreeing.agreeing == ("Darshan",)
    differing = Disagreement("sink", "part of the time", "cpu.time", "ratio", (("HPCToolkit", 0.5), ("perf", 0.25)), 0)
    doubted = with_disagreements([agreeing], disagreement_evidence(replace(facts.profile, disagreements=(differing,))))[
        0
    ]
    assert confidence(facts, one)[0] < confidence(facts, doubted)[0] < confidence(facts, agreeing)[0]
    assert confidence(facts, doubted)[1].endswith("1 thing against it")
