"""The line that is waited for, in whole diagnoses: samples by instruction, samples by line, and code from a file of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chathpc.adapters.load import load
from chathpc.diagnosis.device import kernels
from chathpc.diagnosis.records import Diagnosis, Finding
from chathpc.diagnosis.rules.gpu_blame import StallCause, stall_cause
from chathpc.diagnosis.sass.blame import Link
from chathpc.profile.build import TreeBuilder
from chathpc.profile.location import Locations
from chathpc.profile.machine_code import MachineCode
from chathpc.profile.merge import merge
from chathpc.profile.metric import Metric, Unit
from chathpc.profile.profile import Profile, Source
from chathpc.profile.tree import NodeKind
from tests.diagnosis.parts import diagnosed, finding, statements
from tests.diagnosis.sass.listings import FOLDER, kernel, listing
from tests.diagnosis.test_gpu import launch, program, sampled, timed
from tests.synthetic.nsight_compute import STUB, Run, report

#: Samples by offset and stall metric.
Samples = Mapping[int, Mapping[str, float]]


def profile_of(
    code: MachineCode, samples: Samples, *, shown: tuple[MachineCode, ...] | None = None, spelled: str = "{}"
) -> Profile:
    """A profile of one kernel with samples by instruction; `spelled` is how the tree names an instruction."""
    builder = TreeBuilder()
    top = builder.node(-1, NodeKind.GPU_KERNEL, code.kernel)
    metrics = {
        "gpu.kernel.time": Metric("gpu.kernel.time", Unit.SECONDS, "time of kernels", "time"),
        "gpu.time": Metric("gpu.time", Unit.SECONDS, "time of the device", "time"),
    }
    for name in metrics:
        builder.add(name, top, 1.0)
    for line in code.lines:
        values = dict(samples.get(line.offset, {}))
        if not values:
            continue
        node = builder.node(top, NodeKind.INSTRUCTION, spelled.format(line.text), offset=line.offset)
        stalled = sum(value for name, value in values.items() if name.startswith("gpu.stall."))
        for name, value in {**values, "gpu.stall.any": stalled, "gpu.instructions": stalled}.items():
            metrics.setdefault(name, Metric(name, Unit.SAMPLES, name, name))
            builder.add(name, node, value)
    tree, values_, _ = builder.finish(metrics.values())
    return Profile(
        format="test", title="test", tree=tree, metrics=metrics, values=values_, where=Locations.single(),
        sources=(Source(Path("test"), "test"),), code=(code,) if shown is None else shown,
    )  # fmt: skip


def cause_of(profile: Profile, *metrics: str) -> StallCause | None:
    (found,) = kernels(profile)
    return stall_cause(profile, found, metrics)


GATHER = {0x90: {"gpu.stall.memory": 300.0}, 0xC0: {"gpu.stall.memory": 700.0}}


def test_the_finding_is_at_the_load_and_its_evidence_names_the_use() -> None:
    diagnosis = diagnosed(profile_of(kernel("sm_75", "gather"), GATHER))
    found = finding(diagnosis, "gpu-memory-latency")
    # kernels.cu: line 9 loads the index, 10 the value, 11 adds.
    assert (found.where.file, found.where.line) == ("/src/kernels.cu", 10)
    said = statements(diagnosis, "gpu-memory-latency")
    assert (
        "Waiting for the load from global memory at kernels.cu:10, whose result is used at kernels.cu:11, has 70.0 % of the samples of warps "
        "that wait for memory in gather." in said
    )
    # LDG at 0xa0, IMAD.WIDE at 0xb0, FADD at 0xc0.
    assert "The code between LDG.E.SYS R4, [R4] and FADD R9, R4, 1, which needs its result, has 1 instruction." in said
    assert (
        "The address of this load comes from the load at kernels.cu:9, so that one wait follows the other: earlier by 2 instructions."
        in said
    )
    assert found.advice[0].startswith("Do not let the load at kernels.cu:9 delay the one at kernels.cu:10")


def test_lines_are_added_up_over_instructions() -> None:
    cause = cause_of(profile_of(kernel("sm_75", "either"), {
        0xF0: {"gpu.stall.memory": 40.0}, 0x100: {"gpu.stall.memory": 20.0}, 0x110: {"gpu.stall.memory": 50.0},
    }), "gpu.stall.memory")  # fmt: skip
    assert cause is not None
    # Both uses of a[i] (line 41) wait for the load at line 40; b[i] is loaded at line 43.
    assert (cause.place.line, cause.used.line, cause.link) == (40, 41, Link.RESULT)
    assert cause.part == pytest.approx(60 / 110)
    assert cause.samples == pytest.approx(60)


def test_a_barrier_is_told_with_the_work_that_others_do_before_it() -> None:
    samples = {
        0x100: {"gpu.stall.barrier": 600.0},
        0xD0: {"gpu.stall.short-scoreboard": 100.0},
        0xF0: {"gpu.stall.memory": 50.0},
    }
    diagnosis = diagnosed(profile_of(kernel("sm_75", "block_sum"), samples))
    found = finding(diagnosis, "gpu-barrier-stall")
    # The barrier of the loop is at line 22, the addition at 21.
    assert found.where.line == 22
    said = statements(diagnosis, "gpu-barrier-stall")
    assert (
        "Waiting for the barrier at kernels.cu:22 has 100 % of the samples of warps that wait for other warps at a barrier in block_sum."
        in said
    )
    assert any(
        each.startswith("The code at kernels.cu:21, where the warps are that the others wait for, has 66.7 %")
        for each in said
    )


def test_without_source_lines_the_instruction_is_named() -> None:
    code = listing("LDG.E R2, [R8.64]\nMOV R3, R9\nFADD R4, R2, R3")
    diagnosis = diagnosed(profile_of(code, {32: {"gpu.stall.memory": 500.0}}))
    found = finding(diagnosis, "gpu-memory-latency")
    assert found.where.line is None
    assert any(
        each.startswith(
            "Waiting for the load from global memory at +0x0 (LDG.E R2, [R8.64]), whose result is used at +0x20 (FADD R4, R2, R3), has"
        )
        for each in statements(diagnosis, "gpu-memory-latency")
    )
    assert found.advice[0].startswith("Issue the load at +0x0 (LDG.E R2, [R8.64]) earlier")


@pytest.mark.parametrize(
    ("text", "reason", "words"),
    [
        ("LDL R2, [R1]\nFADD R3, R2, R2", "memory", "Keep in registers"),
        ("ATOMG.E.ADD PT, R2, [R4.64], R6\nFADD R3, R2, R2", "memory", "Combine the values of a warp"),
        ("MUFU.RCP R2, R1\nFADD R3, R2, R2", "dependency", "Use the fast forms"),
        ("I2F R2, R1\nFADD R3, R2, R2", "dependency", "Avoid the conversion"),
        ("DFMA R2, R4, R4, R6\nDADD R8, R2, R2", "dependency", "Compute in single precision"),
        ("LDS R2, [R1]\nFADD R3, R2, R2", "dependency", "Read from shared memory"),
    ],
)
def test_advice_speaks_of_the_instruction_that_is_waited_for(text: str, reason: str, words: str) -> None:
    found = diagnosed(profile_of(listing(text), {16: {f"gpu.stall.{reason}": 500.0}})).findings[0]
    assert found.advice[0].startswith(words)


def test_stalls_that_speak_of_themselves_stay_where_they_are() -> None:
    profile = profile_of(kernel("sm_75", "gather"), {0xA0: {"gpu.stall.memory-throttle": 500.0}})
    cause = cause_of(profile, "gpu.stall.memory-throttle")
    assert cause is not None
    assert (cause.link, cause.place.offset, cause.elsewhere) == (Link.ITSELF, 0xA0, False)
    found = finding(diagnosed(profile), "gpu-memory-latency")
    assert "room in the queues of memory instructions" in found.summary
    assert found.advice[0].startswith("Issue fewer and wider accesses")
    assert any("pattern of the accesses" in each for each in found.against)


def test_latency_and_full_queues_are_told_apart() -> None:
    stalls = {0xC0: {"gpu.stall.memory": 750.0}, 0xA0: {"gpu.stall.memory-throttle": 250.0}}
    diagnosis = diagnosed(profile_of(kernel("sm_75", "gather"), stalls))
    assert any(
        each.startswith("Waiting for room in a queue of memory instructions") and "has 25.0 % of these" in each
        for each in statements(diagnosis, "gpu-memory-latency")
    )
    assert "wait for memory" in finding(diagnosis, "gpu-memory-latency").summary


def test_code_that_did_not_run_is_not_believed() -> None:
    code, other = kernel("sm_75", "gather"), kernel("sm_100", "gather")
    assert (
        cause_of(
            profile_of(
                code,
                GATHER,
                shown=(replace(other, lines=tuple(replace(line, file="", line=0) for line in other.lines)),),
            ),
            "gpu.stall.memory",
        )
        is None
    )
    assert cause_of(profile_of(code, GATHER, shown=(kernel("sm_75", "either"),)), "gpu.stall.memory") is None
    assert cause_of(profile_of(code, GATHER, shown=()), "gpu.stall.memory") is None
    # Of several versions that fits which has the instructions that were sampled.
    found = cause_of(profile_of(code, GATHER, shown=(other, code)), "gpu.stall.memory")
    assert found is not None
    assert found.place.offset == 0xA0


def test_two_texts_of_one_code_complete_each_other() -> None:
    full = kernel("sm_80", "gather")
    plain = replace(full, lines=tuple(replace(line, file="", line=0) for line in full.lines))
    unscheduled = replace(full, lines=tuple(replace(line, control=-1) for line in full.lines))
    samples = {0xD0: {"gpu.stall.memory": 100.0}}
    for shown in ((plain, unscheduled), (unscheduled, plain)):
        found = cause_of(profile_of(full, samples, shown=shown), "gpu.stall.memory")
        assert found is not None
        assert (found.place.line, found.place.control >= 0) == (10, True)


def test_without_any_stall_there_is_no_cause() -> None:
    profile = profile_of(kernel("sm_75", "gather"), GATHER)
    assert cause_of(profile, "gpu.stall.barrier") is None
    assert cause_of(profile) is None


# -- samples by line ---------------------------------------------------------------------------------------


def by_line(*lines: Any, code: MachineCode) -> Profile:
    return replace(program(launch(timed(code.kernel, 8.0, *lines))), code=(code,))


def test_samples_of_a_line_wait_at_those_of_its_instructions_that_can() -> None:
    # As HPCToolkit gives them: by source line. Line 10 multiplies the index that line 9 loads; line 11 adds.
    profile = by_line(
        sampled("kernels.cu:10", 4e5, memory=3e5),
        sampled("kernels.cu:11", 6e5, memory=5e5),
        code=kernel("sm_75", "gather"),
    )
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "gpu-memory-latency")
    assert found.where.short == "kernels.cu:10"
    assert any(
        "at kernels.cu:10, whose result is used at kernels.cu:11, has 62.5 % of the samples of warps that wait for memory in gather."
        in each
        for each in statements(diagnosis, "gpu-memory-latency")
    )
    assert any(
        "kernels.cu:11 has 62.5 % of these stalls" in each for each in statements(diagnosis, "gpu-memory-latency")
    )


def test_lines_that_the_code_does_not_have_are_left_alone() -> None:
    profile = by_line(sampled("other.cu:10", 4e5, memory=3e5), code=kernel("sm_75", "gather"))
    assert finding(diagnosed(profile), "gpu-memory-latency").where.short == "other.cu:10"


# -- a report and a disassembly ----------------------------------------------------------------------------


def test_a_disassembly_beside_a_report_gives_it_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(STUB))
    base, code = 0x7F0000001000, kernel("sm_80", "gather")
    stalled = "smsp__pcsamp_warps_issue_stalled_"
    run = Run(
        "gather(const float *, const int *, float *, int)",
        {
            "gpu__time_duration.sum": (4e6, "ns"), "sm__throughput.avg.pct_of_peak_sustained_elapsed": (10.0, "%"),
            "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": (30.0, "%"),
        },
        code={base + line.offset: (f"      {line.text}", "", 0) for line in code.lines}, base=base,
        located={
            "smsp__pcsamp_sample_count": {base + 0xA0: 300.0, base + 0xD0: 700.0},
            stalled + "long_scoreboard": {base + 0xA0: 300.0, base + 0xD0: 700.0},
            "inst_executed": {base + line.offset: 1.0 for line in code.lines},
        },
    )  # fmt: skip
    path = tmp_path / "report.ncu-rep"
    path.write_bytes(report([run]))
    alone = load(path)
    # All instructions are there, also those without a sample: the loads have none.
    assert [len(one.lines) for one in alone.code] == [len(code.lines)]
    assert _memory(diagnosed(alone)).where.line is None
    assert any("+0xb0 (LDG.E R4, [R4.64])" in each for each in statements(diagnosed(alone), "gpu-memory-latency"))
    both = load(path, FOLDER / "sm_80.sass")
    found = _memory(diagnosed(both))
    assert (found.where.short, found.where.kernel) == ("kernels.cu:10", alone.tree.function_name(kernels(alone)[0].top))
    assert [source.path.name for source in both.sources] == ["report.ncu-rep", "sm_80.sass"]
    assert not any("shows none" in caveat for caveat in both.caveats)
    # The order of the arguments does not matter.
    assert _memory(diagnosed(load(FOLDER / "sm_80.sass", path))).where.short == "kernels.cu:10"


def _memory(diagnosis: Diagnosis) -> Finding:
    return finding(diagnosis, "gpu-memory-latency")


def test_a_disassembly_of_other_kernels_is_told() -> None:
    profile = profile_of(listing("MOV R1, R2\nFADD R1, R1, R1"), {16: {"gpu.stall.dependency": 10.0}}, shown=())
    joined = merge([profile, load(FOLDER / "sm_75.sass")])
    assert (
        "sm_75 shows none of the profile's kernels: it is the code of another program, or of another version."
        in joined.caveats
    )
    assert joined.title == "test"
