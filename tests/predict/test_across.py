import pytest

from chathpc.predict.across import across, from_counters, ranked
from chathpc.predict.devices import device

RTX, H100, A100, V100 = (device(name) for name in ("rtx3080", "h100-sxm", "a100", "v100"))
GRID, BLOCK = (65_536, 1, 1), (256, 1, 1)
#: 2 GiB moved in 2.9 ms on an RTX 3080; 10^11 fused multiply-adds of 64 bits in 0.52 s.
COPY = from_counters("copy", 2.9e-3, GRID, BLOCK, {"integer": 1e8}, 2.0 * 2**30)
DOUBLE = from_counters("double", 0.52, GRID, BLOCK, {"fp64": 2e11}, 1e6)


def test_on_the_same_device_nothing_changes() -> None:
    for each in (COPY, DOUBLE):
        found = across(each, RTX, RTX)
        assert found.seconds.value == pytest.approx(each.seconds)
        assert found.seconds.low == pytest.approx(found.seconds.high)


def test_a_kernel_at_the_memory_s_limit_moves_with_the_bandwidth() -> None:
    found = across(COPY, RTX, H100)
    assert found.limiter == "memory"
    assert found.explained > 0.9
    assert found.seconds.value == pytest.approx(2.9e-3 * RTX.bandwidth / H100.bandwidth, rel=0.1)
    assert found.seconds.low < found.seconds.value < found.seconds.high


def test_a_kernel_at_the_limit_of_double_precision_moves_with_that_peak() -> None:
    found = across(DOUBLE, RTX, V100)
    assert found.limiter == "fp64"
    assert found.seconds.value == pytest.approx(0.52 * RTX.peak("fp64") / V100.peak("fp64"), rel=0.25)


def test_what_no_limit_explains_moves_with_the_clock() -> None:
    waiting = from_counters("waits", 1e-2, (1, 1, 1), (32, 1, 1), {"integer": 1e4}, 1e4)
    found = across(waiting, RTX, A100)
    assert found.limiter == "latency"
    assert found.explained < 0.05
    assert found.seconds.value == pytest.approx(1e-2 * RTX.clock / A100.clock, rel=0.2)


def test_there_and_back_is_where_it_was() -> None:
    there = across(COPY, RTX, H100).seconds.value
    moved = from_counters("copy", there, GRID, BLOCK, {"integer": 1e8}, 2.0 * 2**30)
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
