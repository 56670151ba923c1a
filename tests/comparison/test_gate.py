"""The gate fails only what has grown beyond noise, and says when it cannot tell."""

from __future__ import annotations

import math

import pytest

from chathpc.comparison.compare import gate
from chathpc.comparison.noise import NoiseKind
from chathpc.comparison.record import TotalRecord
from chathpc.errors import UsageError


def total(ratio: float | None, reach: float = 1.0, *, after: float = 1.0) -> TotalRecord:
    low, high = (None, None) if ratio is None else (ratio / reach, ratio * reach)
    before = after / ratio if ratio else 0.0
    return TotalRecord(
        before=before, after=after, change=after - before, error=0.0, beyond_noise=after != before, ratio=ratio,
        ratio_low=low, ratio_high=high,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("ratio", "reach", "outcome"),
    [
        (1.00, 1.00, "passed"),
        (1.00, 1.04, "passed"),
        (1.00, 1.06, "undecided"),
        (1.20, 1.10, "failed"),  # 1.20 / 1.10 = 1.09
        (1.20, 1.15, "undecided"),  # 1.20 / 1.15 = 1.043
        (0.50, 1.50, "passed"),
        (1.05, 1.00, "passed"),  # the limit itself is allowed
    ],
)
def test_the_ends_of_the_interval_decide(ratio: float, reach: float, outcome: str) -> None:
    assert gate(total(ratio, reach), 0.05, NoiseKind.SAMPLING).outcome == outcome


def test_what_grew_from_nothing_has_grown_and_nothing_has_not() -> None:
    assert gate(total(None, after=1.0), 0.05, NoiseKind.EXACT).outcome == "failed"
    assert gate(total(None, after=0.0), 0.05, NoiseKind.EXACT).outcome == "passed"


def test_how_much_more_would_decide_is_told() -> None:
    # Distance to the limit log(1.05), width log(1.1): (log 1.1 / log 1.05)² = 3.82, rounded up.
    statement = gate(total(1.0, 1.1), 0.05, NoiseKind.SAMPLING).statement
    assert (math.log(1.1) / math.log(1.05)) ** 2 == pytest.approx(3.816, abs=1e-3)
    assert statement.endswith("About 3.9 times as many samples would decide it.")
    assert "as many runs" in gate(total(1.0, 1.1), 0.05, NoiseKind.REPETITIONS).statement
    assert "--before and --after" in gate(total(1.0, 1.1), 0.05, NoiseKind.ASSUMED).statement
    assert "too close" in gate(total(1.0499, 1.1), 0.05, NoiseKind.SAMPLING).statement
    assert "too close" in gate(total(1.05, 1.1), 0.05, NoiseKind.SAMPLING).statement
    # (log 1.88 / log 1.05)² = 167: also without any growth more than 100 times as many runs would be needed.
    assert "noise is too large" in gate(total(1.02, 1.88), 0.05, NoiseKind.REPETITIONS).statement


def test_without_anything_to_tell_it_by_the_gate_refuses() -> None:
    with pytest.raises(UsageError, match="different numbers of threads"):
        gate(None, 0.05, NoiseKind.SAMPLING)
