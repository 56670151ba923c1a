"""Time that is not counted in the whole: `the 66 s of helper threads are no part of the 33 s`."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.quantities import Quantity
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.rounding import is_rounding

_COUNTS = frozenset(
    map(stem, ("count", "counts", "counted", "part", "include", "included", "includes", "contain", "contained", "belong", "belongs", "add", "added", "among"))
)  # fmt: skip
_LEFT_OUT = "left"
_BESIDE = stem("beside")
_REACH = 4
_TIME = "time="


def is_left_out(statement: Statement, position: int, world: World) -> bool:
    """True for the negation of `is not counted in`, where a trusted text leaves the first time out of the second."""
    if not _COUNTS & set(statement.stems[position + 1 : position + 1 + _REACH]):
        return False
    start = statement.tokens[position].start
    times = [q for q in statement.quantities if q.dimension == "time"]
    before, after = [q for q in times if q.start < start], [q for q in times if q.start > start]
    said = {word for word in statement.stems if word}
    for text in world.facts_told:
        words = [word for clause in text.clauses for word in clause]
        apart = _left_out_of(words)
        if apart is None or not (said - world.words.plain) & set(words):
            continue
        out, whole = apart
        if before and all(_is(q, out) for q in before) and all(_is(q, whole) for q in after):
            return True
    return False


def counts_in(statement: Statement, world: World) -> bool:
    """True if a sentence counts in what a trusted text leaves out: `the 66 s of helper threads are part of the 33 s`."""
    negations = world.words.negations & set(statement.stems)
    if negations or not _COUNTS & set(statement.stems):
        return False
    times = [q for q in statement.quantities if q.dimension == "time"]
    apart = (_left_out_of([word for clause in text.clauses for word in clause]) for text in world.facts_told)
    return any(one is not None and any(_is(q, one[0]) for q in times) for one in apart)


def _left_out_of(words: Sequence[str]) -> tuple[float, float] | None:
    """The times of `are left out: 66 s beside the 33 s of the program`."""
    times = [(index, float(word.removeprefix(_TIME))) for index, word in enumerate(words) if word.startswith(_TIME)]
    if _LEFT_OUT not in words or _BESIDE not in words or len(times) != 2:
        return None
    return (times[0][1], times[1][1]) if times[0][0] < words.index(_BESIDE) < times[1][0] else None


def _is(quantity: Quantity, value: float) -> bool:
    return is_rounding(quantity, value)
