from __future__ import annotations

from dataclasses import replace
from math import exp, log
from pathlib import Path

import numpy as np
import pytest

from chathpc.bench.case import Split
from chathpc.diagnosis.draft import Draft, Spread, belief, confidence
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Finding, Place
from tests.bench.calibrate import BEFORE, WIDTH, Claim, apart, claim_of, claims_of, fit, weights_of
from tests.bench.labelled import three
from tests.profile.build import build, call

RIGHT = Claim("set", Split.SEEN, signs=1, against=0, stated=0.8, right=True)
WRONG = replace(RIGHT, right=False)


def log_posterior(point: np.ndarray, claims: list[Claim], weights: list[float]) -> float:
    """Written without matrices: the sum over claims, and the priors."""
    total = -sum((value - before) ** 2 for value, before in zip(point, BEFORE, strict=True)) / (2 * WIDTH**2)
    for claim, weight in zip(claims, weights, strict=True):
        further = min(claim.signs, 3) - 1 + claim.agreeing
        odds = exp(point[0] + point[1] * further + point[2] * claim.against + point[3] * claim.derived)
        stated = claim.above * odds / (1 + odds)
        total += weight * log(stated if claim.right else 1 - stated)
    return float(total)


def test_without_claims_the_fit_is_what_was_believed_before() -> None:
    assert fit([], []) == pytest.approx(BEFORE)


def test_very_many_claims_outweigh_what_was_believed_before() -> None:
    claims = [RIGHT] * 3000 + [WRONG] * 1000
    assert fit(claims, [1.0] * 4000)[0] == pytest.approx(log(3), abs=0.01)


def test_what_samples_and_locations_take_away_is_not_taken_for_little_belief() -> None:
    claims = [replace(RIGHT, above=0.8)] * 6000 + [replace(WRONG, above=0.8)] * 4000
    assert fit(claims, [1.0] * 10_000)[0] == pytest.approx(log(3), abs=0.01)  # 0.6 = 0.8 × 0.75


def test_no_step_in_any_direction_is_better_than_the_fit() -> None:
    claims = [
        RIGHT,
        RIGHT,
        WRONG,
        replace(RIGHT, signs=2),
        replace(WRONG, signs=4, against=1),
        replace(RIGHT, against=2),
        replace(WRONG, derived=True),
        replace(WRONG, above=0.6),
        replace(RIGHT, signs=3, above=0.9, agreeing=1),
    ]
    weights = [1.0, 0.25, 1.0, 0.5, 1.0, 1.0, 0.7, 1.0, 0.8]
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


def test_what_a_confidence_was_computed_from_is_read_from_its_words() -> None:
    draft = Draft(
        "mpi-load-imbalance", Place(), "", 1.0, 0.2, (), threshold=0.1, signs=2, against=("a",), samples=0,
        spread=Spread(4, "ranks"), agreeing=("Darshan",),
    )  # fmt: skip
    stated, words = confidence(Facts(build(call("main", time=10.0))), draft)
    found = Finding(
        draft.cause, "", "", draft.where, 1.0, 0.2, 0.5, None, stated, words, (), ("a",), ("do",), None, None, "measure"
    )
    claim = claim_of(found, "set", Split.SEEN, True)
    believed = belief(2, 1, agreeing=1)
    assert claim == replace(
        RIGHT, signs=2, against=1, stated=stated, locations=4, agreeing=1, above=pytest.approx(stated / believed)
    )
    assert apart([claim, WRONG]) == [
        f"spread from 4 locations: 1 of 1 right, {stated:.2f} stated",
        "no spread: 0 of 1 right, 0.80 stated",
        f"tools agree: 1 of 1 right, {stated:.2f} stated",
    ]


def test_claims_are_those_of_the_benchmark(tmp_path: Path) -> None:
    (claim,) = claims_of([three(tmp_path / "set")])
    stated = round(belief(1, 1), 2)
    assert claim == Claim("set", Split.SEEN, 1, 1, stated, True, above=min(stated / belief(1, 1), 1.0))
