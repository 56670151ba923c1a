from __future__ import annotations

from dataclasses import replace
from math import erf, exp, log, sqrt

import pytest

from chathpc.diagnosis.draft import Draft, Spread, belief, confidence, fact, of_total, share_here
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Place
from tests.diagnosis.parts import main
from tests.profile.build import build, line

FACTS = Facts(build(main(line("app.c:2", time=2.0))))  # 400 samples of 5 ms
DRAFT = Draft("hot-compute", Place(), "", cost=1.0, share=0.5, evidence=(), threshold=0.1)


def odds(probability: float) -> float:
    return probability / (1 - probability)


def test_each_further_sign_multiplies_the_odds_up_to_the_third() -> None:
    one, two, three = (odds(belief(signs)) for signs in (1, 2, 3))
    assert one < two < three
    assert two / one == pytest.approx(three / two)
    assert belief(4) == belief(3)
    assert [confidence(FACTS, replace(DRAFT, signs=signs))[0] for signs in (1, 2, 3)] == [0.84, 0.95, 0.98]


def test_each_thing_against_a_finding_divides_the_odds() -> None:
    none, one, two = (odds(belief(2, against)) for against in (0, 1, 2))
    assert none > one > two
    assert none / one == pytest.approx(one / two)
    value, words = confidence(FACTS, replace(DRAFT, against=("a", "b")))
    assert value == round(belief(1, 2), 2)
    assert words == "1 independent sign, share accurate to ±2.5 percentage points (400 samples), 2 things against it"
    assert confidence(FACTS, replace(DRAFT, against=("a",), signs=2))[1].endswith("1 thing against it")


def test_a_share_near_the_threshold_may_be_below_it() -> None:
    # The error of 0.12 with 400 samples is sqrt(0.12 × 0.88 / 400) = 0.01625, so 0.10 is 1.23 standard errors away.
    error = sqrt(0.12 * 0.88 / 400)
    above = 0.5 * (1 + erf(0.02 / error / sqrt(2)))
    assert above == pytest.approx(0.891, abs=0.001)
    assert confidence(FACTS, replace(DRAFT, share=0.12))[0] == round(belief(1) * above, 2) == 0.75


def test_a_share_at_the_threshold_is_above_it_with_one_half() -> None:
    assert confidence(FACTS, replace(DRAFT, share=0.1))[0] == round(belief(1) / 2, 2)


def test_a_share_that_was_timed_has_no_sampling_error() -> None:
    value, words = confidence(FACTS, replace(DRAFT, share=0.11, samples=0, signs=2))
    assert value == round(belief(2), 2)
    assert words == "2 independent signs, times measured, not sampled"


def test_a_share_beyond_the_whole_does_not_break_the_formula() -> None:
    assert confidence(FACTS, replace(DRAFT, share=1.3))[0] == round(belief(1), 2)


def test_amounts_are_written_with_their_part_of_the_total() -> None:
    assert of_total(FACTS, 0.5) == "500 ms of 2.00 s (25.0 %)"


def test_what_other_places_have_of_a_cost_is_said_where_it_is_worth_it() -> None:
    assert share_here(FACTS, 0.5, 1.0) == "25.0 % of the time (50.0 % program-wide)"
    assert share_here(FACTS, 0.96, 1.0) == "48.0 % of the time"
    assert share_here(FACTS, 0.5, 0.5, of="the thread time") == "25.0 % of the thread time"


def test_evidence_names_its_tool_and_metric() -> None:
    item = fact(FACTS, "It takes 1.00 s.", 1, subject="it", how="by hand")
    assert (item.value, item.unit, item.source, item.metric) == (1.0, "s", "test, CPU.TIME: by hand", "cpu.time")
    other = fact(FACTS, "It moves 2 B.", 2, subject="it", how="by hand", unit="bytes", metric="io.read.bytes")
    assert other.source == "test, io.read.bytes: by hand"


# -- locations -----------------------------------------------------------------------------------------------


def chance(draft: Draft) -> float:
    """The part of the confidence of a timed draft with one sign that is not belief."""
    return confidence(FACTS, replace(draft, samples=0))[0] / belief(1)


def test_a_spread_from_few_locations_is_less_certain_than_one_from_many() -> None:
    # ln(0.2 / 0.1) = 0.693 in standard errors of 1 / sqrt(2 (n − 1)): 0.98, 1.70, 3.80.
    found = [chance(replace(DRAFT, share=0.2, spread=Spread(count, "ranks"))) for count in (2, 4, 16)]
    expected = [0.5 * (1 + erf(log(2) * sqrt(2 * (count - 1)) / sqrt(2))) for count in (2, 4, 16)]
    assert expected == pytest.approx([0.836, 0.955, 1.0], abs=0.001)
    assert found == pytest.approx(expected, abs=0.006)  # the confidence is rounded to 0.01


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0, 4.0])
def test_a_spread_is_never_said_surer_than_the_distribution_of_a_variance_makes_it(ratio: float) -> None:
    # (n − 1) s² / σ² is χ² with n − 1 degrees of freedom, whose distribution has closed forms for 1, 2 and 4.
    exact = {
        2: erf(ratio / sqrt(2)),
        3: 1 - exp(-(ratio**2)),
        5: 1 - exp(-2 * ratio**2) * (1 + 2 * ratio**2),
    }
    for count, probability in exact.items():
        found = chance(replace(DRAFT, share=0.1 * ratio, spread=Spread(count, "threads")))
        assert found <= probability + 0.006
        assert found >= probability - 0.2


def test_the_errors_of_samples_and_of_locations_add_up_as_squares() -> None:
    # Sampling: sqrt(0.2 × 0.8 / 400) = 0.02. Four ranks: 0.1 / ln 2 / sqrt(6) = 0.0589. Together 0.0622.
    value, words = confidence(FACTS, replace(DRAFT, share=0.2, spread=Spread(4, "ranks")))
    assert value == round(belief(1) * 0.5 * (1 + erf(0.1 / 0.0622 / sqrt(2))), 2)
    assert words == (
        "1 independent sign, share accurate to ±2.0 percentage points (400 samples), spread from 4 ranks accurate to a factor of 1.5"
    )


def test_threads_of_several_processes_are_compared_each_with_their_own() -> None:
    assert Spread(8, "threads", groups=4).error == Spread(5, "threads").error == pytest.approx(1 / sqrt(8))


def test_a_spread_without_a_threshold_or_a_share_is_as_sure_as_its_signs() -> None:
    spread = Spread(2, "devices")
    assert confidence(FACTS, replace(DRAFT, samples=0, threshold=0.0, spread=spread))[0] == round(belief(1), 2)
    assert confidence(FACTS, replace(DRAFT, samples=0, share=0.0, threshold=0.0, spread=spread))[0] == round(
        belief(1), 2
    )


# -- tools ---------------------------------------------------------------------------------------------------


def test_each_tool_that_agrees_multiplies_the_odds_like_a_sign_and_beyond_the_third() -> None:
    factor = odds(belief(2)) / odds(belief(1))
    assert odds(belief(1, agreeing=1)) == pytest.approx(odds(belief(2)))
    assert odds(belief(3, agreeing=1)) / odds(belief(3)) == pytest.approx(factor)
    assert odds(belief(1, 1, agreeing=2)) / odds(belief(1, 1)) == pytest.approx(factor**2)
    value, words = confidence(FACTS, replace(DRAFT, agreeing=("Darshan",)))
    assert value == round(belief(2), 2)
    assert words.startswith("1 independent sign, 2 tools agree, share accurate")
