"""Intervals of shares against published values, exact binomial tails and simulation; outliers against arithmetic."""

from __future__ import annotations

from math import comb, inf, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chathpc.diagnosis.statistics import (
    far,
    interval,
    is_above,
    outliers,
    robust_scores,
    spread_error,
    standard_error,
)

shares = st.integers(0, 10**6).map(lambda number: number / 10**6)
counts = st.integers(1, 10**7)


# -- shares ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hits", "samples", "low", "high"),
    [
        # R 4, prop.test(x, n, correct = FALSE)$conf.int, which is Wilson's interval (z = 1.959964).
        (0, 10, 0.0000, 0.2775),
        (1, 10, 0.0179, 0.4042),
        (5, 10, 0.2366, 0.7634),
        (81, 263, 0.2553, 0.3662),  # Newcombe, Stat. Med. 17:857, 1998, table I, method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)  # fmt: skip
def test_the_interval_has_the_published_values(hits: int, samples: int, low: float, high: float) -> None:
    assert interval(hits / samples, samples, 1.959964) == pytest.approx((low, high), abs=5e-5)


@given(shares, counts, st.floats(0.5, 5))
def test_the_ends_of_the_interval_are_z_standard_errors_from_the_share(share: float, n: int, z: float) -> None:
    # What defines Wilson's interval: seen from its end p, the share is z × sqrt(p(1−p)/n) away.
    low, high = interval(share, n, z)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
    for end in (low, high):
        if 1e-12 < end < 1 - 1e-12:  # closer to the ends rounding is more than what the root is taken of
            assert abs(share - end) == pytest.approx(z * sqrt(end * (1 - end) / n), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(("share", "n"), [(0.02, 400), (0.05, 1000), (0.3, 150), (0.5, 2000)])
def test_the_interval_covers_the_truth_as_often_as_it_says(share: float, n: int) -> None:
    # Two standard errors: 95.45 % of all samples; Wilson's interval is within 2 % of that for these (Brown et al. 2001).
    found = np.random.default_rng(7).binomial(n, share, 4000) / n
    covered = np.mean([low <= share <= high for low, high in (interval(float(each), n, 2.0) for each in found)])
    assert covered == pytest.approx(0.9545, abs=0.02)


@given(shares, shares, counts)
def test_more_samples_never_turn_a_finding_into_none(share: float, threshold: float, n: int) -> None:
    assume(share - threshold > 1e-9 or share < threshold)
    if is_above(share, threshold, n, 3.0):
        assert share >= threshold
        assert is_above(share, threshold, 10 * n, 3.0)
        assert is_above(share, threshold, inf, 3.0)


@pytest.mark.parametrize(("n", "threshold"), [(100, 0.05), (300, 0.1), (1000, 0.02)])
def test_chance_alone_is_hardly_ever_a_finding(n: int, threshold: float) -> None:
    # Exact: the probability that a true share right at the threshold is found to be above it by three standard errors.
    false = sum(
        comb(n, hits) * threshold**hits * (1 - threshold) ** (n - hits)
        for hits in range(n + 1)
        if is_above(hits / n, threshold, n, 3.0)
    )
    assert false < 0.006  # the normal tail is 0.00135; small shares are skewed


def test_two_per_cent_of_thirty_samples_is_no_finding() -> None:
    assert not is_above(0.12, 0.10, 30, 3.0)
    assert is_above(0.12, 0.10, 100_000, 3.0)


def test_times_that_were_measured_have_no_sampling_error() -> None:
    assert standard_error(0.3, inf) == 0
    assert interval(0.3, inf, 3) == (0.3, 0.3)
    assert is_above(0.3, 0.3, inf, 3)
    assert not is_above(0.2999, 0.3, inf, 3)


def test_no_samples_know_nothing() -> None:
    assert standard_error(0.3, 0) == 1
    assert interval(0.3, 0, 3) == (0, 1)
    assert not is_above(1.0, 0.1, 0, 3)


@pytest.mark.parametrize(("share", "n", "error"), [(0.5, 100, 0.05), (0.1, 900, 0.01), (0.0, 10, 0.0)])
def test_the_standard_error_is_that_of_the_binomial(share: float, n: float, error: float) -> None:
    assert standard_error(share, n) == pytest.approx(error)


# -- locations -------------------------------------------------------------------------------------------------


def test_scores_are_deviations_from_the_median() -> None:
    # Median 3, deviations 2 1 0 1 97: MAD 1.
    assert robust_scores(np.array([1.0, 2, 3, 4, 100])) == pytest.approx(np.array([-2, -1, 0, 1, 97]) / 1.4826)


def test_where_most_are_equal_the_mean_deviation_takes_the_place_of_the_mad() -> None:
    # Deviations 0 0 0 0 10, mean 2.
    assert robust_scores(np.array([5.0, 5, 5, 5, 15]))[4] == pytest.approx(10 / (1.2533 * 2))


@pytest.mark.parametrize("values", [[], [1.0], [2.0, 2.0, 2.0]])
def test_equal_values_have_no_scores(values: list[float]) -> None:
    assert not robust_scores(np.array(values)).any()


def test_one_slow_rank_of_sixty_four_stands_out() -> None:
    values = np.random.default_rng(1).normal(1.0, 0.01, 64)
    values[17] = 1.3
    assert outliers(values, z=3.5, min_ratio=1.1).tolist() == [17]


def test_the_largest_comes_first() -> None:
    values = np.array([1.0] * 20 + [2.0, 3.0])
    assert outliers(values, z=3.5, min_ratio=1.1).tolist() == [21, 20]


def test_a_small_difference_is_none_however_even_the_others_are() -> None:
    assert not len(outliers(np.array([1.0] * 31 + [1.05]), z=3.5, min_ratio=1.1))


def test_a_spread_that_all_have_makes_nobody_stand_out() -> None:
    assert not len(outliers(np.linspace(1, 2, 40), z=3.5, min_ratio=1.1))


def test_few_samples_make_nobody_stand_out() -> None:
    # 10 samples against 16: sqrt(26) = 5.1 is the error of the difference.
    values = np.array([1.0] * 31 + [1.6])
    assert not len(outliers(values, z=3.5, min_ratio=1.1, samples_each=10))
    assert outliers(values, z=3.5, min_ratio=1.1, samples_each=1000).tolist() == [31]


@pytest.mark.parametrize("values", [[1.0, 1.0, 9.0], [0.0, 0.0, 0.0, 5.0]])
def test_three_values_and_a_median_of_zero_have_no_level_to_stand_out_from(values: list[float]) -> None:
    assert not len(outliers(np.array(values), z=3.5, min_ratio=1.1))


def test_what_is_far_from_a_middle_is_so_against_the_others_and_by_itself() -> None:
    distances = np.array([1.0, 2.0, 1.0, 9.0, 2.0, 11.0])  # median 2
    assert far(distances, times=4, least=0).tolist() == [3, 5]
    assert far(distances, times=4, least=10).tolist() == [5]
    assert not len(far(np.zeros(0), times=4, least=0))


@given(st.lists(st.floats(0, 1e6), min_size=4, max_size=50), st.floats(0.01, 100))
def test_another_unit_changes_nothing(values: list[float], factor: float) -> None:
    array = np.array(values)
    scores = robust_scores(array)
    if np.isfinite(scores).all() and array.max() > 1e-3:
        assert robust_scores(array * factor) == pytest.approx(scores, rel=1e-6, abs=1e-6)


def test_a_spread_is_known_the_better_the_more_values_show_it() -> None:
    assert [spread_error(count) for count in (2, 3, 9, 51)] == pytest.approx([1 / sqrt(2), 0.5, 0.25, 0.1])
    assert spread_error(12, groups=4) == pytest.approx(0.25)
    assert spread_error(1) == spread_error(2)  # nothing is compared with itself


def test_the_error_of_a_spread_is_that_of_many_drawn_ones() -> None:
    drawn = np.random.default_rng(7).normal(size=(20_000, 16)).std(axis=1, ddof=1)
    assert spread_error(16) == pytest.approx(float(np.log(drawn).std()), rel=0.05)
