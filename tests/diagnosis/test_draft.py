from __future__ import annotations

from dataclasses import replace
from math import erf, sqrt

import pytest

from chathpc.diagnosis.draft import Draft, belief, confidence, fact, of_total, share_here
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
    assert words == "1 independent sign, share known to ± 2.5 % points from 400 samples, 2 things against it"
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
    assert share_here(FACTS, 0.5, 1.0) == "25.0 % of the time (50.0 % with other places)"
    assert share_here(FACTS, 0.96, 1.0) == "48.0 % of the time"
    assert share_here(FACTS, 0.5, 0.5, of="the thread time") == "25.0 % of the thread time"


def test_evidence_names_its_tool_and_metric() -> None:
    item = fact(FACTS, "It takes 1.00 s.", 1, subject="it", how="by hand")
    assert (item.value, item.unit, item.source, item.metric) == (1.0, "s", "test, CPU.TIME: by hand", "cpu.time")
    other = fact(FACTS, "It moves 2 B.", 2, subject="it", how="by hand", unit="bytes", metric="io.read.bytes")
    assert other.source == "test, io.read.bytes: by hand"
