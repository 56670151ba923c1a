from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.grounding.language.sentences import split


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Threads wait 3.17 s. The rest is fine.", ["Threads wait 3.17 s.", "The rest is fine."]),
        ("It is in heat.c:12. rk4_kernel takes 6.4 s.", ["It is in heat.c:12.", "rk4_kernel takes 6.4 s."]),
        ("Use a clause, e.g. schedule(guided), here.", ["Use a clause, e.g. schedule(guided), here."]),
        ("It takes approx. 3 s. Then it ends", ["It takes approx. 3 s."]),
        ("no full stop at all", []),
        ("Why? Because threads wait!", ["Why?", "Because threads wait!"]),
        ("- One thing\n- Another thing.\n", ["One thing.", "Another thing."]),
        ("1. Threads wait 3.17 s.\n2. Use guided.", ["Threads wait 3.17 s.", "Use guided."]),
        ("Two lines\nof one sentence. Cut", ["Two lines of one sentence."]),
        ("OpenMP 5.2 and std::sort in a.b.c are names.", ["OpenMP 5.2 and std::sort in a.b.c are names."]),
    ],
)
def test_a_full_stop_ends_a_sentence_only_where_it_should(text: str, expected: list[str]) -> None:
    assert list(split(text)) == expected


def test_a_sentence_of_the_structured_form_needs_no_full_stop() -> None:
    assert split("Threads wait. Use guided", whole=True) == ("Threads wait.", "Use guided.")


@given(st.lists(st.sampled_from(["Threads wait 3.17 s.", "See heat.c:12 there.", "It is 5!"]), max_size=8))
def test_sentences_come_back_as_they_were_joined(sentences: list[str]) -> None:
    assert list(split(" ".join(sentences))) == sentences
