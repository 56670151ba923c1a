"""The program as it is behind its macros: what recipes find there is brought back to the text as it is written."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chathpc.diagnosis.source.macros import Piece, expanded, macros_of
from chathpc.diagnosis.source.text import parsed
from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.program import Program, Source, Spot
from chathpc.fix.recipes.recipe import Change, Context, Recipe

_NAME = re.compile(rb"\w+\Z")


@dataclass(frozen=True, slots=True)
class Expanded:
    """The program with macros put in place of their uses, and by path the pieces of the text that they replace."""

    program: Program
    pieces: Mapping[str, Sequence[Piece]]


def changes(recipe: Recipe, context: Context, spot: Spot) -> Iterator[Change]:
    """What a recipe finds in the text as it is written, and then what it finds behind macros."""
    known = []
    for change in recipe.find(context, spot):
        known.append(change.edits)
        yield change
    wide = expansion(context.program)
    if wide is None or spot.source.is_fortran:
        return
    procedure = next(
        (
            one
            for one in wide.program.sources[spot.source.path].procedures
            if (one.model.name, one.model.first) == (spot.procedure.model.name, spot.procedure.model.first)
        ),
        None,
    )
    if procedure is None:
        return
    for change in recipe.find(replace(context, program=wide.program), replace(spot, procedure=procedure)):
        back = _written(change, context.program, wide)
        if back is not None and back.edits not in known:
            yield back


def expansion(program: Program) -> Expanded | None:
    """The program behind its macros; None where it has none."""
    if "" not in program.known_expansions:
        program.known_expansions[""] = _expansion(program)
    return program.known_expansions[""]


def _expansion(program: Program) -> Expanded | None:
    plain = {path: one for path, one in program.sources.items() if not one.is_fortran}
    macros = macros_of([one.text for one in plain.values()])
    sources: dict[str, Source] = dict(program.sources)
    pieces: dict[str, Sequence[Piece]] = {}
    for path, one in plain.items():
        text, replaced = expanded(one.text, macros)
        file = parsed(path, text) if replaced else None
        if file is not None:
            sources[path], pieces[path] = Source(path, file, text), replaced
    return Expanded(Program(sources, program.unread), pieces) if pieces else None


def _there(at: int, pieces: Sequence[Piece], side: int) -> int:
    """Where the byte is in the other text, of one that lies in no piece or at its `side` (0: beginning, 1: end)."""
    before = bisect_right(pieces, at, key=lambda one: one.start) - 1
    if before < 0:
        return at
    one = pieces[before]
    if at == one.start and not side:
        return one.at
    if at == one.start:  # the end of what lies before it
        return one.at
    return one.to + at - one.end if at >= one.end else -1


def _written(change: Change, program: Program, wide: Expanded) -> Change | None:
    """The change as one of the text as it is written; None where it would change the inside of a macro."""
    edits: dict[str, tuple[Edit, ...]] = {}
    did = change.did.encode("utf-8", "surrogateescape")
    for path, listed in change.edits.items():
        pieces = wide.pieces.get(path, ())
        back = [Piece(one.at, one.to, one.start, one.end) for one in pieces]
        old, new = program.sources[path].text, wide.program.sources[path].text
        words = {new[one.at : one.to]: old[one.start : one.end] for one in pieces}
        brought = []
        for one in listed:
            start, end = _there(one.start, back, 0), _there(one.end, back, 1)
            if start < 0 or end < start:
                return None
            brought.append(Edit(start, end, _in_words(one.new, words)))
        edits[path] = tuple(brought)
        did = _in_words(did, words)
    return replace(change, edits=edits, did=did.decode("utf-8", "surrogateescape"))


def _in_words(text: bytes, words: Mapping[bytes, bytes]) -> bytes:
    """The text with macros as they were written, the longest first."""
    for new in sorted(words, key=len, reverse=True):
        sets = re.search(rb" [+*-]?= ", new) is not None
        if new not in text or _NAME.match(new) or not (sets or _is_closed(new)):
            continue
        before = rb"(?<![\w.>])" if new[:1].isalnum() or new[:1] == b"_" else rb"(?<!\w)" if new[:1] == b"(" else rb""
        after = rb"(?!\w)" if new[-1:].isalnum() or new[-1:] == b"_" else rb""
        after = rb"(?=\s*;)" if sets else after
        old = words[new]
        text = re.sub(before + re.escape(new) + after, lambda _, old=old: old, text)  # type: ignore[misc]
    return text


def _is_closed(text: bytes) -> bool:
    """True for an expression that nothing beside it can pull apart: in brackets, or a name with indices and members."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in b"([") - (letter in b")]")
        if text[:1] == b"(" and depth == 0 and at < len(text) - 1:
            return False
        if text[:1] != b"(" and depth == 0 and not (chr(letter).isalnum() or letter in b"_.->])"):
            return False
    return not re.search(rb"(?<!-)>|-(?!>)", re.sub(rb"[(\[].*[)\]]", b"", text)) if text[:1] != b"(" else True
