"""Which way advice goes: into or out of, inside or outside, before or after, more or less of what, and what it would have instead of what.

The same words can say the opposite: `use more shared memory for each block`, `allocate inside the loop rather than once outside`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.quantities import DETERMINERS
from chathpc.grounding.language.tokens import Token
from chathpc.grounding.language.vocabulary import Phrases, Vocabulary, stem

#: Words that say which way something goes, each with the way; `more` and `less` of the thing behind them.
_WORDS = Phrases.of(
    (word, way)
    for way, words in {
        "into": ("into", "onto"),
        "inside": ("inside", "within"),
        "out of": ("out of", "off"),
        "outside": ("outside", "outside of"),
        "around": ("around",),
        "before": ("before", "ahead of", "prior to", "in front of"),
        "after": ("after", "behind", "following"),
        "more": ("more", "higher", "increase", "raise", "greater"),
        "less": ("less", "fewer", "lower", "reduce", "decrease"),
        "larger": ("larger", "bigger", "longer", "wider", "enlarge"),
        "smaller": ("smaller", "shorter", "narrower", "shrink", "shorten"),
    }.items()
    for word in words
)
_OUT = frozenset({"out of", "outside", "around", "before"})
#: What contradicts each way. What is taken out of a loop has been inside it: those two do not contradict each other.
_AGAINST: Mapping[str, frozenset[str]] = {
    "into": _OUT,
    "inside": frozenset({"outside", "before", "after"}),
    "out of": frozenset({"into"}),
    "outside": frozenset({"into", "inside"}),
    "around": frozenset({"into", "inside"}),
    "before": frozenset({"after", "inside", "into"}),
    "after": frozenset({"before"}),
    "more": frozenset({"less"}),
    "less": frozenset({"more"}),
    "larger": frozenset({"smaller"}),
    "smaller": frozenset({"larger"}),
}
#: What is said of what is not wanted holds the other way round of what is.
_TURNED: Mapping[str, str] = {
    "into": "out of", "inside": "outside", "out of": "into", "outside": "inside", "around": "into", "before": "after",
    "after": "before", "more": "less", "less": "more", "larger": "smaller", "smaller": "larger",
}  # fmt: skip
_INSTEAD = Phrases.of((words, "instead") for words in ("instead of", "rather than", "in place of"))
_AWAY = frozenset(map(stem, ("replace", "replacing", "remove", "removing")))
_BY = frozenset({"by", "with"})
_BYS = [("by",), ("with",)]
_BETWEEN = DETERMINERS | {"each", "of", "one", "every", "any", "both", "some", "no", "same"}
_VAGUE = frozenset(
    map(stem, ("number", "amount", "time", "size", "part", "than", "work", "step", "once", "way", "long", "case"))
)
_LONGEST_NAME = 3
_STOPS = frozenset(
    map(
        stem,
        (
            "for",
            "in",
            "on",
            "at",
            "with",
            "by",
            "to",
            "from",
            "per",
            "and",
            "or",
            "so",
            "that",
            "than",
            "is",
            "are",
            "if",
            "when",
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Ways:
    """Which way a text goes with what, what it has inside of something, the words of what it is for, of what it would not have."""

    taken: frozenset[tuple[str, str]]
    enclosed: frozenset[str]
    wanted: frozenset[str]
    unwanted: frozenset[str]
    used: frozenset[str] = frozenset()  #: functions that it would have called
    given_up: frozenset[str] = frozenset()  #: and those that it would have something else instead of


def ways(statement: Statement, words: Vocabulary) -> Ways:
    """Read the ways of a text."""
    tokens, stems = statement.tokens, statement.stems
    taken: set[tuple[str, str]] = set()
    enclosed: set[str] = set()
    wanted: set[str] = set()
    unwanted: set[str] = set()
    used: set[str] = set()
    given_up: set[str] = set()
    against, instead, replaced, position = False, False, False, 0
    while position < len(tokens):
        if tokens[position].kind == "punctuation":
            against = instead = replaced = False
        elif stems[position] in _EFFECT and position and stems[position - 1] not in _WE:
            break  # what follows is what it does
        length = _begins_unwanted(tokens, stems, position)
        if length:
            against, instead, replaced = True, stems[position] != "not", stems[position] in _AWAY
            position += length
            continue
        if replaced and stems[position] in _BY:
            against = instead = replaced = False
        if (
            _AWAY & set(stems[:position])
            and tokens[position].kind == "code"
            and stems[position + 1 : position + 2] in _BYS
        ):
            unwanted.add(_plain(tokens[position]))  # `replace a by b, c by d`
            position += 1
            continue
        length, found = _WORDS.at(stems, position)
        for way in found:
            if way == "into" and _PARTING & set(stems[max(0, position - _NEAR) : position]):
                continue  # `split the lock into several ones`
            turned = against != (position > 0 and stems[position - 1] == "from")
            taken |= {(_TURNED[way] if turned else way, noun) for noun in _things(tokens, position + length, words)}
            if way == "inside" and not turned:
                enclosed |= {_plain(token) for token in tokens[max(0, position - _BESIDE) : position]}
        if tokens[position].kind in ("word", "code") and _plain(tokens[position]) not in words.plain - _TELLING:
            (unwanted if against else wanted).add(_plain(tokens[position]))
            if instead and tokens[position].kind == "code":
                given_up.add(_plain(tokens[position]))
            elif not against and _is_used(tokens, stems, position):
                used.add(_plain(tokens[position]))
        position += length or 1
    return Ways(
        frozenset(taken),
        frozenset(enclosed),
        frozenset(wanted),
        frozenset(unwanted),
        frozenset(used),
        frozenset(given_up),
    )


#: What is inside of something stands right before: `keep omp for inside it`.
_BESIDE = 2
_EFFECT = frozenset({"would", "could", "can", "may", "might", "will"})
_WE = frozenset(map(stem, ("i", "we", "you", "one", "it", "change", "step", "suggestion", "recommendation", "try")))
_PARTING = frozenset(
    map(
        stem,
        (
            "split",
            "splitting",
            "divide",
            "cut",
            "turn",
            "turns",
            "break",
            "partition",
            "merge",
            "join",
            "put",
            "fuse",
            "combine",
        ),
    )
)
_NEAR = 5
#: Words without a claim of their own that tell one piece of advice from another.
_TELLING = frozenset(map(stem, ("once", "each", "every", "inside", "outside", "before", "after")))


def _begins_unwanted(tokens: Sequence[Token], stems: Sequence[str], position: int) -> int:
    """How many words begin here what a text would not have: `instead of`, `replace …` up to its `by`, `, not …`."""
    length, _ = _INSTEAD.at(stems, position)
    if length or stems[position] in _AWAY:
        return length or 1
    opens = position and (tokens[position - 1].kind == "punctuation" or stems[position - 1] == "and")
    return 1 if stems[position] == "not" and opens else 0


def _is_used(tokens: Sequence[Token], stems: Sequence[str], position: int) -> bool:
    """True for the name of a function behind `use`, `by`, `with`: `change the search to use std::find`."""
    before = [word for word in stems[max(0, position - 3) : position] if word not in DETERMINERS]
    return tokens[position].kind == "code" and bool(before) and before[-1] in _USING


_USING = frozenset(map(stem, ("use", "using", "by", "with", "via", "through", "to")))


def _plain(token: Token) -> str:
    return token.stem.strip("_") if token.kind == "word" else stem(token.text.strip("_"))


def _things(tokens: Sequence[Token], position: int, words: Vocabulary) -> Iterable[str]:
    """The nouns behind a word of direction: `inner` and `loop` of `out of the inner loop`."""
    found = 0
    while position < len(tokens) and found < _LONGEST_NAME:
        token = tokens[position]
        if token.kind == "number" or token.stem in _BETWEEN:
            position += 1
            continue
        if token.kind == "punctuation" or token.stem in _STOPS or _WORDS.at([token.stem], 0)[0]:
            return
        if _plain(token) not in _VAGUE | words.plain:
            yield _plain(token)
        found += 1
        position += 1


def is_turned(said: Ways, told: Iterable[Ways]) -> bool:
    """True if a sentence goes the other way than the texts: with the same thing, or with what is wanted and what is not."""
    told = tuple(told)
    known: dict[str, set[str]] = {}
    for text in told:
        for way, noun in text.taken:
            known.setdefault(noun, set()).add(way)
    for way, noun in said.taken:
        ways_told = known.get(noun, set())
        if way not in ways_told and ways_told & _AGAINST[way] and not _agrees(way, ways_told):
            return True
        if way in _IN and not ways_told & _IN and any(noun in text.enclosed for text in told):
            return True
    wanted = frozenset(word for text in told for word in text.wanted)
    if said.used & frozenset(word for text in told for word in text.given_up) - wanted:
        return True
    if not said.unwanted:
        return False
    nearest = max(
        told, key=lambda text: len((said.wanted | said.unwanted) & (text.wanted | text.unwanted)), default=None
    )
    return nearest is not None and said.unwanted <= nearest.wanted and not said.unwanted & nearest.unwanted


def _agrees(way: str, told: set[str]) -> bool:
    """True where the texts go a way that is the same in effect: outside and before a loop are both out of it."""
    return (way in _OUT and bool(told & _OUT)) or (way in _IN and bool(told & _IN))


_IN = frozenset({"into", "inside"})


def ordered(said: Ways) -> frozenset[tuple[str, str]]:
    """What comes before and after what."""
    return frozenset(one for one in said.taken if one[0] in ("before", "after"))
