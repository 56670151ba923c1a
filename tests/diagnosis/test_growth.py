"""Growth that other runs show is evidence of a quadratic algorithm."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.diagnosis.diagnose import diagnose
from chathpc.profile.remark import GrownPlace
from tests.diagnosis.parts import function, main
from tests.profile.build import build

SIZES = (1000.0, 2000.0, 4000.0)


def grown(low: float) -> GrownPlace:
    return GrownPlace("pairs", "a.c", 7, "n", (2.0, low, 2.1), SIZES, tuple(size**2 / 1e7 for size in SIZES), "s")


def test_a_function_that_grows_faster_than_the_problem_is_a_quadratic_algorithm_by_measurement() -> None:
    profile = build(main(function("pairs", time=1.6), function("fill", time=0.4)), timed=True)
    assert all(each.cause != "quadratic-algorithm" for each in diagnose(profile).findings)
    found = diagnose(replace(profile, grown=(grown(1.9),)))
    first = found.findings[0]
    assert (first.cause, first.status, first.where.function, first.where.line) == (
        "quadratic-algorithm",
        "measured",
        "pairs",
        7,
    )
    assert first.share == pytest.approx(0.8)
    assert any("grows as n^2.0 (1.9 to 2.1)" in each.statement for each in found.evidence)
    assert found.blames


@pytest.mark.parametrize("low", [0.4, 1.0, 1.15])
def test_growth_that_may_be_linear_or_of_a_sort_proves_nothing(low: float) -> None:
    profile = build(main(function("pairs", time=1.6), function("fill", time=0.4)), timed=True)
    found = diagnose(replace(profile, grown=(grown(low),)))
    assert all(each.cause != "quadratic-algorithm" for each in found.findings)


def test_a_function_that_is_not_there_or_small_is_no_finding() -> None:
    profile = build(main(function("other", time=1.98), function("pairs", time=0.02)), timed=True)
    found = diagnose(replace(profile, grown=(grown(1.9),)))
    assert all(each.cause != "quadratic-algorithm" for each in found.findings)


@pytest.mark.parametrize(("rest", "against"), [(1.0, 0), (2.0, 1), (None, 1)])
def test_what_grows_like_the_rest_of_the_program_may_only_have_more_data(rest: float | None, against: int) -> None:
    profile = build(main(function("pairs", time=1.6), function("fill", time=0.4)), timed=True)
    first = diagnose(replace(profile, grown=(replace(grown(1.9), rest=rest),))).findings[0]
    assert (first.cause, len(first.against)) == ("quadratic-algorithm", against)
    assert all("n may be the side of a grid or matrix" in each for each in first.against)


def test_the_time_of_a_function_is_told_where_most_of_it_is() -> None:
    profile = build(
        main(function("start", function("pairs", time=0.1)), function("step", function("pairs", time=1.6))), timed=True
    )
    first = diagnose(replace(profile, grown=(grown(1.9),))).findings[0]
    assert first.where.path[-2:] == ("step", "pairs")


def test_growth_like_that_of_the_data_proves_nothing() -> None:
    profile = build(main(function("pairs", time=1.6), function("fill", time=0.4)), timed=True)
    found = diagnose(replace(profile, grown=(replace(grown(1.9), data=2.0),)))
    assert all(each.cause != "quadratic-algorithm" for each in found.findings)
