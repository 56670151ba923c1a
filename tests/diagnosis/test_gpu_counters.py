"""Which kernels are judged by their counters, what is never concluded, and that any counters give sound findings."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.kernel_counters import counted_kernels
from chathpc.diagnosis.rules.gpu_counters import RULES, undecided
from chathpc.profile.gpu_counters import COUNTERS
from chathpc.profile.profile import Profile
from tests.diagnosis.kernels import LATENCY, LAUNCH, One, bare, causes, first, found, one, report
from tests.diagnosis.parts import check, diagnosed

# -- which kernels -------------------------------------------------------------------------------------------


def test_kernels_count_by_time_not_by_number() -> None:
    small = [one(f"tiny_{i}", 1e-4, blocks=1, waves=0.001, sm_throughput=0.1, memory_throughput=0.1) for i in range(50)]
    big = one("big", 1.0, sm_throughput=10, memory_throughput=85, dram_throughput=85)
    (only,) = found(*small, big)
    assert (only.where.kernel, only.share) == ("big", pytest.approx(1 / 1.005))


@pytest.mark.parametrize(("seconds", "seen"), [(0.0299, False), (0.0301, True)])
def test_kernels_below_three_percent_of_the_time_are_left_out(seconds: float, seen: bool) -> None:
    rest = one("rest", 1 - seconds, sm_throughput=10, memory_throughput=85, dram_throughput=85)
    other = one("other", seconds, sm_throughput=90, memory_throughput=10)
    assert ("other" in [each.where.kernel for each in found(rest, other)]) is seen


def test_launch_configurations_of_one_kernel_with_one_cause_are_one_finding() -> None:
    kernels = [
        one(seconds=s, waves=w, **{**LATENCY, "memory_throughput": 45.0}) for s, w in ((0.5, 10), (0.3, 9), (0.2, 8))
    ]
    (latency,) = found(*kernels)
    assert (latency.share, latency.seconds) == (pytest.approx(1), pytest.approx(1))
    assert latency.summary.endswith("(In 3 launch configurations, together 100 % of the kernel time.)")


def test_of_many_configurations_with_many_causes_the_largest_is_told() -> None:
    busy, loaded = {"sm_throughput": 90.0, "memory_throughput": 5.0}, {"sm_throughput": 5.0, "memory_throughput": 90.0}
    kernels = [one("hot", 0.006, waves=5.5 + i, **(busy if i < 4 else loaded)) for i in range(6)]
    rest = [one(f"rest_{i}", 0.02, sm_throughput=90, memory_throughput=5) for i in range(48)]
    assert [(each.where.kernel, each.cause) for each in found(*kernels, *rest)] == [("hot", "gpu-compute-bound")]


def test_a_kernel_without_measurements_is_a_doubt_about_the_shares_of_others() -> None:
    limit = first(one(sm_throughput=90, memory_throughput=10), One("void lost<1>(int)", None))
    assert limit.against[-1] == "Its part of the time may be smaller, as the report has no measurements of lost<1>."


def test_one_kernel_without_a_time_is_the_whole_report_two_are_not() -> None:
    kernel = replace(one(sm_throughput=90, memory_throughput=10), seconds=None)
    (limit,) = diagnosed(report(kernel)).findings
    assert (limit.share, limit.seconds) == (1, None)
    assert diagnosed(report(kernel, replace(kernel, name="other"))).findings == ()
    assert undecided(report(kernel, replace(kernel, name="other")))


@pytest.mark.parametrize(("seconds", "told"), [(3.0, "75.0 % of the kernel time, most of it silent,"), (1.0, "")])
def test_kernels_whose_counters_decide_nothing_are_told_beside_others(seconds: float, told: str) -> None:
    limited = one("limited", 1.0, blocks=2, waves=0.02, sm_throughput=1, memory_throughput=1)
    diagnosis = diagnosed(report(limited, one("silent", seconds, sm_throughput=30, memory_throughput=20)))
    assert [each.where.kernel for each in diagnosis.findings] == ["limited"]
    assert [note.startswith(told) for note in diagnosis.notes if "what limits them" in note] == [True] * bool(told)


# -- what is not concluded -----------------------------------------------------------------------------------


def test_without_counters_there_is_nothing_to_judge() -> None:
    profile = report(bare(blocks=8000, registers=32, occupancy=25, threads_per_block=256))
    assert counted_kernels(Facts(profile)) == []
    assert [draft for rule in RULES for draft in rule(Facts(profile))] == []
    assert not undecided(profile)


def test_launch_and_occupancy_alone_decide_nothing() -> None:
    profile = report(one(limit_warps=8, limit_registers=2))
    assert [draft for rule in RULES for draft in rule(Facts(profile))] == []
    assert undecided(profile).startswith(
        "The counters of solve<float> do not show how busy the device was: ncu --section SpeedOfLight"
    )


def test_low_throughput_without_stall_reasons_says_what_to_collect() -> None:
    profile = report(one(sm_throughput=9, memory_throughput=8))
    assert undecided(profile) == (
        "solve<float> uses no unit for more than 9.00 % of its peak, and what its warps wait for was not collected: "
        "ncu --section WarpStateStats --section SchedulerStats -k solve -c 3 ./app (stall reasons)."
    )
    assert undecided(profile)


def test_a_finding_about_another_kernel_is_a_decision() -> None:
    silent = one(seconds=0.8, sm_throughput=9, memory_throughput=8)
    assert undecided(report(silent, one("other", 0.2, sm_throughput=12, memory_throughput=97, dram_throughput=97)))
    small = one("other", 0.2, blocks=1, waves=0.001, sm_throughput=0.1, memory_throughput=0.1)
    assert not undecided(report(silent, small))


def test_accesses_of_another_tool_are_no_counters() -> None:
    profile = report(bare(footprint=4096, unique_pages=1, accesses_per_page=32, multiprocessors_used=3))
    assert counted_kernels(Facts(profile)) == []
    assert not undecided(profile)


def test_a_report_is_decided_if_the_kernel_with_most_time_is() -> None:
    assert not undecided(
        report(one(sm_throughput=90, memory_throughput=8), one("other", 0.4, sm_throughput=9, memory_throughput=8))
    )


@pytest.mark.parametrize("missing", ["sm-throughput", "memory-throughput"])
def test_a_missing_throughput_is_not_zero(missing: str) -> None:
    facts = {key: value for key, value in one(sm_throughput=20, memory_throughput=20).facts.items() if key != missing}
    (kernel,) = counted_kernels(Facts(report(One(facts=facts))))
    assert kernel.busiest == 20
    assert (kernel.compute is None) is (missing == "sm-throughput")
    assert (kernel.memory is None) is (missing == "memory-throughput")


def test_few_stall_reasons_are_not_taken_for_all() -> None:
    (kernel,) = counted_kernels(Facts(report(One(facts={"stall.barrier": 5.0, "sm-throughput": 20.0}))))
    assert kernel.stalls == {}
    assert kernel.stalled("barrier") == 0


def test_what_cannot_be_measured_is_not_believed() -> None:
    kernel = One(
        facts={
            "sm-throughput": 101.3,
            "memory-throughput": float("nan"),
            "waves": -1.0,
            "dram-throughput": float("inf"),
        }
    )
    (counted,) = counted_kernels(Facts(report(kernel)))
    assert counted.values == {"sm-throughput": 100.0}


# -- rules for other profiles yield --------------------------------------------------------------------------


def test_other_rules_about_kernels_are_silent_where_there_are_counters() -> None:
    samples = {("solve.cu", 12): {"gpu.instructions": 700.0, "gpu.stall.any": 690.0, "gpu.stall.memory": 650.0}}
    kernel = replace(one(sm_throughput=90, memory_throughput=10, occupancy=25), samples=samples)
    assert causes(kernel) == ["gpu-compute-bound"]


def test_a_report_of_amd_tools_gets_their_command() -> None:
    diagnosis = diagnose(report(one(sm_throughput=46, memory_throughput=46), tool="rocprof-compute 3"))
    assert str(diagnosis.findings[0].next_measurement).startswith(
        "rocprof-compute profile -n solve -k solve -- ./app ("
    )


# -- anything ------------------------------------------------------------------------------------------------

#: Facts of Neutrino, which are told beside findings.
ACCESSES = {"footprint", "unique-pages", "accesses-per-page", "multiprocessors-used", "multiprocessor-imbalance"}
NAMES = sorted({name.removeprefix("gpu.kernel.") for name in COUNTERS} - ACCESSES)
VALUES = st.one_of(
    st.floats(0, 100), st.sampled_from([0.0, 1.0, 20.0, 50.0, 60.0, 80.0, 100.0]), st.floats(0, 1e15), st.floats(0, 1)
)
KERNELS = st.builds(
    One,
    name=st.sampled_from(["void gemm<1>(int)", "a", "ns::solve<float>(float*)", "operator()", "x y z", "::", "µ"]),
    seconds=st.one_of(st.none(), st.floats(1e-9, 1e3)),
    facts=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=len(NAMES)),
    launches=st.sampled_from([1.0, 2.0, 1000.0]),
)


def judged(profile: Profile) -> list[object]:
    return [draft for rule in RULES for draft in rule(Facts(profile))]


@settings(max_examples=150, deadline=None)
@given(st.lists(KERNELS, min_size=1, max_size=4), st.booleans())
def test_any_counters_give_findings_that_hold_together(kernels: list[One], common_launch: bool) -> None:
    if common_launch:
        kernels = [replace(kernel, facts={**LAUNCH, **kernel.facts}) for kernel in kernels]
    profile = report(*kernels)
    diagnosis = diagnose(profile)
    check(diagnosis)
    for item in diagnosis.findings:
        assert 0 <= item.headroom <= 1
        assert item.summary.endswith((".", ".)"))
    assert judged(profile) == judged(report(*kernels))
    assert isinstance(undecided(profile), str)
