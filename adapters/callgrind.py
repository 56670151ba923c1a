"""Callgrind (and cachegrind, and what else writes the format, such as Xdebug): costs by function and line, calls with costs.

Layout: the manual of Valgrind, "Callgrind Format Specification". Names are written once and then called by number, lines may
be relative to the one before; `calls=` is followed by a line with the cost of these calls, all below the callee included.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.call_graph import CAVEAT, Arc, divided, put
from chathpc.adapters.glance import Glance
from chathpc.adapters.lines import lines
from chathpc.adapters.stacks import Stacks, too_short
from chathpc.errors import AdapterError
from chathpc.profile.metric import Clock, Metric, Unit, slug, unused
from chathpc.profile.profile import Profile, Source
from chathpc.profile.run import told_command
from chathpc.profile.tree import NodeKind


def recognises(glance: Glance) -> bool:
    """True for text that says so in its first line, or that names events and then functions as the format does."""
    text = glance.text
    if text.startswith("# callgrind format"):
        return True
    rows = [row.strip() for row in text[: 32 << 10].split("\n")]
    events = next((at for at, row in enumerate(rows) if row.startswith("events:")), None)
    return events is not None and any(row.startswith("fn=") for row in rows[events:])


#: Event → (id, unit, factor, what it counts). Callgrind manual, "Event types" and cache simulation; Xdebug's two.
_EVENTS: dict[str, tuple[str, Unit, float, str]] = {
    "Ir": ("cpu.instructions", Unit.COUNT, 1.0, "instructions executed (counted one by one)"),
    "Instructions": ("cpu.instructions", Unit.COUNT, 1.0, "instructions executed (counted one by one)"),
    "Cycles": ("cpu.cycles", Unit.CYCLES, 1.0, "CPU cycles"),
    "Dr": ("cpu.data.reads", Unit.COUNT, 1.0, "data reads"),
    "Dw": ("cpu.data.writes", Unit.COUNT, 1.0, "data writes"),
    "I1mr": ("cpu.cache.l1i.misses", Unit.COUNT, 1.0, "first-level instruction cache misses (simulated)"),
    "D1mr": ("cpu.cache.l1d.read-misses", Unit.COUNT, 1.0, "first-level data cache read misses (simulated)"),
    "D1mw": ("cpu.cache.l1d.write-misses", Unit.COUNT, 1.0, "first-level data cache write misses (simulated)"),
    "ILmr": ("cpu.cache.ll.instruction-misses", Unit.COUNT, 1.0, "last-level instruction misses (simulated)"),
    "DLmr": ("cpu.cache.ll.read-misses", Unit.COUNT, 1.0, "last-level cache read misses (simulated)"),
    "DLmw": ("cpu.cache.ll.write-misses", Unit.COUNT, 1.0, "last-level cache write misses (simulated)"),
    "Bc": ("cpu.branches", Unit.COUNT, 1.0, "conditional branches"),
    "Bcm": ("cpu.branch.misses", Unit.COUNT, 1.0, "mispredicted conditional branches (simulated)"),
    "Time_(10ns)": ("cpu.time", Unit.SECONDS, 1e-8, "wall-clock time of the script"),
    "Time_(µs)": ("cpu.time", Unit.SECONDS, 1e-6, "wall-clock time of the script"),
    "Memory_(bytes)": ("other.memory-bytes", Unit.BYTES, 1.0, "change of the memory in use"),
}
#: A run of fewer instructions takes less than a millisecond.
FEW_INSTRUCTIONS = 1_000_000
UNKNOWN = "???"


@dataclass(frozen=True, slots=True)
class _Graph:
    """Functions by number, the arcs between them, and the lines that these start from."""

    number: dict[Key, int]
    arcs: dict[tuple[int, int], Arc]
    sites: dict[tuple[int, int], set[tuple[str, int]]]


def read(path: Path) -> Profile:
    """The profile of a callgrind file, plain or gzip: functions below their callers, lines in them."""
    found = parse(lines(path, longest=1 << 20), path)
    metrics = _metrics(found)
    graph = _graph(found)
    own = [0.0] * len(graph.number)
    for (function, _, _), costs in found.costs.items():
        own[graph.number[function]] += costs[0]
    stacks, title = Stacks(), found.program or path.name
    root = stacks.step(-1, stacks.frame(title, kind=NodeKind.REGION))
    frames = [
        stacks.frame(name or "[unknown]", file=_known(file), module=_known(module))
        for module, file, name in graph.number
    ]
    contexts = put(stacks, root, frames, own, graph.arcs, site=lambda at, *arc: _site(stacks, at, graph.sites[arc]))
    for (function, file, line), costs in found.costs.items():
        parts = contexts[graph.number[function]]
        nodes = [_line(stacks, node, file, line) for node in parts] if line else parts
        for event, value in zip(found.events, costs, strict=False):
            for node, amount in zip(nodes, divided(value, parts.values()), strict=True):
                if amount:
                    stacks.add(metrics[event].id, node, amount * metrics[event].scale)
    if not any(stacks.has(metric.id) for metric in metrics.values()):
        raise AdapterError("all its costs are 0", path=path, hint="Record it again with a longer run.")
    calls = Metric(id="calls.count", unit=Unit.COUNT, description="calls", source_name="calls")
    tool = re.match(r"(?P<name>[A-Za-z]+)[ -]?(?P<version>[\d.]*)", found.creator)
    name, version = (tool["name"], tool["version"]) if tool else ("callgrind", "")
    format = f"{name.capitalize()} (callgrind format)" if tool else "callgrind format"
    profile = stacks.profile(path, (*metrics.values(), calls), format=format, tool=name, title=title)
    return replace(
        profile,
        sources=(Source(path, name, version),),
        caveats=_caveats(found, profile.metrics, bool(graph.arcs)),
        not_collected=_not_collected(profile.metrics),
        run=told_command(found.command.split()),
        timed=True,
        insufficient=_insufficient(metrics[found.events[0]], sum(own)),
    )


def _line(stacks: Stacks, node: int, file: str, line: int) -> int:
    return stacks.step(node, stacks.frame("", kind=NodeKind.LINE, file=_known(file), line=line))


def _site(stacks: Stacks, node: int, sites: Set[tuple[str, int]]) -> int:
    """The line of a call in the caller's context, where there is only one."""
    file, line = next(iter(sites)) if len(sites) == 1 else ("", 0)
    return _line(stacks, node, file, line) if line else node


def _insufficient(metric: Metric, total: float) -> str:
    if metric.id == "cpu.time":
        return too_short(total * metric.scale)
    if metric.id == "cpu.instructions" and total < FEW_INSTRUCTIONS:
        words = "less than a millisecond of work: too little to show what costs time."
        return f"Only {total:,.0f} instructions were counted, {words}"
    return ""


def _metrics(found: Callgrind) -> dict[str, Metric]:
    metrics: dict[str, Metric] = {}
    taken = {"calls.count"}
    for event in found.events:
        words = found.words.get(event) or event
        identifier, unit, scale, description = _EVENTS.get(
            event, (f"other.{slug(event, longest=60)}", Unit.COUNT, 1.0, words)
        )
        identifier = unused(identifier, taken, "-")
        taken.add(identifier)
        clock = Clock.WALL if identifier == "cpu.time" else None
        metrics[event] = Metric(identifier, unit, description, event, "", scale, clock=clock)
    return metrics


def _graph(found: Callgrind) -> _Graph:
    """Functions and arcs. A call names its callee's file only where that is not the present one, and not always rightly:
    what is called is looked for by object and name where there is no function in that file.
    """
    number: dict[Key, int] = {}
    by_name: dict[tuple[str, str], int] = {}
    for function in [key for key, *_ in found.costs] + [caller for caller, *_ in found.calls]:
        index = number.setdefault(function, len(number))
        by_name.setdefault((function[0], function[2]), index)
    arcs: dict[tuple[int, int], Arc] = {}
    sites: dict[tuple[int, int], set[tuple[str, int]]] = {}
    for (caller, file, line, called), (count, cost) in found.calls.items():
        callee = number.get(called, by_name.get((called[0], called[2])))
        if callee is None:
            callee = number[called] = by_name[called[0], called[2]] = len(number)
        arc = number[caller], callee
        before = arcs.get(arc, Arc())
        arcs[arc] = Arc(before.cost + max(cost, 0.0), before.calls + count)
        sites.setdefault(arc, set()).add((file, line))
    return _Graph(number, arcs, sites)


def _known(name: str) -> str:
    return "" if name == UNKNOWN else name


def _caveats(found: Callgrind, ids: Container[str], calls: bool) -> tuple[str, ...]:
    said = [CAVEAT] if calls else ["The file has no calls: who called whom is unknown."]
    if "cpu.instructions" in ids and "cpu.time" not in ids:
        said.append(
            "Valgrind counts instructions on a simulated processor and measures no time: an instruction that waits for "
            "memory counts like any other, and threads run one at a time."
        )
    if found.invalid:
        said.append(f"{found.invalid:,} damaged lines were skipped.")
    if found.summary and found.costs:
        first = sum(costs[0] for costs in found.costs.values() if costs)
        if found.summary[0] > 0 and abs(first - found.summary[0]) > 1e-3 * found.summary[0] and found.parts <= 1:
            said.append(
                f"The lines of the file add up to {first:,.0f} {found.events[0]} and its own total is "
                f"{found.summary[0]:,.0f}: part of it is missing."
            )
    return tuple(said)


def _not_collected(ids: Container[str]) -> dict[str, str]:
    found = {"call paths": "perf record --call-graph dwarf ./app"}
    if "cpu.time" not in ids:
        found["host time"] = "perf record -e cpu-clock -g ./app"
    if "cpu.instructions" in ids and "cpu.data.reads" not in ids:
        found["cache misses (simulated)"] = "valgrind --tool=callgrind --cache-sim=yes ./app"
    return found


# -- the file -------------------------------------------------------------------------------------------------

#: (object file, source file, function).
Key = tuple[str, str, str]

_NUMBERED = re.compile(r"\((\d{1,9})\)(?:\s+(.*))?", re.DOTALL)
_HOW = "Write it again: callgrind_annotate shows whether the file is complete."
#: Counts beyond this are damage: a 5 GHz processor needs a century for as many instructions.
_MOST = 10**19


@dataclass(slots=True)
class Callgrind:
    """What a file holds. `costs` maps (function, source file, line) to the cost of each event there; `calls` the same and a function
    called from there to the number of calls, and what they cost by the first event including all below the callee.
    """

    events: list[str] = field(default_factory=list)
    words: dict[str, str] = field(default_factory=dict)
    costs: dict[tuple[Key, str, int], list[float]] = field(default_factory=dict)
    calls: dict[tuple[Key, str, int, Key], tuple[int, float]] = field(default_factory=dict)
    summary: list[float] = field(default_factory=list)
    creator: str = ""
    program: str = ""
    command: str = ""
    invalid: int = 0
    parts: int = 0


@dataclass(slots=True)
class _Place:
    """Where the parser is."""

    object: str = ""
    file: str = ""
    home: str = ""  #: file of the function itself; `file` may be one that was inlined from
    function: str | None = None
    called_object: str | None = None
    called_file: str | None = None
    called: str | None = None
    line: int = 0
    addresses: int = 0  #: positions of a cost line that stand before the line number


def parse(text: Iterable[str], path: Path) -> Callgrind:
    """The content of a file of the format; AdapterError if it has no events or no costs. Broken lines are counted."""
    found = Callgrind()
    place = _Place()
    names: dict[str, dict[str, str]] = {"ob": {}, "fl": {}, "fn": {}}
    columns: list[int] = []
    has_line = True
    pending: tuple[str, int] | None = None  # what the next line of costs belongs to: calls and their number, or a jump
    for raw in text:
        row = raw.strip()
        if not row or row.startswith("#"):
            continue
        first = row[0]
        if first.isdigit() or first in "+-*":
            cost = _cost(row, place, has_line)
            if cost is None or place.function is None or not columns:
                found.invalid += 1
            elif pending is None:
                _add_cost(found, place, cost, columns)
            elif pending[0] == "calls":
                _add_call(found, place, pending[1], cost[0] if cost else 0)
            pending = None
            continue
        key, equals, value = row.partition("=")
        if equals and key.isalpha():
            pending = _specification(found, place, names, key, value, pending)
            continue
        key, colon, value = row.partition(":")
        if not colon:
            found.invalid += 1
            continue
        value = value.strip()
        if key == "events":
            columns = [_column(found, event) for event in value.split()[:64]]
        elif key == "positions":
            kinds = value.split()
            has_line = "line" in kinds or not kinds
            place.addresses = kinds.index("line") if "line" in kinds else len(kinds)
        else:
            _header(found, key, value, columns)
            if key == "part":
                place.line = 0
    if not found.events:
        raise AdapterError("names no events", path=path, hint=_HOW)
    if not found.costs:
        raise AdapterError("has no costs", path=path, hint=_HOW)
    return found


def _column(found: Callgrind, event: str) -> int:
    """The place of an event among all; parts of one file may name them in different orders."""
    if event not in found.events:
        found.events.append(event)
    return found.events.index(event)


def _header(found: Callgrind, key: str, value: str, columns: list[int]) -> None:
    if key == "creator":
        found.creator = value[:100]
    elif key == "cmd" and value:
        found.command = value
        found.program = value.split()[0].rsplit("/", 1)[-1][:100]
    elif key == "part":
        found.parts += 1
    elif key == "event":  # event: name : words, or event: name = formula : words
        name, _, words = value.partition(":")
        found.words[name.partition("=")[0].strip()] = words.strip()[:200]
    elif key in ("totals", "summary"):
        numbers = [_number(text) for text in value.split()]
        if columns and None not in numbers and (key == "totals" or not found.summary):
            found.summary = [float(number or 0) for number in numbers]


def _specification(
    found: Callgrind,
    place: _Place,
    names: dict[str, dict[str, str]],
    key: str,
    value: str,
    pending: tuple[str, int] | None,
) -> tuple[str, int] | None:
    """A line `key=value` that says where the following costs belong."""
    if key == "fn":
        place.function, place.home = _named(names["fn"], value), place.file
    elif key == "fl":
        place.file = place.home = _named(names["fl"], value)
    elif key in ("fi", "fe"):
        place.file = _named(names["fl"], value)
    elif key == "ob":
        place.object = _named(names["ob"], value)
    elif key == "cfn":
        place.called = _named(names["fn"], value)
    elif key in ("cfi", "cfl"):
        place.called_file = _named(names["fl"], value)
    elif key == "cob":
        place.called_object = _named(names["ob"], value)
    elif key == "calls":
        words = value.split()
        count = _number(words[0]) if words else None
        if count is None:
            found.invalid += 1
            return None
        return "calls", count
    elif key in ("jump", "jcnd"):
        return "jump", 0
    elif key == "jfi":
        _named(names["fl"], value)
    elif key == "jfn":
        _named(names["fn"], value)
    return pending


def _named(names: dict[str, str], value: str) -> str:
    """The name of `(3) solve`, which is from now on `(3)`, or of a name that is written out."""
    value = value.strip()
    match = _NUMBERED.fullmatch(value)
    if match is None:
        return value
    if match[2]:
        names[match[1]] = match[2]
    return names.get(match[1], f"({match[1]})")


def _number(text: str) -> int | None:
    """A number, decimal or hexadecimal, else None."""
    try:
        value = int(text, 16) if text[:2] in ("0x", "0X") else int(text) if len(text) < 25 and text.isascii() else None
    except ValueError:
        return None
    return value if value is not None and abs(value) < _MOST else None


def _cost(row: str, place: _Place, has_line: bool) -> list[int] | None:
    """The costs of a line, whose positions move `place`; None if it is broken."""
    words = row.split()
    positions = place.addresses + has_line
    if len(words) < positions:
        return None
    if has_line:
        text = words[place.addresses]
        if text == "*":
            line: int | None = place.line
        elif text[0] in "+-":
            step = _number(text[1:])
            line = None if step is None else place.line + (step if text[0] == "+" else -step)
        else:
            line = _number(text)
        if line is None or abs(line) > 2**31:
            return None
        place.line = line
    numbers = [_number(word) for word in words[positions:]]
    return None if None in numbers else [number for number in numbers if number is not None]


def _add_cost(found: Callgrind, place: _Place, cost: list[int], columns: list[int]) -> None:
    function = (place.object, place.home, str(place.function))
    key = (function, place.file, max(place.line, 0))
    sums = found.costs.setdefault(key, [])
    sums += [0.0] * (len(found.events) - len(sums))
    for column, value in zip(columns, cost, strict=False):
        sums[column] += value


def _add_call(found: Callgrind, place: _Place, count: int, inclusive: int) -> None:
    caller = (place.object, place.home, str(place.function))
    if place.called is not None:
        callee = (
            place.object if place.called_object is None else place.called_object,
            place.file if place.called_file is None else place.called_file,
            place.called,
        )
        key = (caller, place.file, max(place.line, 0), callee)
        known = found.calls.get(key, (0, 0.0))
        found.calls[key] = known[0] + count, known[1] + inclusive
    place.called = place.called_file = place.called_object = None


ADAPTER = Adapter(
    name="callgrind",
    reads="callgrind.out, cachegrind.out and other files of that format",
    recognises=recognises,
    read=read,
    order=45,
)
