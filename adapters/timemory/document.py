"""timemory's JSON: components, each with one list of measurements for every process.

    {"timemory": {"WALL_CLOCK": {"unit_repr": "sec", "mpi": [[{"node": {…}, "children": […]}], …]}}}     (*.tree.json)
    {"timemory": {"wall_clock": {"ranks": [{"rank": 0, "graph": [{"prefix": ">>> |_f", "depth": 1, "entry": {…}}, …]}]}}}

Numbers are inclusive. A component may hold several numbers (hardware counters) with labels of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chathpc.adapters.content import DAMAGED, read_json
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

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
        raise _damage(path, "has no object 'timemory'")
    if len(inside) > MOST_COMPONENTS:
        raise _damage(path, f"has more than {MOST_COMPONENTS:,} components")
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
            raise _damage(path, "has an entry that is not a node")
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
            raise _damage(path, "has an entry that is not an object")
        depth = _whole(given.get("depth"), 0)
        while above and above[-1][0] >= depth:
            above.pop()
        name = _FLAT.sub("", clean(str(given.get("prefix", ""))))
        yield _entry(given.get("entry"), above[-1][1] if above else -1, rank, -1, name, path), 1
        above.append((depth, number))


def _entry(given: object, parent: int, rank: int, thread: int, name: str, path: Path) -> Entry:
    if not isinstance(given, Mapping):
        raise _damage(path, f"{name[:60] or 'a node'} has no values")
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


def _damage(path: Path, what: str) -> AdapterError:
    return AdapterError(what, path=path, hint=DAMAGED)
