"""Intervals and probabilities against published tables and arithmetic by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from chathpc.comparison.noise import Noise, NoiseKind, _outside, _quantile, critical


def noise(kind: NoiseKind, count: int, *periods: float) -> Noise:
    """Noise of values that are small parts of their runs."""
    return Noise(kind, count, np.array(periods), np.full(len(periods), 1e12))


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


#: Percentage points of Student's t, two-sided 5 % (NIST/SEMATECH e-Handbook, 1.3.6.7.2; infinity: normal distribution).
STUDENT = {
    1: 12.706,
    2: 4.303,
    3: 3.182,
    4: 2.776,
    5: 2.571,
    7: 2.365,
    10: 2.228,
    30: 2.042,
    100: 1.984,
    math.inf: 1.960,
}


@pytest.mark.parametrize(("degrees", "t"), STUDENT.items())
def test_quantiles_of_students_distribution(degrees: float, t: float) -> None:
    assert _quantile(degrees) == pytest.approx(t, abs=6e-4)


def test_probabilities_of_one_and_two_degrees_have_closed_forms() -> None:
    for t in (0.0, 0.3, 1.0, 5.0, 80.0):
        assert _outside(t, 1) == pytest.approx(1 - 2 / math.pi * math.atan(t), abs=1e-12)
        assert _outside(t, 2) == pytest.approx(1 - t / math.sqrt(2 + t * t), abs=1e-12)


def test_one_run_a_side_has_the_error_of_counting_its_samples() -> None:
    # 400 samples of 10 ms and 225 of 20 ms: variances 400 × 0.01² and 225 × 0.02², one sample of 0.02 more.
    judged = noise(NoiseKind.SAMPLING, 1, 0.01, 0.02).judge(column(4.0, 4.5))
    assert judged.change[0] == pytest.approx(0.5)
    assert judged.error[0] == pytest.approx(1.959964 * math.sqrt(0.04 + 0.09 + 0.0004), rel=1e-6)
    z = 0.5 / math.sqrt(0.1304)
    assert judged.p[0] == pytest.approx(math.erfc(z / math.sqrt(2)))


def test_repetitions_are_compared_by_welchs_test() -> None:
    # Sides of variance 1 (n = 3) and 4 (n = 3): error² = 1/3 + 4/3, degrees (5/3)² / (1/9/2 + 16/9/2) = 2.94, taken as 2.
    judged = noise(NoiseKind.REPETITIONS, 3, *[0.0] * 6).judge(column(9, 10, 11, 18, 20, 22))
    assert (judged.before[0], judged.after[0], judged.change[0]) == (10, 20, 10)
    assert judged.error[0] == pytest.approx(4.3027 * math.sqrt(5 / 3), rel=1e-4)


def test_repetitions_that_agree_by_luck_still_have_the_error_of_their_samples() -> None:
    same = column(10, 10, 10, 12, 12, 12)
    assert noise(NoiseKind.REPETITIONS, 3, *[0.0] * 6).judge(same).error[0] == 0
    # Variance of a mean of three of 10 s in samples of 1 s, and of one sample: 11 / 3; of 12 s: 13 / 3. 3.97 degrees, so 3.
    counted = noise(NoiseKind.REPETITIONS, 3, *[1.0] * 6).judge(same)
    assert counted.error[0] == pytest.approx(3.1824 * math.sqrt(24 / 3), rel=1e-4)
    # Of 10 s of 40 s: 10 × 3 / 4 and one sample; a whole run has but the one.
    part = replace(noise(NoiseKind.REPETITIONS, 3, *[1.0] * 6), total=np.array([40.0, 40, 40, 48, 48, 48])).judge(same)
    assert part.error[0] == pytest.approx(3.1824 * math.sqrt((8.5 + 10) / 3), rel=1e-4)
    whole = replace(noise(NoiseKind.REPETITIONS, 3, *[1.0] * 6), total=same[:, 0]).judge(same)
    assert whole.error[0] == pytest.approx(2.7764 * math.sqrt(2 / 3), rel=1e-4)


def test_a_single_run_takes_the_variation_of_the_other_side() -> None:
    judged = noise(NoiseKind.REPETITIONS, 3, *[0.0] * 4).judge(column(9, 10, 11, 20))
    # Relative variance 1 / 100: 1 / 3 before, 4 after; degrees (13/3)² / (1/18 + 8) = 2.33.
    assert judged.error[0] == pytest.approx(4.3027 * math.sqrt(1 / 3 + 4), rel=1e-4)


def test_counted_events_have_no_error_and_timed_ones_the_usual_one() -> None:
    exact = noise(NoiseKind.EXACT, 1, 0, 0).judge(column(1000, 1001))
    assert (exact.error[0], exact.p[0]) == (0, 0)
    assumed = noise(NoiseKind.ASSUMED, 1, 0, 0).judge(column(10, 9))
    assert assumed.error[0] == pytest.approx(1.0)  # a tenth of 10


def test_an_assumed_ratio_is_known_to_the_assumed_part_however_far_apart_the_sides_are() -> None:
    ratio = noise(NoiseKind.ASSUMED, 1, 0, 0).ratio(np.array([80.0, 1.0]))
    assert ratio is not None
    assert ratio[1] == pytest.approx(1 / 80 / math.exp(0.1))
    assert ratio[2] == pytest.approx(1 / 80 * math.exp(0.1))


@pytest.mark.parametrize("kind", NoiseKind)
def test_equal_sides_differ_by_nothing(kind: NoiseKind) -> None:
    judged = noise(kind, 1, 0.1, 0.1, 0.1).judge(column(0.1 + 0.2, 0.3, 0.3)) if kind == NoiseKind.REPETITIONS else (
        noise(kind, 1, 0.1, 0.1).judge(column(0.1 + 0.2, 0.3))
    )  # fmt: skip
    assert judged.change[0] == 0
    assert judged.p[0] == 1


def test_a_ratio_has_the_relative_errors_of_both_sides() -> None:
    found = noise(NoiseKind.SAMPLING, 1, 1.0, 1.0).ratio(np.array([399.5, 99.5]))
    assert found is not None
    ratio, low, high = found
    reach = math.exp(1.959964 * math.sqrt(400 / 399.5**2 + 100 / 99.5**2))
    assert (ratio, low, high) == pytest.approx((99.5 / 399.5, 99.5 / 399.5 / reach, 99.5 / 399.5 * reach))
    assert noise(NoiseKind.SAMPLING, 1, 1.0, 1.0).ratio(np.array([0.0, 5.0])) is None


def test_of_many_comparisons_few_are_false_discoveries() -> None:
    # The example of Benjamini and Hochberg (1995), section 4.1: fifteen p-values, of which the first four are discoveries.
    published = [.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344, .0459, .3240, .4262, .5719, .6528, .7590, 1.0]  # fmt: skip
    assert sum(p <= critical(np.array(published)) for p in published) == 4
    assert critical(np.array([0.5, 0.9])) == pytest.approx(0.025)
    assert critical(np.empty(0)) == pytest.approx(0.05)


def test_samples_of_one_distribution_seldom_differ() -> None:
    random = np.random.default_rng(7)
    drawn = random.poisson(400, size=(2, 2000)) * 0.01
    judged = noise(NoiseKind.SAMPLING, 1, 0.01, 0.01).judge(drawn)
    outside = np.mean(np.abs(judged.change) > judged.error)
    assert 0.03 < outside < 0.07
    assert (judged.p <= critical(judged.p)).sum() <= 1


def test_variances_that_are_alike_are_known_better_together() -> None:
    """Twenty functions that vary by 2 % from run to run: three runs of one tell little, those of all of them enough."""
    random = np.random.default_rng(5)
    values = 100 * (1 + 0.02 * random.standard_normal((6, 20)))
    alone = noise(NoiseKind.REPETITIONS, 3, *[0.0] * 6)
    learned = alone.learned(values)
    assert learned.variation == pytest.approx(0.02**2, rel=0.3)
    assert learned.prior > 20
    # Known variances: 1.96 × 2 × sqrt(2 / 3) = 3.2.
    assert learned.judge(values).error == pytest.approx(np.full(20, 3.2), rel=0.35)
    assert alone.judge(values).error.max() > 6


def test_variances_that_are_not_alike_are_not_mixed() -> None:
    random = np.random.default_rng(5)
    spread = np.where(np.arange(40) % 10 == 0, 0.5, 0.001)
    values = 100 * (1 + spread * random.standard_normal((6, 40)))
    alone = noise(NoiseKind.REPETITIONS, 3, *[0.0] * 6)
    assert alone.learned(values).prior == 0
    assert alone.learned(values).judge(values).error == pytest.approx(alone.judge(values).error)


def test_nothing_is_learned_from_few_functions_or_from_single_runs() -> None:
    alone = noise(NoiseKind.REPETITIONS, 3, *[0.0] * 6)
    assert alone.learned(np.ones((6, 3))) is alone
    assert alone.learned(np.zeros((6, 30))) is alone
    assert alone.learned(np.ones((6, 30))) is alone  # no variance at all
    single = noise(NoiseKind.SAMPLING, 1, 1.0, 1.0)
    assert single.learned(np.ones((2, 30))) is single


def test_repetitions_of_one_program_seldom_differ() -> None:
    """Samples counted in runs that also differ by 2 % by themselves."""
    random = np.random.default_rng(11)
    false, trials = 0, 200
    for _ in range(trials):
        values = random.poisson(400 * np.exp(0.02 * random.standard_normal((6, 30)))).astype(float)
        learned = noise(NoiseKind.REPETITIONS, 3, *[1.0] * 6).learned(values)
        p = learned.judge(values).p
        false += bool((p <= critical(p)).any())
    assert false / trials < 0.08


def test_runs_that_are_slower_as_a_whole_seldom_make_functions_differ() -> None:
    """Each run has a speed of its own, and its samples are dealt out to thirty functions: nothing of a function has changed."""
    random = np.random.default_rng(13)
    parts = 1 / np.arange(1, 31)
    false, trials = 0, 200
    for _ in range(trials):
        totals = np.round(2000 * np.exp(0.03 * random.standard_normal(6)))
        values = np.array([random.multinomial(int(total), parts / parts.sum()) for total in totals]).astype(float)
        learned = Noise(NoiseKind.REPETITIONS, 3, np.ones(6), totals).learned(values)
        p = learned.judge(values).p
        false += bool((p <= critical(p)).any())
    assert false / trials < 0.1
