"""The text of gprof: times of functions from the flat profile, who calls whom from the call graph."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from chathpc.adapters.call_graph import CAVEAT
from chathpc.adapters.gprof.functions import Function, Functions
from chathpc.adapters.lines import lines
from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile.location import Locations
from chathpc.profile.metric import Clock, Metric, Unit
from chathpc.profile.profile import Profile, Source
from chathpc.profile.tree import NodeKind

_NUMBER = r"\d{1,12}\.\d{1,9}"
_FLAT = re.compile(
    rf"\s*+(?:{_NUMBER}|nan)\s++{_NUMBER}\s++(?P<own>{_NUMBER})"
    rf"(?:\s++(?P<calls>\d{{1,18}})\s++{_NUMBER}\s++{_NUMBER})?\s++(?P<name>\S.*)"
)
_PERIOD = re.compile(rf"Each sample counts as (?P<period>{_NUMBER}|\d{{1,9}}(?:\.\d{{1,9}})?e-\d\d) seconds")
_PRIMARY = re.compile(
    rf"\[(?P<index>\d{{1,9}})\]\s++(?:{_NUMBER}|nan)\s++(?P<own>{_NUMBER})\s++{_NUMBER}"
    r"(?:\s++(?P<calls>\d{1,18})(?:\+(?P<again>\d{1,18}))?)?\s++(?P<name>\S.*?)\s++\[\d{1,9}\]"
)
_ARC = re.compile(
    rf"\s++(?:{_NUMBER}\s++{_NUMBER}\s++)?\d{{1,18}}(?:\+\d{{1,18}})?(?:/\d{{1,18}})?\s++\S.*?\s++\[(?P<index>\d{{1,9}})\]"
)
_CYCLE = re.compile(r" ?<cycle \d+>$")
#: `solve (heat.c:12 @ 401136)`: with -l gprof lists lines instead of functions.
_PLACED = re.compile(r"(?P<name>.+) \((?P<file>[^():]+):(?P<line>\d{1,9}) @ [0-9a-f]+\)")
_HOW = "Write it again: gprof PROGRAM gmon.out > profile.txt"
_LONGEST = 1 << 16


@dataclass(slots=True)
class _Listing:
    period: float | None = None
    ticks: bool = False
    flat: list[Function] = field(default_factory=list)
    graph: Functions = field(default_factory=Functions)


def read(path: Path) -> Profile:
    """The profile in the text of gprof at `path`; AdapterError if it has no function."""
    listing = _parse(lines(path, longest=_LONGEST))
    if not listing.flat and not listing.graph.known:
        raise AdapterError("lists no function", path=path, hint=_HOW)
    functions = _joined(listing)
    total = sum(function.own for function in functions.known.values())
    if total <= 0:
        raise AdapterError(
            "no time accumulated: the program ran for less than one sample, or was not linked with -pg",
            path=path,
            hint="Compile and link with -pg, and run longer.",
        )
    title = path.name.split(".")[0]
    metric = Metric(
        id="cpu.samples" if listing.ticks else "cpu.time",
        unit=Unit.SAMPLES if listing.ticks else Unit.SECONDS,
        description="CPU time of the program's own functions (sampled)",
        source_name="self seconds",
        clock=None if listing.ticks else Clock.CPU,
    )
    calls = Metric(id="calls.count", unit=Unit.COUNT, description="calls", source_name="calls")
    stacks = Stacks()
    root = stacks.step(-1, stacks.frame(title, kind=NodeKind.REGION))
    places = functions.contexts(stacks, root)
    for key, function in functions.known.items():
        if function.own:
            stacks.add(metric.id, places[key], function.own)
        if function.calls:
            stacks.add("calls.count", places[key], function.calls)
    metrics = [found for found in (metric, calls) if stacks.has(found.id)]
    tree, values = stacks.finish(metrics)
    period = 1.0 if listing.ticks else listing.period or 0.01
    return Profile(
        format="gprof",
        title=title,
        tree=tree,
        metrics={found.id: found for found in metrics},
        values=values,
        where=Locations.single(),
        sources=(Source(path, "gprof"),),
        caveats=_caveats(listing),
        not_collected=_not_collected(listing),
        sample_count=total / period,
    )


def _parse(text: Iterable[str]) -> _Listing:
    listing, part, primary = _Listing(), "", ""
    callers: list[str] = []
    for line in text:
        row = line.replace("\f", "").rstrip()
        if row.startswith("Flat profile"):
            part = "flat"
        elif row.startswith("index % time"):
            part, primary = "graph", ""
        elif row.startswith("Index by function name"):
            part = ""
        elif "time is in ticks" in row:
            listing.ticks = True
        elif listing.period is None and (found := _PERIOD.search(row)):
            listing.period = float(found["period"]) or None
        elif part == "flat" and (found := _FLAT.fullmatch(row)):
            listing.flat.append(_function(found["name"], float(found["own"]), found["calls"]))
        elif part == "graph":
            if row.startswith("-----"):
                callers, primary = [], ""
            elif found := _PRIMARY.fullmatch(row):
                primary = found["index"]
                count = None if found["calls"] is None else str(int(found["calls"]) + int(found["again"] or 0))
                if not found["name"].endswith("as a whole>"):
                    listing.graph.known[primary] = _function(found["name"], float(found["own"]), count)
                listing.graph.arcs += [(caller, primary) for caller in callers]
            elif found := _ARC.fullmatch(row):
                if primary:
                    listing.graph.arcs.append((primary, found["index"]))
                else:
                    callers.append(found["index"])
    return listing


def _function(name: str, own: float, calls: str | None) -> Function:
    name = _CYCLE.sub("", name)
    placed = _PLACED.fullmatch(name)
    count = None if calls is None else int(calls)
    if placed is None:
        return Function(name, own, count)
    return Function(placed["name"], own, count, file=placed["file"], line=int(placed["line"]))


def _joined(listing: _Listing) -> Functions:
    """Functions of the graph with the times of the flat profile, and what only the flat profile has.

    Both print the same times; the flat profile also has functions that gprof leaves out of the graph. Several functions
    of one name are taken in the order in which they stand.
    """
    if not listing.flat:
        return listing.graph
    rows: dict[str, list[Function]] = {}
    for function in listing.flat:
        rows.setdefault(function.name, []).append(function)
    joined = Functions(arcs=listing.graph.arcs)
    for index, function in listing.graph.known.items():
        same = rows.get(function.name)
        flat = same.pop(0) if same else None
        joined.known[index] = flat or function
    left = (function for same in rows.values() for function in same)
    for number, function in enumerate(left):
        joined.known[f"flat {number}"] = function
    return joined


def _caveats(listing: _Listing) -> tuple[str, ...]:
    said = [
        "gprof sees only code that was compiled with -pg: time in libraries, in the kernel and waiting is missing, and "
        "inlined functions count towards their callers."
    ]
    said.append(CAVEAT if listing.graph.arcs else "The file has no call graph: who called whom is unknown.")
    if listing.ticks:
        said.append("The times are in ticks of unknown length, so shares are known but seconds are not.")
    return tuple(said)


def _not_collected(listing: _Listing) -> dict[str, str]:
    found = {"call paths": "perf record --call-graph dwarf ./app"}
    if not listing.graph.known:
        found["calls between functions"] = "gprof ./app gmon.out > profile.txt (without -p)"
    found["source lines, loops and inlined functions"] = "perf record -g ./app (program with -g)"
    return found
