"""Costs and calls of a callgrind file as a profile."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from chathpc.adapters.call_graph import CAVEAT, below, carrying
from chathpc.adapters.callgrind.parse import Callgrind, Key, parse
from chathpc.adapters.enough import too_short
from chathpc.adapters.lines import lines
from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile.location import Locations
from chathpc.profile.metric import Clock, Metric, Unit, slug
from chathpc.profile.profile import Profile, Source
from chathpc.profile.run import told_command
from chathpc.profile.tree import NodeKind

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
    """Functions by number, the arcs between them with the lines that they start from, and calls received."""

    number: dict[Key, int]
    arcs: dict[tuple[int, int], set[tuple[str, int]]]
    received: dict[int, int]
    inclusive: dict[tuple[int, int], float]


def read(path: Path) -> Profile:
    """The profile of a callgrind file, plain or gzip: functions below their dominators, lines in them."""
    found = parse(lines(path, longest=1 << 20), path)
    metrics = _metrics(found)
    graph = _graph(found)
    own = [0.0] * len(graph.number)
    for (function, _, _), costs in found.costs.items():
        own[graph.number[function]] += costs[0]
    arcs = carrying(graph.inclusive)
    parent, order = below(len(own), arcs, own)
    stacks = Stacks()
    title = found.program or path.name
    root = stacks.step(-1, stacks.frame(title, kind=NodeKind.REGION))
    context = _contexts(stacks, graph, arcs, parent, order, root)
    for (function, file, line), costs in found.costs.items():
        node = context[graph.number[function]]
        if line:
            node = stacks.step(node, stacks.frame("", kind=NodeKind.LINE, file=_known(file), line=line))
        for event, value in zip(found.events, costs, strict=False):
            if value:
                stacks.add(metrics[event].id, node, value * metrics[event].scale)
    for index, count in graph.received.items():
        stacks.add("calls.count", context[index], count)
    measured = [metric for metric in metrics.values() if stacks.has(metric.id)]
    if not measured:
        raise AdapterError("all its costs are 0", path=path, hint="Record it again with a longer run.")
    calls = Metric(id="calls.count", unit=Unit.COUNT, description="calls", source_name="calls")
    measured += [calls] if graph.received else []
    tree, values = stacks.finish(measured)
    tool = re.match(r"(?P<name>[A-Za-z]+)[ -]?(?P<version>[\d.]*)", found.creator)
    return Profile(
        format=f"{tool['name'].capitalize() if tool else 'Callgrind'} (callgrind format)"
        if tool
        else "callgrind format",
        title=title,
        tree=tree,
        metrics={metric.id: metric for metric in measured},
        values=values,
        where=Locations.single(),
        sources=(Source(path, tool["name"] if tool else "callgrind", tool["version"] if tool else ""),),
        caveats=_caveats(found, measured, bool(graph.arcs)),
        not_collected=_not_collected(measured),
        run=told_command(found.command.split()),
        timed=True,
        insufficient=_insufficient(metrics[found.events[0]], sum(own)),
    )


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
        base, again = identifier, 2
        while identifier in taken:
            identifier, again = f"{base}-{again}", again + 1
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
    for function in [key for key, _, _ in found.costs] + [call.caller for call in found.calls.values()]:
        index = number.setdefault(function, len(number))
        by_name.setdefault((function[0], function[2]), index)
    arcs: dict[tuple[int, int], set[tuple[str, int]]] = {}
    received: dict[int, int] = {}
    inclusive: dict[tuple[int, int], float] = {}
    for call in found.calls.values():
        callee = number.get(call.callee)
        if callee is None:
            callee = by_name.get((call.callee[0], call.callee[2]))
        if callee is None:
            callee = number[call.callee] = len(number)
            by_name[call.callee[0], call.callee[2]] = callee
        arcs.setdefault((number[call.caller], callee), set()).add((call.file, call.line))
        received[callee] = received.get(callee, 0) + call.count
        arc = number[call.caller], callee
        inclusive[arc] = inclusive.get(arc, 0.0) + max(call.inclusive, 0.0)
    return _Graph(number, arcs, received, inclusive)


def _contexts(
    stacks: Stacks, graph: _Graph, arcs: list[tuple[int, int]], parent: list[int], order: list[int], root: int
) -> list[int]:
    """The context of each function: below its dominator, at the line of the call where there is only one."""
    keys = list(graph.number)
    callers: dict[int, list[int]] = {}
    for caller, callee in arcs:
        if caller != callee:
            callers.setdefault(callee, []).append(caller)
    context = [root] * len(keys)
    for index in order:
        module, file, name = keys[index]
        above = parent[index]
        node = root if above < 0 else context[above]
        if above >= 0 and callers.get(index) == [above]:
            sites = graph.arcs[above, index]
            if len(sites) == 1 and (site := next(iter(sites)))[1] > 0:
                node = stacks.step(node, stacks.frame("", kind=NodeKind.LINE, file=_known(site[0]), line=site[1]))
        frame = stacks.frame(name or "[unknown]", file=_known(file), module=_known(module))
        context[index] = stacks.step(node, frame)
    return context


def _known(name: str) -> str:
    return "" if name == UNKNOWN else name


def _caveats(found: Callgrind, metrics: list[Metric], calls: bool) -> tuple[str, ...]:
    said = [CAVEAT] if calls else ["The file has no calls: who called whom is unknown."]
    ids = {metric.id for metric in metrics}
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


def _not_collected(metrics: list[Metric]) -> dict[str, str]:
    found = {"call paths": "perf record --call-graph dwarf ./app"}
    ids = {metric.id for metric in metrics}
    if "cpu.time" not in ids:
        found["host time"] = "perf record -e cpu-clock -g ./app"
    if "cpu.instructions" in ids and "cpu.data.reads" not in ids:
        found["cache misses (simulated)"] = "valgrind --tool=callgrind --cache-sim=yes ./app"
    return found
