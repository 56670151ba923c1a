from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis.catalogue import cause, causes
from chathpc.diagnosis.catalogue.search import search


def first(words: str) -> str:
    return search(words.split(), causes())[0].cause.id


@pytest.mark.parametrize(
    ("words", "id"),
    [
        ("false sharing", "omp-false-sharing"),
        ("schedule(dynamic)", "omp-load-imbalance"),
        ("page faults", "page-faults"),
        ("bank conflicts", "gpu-shared-bank-conflicts"),
        ("leak", "memory-leak"),
        ("coalesced", "gpu-uncoalesced-access"),
        ("tensor cores", "gpu-tensor-cores-unused"),
        ("fsync", "io-bound"),
        ("CRITICAL section", "omp-critical-contention"),
    ],
)  # fmt: skip
def test_words_lead_to_the_entry_that_is_about_them(words: str, id: str) -> None:
    assert first(words) == id


@pytest.mark.parametrize("entry", causes(), ids=lambda entry: entry.id)
def test_every_entry_is_found_first_by_its_own_id_or_right_after_a_namesake(entry) -> None:
    assert entry.id in [hit.cause.id for hit in search([entry.id.replace("-", " ")], causes())][:2]


def test_a_word_in_a_title_outweighs_the_same_word_in_advice() -> None:
    other = replace(cause("page-faults"), id="other", title="Zebra")
    advised = replace(cause("page-faults"), advice=(replace(cause("page-faults").advice[0], do="Call zebra()."),))
    assert [hit.cause.id for hit in search(["zebra"], [advised, other])] == ["other", "page-faults"]


def test_entries_with_all_words_come_before_those_with_one() -> None:
    hits = search(["barrier", "threads", "wait"], causes())
    counts = [len(hit.words) for hit in hits]
    assert counts[0] == 3
    assert hits[0].cause.family in ("openmp", "gpu-kernel")


def test_plural_and_beginning_of_a_word_match() -> None:
    assert first("leaks") == "memory-leak"
    assert "omp-barrier-wait" in [hit.cause.id for hit in search(["synchro"], causes())]


@pytest.mark.parametrize("words", [[], [""], ["the", "of"], ["?!"], ["zzzzqqq"]])
def test_words_without_meaning_and_unknown_words_find_nothing(words: list[str]) -> None:
    assert search(words, causes()) == ()


@given(st.lists(st.text(max_size=20), max_size=5))
def test_any_text_can_be_searched_for_and_scores_descend(words: list[str]) -> None:
    hits = search(words, causes())
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)
    assert all(hit.text for hit in hits)


def test_the_order_of_the_words_does_not_matter() -> None:
    assert search(["small", "messages"], causes()) == tuple(
        replace(hit, words=("small", "messages")) if len(hit.words) == 2 else hit
        for hit in search(["messages", "small"], causes())
    )
