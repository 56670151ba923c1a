"""The next run: where the decision hangs on it, what it costs, and when to stop."""

from __future__ import annotations

import numpy as np
import pytest

from chathpc.scale.experiment import Candidate, advise, costs_most, keeps, repetitions
from chathpc.scale.laws import Fitted, Measurement, fit


def fitted(law: object, points: tuple[float, ...], noise: float = 0.1, seed: int = 0) -> Fitted:
    rng = np.random.default_rng(seed)
    assert callable(law)
    return fit([Measurement({"p": p}, (float(law(p)) * (1 + noise * rng.standard_normal()),)) for p in points])


def test_a_decision_that_is_certain_needs_no_run() -> None:
    points = (2.0, 4.0, 8.0, 16.0, 32.0)
    fits = {"work": fitted(lambda p: 100.0, points, 0.01), "exchange": fitted(lambda p: 0.1, points, 0.01)}
    advice = advise(fits, {"p": 64.0}, [Candidate({"p": 64.0}, 1.0)])
    assert advice.run is None
    assert advice.decision == "work"
    assert advice.certainty == 1


def test_the_run_that_decides_is_taken_unless_it_costs_too_much() -> None:
    points = (2.0, 3.0, 4.0, 6.0, 8.0)
    fits = {"work": fitted(lambda p: 10.0, points), "exchange": fitted(lambda p: 2 + 0.15 * p, points, seed=3)}
    same, far = Candidate({"p": 2.0}, 1.0), Candidate({"p": 64.0}, 1.0)
    advice = advise(fits, {"p": 64.0}, [same, far])
    assert advice.run == far
    assert 0 < advice.information <= 1
    dear = Candidate({"p": 64.0}, 1e6)
    middle = Candidate({"p": 32.0}, 1.0)
    assert advise(fits, {"p": 64.0}, [dear, middle]).run == middle


def test_without_candidates_there_is_the_decision_alone() -> None:
    points = (2.0, 3.0, 4.0, 6.0, 8.0)
    fits = {"work": fitted(lambda p: 10.0, points), "exchange": fitted(lambda p: 2 + 0.15 * p, points, seed=3)}
    advice = advise(fits, {"p": 64.0}, [])
    assert advice.run is None
    assert advice.certainty < 0.95


def test_decisions() -> None:
    samples = {"a": np.array([1.0, 5.0]), "b": np.array([2.0, 1.0])}
    assert costs_most(samples) == ["b", "a"]
    assert keeps(4.0)(samples) == ["yes", "no"]


@pytest.mark.parametrize(
    ("noise", "half", "count"), [(0.05, 0.05, 2), (0.05, 0.02, 11), (0.01, 0.05, 1), (0.2, 0.05, 27)]
)
def test_repetitions_for_an_interval(noise: float, half: float, count: int) -> None:
    # (1.2816 · noise / half)², rounded up: 1.64, 10.27, 0.07, 26.3
    assert repetitions(noise, half) == count
