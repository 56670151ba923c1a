import random
from math import log

import pytest

from chathpc.predict.counts import Counts, Range
from chathpc.predict.devices import device
from chathpc.predict.roofline import LABELLED, change, classify


def counts(traffic: Range | float, **operations: Range | float) -> Counts:
    read = traffic if isinstance(traffic, Range) else Range(traffic, traffic, traffic)
    made = {kind: one if isinstance(one, Range) else Range(one, one, one) for kind, one in operations.items()}
    zero = Range(0, 0, 0)
    return Counts(made, {}, {}, {}, {}, 0, 0, read, zero, 0, 1, 0)


@pytest.mark.parametrize(
    ("traffic", "fp32", "fp64", "integer", "expected"),
    [  # from the public labels (gpuFLOPBench, MIT): bytes and operations of one launch on an RTX 3080
        (163_863_798, 67_102_776, 1_526_764_544, 855_707_646, "compute"),  # heat-cuda, initial_value
        (133_277_794, 0, 0, 50_331_648, "bandwidth"),  # heat-cuda, zero
        (267_886_959, 0, 150_998_000, 637_562_878, "compute"),  # heat-cuda, solve: by FP64 alone
        (157_833_205, 443_466_500_000, 0, 287_342_387_683, "compute"),  # loopback-cuda
    ],
)
def test_the_class_is_that_of_the_public_labels(
    traffic: float, fp32: float, fp64: float, integer: float, expected: str
) -> None:
    found = classify(counts(traffic, fp32=fp32, fp64=fp64, integer=integer), device("rtx3080"), LABELLED)
    assert found.bound == expected


def test_the_class_of_operations_farthest_above_its_balance_point_decides() -> None:
    found = classify(counts(1e9, fp32=65.94e9, fp64=1.5455e9, integer=1e9), device("rtx3080"))
    assert (found.bound, found.limiter, found.roofs[0].kind) == ("compute", "fp64", "fp64")
    assert [round(roof.ratio, 2) for roof in found.roofs] == [3.0, 2.0, 0.06]
    assert found.roofs[0].seconds == pytest.approx(1.5455e9 / 391.68e9)
    assert change(found) == (
        "It would be bandwidth-bound with 3x fewer double-precision operations and 2x fewer single-precision operations, "
        "or 3x more bytes."
    )


def test_what_would_change_the_class_is_said_in_factors() -> None:
    found = classify(counts(1e9, integer=3.297e9), device("rtx3080"))
    assert found.limiter == "memory"
    assert (found.bound, round(found.roofs[0].balance, 1)) == ("bandwidth", 16.5)
    assert change(found) == "It would be compute-bound with 5x fewer bytes, or 5x more integer operations."


def test_what_nothing_near_changes_is_not_told_as_a_change() -> None:
    assert change(classify(counts(1e9, fp32=99 * 32.97056e9), device("rtx3080"))).endswith("99x more bytes.")
    assert not change(classify(counts(1e9, fp32=101 * 32.97056e9), device("rtx3080")))
    assert not change(classify(counts(1e9, fp32=32.97056e9 / 101), device("rtx3080")))


def test_probability_is_that_of_drawing_the_errors() -> None:
    draw = random.Random(1)
    made = counts(Range(1e9, 0.6e9, 1e9 / 0.6), fp32=Range(25e9, 12.5e9, 50e9), integer=Range(12e9, 8e9, 18e9))
    found = classify(made, device("rtx3080"))
    below, drawn = 0, 20_000
    for _ in range(drawn):
        # The spreads that roofline.py adds to those of exact counts: 0.3 for bytes, 0.1 for operations.
        traffic = draw.gauss(log(1e9), ((log(1 / 0.6) / 1.2816) ** 2 + 0.09) ** 0.5)
        fp32 = draw.gauss(log(25e9), ((log(2) / 1.2816) ** 2 + 0.01) ** 0.5)
        integer = draw.gauss(log(12e9), ((log(1.5) / 1.2816) ** 2 + 0.01) ** 0.5)
        below += fp32 - traffic < log(32.97056) and integer - traffic < log(16.48528)
    assert found.bound == "bandwidth"
    assert found.probability == pytest.approx(below / drawn, abs=0.012)


def test_a_kernel_without_arithmetic_is_bandwidth_bound() -> None:
    found = classify(counts(1e6), device("rtx3080"))
    assert (found.bound, found.limiter) == ("bandwidth", "memory")
    assert found.probability == pytest.approx(1)
    assert found.traffic.value == pytest.approx(1e6)
    assert not change(found)


def test_no_traffic_makes_any_arithmetic_compute_bound() -> None:
    found = classify(counts(0, integer=1e6), device("rtx3080"))
    assert found.bound == "compute"
    assert found.probability > 0.99
    # There is no number of times by which nothing becomes something.
    assert "more data than the caches hold" in change(found)


def test_operations_known_only_up_to_a_bound_make_the_class_uncertain() -> None:
    sure = classify(counts(1e9, fp64=0), device("rtx3080"))
    unsure = classify(counts(1e9, fp64=Range(0, 0, 1e9)), device("rtx3080"))
    assert sure.probability == pytest.approx(1)
    assert 0.5 < unsure.probability < 0.99
