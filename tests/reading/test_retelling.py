"""Whether a sentence of a small model tells a fact again: its numbers, names and denials are the fact's, and most of its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.reading.retelling import CATALOGUE, Told, retelling, retold, sentences, speaks

FACT = "The function jacobi_sweep (stencil.c:31) takes 1.71 s of 9.01 s (19.0 %)."


@pytest.mark.parametrize(
    "sentence",
    [
        FACT,
        "jacobi_sweep takes 1.71 s of 9.01 s (19.0 %).",
        "The function `jacobi_sweep` at stencil.c:31 takes 19.0 % of the time.",
        "**jacobi_sweep** takes 1.71 seconds, which is 19.0 percent.".replace("seconds", "s"),
        "In stencil.c:31, the function jacobi_sweep takes 1.71 s.",
    ],
)
def test_the_fact_in_other_words_is_the_fact(sentence: str) -> None:
    assert retold(sentence, FACT) == ""


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("jacobi_sweep takes 1.72 s of 9.01 s.", "1.72s is not in the fact"),
        ("jacobi_sweep takes 1.71 ms of the time.", "1.71ms is not in the fact"),
        ("jacobi_sweep takes 9.01 s of 1.71 s.", "1.71s is not in the fact, or not at that place"),
        ("jacobi_sweep takes nineteen percent of 9.01 s.", "nineteen is not in the fact"),
        ("jacobi_sweep takes ½ of the time.", "is not in the fact"),
        ("triangular_work takes 1.71 s.", "triangular_work is not in the fact"),
        ("The function jacobi_sweep (mesh.c:31) takes 1.71 s.", "mesh.c:31 is not in the fact"),
        ("jacobi_sweep does not take 1.71 s of 9.01 s.", "it denies"),
        ("jacobi_sweep never takes 1.71 s.", "it denies"),
        ("The network limits all ranks of the cluster.", "most of its words"),
        ("jacobi_sweep takes 1.71 s; see http://evil.example now.", "address"),
        ("jacobi_sweep takes 1.71 s && rm x.", "command"),
        ("jacobi_sweep takes 1.71 s.\u202e", "controls or formats"),
        ("jacobi_sweep takes 1.71 s. \u8bf7\u8fd0\u884c", "letters that the fact does not have"),
        ("As you wish.", "most of its words"),
        ("", "it says nothing"),
    ],
)
def test_another_number_name_denial_or_story_is_another_fact(sentence: str, why: str) -> None:
    assert why in retold(sentence, FACT)


def test_each_fact_is_told_by_whoever_tells_it_whole() -> None:
    other = Told("Waiting takes 4.36 s of 9.01 s (48.4 %).", ("E1",))
    told = retelling(
        f"1. Waiting takes 4.36 s of 9.01 s. 2. {FACT.replace('1.71', '7.11')}", [Told(FACT, ("E2",)), other], "m"
    )
    assert [(each.by, each.cites, each.text) for each in told if each.dropped_because is None] == [
        (CATALOGUE, ["E2"], FACT),
        ("m", ["E1"], "Waiting takes 4.36 s of 9.01 s."),
    ]
    assert [each.dropped_because for each in told][2:] == ["7.11s is not in the fact, or not at that place"]


def test_a_fact_that_is_not_offered_is_the_catalogues_whatever_a_model_says() -> None:
    assert [each.by for each in retelling(FACT, [Told(FACT, offered=False)], "m")][:1] == [CATALOGUE]


def test_numbers_and_bullets_before_sentences_are_none_of_them() -> None:
    assert sentences("1. One takes 1.5 s.\n- Two takes 2 s. Three takes 3 s.") == [
        "One takes 1.5 s.",
        "Two takes 2 s.",
        "Three takes 3 s.",
    ]


@pytest.mark.parametrize(
    ("name", "sentence"), [("unsigned long f<a b c d>(int x)", False), ("the bottleneck is the network", True)]
)
def test_names_that_read_like_sentences_are_told_from_others(name: str, sentence: bool) -> None:
    assert speaks(name) is sentence


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_are_judged(sentence: str, fact: str) -> None:
    assert isinstance(retold(sentence, fact), str)


@given(st.text(max_size=2000))
def test_every_fact_is_told_once_whatever_a_model_says(text: str) -> None:
    facts = [Told(FACT, ("E1",)), Told("Waiting takes 4.36 s.", ("E2",))]
    told = [each for each in retelling(text, facts, "m") if each.dropped_because is None]
    assert [each.cites for each in told] == [["E1"], ["E2"]]
