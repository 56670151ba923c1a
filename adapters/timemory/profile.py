"""timemory's output as a Profile: components become metrics of one tree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chathpc.adapters.content import damaged, read_json
from chathpc.adapters.hpctoolkit.vocabulary import UNITS, metric_for
from chathpc.errors import AdapterError
from chathpc.profile.build import TreeBuilder
from chathpc.profile.location import Locations
from chathpc.profile.metric import Aggregation, Clock, Metric, Unit, slug, unused
from chathpc.profile.profile import RANKS, THREADS_ADDED, Profile, Source
from chathpc.profile.sparse import SparseValues, own_values
from chathpc.profile.text import clean
from chathpc.profile.tree import CallTree, FloatArray, IntArray, NodeKind

#: Keys under which a component has its lists of processes.
_LISTS = ("mpi", "upcxx", "upc", "process", "ranks", "graph")
#: Nodes that timemory puts above what was measured.
_DUMMY = re.compile(r"unknown-hash=\d+")
_FLAT = re.compile(r"^(\|\S+)?\s*>>>\s*[\s|]*_?")
#: Components and their parts in one file.
MOST_COMPONENTS = 1_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A measured scope of a process: `parent` is the number of an earlier entry of the same component, −1 for none."""

    parent: int
    rank: int
    thread: int
    name: str
    laps: float
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Component:
    """One component: `labels`, `units` and `words` tell its numbers apart; `several` is how many threads were added up."""

    name: str
    labels: tuple[str, ...]
    units: tuple[str, ...]
    words: tuple[str, ...]
    entries: tuple[Entry, ...]
    ranks: int
    threads: int


def read_components(path: Path) -> list[Component]:
    """The components of a file; AdapterError for what is no output of timemory."""
    document = read_json(path)
    inside = document.get("timemory") if isinstance(document, Mapping) else None
    if not isinstance(inside, Mapping):
        raise damaged(path, "has no object 'timemory'")
    if len(inside) > MOST_COMPONENTS:
        raise damaged(path, f"has more than {MOST_COMPONENTS:,} components")
    return [_component(str(name), given, path) for name, given in inside.items() if isinstance(given, Mapping)]


def _component(name: str, given: Mapping[str, Any], path: Path) -> Component:
    key = next((key for key in _LISTS if isinstance(given.get(key), list)), None)
    lists = _processes(given[key]) if key is not None else []
    entries: list[Entry] = []
    threads = 0
    for rank, one in lists:
        rank = rank if len(lists) > 1 else -1
        found = _flat(one, rank, len(entries), path) if _is_flat(one) else _tree(one, rank, len(entries), path)
        for entry, count in found:
            entries.append(entry)
            threads = max(threads, count)
    parts = max((len(entry.values) for entry in entries), default=1)
    properties = given.get("properties")
    label = properties.get("id") if isinstance(properties, Mapping) else None
    base = clean(label if isinstance(label, str) else str(given.get("type") or name)).lower()
    return Component(
        base,
        _words(given.get("labels", given.get("type")), base, parts),
        _words(given.get("display_units", given.get("unit_repr")), "", parts),
        _words(given.get("descriptions", given.get("description")), base, parts),
        tuple(entries),
        len(lists),
        threads,
    )


def _processes(lists: Sequence[Any]) -> list[tuple[int, Sequence[Any]]]:
    """(rank, its list) of each process."""
    if all(isinstance(one, Mapping) and "graph" in one for one in lists):
        return [
            (_whole(one.get("rank"), number), one["graph"])
            for number, one in enumerate(lists)
            if isinstance(one["graph"], list)
        ]
    if lists and all(isinstance(one, list) for one in lists):
        return list(enumerate(lists))
    return [(0, lists)]


def _is_flat(entries: Sequence[Any]) -> bool:
    return any(isinstance(one, Mapping) and "prefix" in one and "entry" in one for one in entries)


def _tree(roots: Sequence[Any], rank: int, first: int, path: Path) -> Iterator[tuple[Entry, int]]:
    """Entries of a nested list in preorder, with the number of threads that each adds up."""
    stack: list[tuple[Any, int]] = [(root, -1) for root in reversed(roots)]
    number = first
    while stack:
        given, parent = stack.pop()
        node = given.get("node") if isinstance(given, Mapping) else None
        children = given.get("children", []) if isinstance(given, Mapping) else None
        if not isinstance(node, Mapping) or not isinstance(children, list):
            raise damaged(path, "has an entry that is not a node")
        name = clean(str(node.get("prefix", "")))
        inclusive = node.get("inclusive")
        entry = inclusive.get("entry") if isinstance(inclusive, Mapping) else None
        if _DUMMY.fullmatch(name) or node.get("is_dummy") is True:
            stack += [(child, parent) for child in reversed(children)]
            continue
        threads = node.get("tid")
        several = len(threads) if isinstance(threads, list) else 1
        yield _entry(entry, parent, rank, _thread(threads), name, path), several
        stack += [(child, number) for child in reversed(children)]
        number += 1


def _flat(entries: Sequence[Any], rank: int, first: int, path: Path) -> Iterator[tuple[Entry, int]]:
    """Entries of a list in which `depth` tells the nesting."""
    above: list[tuple[int, int]] = []
    for number, given in enumerate(entries, start=first):
        if not isinstance(given, Mapping):
            raise damaged(path, "has an entry that is not an object")
        depth = _whole(given.get("depth"), 0)
        while above and above[-1][0] >= depth:
            above.pop()
        name = _FLAT.sub("", clean(str(given.get("prefix", ""))))
        yield _entry(given.get("entry"), above[-1][1] if above else -1, rank, -1, name, path), 1
        above.append((depth, number))


def _entry(given: object, parent: int, rank: int, thread: int, name: str, path: Path) -> Entry:
    if not isinstance(given, Mapping):
        raise damaged(path, f"{name[:60] or 'a node'} has no values")
    data = given.get("repr_data", given.get("accum", given.get("value")))
    values = tuple(_number(one) for one in data.values()) if isinstance(data, Mapping) else ()
    values = (
        tuple(_number(one) for one in data[:MOST_COMPONENTS]) if isinstance(data, list) else values or (_number(data),)
    )
    laps = _number(given.get("laps"))
    return Entry(parent, rank, thread, name, laps if laps == laps else 0.0, values)


def _words(given: object, default: str, parts: int) -> tuple[str, ...]:
    if isinstance(given, list):
        words = [clean(str(one))[:200] for one in given[:parts]]
    else:
        words = [clean(given)[:200] if isinstance(given, str) and given else default] * (1 if parts == 1 else 0)
    return tuple(words + [default or "value"] * (parts - len(words)))


def _number(value: object) -> float:
    """A finite number, NaN for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool) and -1e100 < value < 1e100:
        return float(value)
    return float("nan")


def _whole(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else default


def _thread(value: object) -> int:
    """The thread if there is just one."""
    return _whole(value[0], -1) if isinstance(value, list) and len(value) == 1 else -1


MOST_FILES = 1_000
_WALL = ("wall_clock", "real_clock", "virtual_clock", "wall", "real", "monotonic_clock")
_CPU = ("cpu_clock", "thread_cpu_clock", "process_cpu_clock", "cpu", "thread_cpu", "process_cpu")
#: Components whose values are levels, not amounts.
_LEVELS = re.compile(r"peak_rss|page_rss|virtual_memory|_util|percent|rate|bandwidth|priority|_per_")
_BYTES = {
    "read_bytes": "io.read.bytes", "written_bytes": "io.write.bytes", "read_char": "io.read.bytes",
    "written_char": "io.write.bytes",
}  # fmt: skip
#: `function@file:line/label`
_PLACE = re.compile(r"^(?P<function>.*?)@'?(?P<file>[^@':/]*(?:/[^@':/]+)*?)'?:(?P<line>\d{1,9})(?P<label>/.*)?$")
CALLS = Metric("calls.count", Unit.COUNT, "laps", "laps")


def read(path: Path) -> Profile:
    """Read the file `path`, or all `*.tree.json` files of folder `path` as components of one run.

    AdapterError for damage, and where nothing was measured.
    """
    files = sorted(path.glob("*.tree.json"))[:MOST_FILES] if path.is_dir() else [path]
    components = [component for file in files for component in read_components(file) if component.entries]
    if not components:
        raise AdapterError(
            "has no measurements", path=path, hint="Give wall.tree.json, or set TIMEMORY_TREE_OUTPUT=ON and run again."
        )
    components.sort(key=lambda one: (one.name not in _WALL, one.name not in _CPU))
    builder = TreeBuilder()
    places = sorted({(entry.rank, entry.thread) for component in components for entry in component.entries})
    location = {place: number for number, place in enumerate(places)}
    nodes = [_nodes(builder, component.entries) for component in components]
    for entry, node in zip(components[0].entries, nodes[0], strict=True):
        builder.add(CALLS.id, node, entry.laps, location[entry.rank, entry.thread])
    metrics: dict[str, Metric] = {}
    tree, values, place = builder.finish((CALLS,), len(places))
    excess = [
        name
        for component, at in zip(components, nodes, strict=True)
        for name in _put(values, tree, metrics, component, place[np.array(at, dtype=np.int64)], location)
    ]
    metrics[CALLS.id] = CALLS
    threads = max(component.threads for component in components)
    ranks = max(component.ranks for component in components)
    caveats = [f"Values of up to {threads} threads are added up in each process."] if threads > 1 else []
    caveats += [f"{name}: scopes have less than their children; the larger numbers were used." for name in excess]
    timed = any(name.startswith("cpu.time") for name in metrics)
    return Profile(
        format="timemory",
        title=path.name,
        tree=tree,
        metrics=metrics,
        values=values,
        where=_locations(places),
        sources=(Source(path, "timemory"),),
        caveats=tuple(caveats),
        not_collected={}
        if timed
        else {"times of scopes": "TIMEMORY_COMPONENTS=wall_clock,cpu_clock TIMEMORY_TREE_OUTPUT=ON ./app"},
        run=({RANKS: str(ranks)} if ranks > 1 else {}) | ({THREADS_ADDED: str(threads)} if threads > 1 else {}),
        timed=True,
        insufficient="" if timed else "The profile has no times of scopes, only other components of timemory.",
    )


def _nodes(builder: TreeBuilder, entries: Sequence[Entry]) -> list[int]:
    found: list[int] = []
    for entry in entries:
        above = found[entry.parent] if entry.parent >= 0 else -1
        match = _PLACE.fullmatch(entry.name)
        if match is None:
            found.append(builder.node(above, NodeKind.REGION, entry.name or "[unnamed]"))
        else:
            name = match["function"] + (match["label"] or "")
            found.append(builder.node(above, NodeKind.REGION, name, file=match["file"], line=int(match["line"])))
    return found


def _locations(places: Sequence[tuple[int, int]]) -> Locations:
    rank = np.array([rank for rank, _ in places], dtype=np.int64)
    thread = np.array([thread for _, thread in places], dtype=np.int64)
    return Locations.of(len(places), rank=rank, thread=thread)


def _put(
    values: SparseValues,
    tree: CallTree,
    metrics: dict[str, Metric],
    component: Component,
    nodes: IntArray,
    location: Mapping[tuple[int, int], int],
) -> list[str]:
    """Put in the numbers of a component; the names of those that contradict themselves."""
    where = np.array([location[entry.rank, entry.thread] for entry in component.entries], dtype=np.int64)
    excess = []
    for part, label in enumerate(component.labels):
        amounts = np.array([entry.values[part] if part < len(entry.values) else np.nan for entry in component.entries])
        there = ~np.isnan(amounts)
        if not there.any():
            continue
        metric = _metric(component, label, component.units[part], component.words[part], metrics)
        metrics[metric.id] = metric
        amounts = amounts * metric.scale
        if metric.aggregation != Aggregation.SUM:
            values.put(metric, nodes[there], amounts[there], where[there].astype(np.int32))
            continue
        own, at, lacking = [], [], 0.0
        for number in np.unique(where).tolist():
            mine = there & (where == number)
            cells, present = np.unique(nodes[mine], return_inverse=True)
            whole: FloatArray = np.full(len(tree), np.nan)
            whole[cells] = np.bincount(present, weights=amounts[mine], minlength=len(cells))
            found = own_values(tree, whole)
            measured = np.flatnonzero(~np.isnan(found.values))
            own.append(found.values[measured])
            at.append((measured.astype(np.int32), np.full(len(measured), number, dtype=np.int32)))
            lacking += found.excess
        values.put(metric, np.concatenate([n for n, _ in at]), np.concatenate(own), np.concatenate([w for _, w in at]))
        if lacking > 1e-3 * abs(float(np.concatenate(own).sum())):
            excess.append(metric.source_name)
    return excess


def _metric(component: Component, label: str, unit_word: str, words: str, taken: Mapping[str, Metric]) -> Metric:
    unit, scale = UNITS.get(unit_word.lower(), (Unit.COUNT, 1.0))
    name = component.name if len(component.labels) == 1 else label
    aggregation = Aggregation.SUM
    clock = None
    counter = metric_for(label)
    if component.name in _WALL and unit == Unit.SECONDS:
        identifier, clock = "cpu.time", Clock.WALL
    elif component.name in _CPU and unit == Unit.SECONDS:
        identifier, clock = "cpu.time" if "cpu.time" not in taken else "cpu.time.cpu", Clock.CPU
    elif _LEVELS.search(name.lower()) or unit == Unit.PERCENT:
        identifier = "memory.peak.bytes" if "peak_rss" in name else "other." + slug(name)
        aggregation = Aggregation.MAX
    elif name in _BYTES:
        identifier, unit = _BYTES[name], Unit.BYTES
    elif label.startswith("PAPI_"):
        identifier, unit, words = counter.id, counter.unit, counter.description.replace(" (sampled)", "")
    else:
        identifier = "other." + slug(name)
    return Metric(unused(identifier, taken), unit, words or name, name, unit_word, scale, aggregation, clock)
