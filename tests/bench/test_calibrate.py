from __future__ import annotations

from dataclasses import replace
from math import exp, log
from pathlib import Path

import numpy as np
import pytest

from chathpc.bench.case import Split
from chathpc.diagnosis.draft import belief
from tests.bench.calibrate import BEFORE, SPREAD, Claim, claims_of, fit, weights_of
from tests.bench.labelled import three

RIGHT = Claim("set", Split.SEEN, signs=1, against=0, stated=0.8, right=True)
WRONG = replace(RIGHT, right=False)


def log_posterior(point: np.ndarray, claims: list[Claim], weights: list[float]) -> float:
    """Written without matrices: the sum over claims, and the priors."""
    total = -sum((value - before) ** 2 for value, before in zip(point, BEFORE, strict=True)) / (2 * SPREAD**2)
    for claim, weight in zip(claims, weights, strict=True):
        odds = exp(
            point[0] + point[1] * (min(claim.signs, 3) - 1) + point[2] * claim.against + point[3] * claim.derived
        )
        total += weight * log(odds / (1 + odds) if claim.right else 1 / (1 + odds))
    return float(total)


def test_without_claims_the_fit_is_what_was_believed_before() -> None:
    assert fit([], []) == pytest.approx(BEFORE)


def test_very_many_claims_outweigh_what_was_believed_before() -> None:
    claims = [RIGHT] * 3000 + [WRONG] * 1000
    assert fit(claims, [1.0] * 4000)[0] == pytest.approx(log(3), abs=0.01)


def test_no_step_in_any_direction_is_better_than_the_fit() -> None:
    claims = [
        RIGHT,
        RIGHT,
        WRONG,
        replace(RIGHT, signs=2),
        replace(WRONG, signs=4, against=1),
        replace(RIGHT, against=2),
        replace(WRONG, derived=True),
    ]
    weights = [1.0, 0.25, 1.0, 0.5, 1.0, 1.0, 0.7]
    found = np.array(fit(claims, weights))
    best = log_posterior(found, claims, weights)
    for axis in range(4):
        for step in (-0.01, 0.01):
            moved = found.copy()
            moved[axis] += step
            assert log_posterior(moved, claims, weights) < best


def test_claims_of_generated_sets_weigh_as_much_together_as_all_others() -> None:
    made = replace(RIGHT, group="made")
    assert weights_of([made] * 4 + [RIGHT] * 2, ["made"]) == [0.5] * 4 + [1.0] * 2
    assert weights_of([made] + [RIGHT] * 2, ["made"]) == [1.0] * 3
    assert weights_of([made], ["made"]) == [1.0]


def test_claims_are_those_of_the_benchmark(tmp_path: Path) -> None:
    (claim,) = claims_of([three(tmp_path / "set")])
    assert claim == Claim("set", Split.SEEN, 1, 1, round(belief(1, 1), 2), True)
