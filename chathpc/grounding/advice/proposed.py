"""Sentences that tell what to measure next and how to read the result, as a finding proposes it.

They speak of outcomes that nobody has seen yet (`fewer than 1 instruction per cycle means that it waits for memory`), so no evidence has
them: what they say must be what the proposed measurement says, each outcome with its own meaning, number and side.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.evidence.measurements import LEVEL_REACH, Measurement, Reading, side_words, term
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.tokens import Token
from chathpc.grounding.language.vocabulary import stem

_FRAMES = frozenset(
    map(
        stem,
        ("whether", "if", "would", "could", "can", "should", "might", "mean", "point", "ask", "indicate", "suggest"),
    )
)
_MEASURE = frozenset(
    map(stem, ("measure", "measuring", "measurement", "count", "counting", "counters", "run", "use", "try"))
)
#: What tells that something was measured already, or that it is so.
_ASSERTED = frozenset(map(stem, ("showed", "was", "were", "found", "revealed", "proved", "because", "since", "therefore", "thus", "hence", "already",
                                 "measured", "due")))  # fmt: skip
_LINKS = frozenset(
    map(stem, ("whether", "if", "mean", "point", "ask", "indicate", "suggest", "speak", "hint", "sign", "imply"))
)
_SEPARATORS = frozenset({",", ";", ":", "—", "–", "and", "while", "whereas", "but", "or"})
#: Words about output and comparison that any measurement may be told with.
_TELLING = frozenset(
    map(
        stem,
        (
            "output",
            "compare",
            "comparing",
            "next",
            "run",
            "count",
            "counting",
            "number",
            "counters",
            "counter",
            "measure",
        ),
    )
)


def retold(statement: Statement, world: World) -> Measurement | None:
    """The measurement that a sentence proposes, in whatever words; None if it says more or other than any, or something else."""
    return next((m for m in world.measurements if _covers(m, statement, world) and _agrees(m, statement, world)), None)


def contrary(statement: Statement, world: World) -> bool:
    """True if a sentence reads the result of a proposed measurement in another way, or tells it as if it had been measured."""
    measured = [m for m in world.measurements if m.programs & {t.text for t in statement.tokens}]
    stems = set(statement.stems)
    if measured and (stems & _MEANS or (_SHOWS & {t.text.lower() for t in statement.tokens} and not stems & _OPEN)):
        return True
    covering = [m for m in world.measurements if _covers(m, statement, world) and _is_contrasting(m, statement, world)]
    return bool(covering) and not any(_agrees(m, statement, world) for m in covering)


_MEANS = frozenset(map(stem, ("mean", "point", "indicate", "imply")))
_SHOWS = frozenset(
    {
        "shows",
        "showed",
        "reveals",
        "revealed",
        "proves",
        "proved",
        "confirms",
        "confirmed",
        "demonstrates",
        "demonstrated",
    }
)
#: What leaves open what a measurement shows: `perf stat would show`, `shows which callers`.
_OPEN = frozenset(
    map(
        stem,
        (
            "whether",
            "if",
            "would",
            "could",
            "can",
            "should",
            "might",
            "may",
            "which",
            "what",
            "where",
            "how",
            "who",
            "why",
            "to",
        ),
    )
)


def _covers(measurement: Measurement, statement: Statement, world: World) -> bool:
    """True if all that a sentence says is in the text of a measurement, but for words that claim nothing."""
    words, tokens = world.words, statement.tokens
    stems = set(statement.stems)
    told = measurement.told
    named = bool(measurement.programs & {t.text for t in tokens}) or bool(_MEASURE & stems)
    if not (stems & _FRAMES or _is_instruction(tokens)) or stems & _ASSERTED - told:
        return False
    if statement.names - told - measurement.names or statement.lines:
        return False
    sides = side_words(tokens, words)
    strict = (
        words.levels.keys() | words.negations | words.changes.keys() | words.factors.keys() | words.fractions.keys()
    )
    for position, token in enumerate(tokens):
        if token.kind == "punctuation" or position in sides or token.text in measurement.names:
            continue
        said = term(tokens, position, words)
        if not said or (said in told and _is_level_of(position, measurement, statement, world)) or said in _LINKS:
            continue
        strictly = said in strict or words.comparisons.at((said,), 0)[0] or words.subjects.at((said,), 0)[0]
        if said[0] in "<>=" or (strictly and said not in _TELLING):
            return False
        if said not in words.neutral | words.telling | _TELLING:
            return False
    return named or _is_whole(_spoken(measurement, statement, world), measurement)


def _is_level_of(position: int, measurement: Measurement, statement: Statement, world: World) -> bool:
    """False for the `few` of `few cache misses` where the text has `many cache misses`."""
    level = statement.stems[position]
    if level not in world.words.levels:
        return True
    return any(
        (level, noun) in measurement.levels for noun in statement.stems[position + 1 : position + 1 + LEVEL_REACH]
    )


def _agrees(measurement: Measurement, statement: Statement, world: World) -> bool:
    """True if each outcome stands with its own meaning, and nothing is denied or affirmed that the measurement's text does not."""
    stems = statement.stems
    for position, word in enumerate(stems):
        if word in measurement.denied and not world.words.negations & set(stems[max(0, position - 3) : position]):
            return False
    spoken = _without_alternatives(_spoken(measurement, statement, world), statement)
    if not _is_open(spoken, measurement, statement, world):
        return False
    contrasted = [one for one in spoken if _is_contrasted(measurement.readings[one[0]])]
    runs = [(label, [p for _, p in found]) for label, found in groupby(contrasted, key=lambda one: one[0])]
    if len({label for label, _ in runs}) < len(runs):
        return False
    if len(runs) > 1:
        said = {label: {term(statement.tokens, p, world.words) for p in places} for label, places in runs}
        if not all(_is_complete(said[label], measurement.readings[label]) for label in said):
            return False
        return all(_is_parted(statement.tokens, one[-1], other[0]) for (_, one), (_, other) in pairwise(runs))
    return True


def _is_contrasted(reading: Reading) -> bool:
    return bool(reading.outcome and reading.meaning)


def _is_open(spoken: Sequence[tuple[int, int]], measurement: Measurement, statement: Statement, world: World) -> bool:
    """True if a meaning is told as what may come out, not as what is: behind `whether`, `means`, or beside its outcome."""
    said = [(label, p, term(statement.tokens, p, world.words)) for label, p in spoken]
    for label, position, word in said:
        reading = measurement.readings[label]
        if word in reading.outcome or word not in reading.meaning:
            continue
        linked = bool(_LINKS & {t.stem for t in statement.tokens[:position]})
        if not linked and not any(other == label and one in reading.outcome for other, _, one in said):
            return False
    return True


def _without_alternatives(spoken: list[tuple[int, int]], statement: Statement) -> list[tuple[int, int]]:
    """The words but for those of `whether it waits for memory or computes`, which asks and says nothing."""
    stems = statement.stems
    asked = next((p for p, word in enumerate(stems) if word == "whether"), None)
    if asked is None:
        return spoken
    end = next((p for p in range(asked, len(stems)) if statement.tokens[p].text in _ENDS), len(stems))
    inside = [(label, p) for label, p in spoken if asked < p < end]
    either = any("or" in stems[one:other] and mine != yours for (mine, one), (yours, other) in pairwise(inside))
    return [one for one in spoken if one not in inside] if either else spoken


_ENDS = frozenset({",", ":", ";"})


def _spoken(measurement: Measurement, statement: Statement, world: World) -> list[tuple[int, int]]:
    """The words and numbers of a sentence that only one reading has: its index and their position."""
    tokens, words = statement.tokens, world.words
    sides = side_words(tokens, words)
    owners: dict[str, list[int]] = {}
    for index, reading in enumerate(measurement.readings):
        for one in reading.outcome | reading.meaning:
            owners.setdefault(one, []).append(index)
    found = []
    for position in range(len(tokens)):
        said = term(tokens, position, words)
        if position in sides or (said in words.plain and said not in words.levels) or said in words.negations:
            continue
        if len(owners.get(said, ())) == 1:
            found.append((owners[said][0], position))
    return found


def _is_contrasting(measurement: Measurement, statement: Statement, world: World) -> bool:
    labels = {label for label, _ in _spoken(measurement, statement, world)}
    return sum(_is_contrasted(measurement.readings[label]) for label in labels) > 1


def _is_whole(spoken: Sequence[tuple[int, int]], measurement: Measurement) -> bool:
    return bool(spoken) and any(measurement.readings[label].meaning for label, _ in spoken)


def _is_complete(said: set[str], reading: Reading) -> bool:
    return not reading.meaning or bool(said & reading.outcome and said & reading.meaning)


def _is_parted(tokens: Sequence[Token], first: int, last: int) -> bool:
    return any(t.text in _SEPARATORS for t in tokens[first + 1 : last])


def _is_instruction(tokens: Sequence[Token]) -> bool:
    """True if a sentence, or a clause of it, begins with a verb in its base form."""
    begun = [
        tokens[0],
        *(t for before, t in pairwise(tokens) if before.kind == "punctuation" or before.stem in ("and", "to", "then")),
    ]
    return any(t.text.lower() in _INSTRUCTIONS for t in begun)


_INSTRUCTIONS = frozenset(
    (
        "run",
        "use",
        "measure",
        "count",
        "look",
        "check",
        "compare",
        "try",
        "start",
        "see",
        "find",
        "let",
        "give",
        "build",
        "collect",
        "profile",
        "record",
        "take",
        "trace",
    )
)
