"""Words that say how much of something there is, and what they say it of."""

from __future__ import annotations

from collections.abc import Iterable

from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.quantities import Keys
from chathpc.grounding.language.vocabulary import Phrases, Vocabulary, stem


def leveled(statement: Statement, words: Vocabulary) -> Iterable[tuple[str, str]]:
    """The subjects that a sentence calls high or low: (subject, level), all candidates of a level word under its own position."""
    for _, level, subjects in level_claims(statement, words):
        for subject in subjects:
            yield subject, level


def level_claims(statement: Statement, words: Vocabulary) -> Iterable[tuple[int, str, Keys]]:
    """Each level word: its position, `high` or `low`, and the subjects it may belong to: those of its noun phrase, else the nearest before it."""
    rough = _rough(statement, words) | _SAYINGS.positions(statement.stems)
    for segment in statement.segments:
        for position in range(segment.first, segment.last):
            if position in rough:
                continue
            level = words.levels.get(statement.tokens[position].stem)
            equal = position > 0 and statement.tokens[position - 1].stem == "as"  # `as long as`
            follower = statement.tokens[position + 1].stem if position + 1 < len(statement.tokens) else ""
            if level is None or equal or follower in _COMPARED or statement.tokens[position].kind != "word":
                continue
            if is_slowing(statement, position) or _is_measure(statement, position) or is_of_run(statement, position):
                continue
            after = [
                m
                for m in segment.marks
                if position < m.position <= position + 4 and m.keys and not _stopped(statement, position, m.position)
            ]
            before = [m for m in segment.marks if m.position < position and m.keys]
            chosen = after or before[-1:]
            keys = frozenset(key for mark in chosen for key in mark.keys if not key.startswith("who:"))
            if not keys and before:
                keys = frozenset(key for mark in before for key in mark.keys if not key.startswith("who:"))
            yield position, level, keys


#: What looks like a level and is none.
_SAYINGS = Phrases.of(
    (phrase, "saying")
    for phrase in ("in short", "in the long run", "in the short run", "in many cases", "by and large", "at large", "in large part", "for the most part",
                   "to a large extent", "a great deal", "too bad", "not bad", "as little as", "as much as", "as many as", "as few as", "so much for",
                   "how long", "how often", "how many", "how much", "how large", "how big", "how small", "how short")
)  # fmt: skip


def is_slowing(statement: Statement, position: int) -> bool:
    """True for the verb of `X slows the program down`, `is slowed by`: it says that X is a cause, and of nothing that it is slow."""
    following = statement.stems[position + 1 : position + _DOWN]
    return statement.tokens[position].text.lower() in _SLOWS or (
        statement.tokens[position].text.lower() == "slow" and "down" in following
    )


_SLOWS = frozenset({"slows", "slowed", "slowing"})
_DOWN = 5


def is_of_run(statement: Statement, position: int) -> bool:
    """True for `the program is slow because X`: it says that X is a cause, as `X slows the program down` does."""
    before = [word for word in statement.stems[max(0, position - 3) : position] if word not in _SO]
    return (
        statement.tokens[position].text.lower() == "slow"
        and len(before) > 1
        and before[-1] in _IS
        and before[-2] in _RUN
    )


_RUN = frozenset(map(stem, ("program", "run", "job", "application", "code", "it", "execution", "app")))
_IS = frozenset({"is", "was"})
_SO = frozenset({"so", "this", "that", "very", "rather"})


def _is_measure(statement: Statement, position: int) -> bool:
    """True for the `long` of `14 ms long`: the number says it, and is checked."""
    start = statement.tokens[position].start
    return any(q.dimension in ("time", "bytes") and 0 < start - q.end <= 1 for q in statement.quantities)


def _rough(statement: Statement, words: Vocabulary) -> frozenset[int]:
    """Positions of words that say how exact a number is: `a little over half`."""
    stems = statement.stems
    lengths = ((position, words.approximations.at(stems, position)[0]) for position in range(len(stems)))
    return frozenset(p for position, length in lengths if length > 1 for p in range(position, position + length))


#: A level word before one of these belongs to a comparison: `much more than`.
_COMPARED = frozenset(map(stem, ("more", "less", "longer", "higher", "lower", "larger", "smaller", "shorter")))
_PHRASE_ENDS = frozenset(map(stem, ("in", "at", "for", "by", "to", "is", "are", "because", "from", "than")))


def _stopped(statement: Statement, first: int, last: int) -> bool:
    return any(
        statement.tokens[p].stem in _PHRASE_ENDS or statement.tokens[p].kind == "punctuation"
        for p in range(first + 1, last)
    )
