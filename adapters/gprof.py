"""gprof: its text (flat profile, call graph or both), and the graphs that gprof2dot draws of any profile."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.call_graph import CAVEAT, OUTSIDE, Arc, put
from chathpc.adapters.glance import Glance
from chathpc.adapters.lines import lines
from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile.metric import Clock, Metric, Unit
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind

_TEXT = (
    re.compile(r"^Flat profile:\s*$", re.MULTILINE),
    re.compile(r"^index % time    self  children    called     name", re.MULTILINE),
    re.compile(r"^granularity: each sample hit covers ", re.MULTILINE),
)
_DOT = re.compile(r'label="[^"]{0,2000}?\d\.\d\d%')


def _is_dot(glance: Glance) -> bool:
    text = glance.text
    return text.lstrip()[:8].lower().startswith("digraph") and _DOT.search(text) is not None


def recognises(glance: Glance) -> bool:
    """True for the headings of gprof, and for a graph whose nodes have percentages in their labels."""
    return any(pattern.search(glance.text) for pattern in _TEXT) or _is_dot(glance)


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
    rf"\s++(?:(?P<own>{_NUMBER})\s++(?P<below>{_NUMBER})\s++)?(?P<calls>\d{{1,18}})(?:\+\d{{1,18}})?(?:/\d{{1,18}})?"
    r"\s++\S.*?\s++\[(?P<index>\d{1,9})\]"
)
_CYCLE = re.compile(r" ?<cycle \d+>$")
#: `solve (heat.c:12 @ 401136)`: with -l gprof lists lines instead of functions.
_PLACED = re.compile(r"(?P<name>.+) \((?P<file>[^():]+):(?P<line>\d{1,9}) @ [0-9a-f]+\)")
_HOW = "Write it again: gprof PROGRAM gmon.out > profile.txt"
_LONGEST = 1 << 16
_CALLS = Metric("calls.count", Unit.COUNT, "calls", "calls")


@dataclass(slots=True)
class Function:
    """A function: `own` is its exclusive cost, `calls` how often it was called where that is known."""

    name: str
    own: float = 0.0
    calls: int | None = None
    module: str = ""
    file: str = ""
    line: int = 0


@dataclass(slots=True)
class Functions:
    """Functions by the key that the file gives them, and the arcs between (caller, callee) pairs of keys."""

    known: dict[str, Function] = field(default_factory=dict)
    arcs: dict[tuple[str, str], Arc] = field(default_factory=dict)

    def stacks(self, title: str, cost: str) -> tuple[Stacks, int]:
        """Contexts with the costs and calls of each function, below its callers or a root called `title`; and that root."""
        stacks = Stacks()
        root = stacks.step(-1, stacks.frame(title, kind=NodeKind.REGION))
        number = {key: index for index, key in enumerate(self.known)}
        functions = list(self.known.values())
        arcs = {(number[a], number[b]): arc for (a, b), arc in self.arcs.items() if a in number and b in number}
        rest = [one.calls or 0 for one in functions]
        for (_, callee), arc in arcs.items():
            rest[callee] -= int(arc.calls)
        arcs |= {(OUTSIDE, index): Arc(0.0, calls) for index, calls in enumerate(rest) if calls > 0}
        frames = [
            stacks.frame(one.name or "[unknown]", file=one.file, line=one.line, module=one.module) for one in functions
        ]
        for one, parts in zip(functions, put(stacks, root, frames, [one.own for one in functions], arcs), strict=True):
            for node, part in parts.items():
                if one.own * part:
                    stacks.add(cost, node, one.own * part)
        return stacks, root


@dataclass(slots=True)
class _Listing:
    period: float | None = None
    ticks: bool = False
    flat: list[Function] = field(default_factory=list)
    graph: Functions = field(default_factory=Functions)


def read(path: Path) -> Profile:
    """The profile in the text of gprof at `path`, or in a graph of gprof2dot; AdapterError if it has no function or no costs."""
    if _is_dot(Glance(path)):
        return _read_dot(path)
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
    metric = Metric(
        id="cpu.samples" if listing.ticks else "cpu.time",
        unit=Unit.SAMPLES if listing.ticks else Unit.SECONDS,
        description="CPU time of the program's own functions (sampled)",
        source_name="self seconds",
        clock=None if listing.ticks else Clock.CPU,
    )
    stacks, _ = functions.stacks(path.name.split(".")[0], metric.id)
    period = 1.0 if listing.ticks else listing.period or 0.01
    return replace(
        stacks.profile(path, (metric, _CALLS), format="gprof", tool="gprof"),
        caveats=_caveats(listing),
        not_collected=_not_collected(listing),
        sample_count=total / period,
    )


def _parse(text: Iterable[str]) -> _Listing:
    listing, part, primary = _Listing(), "", ""
    callers: dict[str, Arc] = {}
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
                callers, primary = {}, ""
            elif found := _PRIMARY.fullmatch(row):
                primary = found["index"]
                count = None if found["calls"] is None else str(int(found["calls"]) + int(found["again"] or 0))
                if not found["name"].endswith("as a whole>"):
                    listing.graph.known[primary] = _function(found["name"], float(found["own"]), count)
                if found["again"]:
                    listing.graph.arcs[primary, primary] = Arc(calls=int(found["again"]))
                listing.graph.arcs |= {(caller, primary): arc for caller, arc in callers.items()}
            elif found := _ARC.fullmatch(row):
                arc = Arc(float(found["own"] or 0) + float(found["below"] or 0), int(found["calls"]))
                if primary:
                    listing.graph.arcs[primary, found["index"]] = arc
                else:
                    callers[found["index"]] = arc
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


# -- graphs of gprof2dot -------------------------------------------------------------------------------------------
#
# A label has lines: the load module (where known), the name, the share with all below it, the share of its own in brackets,
# and the number of calls: `libm.so\nexp\n12.50%\n(12.50%)\n1000×`.

_ID = r'(?:"(?:[^"\\]|\\.)*+"|[\w.]++)'
_NODE = re.compile(rf"\s*+(?P<id>{_ID})\s*+\[(?P<facts>.*)\]\s*;?\s*")
_EDGE = re.compile(rf"\s*+(?P<caller>{_ID})\s*+->\s*+(?P<callee>{_ID})\s*+(?P<facts>\[.*)?;?\s*")
_SHARE = re.compile(r'\blabel="(?P<share>\d{1,4}(?:\.\d{1,9})?)%(?:\\n(?P<calls>\d{1,18})[×x])?')
_LABEL = re.compile(r'\blabel="(?P<label>(?:[^"\\]|\\.)*+)"')
_TOTAL = re.compile(r"\d{1,4}(?:\.\d{1,9})?%")
_OWN = re.compile(r"\((?P<own>\d{1,4}(?:\.\d{1,9})?)%\)")
_TIMES_CALLED = re.compile(r"(?P<calls>\d{1,18})[×x]")
#: gprof2dot leaves out what is below 0.5 % unless told otherwise.
_ROUNDING = 0.005


def _read_dot(path: Path) -> Profile:
    """The profile of a graph of gprof2dot; AdapterError if no node has a share of its own."""
    functions = Functions()
    for line in lines(path, longest=1 << 20):
        if edge := _EDGE.fullmatch(line):
            told = _SHARE.search(edge["facts"] or "")
            arc = Arc(float(told["share"]), int(told["calls"] or 0)) if told else Arc()
            functions.arcs[_plain(edge["caller"]), _plain(edge["callee"])] = arc
        elif (node := _NODE.fullmatch(line)) and (label := _LABEL.search(node["facts"])):
            found = _labelled(label["label"])
            if found is not None:
                functions.known[_plain(node["id"])] = found
    own = sum(function.own for function in functions.known.values())
    if not own:
        raise AdapterError(
            "no node of the graph has a share of its own",
            path=path,
            hint="Write it with gprof2dot and its default labels, or give the profile it was drawn from.",
        )
    title = path.name.split(".dot")[0]
    metric = Metric("cpu.share", Unit.PERCENT, "share of the cost, in percent of the run", "self %")
    stacks, root = functions.stacks(title, metric.id)
    rest = 100.0 - own
    if rest > _ROUNDING * len(functions.known):
        left_out = stacks.step(root, stacks.frame("[omitted from the graph]", kind=NodeKind.PLACEHOLDER))
        stacks.add(metric.id, left_out, rest)
    return replace(
        stacks.profile(path, (metric, _CALLS), format="gprof2dot graph", tool="gprof2dot", title=title),
        caveats=(
            "A graph of gprof2dot has percentages only: of what (time, instructions, samples) and of how much is unknown.",
            "gprof2dot omits small functions and calls from the graph.",
            CAVEAT,
        ),
        not_collected={"the costs themselves": "give chathpc the profile that the graph was drawn from"},
        timed=True,
    )


def _plain(identifier: str) -> str:
    """An identifier without its quotes."""
    return identifier[1:-1] if identifier.startswith('"') else identifier


def _labelled(label: str) -> Function | None:
    """What a label says; None if it is no function's."""
    words: list[str] = []
    own: float | None = None
    calls: int | None = None
    shares = 0
    for line in label.split("\\n"):
        if found := _OWN.fullmatch(line):
            own = float(found["own"])
        elif _TOTAL.fullmatch(line):
            shares += 1
        elif (found := _TIMES_CALLED.fullmatch(line)) and shares:
            calls = int(found["calls"])
        elif line:
            words.append(line.replace('\\"', '"').replace("\\\\", "\\"))
    if own is None or not words:
        return None
    module, name = (words[0], " ".join(words[1:])) if len(words) > 1 else ("", words[0])
    return Function(name, own, calls, module)


ADAPTER = Adapter(
    name="gprof",
    reads="text of gprof (flat profile and call graph), graphs of gprof2dot (.dot)",
    recognises=recognises,
    read=read,
    order=45,
)
