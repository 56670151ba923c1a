"""What a finding proposes to measure or does not promise, told in other words; commands of its own; contracted words."""

from __future__ import annotations

import pytest

from chathpc.grounding.language.contractions import expanded
from tests.grounding.test_mechanisms import status


@pytest.mark.parametrize(
    ("name", "sentence", "right"),
    [
        # Below 1 it waits for memory, 2 and more means that it computes.
        ("heat-stencil", "I'd count with perf stat: fewer than 1 instruction per cycle means that the loop waits for memory.", True),
        ("heat-stencil", "I'd count with perf stat: fewer than 1 instruction per cycle means that the loop computes.", False),
        ("heat-stencil", "I'd count with perf stat: fewer than 3 instructions per cycle means that the loop waits for memory.", False),
        ("heat-stencil", "I'd count with perf stat: more than 1 instruction per cycle means that the loop waits for memory.", False),
        ("heat-stencil", "Use perf stat: few instructions per cycle with few cache misses means that the loop waits for memory.", False),
        ("heat-stencil", "Use perf stat: 2 or more instructions per cycle means that the loop waits for memory.", False),
        ("heat-stencil", "perf stat shows that the loop waits for memory.", False),
        ("heat-stencil", "perf stat showed few instructions per cycle with many cache misses.", False),
        ("heat-stencil", "A run of ncu would tell whether the loop waits for memory or computes.", False),
        ("heat-stencil", "A run of perf stat would tell whether the loop waits for memory or computes.", True),
        # Equal lengths: a fixed sleep; different ones: an event.
        ("sleeping", "You can run perf trace -s ./app: different lengths point to an event.", True),
        ("sleeping", "You can run perf trace -s ./app: equal lengths point to an event.", False),
        ("sleeping", "Run perf trace -s ./evil to see which system calls wait.", False),
        ("sleeping", "Run strace -s ./app to see which system calls wait.", False),
        # Below 60 % with long scoreboard stalls: latency; above 80 %: bandwidth.
        ("memory-stalls", "Run ncu --set full ./app: long scoreboard stalls below 60 % mean latency, above 80 % it is bandwidth.", True),
        ("memory-stalls", "Run ncu --set full ./app: a memory throughput above 80 % means latency.", False),
        ("memory-stalls", "Run ncu --set full ./app: a memory throughput below 80 % means bandwidth.", False),
        ("memory-stalls", "Run ncu --set none ./app: a memory throughput above 80 % means bandwidth.", False),
    ],
)  # fmt: skip
def test_a_proposed_measurement_may_be_told_with_its_own_outcomes(name: str, sentence: str, right: bool) -> None:
    assert (status(name, sentence) == "supported") is right


@pytest.mark.parametrize(
    ("name", "sentence", "right"),
    [
        ("comd-lj", "The diagnosis does not promise any saving in ljForce.", True),
        ("mesh-imbalance", "The diagnosis does not promise any speedup.", False),
        ("freed-in-loop", "The diagnosis does not name any gain from keeping the memory.", False),
    ],
)
def test_only_what_has_no_headroom_has_no_gain(name: str, sentence: str, right: bool) -> None:
    assert (status(name, sentence) == "supported") is right


@pytest.mark.parametrize(
    ("name", "sentence", "right"),
    [
        ("uncoalesced", "The accesses of the kernel aren't coalesced.", True),
        ("uncoalesced", "The accesses of the kernel weren't coalesced.", True),
        ("mesh-imbalance", "The work isn't shared unevenly.", False),
        ("late-sender", "The ranks couldn't wait for messages.", False),
    ],
)
def test_a_contracted_word_is_read_in_full(name: str, sentence: str, right: bool) -> None:
    assert (status(name, sentence) == "supported") is right


@pytest.mark.parametrize(
    ("name", "sentence", "right"),
    [
        ("by-value", "Passing the containers by const reference would crash the program.", False),
        ("by-value", "You could pass the containers that are only read by const reference.", True),
    ],
)
def test_nobody_knows_what_a_change_would_break(name: str, sentence: str, right: bool) -> None:
    assert (status(name, sentence) == "supported") is right


def test_contractions_are_the_words_that_they_stand_for() -> None:
    full = {
        "I'd": "I would",
        "weren't": "were not",
        "can't": "cannot",
        "won't": "will not",
        "you’ll": "you will",
        "they've": "they have",
    }
    assert {short: " ".join(word for word, _ in expanded(short)) for short in full} == full
    assert expanded("it's") == expanded("rank's") == expanded("threads") == ()
