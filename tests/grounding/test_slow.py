"""What a program is slow for: the reason has to be one that a finding gives, as where something slows it down."""

from __future__ import annotations

import pytest

from tests.grounding.test_mechanisms import status


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("search-and-copies", "The program is slow because Stock::item searches one item after the other."),
        ("sync-writes", "The run is so slow because commit forces data to the device again and again."),
        ("sleeping", "The job is slow because it waits in usleep."),
        ("strided", "The program is slow because of the large stride in accumulate."),
    ],
)
def test_the_reason_of_a_finding_is_why_a_program_is_slow(name: str, sentence: str) -> None:
    assert status(name, sentence) == "supported"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("search-and-copies", "The program is slow because of page faults."),
        ("sync-writes", "The program is slow because the disk is slow."),
        ("sleeping", "The run is slow because it allocates memory in a loop."),
        ("strided", "The program is slow because the ranks wait for each other."),
        ("healthy-solver", "The program is slow."),
        ("streams", "The program is slow because it computes."),
    ],
)
def test_another_reason_is_not_and_a_healthy_program_is_not_slow(name: str, sentence: str) -> None:
    assert status(name, sentence) == "struck"


def test_this_problem_is_the_first_one_whatever_words_the_others_share_with_the_sentence() -> None:
    assert status("search-and-copies", "Without this problem, the run could be at most 3.48x as fast.") == "supported"
    assert status("search-and-copies", "Without this problem, the run could be at most 1.20x as fast.") == "struck"


def test_american_spelling_is_read_like_british() -> None:
    for ending in ("ising", "izing"):
        said = f"A large part of the run is spent in reading, writing, opening or synchron{ending} files."
        assert status("sync-writes", said) == "supported"
