"""Which words are chathpc's own: those of its sentences, and not those that it looks for or writes into programs."""

from __future__ import annotations

import pytest

from chathpc.privacy.words import own_words


@pytest.mark.parametrize("word", ["bottleneck", "imbalance", "evidence", "catalogue"])
def test_words_of_sentences_are_our_own(word: str) -> None:
    assert word in own_words()


@pytest.mark.parametrize("word", ["owned", "pooled_malloc", "block_seek", "painfully", "gather_moments"])
def test_words_of_the_claim_check_of_changed_programs_and_of_pieces_for_models_are_not(word: str) -> None:
    assert word not in own_words()
