"""Which source line a sentence calls the hottest, and whether trusted texts call that one so."""

from __future__ import annotations

import re

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Segment, Statement
from chathpc.grounding.language.quantities import NONE, Keys
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.operands import value
from chathpc.grounding.relations.topmost import are_first

_LINE_WORDS = frozenset(map(stem, ("line", "lines", "statement")))
_HOTTEST = stem("hottest")
_LOOP = stem("loop")
_NAMED_LINE = re.compile(r".+\.\w+:[0-9]+")
#: Between the superlative and its noun: `the hottest single line`, `the most expensive source line`.
_REACH = 4
#: The whole run and not a function of it: `the hottest line of the program`.
_WHOLE = frozenset(map(stem, ("program", "run", "overall", "profile", "application", "whole")))


def is_of_a_line(statement: Statement, position: int) -> bool:
    """True for the superlative of `its hottest line`, and of `a.c:7 is the hottest spot`."""
    if _LINE_WORDS & set(statement.stems[position + 1 : position + 1 + _REACH]):
        return True
    own = statement.segment_at(position)
    return own is not None and bool(_lines(own, statement)) and all(map(_is_file, own.names))


def right_line(statement: Statement, position: int, world: World) -> bool:
    """False if the line that the superlative at a position belongs to is not the one of trusted texts, or that of another function."""
    known = _hottest(world)
    claimed, functions = _claimed(statement, position)
    if not claimed or not known:
        return are_first([frozenset({line}) for line in sorted(claimed)], world)
    if not claimed <= known:
        return False
    if functions:
        return all(any(functions <= f.near | f.names for f in world.facts if line in f.names) for line in claimed)
    if not _WHOLE & set(statement.stems):
        return True
    times = {line: _time(line, world) for line in known}
    return any(times[line] >= max(times.values()) for line in claimed)


def _claimed(statement: Statement, position: int) -> tuple[Keys, Keys]:
    """The lines that a superlative is said of, and the functions beside them: those of its clause, else of the next one that names a line."""
    index = next((i for i, s in enumerate(statement.segments) if s.first <= position < s.last), None)
    if index is None:
        return NONE, NONE
    own = statement.segments[index]
    functions = frozenset(n for n in own.names if not _is_file(n))
    for segment in statement.segments[index : index + 2]:
        lines = _lines(segment, statement)
        if lines:
            return lines, functions
    return NONE, NONE


def _lines(segment: Segment, statement: Statement) -> Keys:
    """The lines that a clause names, without those of loops: `a.c:7, in the loop at a.c:5`."""
    stems = statement.stems
    return frozenset(
        name
        for mark in segment.marks
        for name in mark.names
        if _NAMED_LINE.fullmatch(name)
        and _LOOP not in stems[max(segment.first, mark.position - _REACH) : mark.position]
    )


def _is_file(name: str) -> bool:
    return "." in name or ":" in name.replace("::", "")


def _hottest(world: World) -> Keys:
    """The lines that stand behind `hottest line` in trusted texts."""
    found = set()
    for text in world.facts_told:
        for clause in text.clauses:
            for index, word in enumerate(clause[:-2]):
                if word == _HOTTEST and clause[index + 1] in _LINE_WORDS and _NAMED_LINE.fullmatch(clause[index + 2]):
                    found.add(clause[index + 2])
    return frozenset(found)


def _time(line: str, world: World) -> float:
    return max((value(f) for f in world.facts if f.quantity.dimension == "time" and line in f.names), default=0.0)
