from __future__ import annotations

from fractions import Fraction
from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.bench.statistics import (
    Stated,
    bootstrap,
    brier,
    calibration_error,
    mean,
    reciprocal_rank,
    reliability,
    wilson,
)

statements = st.lists(st.builds(Stated, st.floats(0, 1), st.booleans()), min_size=1, max_size=60)
ranks = st.lists(st.none() | st.integers(1, 9), min_size=1, max_size=40)


# -- shares --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_intervals_of_shares_are_those_of_newcombe_1998_table_1(count: int, of: int, low: float, high: float) -> None:
    assert wilson(count, of) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@given(st.integers(1, 500).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_ends_of_an_interval_are_the_shares_of_which_the_measured_one_is_z_errors_away(pair: tuple[int, int]) -> None:
    count, of = pair
    low, high = wilson(count, of)
    assert 0 <= low <= count / of <= high <= 1
    for end, outermost in ((low, count == 0), (high, count == of)):
        if not outermost:
            assert abs(count / of - end) == pytest.approx(1.959964 * sqrt(end * (1 - end) / of), rel=1e-4)


def test_nothing_is_known_of_a_share_of_nothing_and_more_than_all_is_none() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="3 of 2"):
        wilson(3, 2)


# -- resampling ----------------------------------------------------------------------------------------------


def test_the_bootstrap_interval_of_a_mean_is_as_wide_as_its_standard_error_says() -> None:
    values = np.random.default_rng(5).normal(10, 2, 400).tolist()
    low, high = bootstrap(values, mean)
    error = float(np.std(values)) / sqrt(400)
    assert (high - low) / (2 * 1.96 * error) == pytest.approx(1, abs=0.1)
    assert low < mean(values) < high


def test_a_bootstrap_gives_the_same_interval_again_and_none_of_nothing() -> None:
    assert bootstrap([1.0, 2.0, 4.0], mean) == bootstrap([1.0, 2.0, 4.0], mean)
    assert bootstrap([3.0, 3.0], mean) == (3.0, 3.0)
    assert all(isnan(end) for end in bootstrap([], mean))
    assert all(isnan(end) for end in bootstrap([1.0], lambda items: float("nan")))


# -- ranks ---------------------------------------------------------------------------------------------------


def test_the_mean_reciprocal_rank_by_hand() -> None:
    assert reciprocal_rank([1, 2, None, 4]) == pytest.approx((1 + 1 / 2 + 0 + 1 / 4) / 4)
    assert isnan(reciprocal_rank([]))


@given(ranks, st.randoms())
def test_the_mean_reciprocal_rank_is_exact_bounded_and_blind_to_the_order(
    found: list[int | None], random: object
) -> None:
    exact = sum((Fraction(1, rank) for rank in found if rank), Fraction()) / len(found)
    assert reciprocal_rank(found) == pytest.approx(float(exact))
    shuffled = found[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert reciprocal_rank(shuffled) == pytest.approx(float(exact))
    first = sum(rank == 1 for rank in found) / len(found)
    assert first - 1e-12 <= reciprocal_rank(found) <= 1


# -- probabilities -------------------------------------------------------------------------------------------


def test_the_brier_score_by_hand() -> None:
    assert brier([Stated(0.9, True), Stated(0.6, False), Stated(0.5, True)]) == pytest.approx((0.01 + 0.36 + 0.25) / 3)
    assert isnan(brier([]))


@given(st.lists(st.tuples(st.sampled_from([0.05, 0.35, 0.55, 0.75, 0.95]), st.booleans()), min_size=1, max_size=80))
def test_the_brier_score_is_murphys_sum_of_reliability_resolution_and_uncertainty(
    pairs: list[tuple[float, bool]],
) -> None:
    """A. H. Murphy, J. Applied Meteorology 12 (1973): exact where each bin has one probability."""
    stated = [Stated(*pair) for pair in pairs]
    base = np.mean([true for _, true in pairs])
    rows = reliability(stated)
    unreliable = sum(row.count * (row.stated - row.true) ** 2 for row in rows) / len(pairs)
    resolved = sum(row.count * (row.true - base) ** 2 for row in rows) / len(pairs)
    assert brier(stated) == pytest.approx(unreliable - resolved + base * (1 - base))


def test_the_calibration_error_by_hand() -> None:
    # 0.80..0.90: three, stated 0.84 on average, two of three right; 0.50..0.60: one, stated 0.55, wrong.
    stated = [Stated(0.8, True), Stated(0.85, True), Stated(0.87, False), Stated(0.55, False)]
    assert calibration_error(stated) == pytest.approx((3 * abs(0.84 - 2 / 3) + 0.55) / 4)
    assert isnan(calibration_error([]))


def test_the_rows_of_a_reliability_table_hold_their_lower_end_and_the_last_one_both() -> None:
    rows = reliability([Stated(0.0, False), Stated(0.5, True), Stated(1.0, True), Stated(0.95, False)])
    assert [(row.low, row.count, row.true) for row in rows] == [(0.0, 1, 0.0), (0.5, 1, 1.0), (0.9, 2, 0.5)]


@given(statements, st.randoms())
def test_calibration_is_that_of_numpys_histograms_bounded_and_blind_to_the_order(
    stated: list[Stated], random: object
) -> None:
    probability = np.array([each.probability for each in stated])
    true = np.array([each.true for each in stated], dtype=float)
    edges = np.array([k / 10 for k in range(11)])
    # Signed differences add up within a bin, so that |Σ(p − t)| over the bins is the error.
    index = np.minimum((probability * 10).astype(int), 9)
    sums = np.histogram(index + 0.5, bins=np.arange(11), weights=probability - true)[0]
    assert len(edges) == 11
    assert calibration_error(stated) == pytest.approx(np.abs(sums).sum() / len(stated))
    shuffled = stated[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert calibration_error(shuffled) == pytest.approx(calibration_error(stated))
    assert brier(shuffled) == pytest.approx(brier(stated))
    assert 0 <= calibration_error(stated) <= 1
    # By Jensen's inequality the error is never above the mean distance, whose square is never above the Brier score.
    assert calibration_error(stated) ** 2 <= brier(stated) + 1e-12
