from __future__ import annotations

from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.bench import data, markdown, text
from chathpc.bench.case import Case, Label, Split, Spot
from chathpc.bench.figures import Figures, figures_of
from chathpc.bench.floors import prior
from chathpc.bench.gates import failures, parse_gate
from chathpc.bench.outcome import Answer, Outcome
from chathpc.bench.result import renderers, result_of, shown, table, tables
from chathpc.bench.score import Score, score
from chathpc.errors import UsageError
from chathpc.reports.style import Style


def a_case(name: str, cause: str, **facts: object) -> Case:
    case = Case(
        name=name,
        group="set",
        paths=(Path(name),),
        label=Label.PLANTED,
        cause=cause,
        right=frozenset({cause}),
        family="host",
        origin="set",
        split=Split.SEEN,
        spots=(Spot("f", "f.c", 1, 9),),
    )
    return replace(case, **facts)  # type: ignore[arg-type]


def an_outcome(
    *causes: str, verdict: str = "bottleneck", confidence: float = 0.75, biggest: str = "hot-compute"
) -> Outcome:
    findings = tuple(
        Answer(cause, "f" if place == 0 else "g", file="f.c", line=5, weight=0.2, confidence=confidence)
        for place, cause in enumerate(causes)
    )
    return Outcome(verdict, findings, (Answer(biggest, "f"),), "gprof", seconds=0.5, peak=10_000_000)


#: Three faults (first, third, not found), a healthy program with a false claim, one that cannot be seen with a claim of it, a
#: twin, an expert's case, and one without an answer.
CASES = (
    (a_case("first", "io-bound"), an_outcome("io-bound", biggest="io-bound")),
    (a_case("third", "page-faults"), an_outcome("io-bound", "lock-contention", "page-faults")),
    (a_case("lost", "io-bound", split=Split.HELD_OUT), an_outcome("page-faults")),
    (
        a_case("healthy", "healthy", healthy=True, family="healthy", right=frozenset({"healthy"}), spots=()),
        an_outcome("io-bound", confidence=0.35),
    ),
    (
        a_case(
            "hidden",
            "omp-false-sharing",
            visible=False,
            family="openmp",
            right=frozenset({"healthy", "insufficient-data"}),
        ),
        an_outcome("omp-false-sharing"),
    ),
    (
        a_case("twin", "io-bound", label=Label.TWIN, right=frozenset(), wrong=frozenset({"io-bound"})),
        an_outcome("io-bound"),
    ),
    (
        a_case("app", "hot-compute", label=Label.EXPERT, spots=(), group="apps", wrong=frozenset({"io-bound"})),
        an_outcome("hot-compute", verdict="healthy"),
    ),
    (a_case("damaged", "io-bound", spots=()), Outcome(failure="the file is damaged")),
)


def scores() -> list[Score]:
    return [score(case, outcome) for case, outcome in CASES]


def values(figures: Figures) -> dict[str, float]:
    return {figure.key: figure.value for figure in figures.figures}


def test_the_figures_by_hand() -> None:
    found = values(figures_of("all", scores()))
    # Faults: first, third, lost, app, damaged.
    assert found["detection1"] == pytest.approx(2 / 5)
    assert found["detection3"] == pytest.approx(3 / 5)
    assert found["mrr"] == pytest.approx((1 + 1 / 3 + 0 + 1 + 0) / 5)
    assert found["right1"] == pytest.approx(2 / 7)
    assert found["experts"] == 1
    assert found["function"] == pytest.approx(1 / 3)  # third is told at another function
    assert found["place"] == 1
    assert found["line"] == pytest.approx(2 / 3)
    assert found["function-of-found"] == pytest.approx(1 / 2)
    # Claims: io-bound right; io-bound, lock-contention wrong, page-faults right; page-faults, io-bound, omp-false-sharing wrong;
    # hot-compute right.
    assert found["precision"] == pytest.approx(3 / 8)
    assert found["confidence"] == pytest.approx((7 * 0.75 + 0.35) / 8)
    assert found["brier"] == pytest.approx((3 * 0.0625 + 4 * 0.5625 + 0.1225) / 8)
    assert found["ece"] == pytest.approx((7 * abs(0.75 - 3 / 7) + 0.35) / 8)
    assert (found["false-on-healthy"], found["healthy"], found["unseen"], found["wrong"], found["failed"]) == (
        1,
        0,
        1,
        0,
        1,
    )
    assert found["abstention"] == pytest.approx(5 / 7)
    assert found["abstains"] == 0
    assert found["twins"] == 0
    # The biggest node is right about first and app.
    assert found["biggest1"] == pytest.approx(2 / 5)
    assert found["ahead"] == 0
    assert (found["seconds"], found["memory-most"]) == (0.5, 10_000_000)
    assert isnan(found["second"])
    assert "model-named" not in found


@settings(max_examples=20)  # each resamples thousands of times
@given(st.permutations(range(len(CASES))))
def test_the_order_of_the_cases_changes_no_figure(order: list[int]) -> None:
    found = scores()
    expected = values(figures_of("all", found))
    shuffled = values(figures_of("all", [found[index] for index in order]))
    assert {key: value for key, value in shuffled.items() if not isnan(value)} == pytest.approx(
        {key: value for key, value in expected.items() if not isnan(value)}
    )


@settings(max_examples=20)
@given(st.lists(st.sampled_from(CASES), max_size=12))
def test_figures_of_any_cases_are_in_their_bounds_and_intervals_hold_them(chosen: list[tuple[Case, Outcome]]) -> None:
    for figure in figures_of("all", [score(case, outcome) for case, outcome in chosen]).figures:
        if isnan(figure.value):
            continue
        assert figure.of > 0
        assert figure.value >= (-1 if figure.unit == "points" else 0)
        if figure.unit in ("share", "points") or figure.key in ("mrr", "brier", "ece"):
            assert figure.value <= 1
        if figure.unit == "share" and not isnan(figure.low):
            assert figure.low - 1e-12 <= figure.value <= figure.high + 1e-12


def test_the_prior_names_the_most_frequent_causes_of_the_other_cases() -> None:
    cases = [a_case(str(index), cause) for index, cause in enumerate(["b", "b", "a", "a", "a", "c", "d"])]
    assert prior(cases[0], cases) == ("a", "b", "c")
    assert prior(cases[2], cases) == ("a", "b", "c")  # a and b are then equally frequent
    assert prior(cases[5], cases) == ("a", "b", "d")
    assert prior(replace(cases[0], healthy=True), [cases[0]]) == ("b",)
    assert prior(cases[0], [cases[0], replace(cases[1], healthy=True)]) == ("healthy",)


def test_tables_hold_each_labelled_case_once() -> None:
    rows = table(scores(), lambda each: str(each.case.split))
    assert [(row.name, row.cases, row.first, row.three, row.placed, row.places) for row in rows] == [
        ("held-out", 1, 0, 0, 0, 1),
        ("seen", 6, 2, 3, 1, 2),
    ]
    assert all(sum(row.cases for row in found) == 7 for _, found in tables(scores()))
    assert ("unreadable", 1) in [(row.name, row.cases) for row in dict(tables(scores()))["format"]]


# -- a model's words ---------------------------------------------------------------------------------------------


# -- gates -------------------------------------------------------------------------------------------------------


def gate_failures(*texts: str) -> list[str]:
    result = result_of([case for case, _ in CASES], [outcome for _, outcome in CASES])
    return failures([parse_gate(text) for text in texts], result.whole, result.parts)


def test_a_gate_is_passed_at_its_value_and_missed_beyond() -> None:
    assert gate_failures("detection1=40", "detection3=60", "failed=1", "ece=0.6", "apps:experts=100", "ahead=0") == []
    assert gate_failures("detection1=40.1", "failed=0") == [
        "detection1: at least 40.1 was required, measured: 40.",
        "failed: at most 0 was required, measured: 1.",
    ]
    assert gate_failures("apps:line=1") == ["apps:line: at least 1 was required, measured: no case for it."]


@pytest.mark.parametrize("wrong", ["detection1", "detection1=", "detection1=high", "=3", "detection1=1e999", "a b=3"])
def test_a_requirement_that_is_none_is_wrong_usage(wrong: str) -> None:
    with pytest.raises(UsageError, match="is not NAME=VALUE"):
        parse_gate(wrong)


def test_a_requirement_of_what_is_not_there_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="no figure") as error:
        gate_failures("accuracy=90")
    assert "detection1" in error.value.hint
    with pytest.raises(UsageError, match="no set") as error:
        gate_failures("tests:detection1=90")
    assert error.value.hint == "Sets: set, apps."


# -- pages -------------------------------------------------------------------------------------------------------


def test_every_renderer_shows_the_figures_and_the_cases_that_are_asked_for() -> None:
    result = result_of([case for case, _ in CASES], [outcome for _, outcome in CASES], left_out=(("s", "a series"),))
    assert [each.case.name for each in shown(result.scores, "wrong")] == [
        "third", "lost", "healthy", "hidden", "twin", "damaged",
    ]  # fmt: skip
    for style in (Style(width=80), Style(width=110)):
        page = text.render(result, style, "wrong")
        assert all(len(line) <= style.width for line in page.splitlines())
        assert "40.0 % (12–77) of 5" in page
        assert "the file is damaged" in page
        assert "Excluded: s, a series." in page
    assert "the file is damaged" not in text.render(result, Style(), "none")
    page = markdown.render(result, Style(), "all")
    assert "| Fault named first (detection@1) `detection1` | 25.0 % (5–70) of 4 |" in page
    assert page.count("\n| first |") == 1
    assert "## Cases" not in markdown.render(result, Style(), "none")
    assert set(renderers()) == {"text", "markdown", "json"}


def test_the_page_of_one_set_has_one_column_and_that_of_no_claim_says_so() -> None:
    case, _ = CASES[0]
    result = result_of([case], [an_outcome(verdict="healthy")])
    assert result.whole is result.parts[0]
    assert "| figure | set | asked |" in markdown.render(result, Style(), "none")
    assert "No case." in text.render(result, Style(), "none")


def test_names_of_profiles_and_folders_do_nothing_on_a_page() -> None:
    case, outcome = CASES[2]
    evil = replace(case, name="<script>|x|", group="a|b", origin="[x](http://e.org)", spots=(Spot("f\x1b[31m|"),))
    page = markdown.render(result_of([evil], [outcome]), Style(), "all")
    row = next(line for line in page.splitlines() if "script" in line)
    assert "`<script>" in row
    assert row.replace("\\|", "").count("|") == 5
    assert "[x](http" not in page.replace("`[x](http://e.org)`", "")
    assert "\x1b" not in page
    assert "\x1b" not in text.render(result_of([evil], [outcome]), Style(), "all")


def test_the_json_is_plain_and_says_null_where_there_is_no_case() -> None:
    import json

    result = result_of([case for case, _ in CASES], [outcome for _, outcome in CASES], split="all", llm="local")
    content = json.loads(data.render(result, Style(), "all"), parse_constant=lambda name: pytest.fail(name))
    assert content["schema"] == "chathpc-bench-diagnosis/1"
    assert content["llm"] == "local"
    figures = {figure["key"]: figure for figure in content["all"]["figures"]}
    assert figures["detection1"]["value"] == 0.4
    assert figures["second"]["value"] is None
    assert [part["name"] for part in content["sets"]] == ["set", "apps"]
    assert [part["name"] for part in content["halves"]] == ["seen half", "held-out half"]
    assert [each["name"] for each in content["cases"]] == [case.name for case, _ in CASES]
    assert content["cases"][0]["outcome"]["findings"][0]["cause"] == "io-bound"
    assert content["tables"]["family"][0]["name"] == "healthy"


def test_both_halves_have_their_own_figures() -> None:
    result = result_of([case for case, _ in CASES], [outcome for _, outcome in CASES])
    seen, held = result.halves
    whole = result.whole.get("detection1")
    parts = [half.get("detection1") for half in (seen, held)]
    assert whole is not None
    assert sum(part.of for part in parts if part is not None) == whole.of
    assert sum(part.value * part.of for part in parts if part is not None) == pytest.approx(whole.value * whole.of)
    (one,) = {case.split for case, _ in CASES if case.name == "lost"}
    only = [(case, outcome) for case, outcome in CASES if case.split == one]
    assert not result_of([case for case, _ in only], [outcome for _, outcome in only]).halves
