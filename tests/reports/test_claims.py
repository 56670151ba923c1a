"""The claims of a model's sentences, beside them."""

from __future__ import annotations

import json

from chathpc.reports import renderers
from chathpc.reports.style import Style
from tests.reports.sample import sample


def rendered(form: str, *, model: str | None = "a model", claims: bool = True) -> str:
    return renderers()[form](sample(model=model), Style(width=100, claims=claims))


def test_each_claim_stands_below_its_sentence_with_what_it_rests_on() -> None:
    lines = [line.strip() for line in rendered("text").split("Claims", 1)[1].split("\n")]
    assert "3      The program is limited by memory bandwidth. (struck: cause)" in lines
    first = lines.index("2      The busiest thread computes 1.47 s, the idlest 0.34 s. (repaired: number)")
    assert lines[first + 1 : first + 5] == [
        "number 1.47 s: supported by E2",
        "number 0.43 s: repaired by E2",
        "number 4 times: supported by ratio of E1, E2",
        "number 2 s: supported by the profile's table of functions",
    ]
    assert "cause memory bandwidth: struck" in lines


def test_claims_in_markdown_are_lists() -> None:
    text = rendered("markdown").split("## Claims", 1)[1]
    assert "- number 4 times: supported by ratio of E1, E2" in text
    assert "struck: cause" in text


def test_claims_are_shown_only_when_asked_for() -> None:
    for form in ("text", "markdown"):
        assert "memory bandwidth: struck" not in rendered(form, claims=False)


def test_without_a_model_there_is_nothing_to_check() -> None:
    for form in ("text", "markdown"):
        assert "No sentence of a model" in rendered(form, model=None)


def test_sentences_have_the_fields_that_they_always_had_and_claims_only_from_a_model() -> None:
    plain = json.loads(rendered("json", model=None))["explanation"]["sentences"]
    assert {frozenset(sentence) for sentence in plain} == {frozenset({"text", "evidence", "status"})}
    sentences = json.loads(rendered("json"))["explanation"]["sentences"]
    assert [len(sentence.get("claims", [])) for sentence in sentences] == [0, 4, 1]
    assert sentences[2]["reason"] == "cause"
    assert sentences[1]["claims"][2] == {
        "kind": "number", "text": "4 times", "status": "supported", "evidence": ["E1", "E2"], "query": "ratio",
    }  # fmt: skip
