from dataclasses import replace
from math import exp
from types import SimpleNamespace

import pytest

from chathpc.predict.across import Measured, across, lacking, ranked
from chathpc.predict.counts import Counts, Launch, Range
from chathpc.predict.devices import device
from chathpc.predict.ranking import _with_source

RTX, H100, A100, V100 = (device(name) for name in ("rtx3080", "h100-sxm", "a100", "v100"))


def launch(name: str, blocks: int = 65_536, threads: int = 256, shared: int = 0) -> Launch:
    return Launch(name, (blocks, 1, 1), (threads, 1, 1), shared)


#: 2 GiB moved in 2.9 ms on an RTX 3080, whose memory gives 760.3 GB/s; 10^11 fused multiply-adds of 64 bits in 0.52 s, of 391.7 GFLOP/s.
COPY = Measured(2.9e-3, 1, launch("copy"), busy={"memory": 2.0 * 2**30 / 2.9e-3 / 760.3e9, "integer": 0.01})
DOUBLE = Measured(0.52, 1, launch("double"), busy={"fp64": 2e11 / 0.52 / 391.68e9})


def test_on_the_same_device_nothing_changes() -> None:
    for each in (COPY, DOUBLE):
        found = across(each, RTX, RTX)
        assert found.seconds.value == pytest.approx(each.seconds)
        assert found.seconds.low == pytest.approx(found.seconds.high)


def test_a_kernel_shorter_than_a_launch_takes_what_it_took() -> None:
    short = Measured(1.5e-6, 1, launch("short", 1, 64), busy={"l1": 0.02}, clock=RTX.clock / 1.3)
    assert across(short, RTX, RTX).seconds.value <= 1.5e-6


def test_a_kernel_at_the_memory_s_limit_moves_with_the_bandwidth() -> None:
    found = across(COPY, RTX, H100)
    assert found.limiter == "memory"
    assert (found.explained or 0) > 0.9
    assert found.seconds.value == pytest.approx(2.9e-3 * RTX.bandwidth / H100.bandwidth, rel=0.1)
    assert found.seconds.low < found.seconds.value < found.seconds.high


def test_a_kernel_at_the_limit_of_double_precision_moves_with_that_peak() -> None:
    found = across(DOUBLE, RTX, V100)
    assert found.limiter == "fp64"
    assert found.seconds.value == pytest.approx(0.52 * RTX.peak("fp64") / V100.peak("fp64"), rel=0.25)


def test_what_no_limit_explains_moves_with_the_clock() -> None:
    waiting = Measured(1e-2, 1, launch("waits", 1, 32), busy={"integer": 1e-5})
    found = across(waiting, RTX, A100)
    assert found.limiter == "latency"
    assert (found.explained or 0) < 0.05
    assert found.seconds.value == pytest.approx(1e-2 * RTX.clock / A100.clock, rel=0.2)


def test_a_limit_that_takes_little_of_the_time_is_none() -> None:
    # As of a scan that waits at barriers: half of the memory's peak, and of nothing else more.
    scan = Measured(1e-3, 1, launch("scan"), busy={"memory": 0.5, "l2": 0.3, "issue": 0.3})
    assert across(scan, RTX, RTX).limiter == "latency"
    assert across(replace(scan, busy={"memory": 0.9}), RTX, RTX).limiter == "memory"


def test_the_source_tells_of_the_launch_that_was_predicted_and_no_other() -> None:
    moved = Range(2.0**31, 2.0**31, 2.0**31)
    work = {"integer": moved, "other": Range(9e9, 9e9, 9e9)}
    counts = Counts(work, {"integer": 1e6}, {}, {}, {}, 0.0, 0.0, moved, Range(0.0, 0.0, 0.0), 0.0, 1.0, warps=2**19)
    predicted = SimpleNamespace(kernel="copy", launch=launch("copy"), counts=counts)
    measured = [Measured(1e-3, 1, launch("copy", blocks)) for blocks in (65_536, 16_384)]
    found, said = _with_source(measured, [predicted])
    assert [each.counts for each in found] == [counts, None]
    assert found[0].operations == {"integer": 2.0**31}
    assert said == [
        "Of copy launches of other shapes were measured than predicted: moved without the source. --args, --grid or --launch choose others."
    ]


def test_there_and_back_is_where_it_was() -> None:
    there = across(COPY, RTX, H100).seconds.value
    moved = Measured(there, 1, launch("copy"), busy={"memory": 2.0 * 2**30 / there / H100.bandwidth})
    assert across(moved, H100, RTX).seconds.value == pytest.approx(COPY.seconds, rel=0.15)


def test_a_program_of_double_precision_wants_another_device_than_one_that_copies() -> None:
    cards = [device(name) for name in ("rtx4090", "v100", "rtx3080")]
    assert [each.device.key for each in ranked([DOUBLE], RTX, cards)] == ["v100", "rtx4090", "rtx3080"]
    assert ranked([COPY], RTX, cards)[0].device.key == "rtx4090"
    first = ranked([COPY, DOUBLE], RTX, cards, other=1.0)[0]
    assert first.device.key == "v100"
    assert first.speedup.value == pytest.approx((COPY.seconds + DOUBLE.seconds + 1.0) / first.seconds.value)
    assert first.speedup.low <= first.speedup.value <= first.speedup.high
    assert sum(first.limiters.values()) == pytest.approx(first.seconds.value - 1.0)


def test_counts_of_the_source_tell_the_limits_where_no_counter_does() -> None:
    nothing = Range(0.0, 0.0, 0.0)
    moved = Range(2.0 * 2**30, 2.0 * 2**30, 2.0 * 2**30)
    counts = Counts({}, {"integer": 1e6}, {}, {}, {}, 0.0, 0.0, moved, nothing, 0.0, 1.0, warps=2**19)
    found = across(Measured(2.9e-3, 1, launch("copy"), counts), RTX, H100)
    assert found.limiter == "memory"
    assert found.seconds.value == pytest.approx(2.9e-3 * RTX.bandwidth / H100.bandwidth, rel=0.1)


def test_what_a_larger_cache_may_keep_for_the_next_launch_widens_the_bounds() -> None:
    data = 20.0 * 2**20  # more than the 5 MiB of an RTX 3080, less than the 40 of an A100
    moved = Range(data, data, data)
    counts = Counts({}, {"integer": 1e6}, {}, {}, {}, data, 0.0, moved, Range(0.0, 0.0, 0.0), 0.0, 1.0, warps=2**15)
    time = data / RTX.bandwidth / 0.9
    once, often = (across(Measured(time * n, n, launch("reads"), counts), RTX, A100).seconds for n in (1, 10))
    assert often.value == pytest.approx(10 * once.value)
    assert (often.low < 0.5 * 10 * once.low, often.high) == (True, pytest.approx(10 * once.high))


def test_without_counters_and_source_the_bounds_are_the_extremes_of_what_it_could_be() -> None:
    found = across(Measured(1.0, 1, launch("unknown")), A100, H100)
    assert (found.limiter, found.explained) == ("", None)
    # Least gained is the memory's bandwidth or L2's clock, most single precision: 19.5 to 61.9 TFLOP/s at the clocks of the catalogue.
    # Both are widened by a tenth, as a standard deviation of the logarithm, for four of five cases.
    wider = exp(1.2816 * 0.1)
    assert found.seconds.low == pytest.approx(A100.peak("fp32") / H100.peak("fp32") / wider, rel=0.01)
    assert found.seconds.high == pytest.approx(A100.clock / H100.clock * wider, rel=0.01)
    assert found.seconds.low < found.seconds.value < found.seconds.high


def test_a_profiler_s_clock_is_taken_out() -> None:
    # At half the clock what waits took twice as long, and what memory limits as long.
    waits = Measured(2.0, 1, launch("waits"), busy={"issue": 1e-6}, clock=A100.clock / 2)
    assert across(waits, A100, A100).seconds.value == pytest.approx(1.0, rel=0.02)
    copies = Measured(2.0, 1, launch("copies"), busy={"memory": 1.0}, clock=A100.clock / 2)
    found = across(copies, A100, A100).seconds
    assert found.value == pytest.approx(2.0, rel=0.02)
    assert found.low == pytest.approx(1.0, rel=0.02)
    assert found.high == pytest.approx(2.0, rel=0.02)


def test_blocks_that_do_not_fill_a_device_do_not_gain_from_more_multiprocessors() -> None:
    # 60 blocks of 1024 threads: each has a multiprocessor to itself on an RTX 3080 (68) and on an H100 (132).
    busy = {"issue": 0.9 * 60 / 68}
    found = across(Measured(1.0, 1, launch("few", 60, 1024), busy=busy), RTX, H100)
    assert found.seconds.value == pytest.approx(RTX.clock / H100.clock, rel=0.02)


@pytest.mark.parametrize(
    ("kernel", "target", "said"),
    [
        (Measured(1.0, 1, launch("gemm"), busy={"tensor": 0.5}), "p100", "no tensor cores"),
        (Measured(1.0, 1, launch("cutlass_wmma_bf16_gemm"), busy={"tensor": 0.5}), "v100", "do not take bf16"),
        (Measured(1.0, 1, launch("fp8_gemm_e4m3"), busy={"tensor": 0.5}), "a100", "do not take fp8"),
        (Measured(1.0, 1, launch("tiles", shared=200 << 10)), "rtx3080", "of shared memory for a block"),
        (Measured(1.0, 1, launch("tiles")), "mi300x", "translated"),
    ],
)  # fmt: skip
def test_what_does_not_carry_over_is_said(kernel: Measured, target: str, said: str) -> None:
    (found,) = lacking([kernel], H100, device(target))
    assert said in found
    assert not list(lacking([kernel], H100, device("h200")))


@pytest.mark.parametrize(
    ("name", "capability", "said"),
    [
        ("AMD MI300X_A1", "", ["mi300x"]),
        ("AMD Instinct MI400", "", ["mi100", "mi210", "mi250x", "mi300a", "mi300x", "mi325x", "rx7900xtx"]),
        ("NVIDIA H20", "9.0", ["h100-sxm", "h100-pcie", "h800", "h100-nvl", "h200", "gh200"]),
    ],
)
def test_a_gpu_of_another_name_is_compared_with_those_of_its_maker(name: str, capability: str, said: list[str]) -> None:
    from chathpc.predict.profiled import _alike

    assert _alike(name, capability) == said
