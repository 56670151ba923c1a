"""A model's answer to a real question: what becomes a hypothesis or a statement, and what is dropped alone."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chathpc
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.facts import Facts
from chathpc.profile.text import estimate_tokens
from chathpc.reading.answer import Reading, problem, read
from chathpc.reading.question import Question, question

DATABASE = Path(__file__).parents[2] / "examples" / "omp-triangle" / "database"
BY = "a model"


@cache
def asked() -> Question:
    profile = chathpc.load(DATABASE)
    facts = Facts(profile)
    return question(profile, facts, diagnose(profile, facts), "100.0% main")


def place_of(function: str) -> str:
    return next(each.id for each in asked().listed if each.place.function == function)


def hypothesis(**changed: object) -> dict[str, object]:
    return {
        "cause": "omp-load-imbalance",
        "name": "",
        "place": place_of("triangular_work"),
        "confidence": "likely",
        "mechanism": "The inner loop of `triangular_work` grows with the outer index, so {P1} waits for {E1}.",
        "cites": ["E1", "P1"],
        "against": "",
        "change": [],
        **changed,
    }


def answer(*hypotheses: object, statements: object = ()) -> Reading:
    return read(json.dumps({"hypotheses": hypotheses, "statements": list(statements)}), asked(), BY)  # type: ignore[call-overload]


def dropped(reading: Reading) -> list[str]:
    return [each.dropped_because for each in reading.statements if each.dropped_because]


def test_names_and_lines_of_the_tree_and_of_places_may_be_said_and_no_others() -> None:
    profile = chathpc.load(DATABASE)
    facts = Facts(profile)
    bare = question(profile, facts, diagnose(profile, facts), "100.0% main\n  5.0% only_here mesh.c:7", source=False)
    said = [
        ("`only_here` waits at {mesh.c:7}.", True),
        ("`elsewhere` waits.", False),
        ("It waits at {mesh.c:8}.", False),
    ]
    told = json.dumps(
        {"hypotheses": [], "statements": [{"kind": "reading", "text": text, "cites": []} for text, _ in said]}
    )
    assert [each.dropped_because is None for each in read(told, bare, BY).statements] == [right for _, right in said]


def test_the_question_has_facts_places_source_tree_and_causes_in_their_room() -> None:
    user = asked().user
    for part in ("measured facts", "places", "source", "call tree", "causes", "not measured"):
        assert f"<<{part} " in user, part
    assert "schedule(static)" in user
    assert "ˆ" not in user
    assert estimate_tokens(asked().system + user) <= 8000
    assert "mpi-late-sender" not in asked().causes
    assert "gpu-h2d-copy-bound" not in asked().causes
    assert "omp-load-imbalance" in asked().causes


def test_a_hypothesis_that_holds_becomes_a_record_with_its_place_and_share() -> None:
    found = answer(hypothesis()).hypotheses
    assert len(found) == 1
    assert (found[0].cause, found[0].where.function, found[0].status, found[0].by) == (
        "omp-load-imbalance",
        "triangular_work",
        "suspected",
        BY,
    )
    assert found[0].share is not None
    assert "{" not in found[0].mechanism
    assert found[0].cites[0] == "E1"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"cause": "cosmic-rays"}, "not a listed cause"),
        ({"cause": "mpi-late-sender"}, "not a listed cause"),
        ({"place": "P99"}, "not a listed place"),
        ({"cause": "other", "name": ""}, "no name"),
        ({"cause": "other", "name": "call 4711"}, "number"),
        ({"name": ["a"]}, "name"),
        ({"mechanism": 7}, "mechanism"),
    ],
)
def test_what_is_typed_wrongly_is_no_hypothesis(changed: dict[str, object], why: str) -> None:
    found = answer(hypothesis(**changed), hypothesis())
    assert len(found.hypotheses) == 1
    assert any(why in each for each in dropped(found))


def test_what_is_likely_stands_first_and_else_the_order_is_the_models() -> None:
    """Whatever part of the time the places have: a small one first, the larger one behind it."""
    small, large = hypothesis(place=place_of("jacobi_sweep")), hypothesis(cause="strided-access")
    found = answer(hypothesis(confidence="possible", cause="memory-latency"), small, large)
    assert [each.cause for each in found.hypotheses] == ["omp-load-imbalance", "strided-access", "memory-latency"]
    shares = [each.share or 0.0 for each in found.hypotheses]
    assert shares[0] < shares[1]


def test_confidence_in_other_words_is_a_possibility_and_null_is_nothing() -> None:
    for word in ("certain", "high", 0.9, ["likely"], {}):
        assert [each.confidence for each in answer(hypothesis(confidence=word)).hypotheses] == ["possible"]
    found = answer(hypothesis(name=None, change=None, against=None))
    assert [each.confidence for each in found.hypotheses] == ["likely"]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"mechanism": "It is 40 times as slow."}, "number"),
        ({"against": "See `no_such_function` first."}, "no_such_function"),
        ({"cites": ["E1", "E999"]}, "E999"),
        ({"cites": ["E1", "stencil_omp.c:99999"]}, "99999"),
        ({"change": [{"file": "stencil_omp.c", "search": "no such line", "replace": ""}]}, "the change"),
    ],
)
def test_a_part_that_does_not_hold_is_dropped_alone(changed: dict[str, object], why: str) -> None:
    found = answer(hypothesis(**changed))
    assert len(found.hypotheses) == 1
    assert any(why in each for each in dropped(found))
    told = found.hypotheses[0]
    assert "40" not in told.mechanism
    assert not told.change
    assert "E999" not in told.cites


def test_statements_are_kept_or_dropped_one_by_one() -> None:
    found = answer(
        statements=[
            {"kind": "reading", "text": "The loop over `i` is shared out evenly by count.", "cites": ["E1"]},
            {"kind": "advice", "text": "Use 99 threads.", "cites": []},
            {"kind": "order", "text": "Do it.", "cites": []},
            "no object",
        ]
    )
    assert [each.dropped_because is None for each in found.statements] == [True, False, False, False]
    assert found.statements[0].cites == ["E1"]


def test_lines_and_places_can_be_cited() -> None:
    shown = asked().shown
    name = next(iter(shown.lines))
    line = shown.numbered(name)[0][0]
    cite = f"{shown.labels[name]}:{line}"
    assert cite in answer(hypothesis(cites=[cite, "{E1}"])).hypotheses[0].cites


def test_a_change_of_a_shown_line_is_told_as_edits_to_be_tried() -> None:
    name = next(name for name in asked().shown.lines if "stencil" in name)
    line = next(text for _, text in asked().shown.numbered(name) if "total) schedule(static)" in text)
    edit = {"file": asked().shown.labels[name], "search": line, "replace": line.replace("static", "guided")}
    found = answer(hypothesis(change=[edit])).hypotheses[0]
    assert found.trial == "change"
    assert "guided" in found.change[0].replace


def test_more_than_three_hypotheses_are_not_looked_at() -> None:
    assert len(answer(*[hypothesis()] * 9).hypotheses) == 3


def test_the_form_of_an_answer_is_told() -> None:
    assert problem('{"hypotheses": [], "statements": []}') == ""
    assert problem('```json\n{"hypotheses": [], "statements": []}\n```') == ""
    assert "JSON" in problem("The program is slow.")
    assert "statements" in problem('{"hypotheses": []}')
    assert "JSON" in problem("[" * 100_000)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=20),
        lambda each: (
            st.lists(each)
            | st.dictionaries(
                st.text(max_size=12) | st.sampled_from(["hypotheses", "statements", "cause", "change"]), each
            )
        ),
    )
)
def test_no_answer_raises(data: object) -> None:
    read(json.dumps(data), asked(), BY)
    read(json.dumps({"hypotheses": data, "statements": data}), asked(), BY)


def test_what_was_measured_against_a_cause_refutes_a_hypothesis_of_it() -> None:
    found = answer(hypothesis(cause="allocation-churn"), hypothesis()).hypotheses
    by_cause = {each.cause: each for each in found}
    assert by_cause["allocation-churn"].status == "refuted"
    assert "Allocating and releasing memory takes" in by_cause["allocation-churn"].against[0]
    assert not by_cause["allocation-churn"].is_shown
    assert by_cause["omp-load-imbalance"].status == "suspected"
