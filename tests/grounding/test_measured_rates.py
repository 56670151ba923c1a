"""The rates of the claim check, measured on sentences labelled by hand: those it was made with, and those of another author."""

from __future__ import annotations

import pytest

from tests.grounding.diagnoses import DIAGNOSES
from tests.grounding.measure import CORPUS, FRESH, HALVES, SOUND, labelled, main, outcome, rates

#: Thousands of sentences, under coverage.
pytestmark = pytest.mark.timeout(1800)

#: Least part of the false sentences caught and greatest part of the sound ones lost.
FLOORS = {"seen": (0.985, 0.13), "held-out": (0.925, 0.295)}


@pytest.mark.parametrize("half", HALVES)
def test_false_sentences_are_caught_and_sound_ones_kept(half: str) -> None:
    caught, lost = rates(map(outcome, labelled(half)))
    least_caught, most_lost = FLOORS[half]
    assert caught >= least_caught
    assert lost <= most_lost


def test_the_corpus_is_large_and_has_each_class_in_both_halves() -> None:
    for half in HALVES:
        found = labelled(half)
        assert len(found) > 200
        assert len({item.diagnosis for item in found}) >= 10
        assert len({item.label for item in found}) == 9


def test_the_sentences_that_are_held_out_are_many_and_partly_a_models() -> None:
    fresh = labelled("held-out")
    assert len(fresh) >= 500
    assert sum(item.label == SOUND for item in fresh) >= 230
    assert sum(item.author == "model" for item in fresh) >= 100
    assert len({item.diagnosis for item in fresh}) >= 30


def test_no_sentence_is_both_seen_and_held_out_and_no_evidence_shares_a_name() -> None:
    seen = {" ".join(item.text.split()) for item in labelled("seen")}
    assert [item.text for item in labelled("held-out") if " ".join(item.text.split()) in seen] == []
    names = [*DIAGNOSES, *(path.stem for folder in (CORPUS, FRESH) for path in folder.glob("*.yaml"))]
    assert len(set(names)) == len(names)


def test_no_sentence_that_is_held_out_is_ever_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-v", "held-out"]) == 0
    printed = capsys.readouterr().out
    assert "written by the default local model" in printed
    assert [item.text for item in labelled("held-out") if item.text in printed] == []


def test_a_repaired_sentence_says_what_was_meant() -> None:
    repaired = [o for o in map(outcome, labelled("seen")) if o.labelled.meant and o.status == "repaired"]
    assert len(repaired) >= 5
    assert [o.result.text for o in repaired if o.result and not o.repaired_as_meant] == []


@pytest.mark.parametrize(
    "words",
    [
        "exclusive time share (E7) and barrier wait share (E8) are also high",
        "thread 15 is more idle than thread 0.",
        "The registers 232 are higher than the theoretical occupancy limit 12.5 %.",
        "The copies run at a high bandwidth (8.5 GB/s).",
    ],
)
def test_what_a_small_model_really_got_wrong_is_among_the_false_sentences(words: str) -> None:
    assert any(item.text.startswith(words) and item.label != SOUND for item in labelled("seen"))
