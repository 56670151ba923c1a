"""Laws against series that were computed from a known one, and against arithmetic by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil, log2

import numpy as np
import pytest

from chathpc.errors import UsageError
from chathpc.scale.laws import NORMAL_FORM, ONE, Factor, Fitted, Law, Measurement, fit
from tests.bench.scale import cost, leading

RANKS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


def fitted(
    law: Callable[[float], float], noise: float = 0.0, repetitions: int = 1, points: tuple[float, ...] = RANKS
) -> Fitted:
    rng = np.random.default_rng(7)
    return fit([Measurement({"p": p}, tuple(law(p) * (1 + noise * rng.standard_normal(repetitions)))) for p in points])


def test_the_published_set_has_42_pairs_of_exponents() -> None:
    assert len(set(NORMAL_FORM)) == 42
    assert {(0.0, 1.0), (1.0, 2.0), (11 / 4, 0.0), (3.0, 1.0)} <= set(NORMAL_FORM)
    assert (3.0, 2.0) not in NORMAL_FORM


@pytest.mark.parametrize(
    ("law", "powers"),
    [
        (lambda p: 1 + 0.3 * p, (1.0, 0.0)),
        (lambda p: 0.001 * p**2, (2.0, 0.0)),
        (lambda p: 3 + 2 * log2(p), (0.0, 1.0)),
        (lambda p: 2 + 0.1 * p**1.5 * log2(p), (1.5, 1.0)),
        (lambda p: 100 / p, (-1.0, 0.0)),
    ],
)
def test_an_exact_series_gives_its_law(law: Callable[[float], float], powers: tuple[float, float]) -> None:
    found = fitted(law)
    assert leading(found.law) == {"p": powers}
    assert cost(found.law, {"p": 512.0}) == pytest.approx(law(512.0), rel=0.02)
    assert found.predict({"p": 512.0}).value == pytest.approx(law(512.0), rel=0.2)


def test_what_neither_grows_nor_falls_is_constant() -> None:
    found = fitted(lambda p: 5.0, noise=0.05, repetitions=3)
    assert found.law.kind == "constant"
    held = found.predict({"p": 512.0})
    assert held.low < 5 < held.high
    assert held.high / held.low < 1.2


def test_what_falls_in_few_points_has_a_law_that_goes_by_them() -> None:
    # A sum of a constant and two terms goes through any three points, here with negative coefficients.
    measured = {1.0: (0.533, 0.530, 0.543), 2.0: (0.431, 0.400, 0.410), 4.0: (0.251, 0.232, 0.235)}
    found = fit([Measurement({"p": p}, times) for p, times in measured.items()])
    assert min(found.law.coefficients) > 0
    for p, times in measured.items():
        assert cost(found.law, {"p": p}) == pytest.approx(sum(times) / 3, rel=0.15)
        assert found.predict({"p": p}).value == pytest.approx(sum(times) / 3, rel=0.15)


def test_the_steps_of_a_tree_are_told_from_a_logarithm() -> None:
    found = fitted(lambda p: 1 + ceil(log2(p)), points=(3.0, 5.0, 8.0, 11.0, 16.0, 20.0, 33.0))
    assert found.law.kind == "tree"
    assert cost(found.law, {"p": 100.0}) == pytest.approx(8, rel=0.02)


def test_amdahls_law_ends_at_its_serial_part() -> None:
    found = fitted(lambda p: 2 + 100 / p, noise=0.02, repetitions=3)
    assert leading(found.law) == {"p": (0.0, 0.0)}
    assert found.predict({"p": 512.0}).value == pytest.approx(2 + 100 / 512, rel=0.15)


def test_messages_have_latency_and_bandwidth() -> None:
    sizes = (64.0, 512.0, 4096.0, 32768.0, 262144.0)
    found = fit([Measurement({"bytes": n}, (1e-6 + n / 1e10,)) for n in sizes])
    assert found.law.text.endswith("· bytes")
    assert found.law.coefficients == pytest.approx((1e-6, 1e-10), rel=0.05)


def test_two_parameters_divided_work_and_a_tree() -> None:
    rng = np.random.default_rng(1)
    measured = [
        Measurement({"p": p, "n": n}, tuple((3 * n / p + 5 * log2(p)) * (1 + 0.02 * rng.standard_normal(3))))
        for p in (2.0, 4.0, 8.0, 16.0, 32.0)
        for n in (100.0, 200.0, 400.0, 800.0, 1600.0)
    ]
    found = fit(measured)
    assert leading(found.law) == {"p": (0.0, 1.0), "n": (1.0, 0.0)}
    assert found.predict({"p": 256.0, "n": 12800.0}).value == pytest.approx(190, rel=0.05)


def test_growth_is_the_exponent_over_a_doubling() -> None:
    held = fitted(lambda p: 0.5 * p**2, noise=0.02, repetitions=3).growth("p")
    assert held.low <= 2.0 <= held.high
    assert held.value == pytest.approx(2.0, abs=0.1)


def test_a_law_is_written_as_arithmetic() -> None:
    terms = ((ONE,), (Factor(1 / 3, 1.0),), (Factor(-1.0),), (Factor(1.0),), (Factor(shape="steps"),))
    found = Law("sum", ("p",), terms, (1.2, 0.3, 2.0, 0.25, 5.0))
    assert found.text == "1.2 + 0.3 · p^(1/3) · log2(p) + 2 · p^(−1) + 0.25 · p + 5 · ⌈log2(p)⌉"
    assert cost(found, {"p": 8.0}) == pytest.approx(1.2 + 0.3 * 2 * 3 + 2 / 8 + 2 + 15)
    assert leading(found) == {"p": (1.0, 0.0)}
    assert Law("normal form", ("p",), (), ()).text == "0"


@pytest.mark.parametrize(
    ("points", "at", "said"),
    [
        ((2.0, 4.0), 8.0, "p had 2 values"),
        (RANKS, 64.0 * 65, "more than 64 times the largest measured, 64"),
        (RANKS, 512.0, ""),
    ],
)
def test_what_cannot_be_extrapolated_is_refused(points: tuple[float, ...], at: float, said: str) -> None:
    refusal = fitted(lambda p: 1 + 0.3 * p, points=points).refusal({"p": at})
    assert said in refusal
    assert bool(said) == bool(refusal)


def test_noise_that_leaves_everything_open_is_refused() -> None:
    values = (1.0, 9.0, 2.0, 30.0, 1.5)
    found = fit([Measurement({"p": p}, (value,)) for p, value in zip((2.0, 3.0, 4.0, 5.0, 6.0), values, strict=True)])
    assert found.refusal({"p": 48.0})


def test_nothing_stays_nothing() -> None:
    found = fitted(lambda p: 0.0)
    assert cost(found.law, {"p": 512.0}) == 0
    assert found.predict({"p": 512.0}).high == 0


def test_a_parameter_below_one_has_no_logarithm() -> None:
    found = fitted(lambda p: 3 * p, points=(0.25, 0.5, 1.0, 2.0, 4.0))
    assert leading(found.law) == {"p": (1.0, 0.0)}


@pytest.mark.parametrize(
    "measured",
    [
        [],
        [Measurement({"p": 1.0}, (1.0,)), Measurement({"n": 1.0}, (1.0,))],
        [Measurement({"p": -1.0}, (1.0,))],
    ],
)
def test_measurements_that_are_none(measured: list[Measurement]) -> None:
    with pytest.raises(UsageError):
        fit(measured)


def test_intervals_hold_the_truth_in_about_four_of_five() -> None:
    rng = np.random.default_rng(11)
    exponents = rng.choice([0.5, 1.0, 1.5, 2.0], 150)
    points = np.array(RANKS)
    truth = 1 + 0.2 * points ** exponents[:, None]
    values = truth[:, :, None] * (1 + 0.03 * rng.standard_normal((150, 6, 3)))
    ranges = [
        fit([Measurement({"p": p}, tuple(each)) for p, each in zip(RANKS, row, strict=True)]).predict({"p": 512.0})
        for row in values.tolist()
    ]
    exact = 1 + 0.2 * 512.0**exponents
    held = np.mean([each.low <= value <= each.high for each, value in zip(ranges, exact, strict=True)])
    assert 0.7 <= held <= 0.95
    assert np.median([abs(each.value / value - 1) for each, value in zip(ranges, exact, strict=True)]) < 0.05


@pytest.mark.parametrize("law", [lambda p: 3.0, lambda p: p / 1e3])
def test_terms_that_are_alike_where_it_was_measured_do_not_grow_beyond(law: Callable[[float], float]) -> None:
    # From 1,000 to 4,000 the terms 1 and 1 − 1/p differ by less than a thousandth: both together explain anything.
    found = fit([Measurement({"p": p}, (law(p), law(p) * 1.02, law(p) * 0.98)) for p in (1e3, 2e3, 4e3)])
    there = found.predict({"p": 8e3})
    assert there.value == pytest.approx(law(8e3), rel=0.02)
    assert there.high < 1.1 * law(8e3)


def test_parts_tell_the_whole_beyond_the_points_where_they_need_more() -> None:
    # At noise of 5 % the law of the whole gives 99 at p = 64 in place of 128, the parts, p and p² / 64, 64 each.
    def of(law: Callable[[float], float]) -> Fitted:
        rng = np.random.default_rng(2)
        points = (1.0, 2.0, 4.0, 8.0, 16.0)
        return fit([Measurement({"p": p}, tuple(law(p) * (1 + 0.05 * rng.standard_normal(3)))) for p in points])

    parts = of(lambda p: p), of(lambda p: p * p / 64)
    whole = replace(of(lambda p: p + p * p / 64), parts=parts)
    there = whole.predict({"p": 64.0})
    assert there.value == pytest.approx(64 + 64, rel=0.05)
    assert there.value >= max(part.predict({"p": 64.0}).value for part in parts)
    # Nor do bounds fall below those of the parts where the whole's own law is the wider and larger one.
    rough = fit([Measurement({"p": p}, (p, 5 * p, 2 * p)) for p in (1.0, 2.0, 4.0, 8.0, 16.0)])
    bounds = [part.predict({"p": 64.0}).low for part in parts]
    assert replace(rough, parts=parts).predict({"p": 64.0}).low >= sum(bounds)
    assert whole.predict({"p": 16.0}) == replace(whole, parts=()).predict({"p": 16.0})


def test_the_law_that_is_shown_has_the_growth_that_is_shown() -> None:
    """Times of a linked-cell program, whose best single law has a power outside the interval of all laws."""
    times = {
        8: (4.5e-3, 4.7e-3, 4.75e-3),
        10: (8.7e-3, 8.5e-3, 8.7e-3),
        12: (14.4e-3, 14.8e-3),
        16: (37.5e-3, 37.3e-3),
        20: (67.7e-3, 68.1e-3),
    }
    record = fit([Measurement({"n": float(n)}, each) for n, each in times.items()]).record("n", [32.0])
    coefficient, _, power = record.text.partition(" · n^")
    assert coefficient
    assert round(record.growth.low, 1) <= float(Fraction(power.strip("()"))) <= round(record.growth.high, 1)


def test_the_law_that_is_shown_gives_what_was_measured_at_the_largest_point() -> None:
    """All pairs, as sampled: the few samples of the smallest sizes draw a single power away from the costs that matter."""
    times = {
        2000: (3.3, 0.0, 0.0),
        4000: (6.0, 5.8, 3.99),
        8000: (24.05, 22.04, 22.04),
        16000: (93.05, 91.85, 90.15),
        32000: (355.85, 369.26, 354.57),
    }
    found = fit([Measurement({"n": float(n)}, each) for n, each in times.items()])
    shown = found.record("n", [64000.0])
    (law,) = (each for each in (found.law, *found.others) if each.text == shown.text)
    assert cost(law, {"n": 32000.0}) == pytest.approx(359.9, rel=0.15)


def test_other_laws_have_no_coefficients_that_were_cut_off() -> None:
    found = fit([Measurement({"p": p}, (0.106, 0.105, 0.104)) for p in (1.0, 2.0, 3.0)])
    assert all(coefficient > 0 for law in found.others for coefficient in law.coefficients)


def test_what_no_law_describes_is_not_extrapolated() -> None:
    """The last of equal blocks of a triangular loop has 2/p − 1/p² of it, which falls the faster the more there are, as no sum of powers does."""
    last = fitted(lambda p: 2 / p - 1 / p**2, noise=0.01, repetitions=3, points=(1.0, 2.0, 4.0))
    assert last.refusal({"p": 16.0}).startswith("even the law that fits best misses a point by ")
    for noise, repetitions in ((0.01, 3), (0.2, 3), (0.0, 1)):
        usual = fitted(lambda p: 0.5 + 2 / p, noise=noise, repetitions=repetitions)
        assert usual.missed == 0.0
