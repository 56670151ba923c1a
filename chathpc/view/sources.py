"""Source around the lines with time, what each costs, and what compilers and tools remark on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from chathpc.profile.compiler import FileIndex, Outcome
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean
from chathpc.view.records import DrawnPiece, DrawnRemark, DrawnSource, KernelRemark, Origin
from chathpc.view.tables import Tables, rounded

#: Bounds of what is shown: files, lines around a place, lines in all, characters of a line, remarks.
MOST_FILES, CONTEXT, MOST_LINES, LONGEST_LINE, MOST_REMARKS = 12, 8, 1500, 240, 300
_LONGEST_REMARK = 600

#: Values of lines by metric, file and line.
Heat = Mapping[str, Mapping[str, Mapping[int, float]]]
_GOOD = (Outcome.VECTORISED, Outcome.INLINED)


def sources_of(profile: Profile, places: Iterable[tuple[str, int]], heat: Heat, tables: Tables) -> list[DrawnSource]:
    """The source around `places` (file and line, the most important first), where it is known."""
    wanted: dict[str, set[int]] = {}
    budget = MOST_LINES
    for file, line in places:
        if file not in wanted and len(wanted) >= MOST_FILES:
            continue
        known = wanted.setdefault(file, set())
        new = set(range(max(1, line - CONTEXT), line + CONTEXT + 1)) - known
        if len(new) <= budget:
            known |= new
            budget -= len(new)
    remarks = _compiler_remarks(profile, wanted)
    found = []
    for file, lines in wanted.items():
        # A mark for what is left out takes as much room as one line.
        pieces, origin = _pieces(profile, file, sorted(lines | {line + 1 for line in lines if line + 2 in lines}))
        if not pieces:
            continue
        shown = {line for piece in pieces for line in range(piece.first, piece.first + len(piece.lines))}
        found.append(
            DrawnSource(
                file=tables.files.add(file),
                origin=origin,
                pieces=pieces,
                heat={metric: _heat(of.get(file, {}), shown) for metric, of in heat.items()},
                remarks=[one for one in remarks.get(file, []) if one.line in shown][:MOST_REMARKS],
            )
        )
    return found


def _heat(values: Mapping[int, float], shown: set[int]) -> list[tuple[int, float]]:
    lines = sorted(line for line in values if line in shown)
    return list(zip(lines, rounded(np.array([values[line] for line in lines], dtype=np.float64)), strict=True))


def _pieces(profile: Profile, file: str, lines: Sequence[int]) -> tuple[list[DrawnPiece], Origin]:
    """Runs of lines as pieces of text, and where it came from."""
    pieces: list[DrawnPiece] = []
    origin: Origin = "profile"
    begin = 0
    for at in range(1, len(lines) + 1):
        if at < len(lines) and lines[at] == lines[at - 1] + 1:
            continue
        first, last = lines[begin], lines[at - 1]
        begin = at
        excerpt = None
        for middle in ((first + last) // 2, first):
            excerpt = excerpt or profile.read_source(file, middle, max(middle - first, last - middle))
        if excerpt is None:
            continue
        text = [line[:LONGEST_LINE] for line in excerpt.lines]
        skip = max(0, first - excerpt.first)
        text = text[skip : skip + last - first + 1]
        if text:
            pieces.append(DrawnPiece(first=excerpt.first + skip, lines=text))
            origin = excerpt.provenance.value
    return pieces, origin


def _compiler_remarks(profile: Profile, files: Iterable[str]) -> dict[str, list[DrawnRemark]]:
    """What compilers say of loops and calls, by the file as the profile names it."""
    if profile.build is None:
        return {}
    records = profile.build.records
    index = FileIndex(record.file for record in records)
    found: dict[str, list[DrawnRemark]] = {}
    for file in files:
        same = set(index.find(file))
        for record in records:
            if record.file in same:
                why = f" ({record.obstacle.value})" if record.obstacle is not None else ""
                remark = DrawnRemark(
                    line=record.line,
                    said=f"{record.outcome.value}{why}",
                    good=record.outcome in _GOOD,
                    text=clean(record.text)[:_LONGEST_REMARK],
                    by=record.compiler,
                )
                if remark not in found.setdefault(file, []):
                    found[file].append(remark)
    return found


def kernel_remarks(profile: Profile, tables: Tables) -> list[KernelRemark]:
    """What the tool's own rules say of kernels, the largest estimated gain first."""
    said = [one for one in profile.remarks if one.node >= 0 and one.kind != "ok"]
    said.sort(key=lambda one: -(one.speedup or 0.0))
    return [
        KernelRemark(
            name=tables.names.add(profile.tree.label(one.node)),
            remark=DrawnRemark(
                line=0,
                said=clean(one.title or one.rule),
                good=False,
                text=clean(one.text)[:_LONGEST_REMARK],
                by=one.tool,
            ),
            speedup=one.speedup,
        )
        for one in said[:MOST_REMARKS]
    ]
