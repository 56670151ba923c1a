"""The words of everyday English that may stand in a sentence unchecked: none of them makes a claim about performance."""

from __future__ import annotations

from importlib.resources import files

import pytest
import yaml

from chathpc.grounding.language.vocabulary import stem, stems, vocabulary

#: Parts of machines, systems and libraries, and what may be wrong with them: what a made-up cause is made of.
CARRIERS = [
    "network",
    "cache",
    "disk",
    "compiler",
    "driver",
    "bug",
    "interconnect",
    "numa",
    "socket",
    "bus",
    "pcie",
    "tlb",
    "swapping",
    "interrupt",
    "scheduler",
    "hyperthreading",
    "frequency",
    "throttling",
    "temperature",
    "protocol",
    "congestion",
    "fragmentation",
    "prefetcher",
    "firmware",
    "cluster",
    "filesystem",
    "virtualisation",
    "container",
    "garbage",
    "collector",
    "hypervisor",
    "misprediction",
    "contention",
    "deadlock",
]


def everyday() -> dict[str, list[str]]:
    text = (files("chathpc.grounding.language") / "everyday.yaml").read_text(encoding="utf-8")
    groups = yaml.safe_load(text)
    return {
        name: [part for words in lists.values() for word in words for part in stems(word)]
        for name, lists in groups.items()
    }


@pytest.mark.parametrize("word", CARRIERS)
def test_no_word_that_could_be_a_cause_is_free(word: str) -> None:
    words = vocabulary()
    assert stem(word) not in {part for parts in everyday().values() for part in parts}
    assert stem(word) not in words.telling | words.plain


def test_no_free_word_says_how_much_denies_or_compares() -> None:
    words = vocabulary()
    checked = words.levels.keys() | words.negations | words.changes.keys() | words.factors.keys()
    free = set(everyday()["anywhere"])
    assert free & checked == set()
    assert [word for word in free if words.comparisons.at((word,), 0)[0] or words.subjects.at((word,), 0)[0]] == []


def test_a_remark_is_no_negation() -> None:
    assert stem("note") not in vocabulary().negations
    assert stem("noted") == stem("notes")
