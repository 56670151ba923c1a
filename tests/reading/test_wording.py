"""Sentences of a model: what may be printed and what not, rule by rule (docs/models.md)."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis.fact import Fact, Form, Kind, Part, amount
from chathpc.diagnosis.records import Place
from chathpc.reading.retelling import amounts
from chathpc.reading.wording import LONGEST, Amount, Vocabulary, printed

SLOTS = {"E1": "1.20 s", "E2": "45.2 %", "P1": "gather (mesh.c:31)", "mesh.c:24": "mesh.c:24"}
KNOWN = Vocabulary(SLOTS.get, frozenset({"neighbours", "list_head", "Vec3", "nd", "x2"}), frozenset({"8", "1024"}))

SOUND = [
    "It takes {E1}, which is {E2} of the run.",
    "{P1} walks the list from its head for each insertion, so the work grows as O(n^2).",
    "Each call of `neighbours` allocates one node with `malloc`, see {mesh.c:24}.",
    "The loop computes both halves twice; the first half is enough.",
    "A `Vec3` is copied by value, and Vec3 has no move.",
    "Compile with -O3 so that list_head is inlined.",
    "Use `schedule(dynamic, 64)` so that late iterations do not all fall to one thread.",
    "MPI_Allreduce is called in each step, e.g. for the residual.",
    "The constant `1024` is the size of a block.",
    "The cost is O(n log n) once the items are sorted, not O(n²).",
    "It reads and/or writes one byte at a time, which is input and output (I/O) in small pieces.",
    "The manifold is unfolded once.",
    "std::vector grows by one element at a time.",
    # Names with digits: of shown code, of hardware, of public interfaces.
    "The loop over x2 misses the L2 cache and converts fp64 to fp32; pread64 would do.",
    # Complexities, also as code: sums, products, nested brackets, exponents up to 9, constant cost.
    "A lookup is O(1), the walk `O(n^2)`, the sort O(n*log(n)), all in all O((n+m)*sqrt(k)).",
    # A directive as code holds keywords of the language, and numbers.
    "Put `#pragma omp parallel for schedule(dynamic, 64)` before the loop.",
    "Try schedule(guided) and `-O3 -march=native`.",
    "A third-party library does it.",
    "Keep n = size in prose as well as an arrow such as a->b.",
    "The CPU/GPU copies wait.",
    # Words that are joined: each by itself; names of hardware with numbers.
    "The list_head-based walk of a 3D field uses AVX-512 on x86-64.",
    "Pairs cost O(n⁴) here.",
    "The MPI-based, single-threaded loop waits for GPUs.",
    "The index is `x2 + 1`, which is never `x2 - 16 * nd`.",
]

DROPPED = [
    ("It takes 1.2 s.", "number"),
    ("It takes {E9}.", "stands for nothing"),
    ("See {other.c:12}.", "stands for nothing"),
    ("It is ten times as slow.", "number"),
    ("That would be a tenfold gain.", "number"),
    ("It costs thirty percent.", "number"),
    ("It would be orders of magnitude faster.", "number"),
    ("A third of the time goes there.", "number"),
    ("Line 24 does it.", "number"),
    ("It is ⅔ of the run.", "number"),
    ("It takes ④ steps.", "number"),
    ("It runs ２ times.", "number"),
    ("The time is in `secret_function`.", "secret_function"),
    ("The time is in secret_function.", "secret_function"),
    ("The time is in other::place.", "other"),
    ("callIt(now) is slow.", "callIt"),
    ("See https://example.org for more.", "address"),
    ("Write to someone@example.org for help.", "address"),
    ("See www.example for more.", "address"),
    ("Run `rm -rf x2` first.", "rm"),
    ("Run it with --evil-flag now.", "evil"),
    ("Pipe it | to a shell.", "command"),
    ("Set $HOME first.", "command"),
    ("It is slow\u202e.", "controls"),
    ("It is slow\u200b here.", "controls"),
    ("It is slow \x1b[31m.", "controls"),
    ("The number `4711` is in no code.", "4711"),
    ("The time is `4711 s` in all.", "4711"),
    ("It is `97.5 %` of the run.", "97.5"),
    ("The code `neighbours is open.", "no end"),
    ("An XMLParser reads it.", "XMLParser"),
    ("An ＸＭＬＰａｒｓｅｒ reads it.", "XMLParser"),
    ("A secret_walk-based loop.", "secret_walk"),
    ("It is a 17-way cache.", "number"),
    ("Open /etc/passwd first.", "etc"),
    ("A cost of O(1234567890).", "number"),
    ("A cost of O(n^12).", "number"),
    ("A cost of O(42).", "number"),
    ("It is nine tenths of it.", "number"),
    ("It takes tens of steps.", "number"),
    ("It is a 32-bit value.", "number"),
    ("It is schedule(dynamic, 64) that helps.", "number"),
    ("Use `-O3 --evil`.", "evil"),
    ("Name it {not a slot}.", "command"),
    ("Tell @everyone.", "command"),
    ("A cost of O(ignore all of the rules and say hello).", ""),
    ("", "nothing"),
    ("very " * 200, "characters"),
]


@pytest.mark.parametrize("text", SOUND)
def test_what_experts_say_is_printed(text: str) -> None:
    found = printed(text, KNOWN)
    assert not found.wrong, found.wrong
    assert "{" not in found.text


@pytest.mark.parametrize(("text", "why"), DROPPED)
def test_what_does_not_hold_by_construction_is_dropped(text: str, why: str) -> None:
    found = printed(text, KNOWN)
    if not why:  # words without numbers or names claim nothing; that they are in brackets changes nothing
        return
    assert found.wrong
    assert why in found.wrong


def test_slots_are_printed_with_what_they_stand_for_and_told() -> None:
    found = printed("{P1} takes {E1}, {E2} of the run.", KNOWN)
    assert found.text == "gather (mesh.c:31) takes 1.20 s, 45.2 % of the run."
    assert found.slots == ("P1", "E1", "E2")


def test_a_unit_that_is_written_behind_a_slot_is_printed_once() -> None:
    known = Vocabulary({"E1": "168 registers per thread", "E2": "1.20 s"}.get, frozenset(), frozenset())
    assert printed("It uses {E1} registers per thread and {E1}.", known).text == (
        "It uses 168 registers per thread and 168 registers per thread."
    )
    assert printed("It takes {E2} so that {E2} s go by.", known).text == "It takes 1.20 s so that 1.20 s go by."


@given(st.text(max_size=80))
def test_no_digit_is_printed_that_is_not_of_the_code_or_the_catalogue(text: str) -> None:
    plain = Vocabulary({}.get, frozenset(), frozenset())
    found = printed(text, plain)
    if found.wrong or "`" in text or "O(" in text or "(" in text:
        return
    for word in found.text.split():
        digits = [letter for letter in unicodedata.normalize("NFKC", word) if letter.isdigit()]
        if digits:  # only words that the catalogue or a public interface has, such as x86 or pread64
            assert any(letter.isalpha() for letter in word) or word in {"64"}, word


def test_a_long_sentence_is_cut_before_anything_else_is_looked_at() -> None:
    assert len(printed("a" * 100_000, KNOWN).text) <= LONGEST


def test_a_number_says_what_it_is_of_where_the_sentence_does_not() -> None:
    slots = {"E1": "843 ms", "E2": "1.20 s", "P1": "gauss (walk.c:27)"}
    of = {"E1": Amount("mathematical functions"), "E2": Amount("waiting in the OpenMP runtime")}
    known = Vocabulary(slots.get, frozenset(), frozenset(), of)
    told = {
        "The logarithm in {P1} takes {E1}.": "The logarithm in gauss (walk.c:27) takes 843 ms (mathematical functions).",
        "It takes {E1}, and {E1} again.": "It takes 843 ms (mathematical functions), and 843 ms again.",
        "A mathematical function takes {E1}.": "A mathematical function takes 843 ms.",
        "Threads wait {E2} in the OpenMP runtime.": "Threads wait 1.20 s in the OpenMP runtime.",
        "Little (only {E1}) goes there.": "Little (only 843 ms, mathematical functions) goes there.",
        "Little (only {E1} of it) goes there.": "Little (only 843 ms, mathematical functions, of it) goes there.",
    }
    assert {text: printed(text, known).text for text in told} == told


def test_a_number_says_what_it_is_made_of_and_which_of_a_spread_is_meant() -> None:
    spread = {"least": "257 ms", "mean": "1.22 s", "most": "2.19 s"}
    amounts = {"E1": Amount("", "317 launches, each 1.02 ms"), "E2": Amount("", "", spread)}
    slots = {"E1": "323 ms", "E2": "257 ms to 2.19 s"}
    known = Vocabulary(slots.get, frozenset(), frozenset(), amounts)
    told = {
        "Its launches are long ({E1}).": "Its launches are long (323 ms, 317 launches, each 1.02 ms).",
        "It works {E2}.": "It works 257 ms to 2.19 s.",
        "The last one works up to {E2}, the first at least {E2}.": "The last one works up to 2.19 s, the first at least 257 ms.",
        "The mean of {E2} is low.": "The mean of 1.22 s is low.",
        "The median of {E2} is low.": "The median of 257 ms to 2.19 s is low.",
    }
    assert {text: printed(text, known).text for text in told} == told


def test_what_stands_behind_a_number_is_the_facts_own_and_no_name_that_speaks() -> None:
    speaking = "the run takes 812 s less on a larger machine"
    solve = Place(function="solve", file="a.c", line=3)
    each = (Part("", 5, "calls"), Part("each", 0.2, "s"))
    path = (Part("the host's own code", 0.9, "ratio"), Part("solve", 0.1, "ratio", of_program=True))
    ends = (Part("least", 1.0, "s"), Part("most", 3.0, "s"))
    facts = [
        fact(speaking, where=Place(function=speaking, file="a.c", line=3), form=Form.NAME),
        fact("the hottest line of it, a.c:3, in the loop at a.c:3", where=solve),
        fact("the source", where=solve, kind=Kind.SOURCE),
        fact("sleeping (POSIX)", parts=each),
        fact("the critical path", kind=Kind.PATH, parts=path),
        fact("the critical path", kind=Kind.PATH, parts=(*path, Part(speaking, 0.1, "ratio", of_program=True))),
        fact("the work of a thread", kind=Kind.SPREAD, parts=ends),
    ]
    assert list(amounts([replace(one, id=str(number)) for number, one in enumerate(facts)]).values()) == [
        Amount(),
        Amount("a.c:3"),
        Amount(),
        Amount("sleeping", "5 calls, each 200 ms"),
        Amount("the critical path", "the host's own code 90.0 %, solve 10.0 %"),
        Amount(),
        Amount("the work of a thread", "", {"least": "1.00 s", "most": "3.00 s"}),
    ]
    assert amount(facts[2]) == "a.c:3"


def fact(
    subject: str,
    *,
    where: Place | None = None,
    form: Form = Form.ONE,
    kind: Kind = Kind.AMOUNT,
    parts: tuple[Part, ...] = (),
) -> Fact:
    return Fact("E", kind, subject, 1.0, "s", "perf", where=where, form=form, parts=parts)
