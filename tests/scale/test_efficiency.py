"""POP's efficiencies by their definitions."""

from __future__ import annotations

import pytest

from chathpc.scale.efficiency import efficiencies_of
from chathpc.scale.loss import costs_of
from tests.scale.made import alone, each, even, strong


def test_they_are_ratios_of_times_and_multiply() -> None:
    found = strong({"solve": even(8.0), "setup": alone(1.0), "again": each(0.5)}, each(0.25))
    at = efficiencies_of(found, costs_of(found))[2]
    useful_mean, useful_most, elapsed = 8 / 4 + 1 / 4 + 0.5, 8 / 4 + 1 + 0.5, 8 / 4 + 1 + 0.5 + 0.25
    assert at.value == 4
    assert at.balance == pytest.approx(useful_mean / useful_most)
    assert at.communication == pytest.approx(useful_most / elapsed)
    assert at.parallel == pytest.approx(useful_mean / elapsed)
    assert at.computation == pytest.approx(9.5 / (4 * useful_mean))
    assert at.overall == pytest.approx(9.5 / (4 * elapsed))
    assert at.speedup == pytest.approx(9.75 / elapsed)
    assert (at.serialisation, at.instructions) == (None, None)


def test_under_weak_scaling_each_worker_counts() -> None:
    found = strong({"solve": each(8.0), "merge": lambda count: (0.25 * count,) * count})
    assert efficiencies_of(found, costs_of(found))[-1].computation == pytest.approx(8.25 / 12)


def test_one_worker_has_no_efficiencies_to_tell() -> None:
    found = strong({"solve": even(8.0)}, counts=(2, 4))
    assert all(at.balance == pytest.approx(1.0) for at in efficiencies_of(found, costs_of(found)))
