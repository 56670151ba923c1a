"""The json-split format: rows of numbers, whose cells in label columns are numbers of nodes of a separate table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chathpc.adapters.caliper.table import DEEPEST, MOST_ATTRIBUTES, Attribute, Region, Row, Table, kind_of
from chathpc.adapters.content import DAMAGED, read_json
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

#: Columns that number rows and measure nothing.
_ORDER = ("Node order", "node.order")


def read_split(path: Path) -> Table:
    """All rows of a json-split file; AdapterError for anything else."""
    document = read_json(path)
    if not isinstance(document, Mapping):
        raise _damage(path, "is not a Caliper table")
    columns, data = document.get("columns"), document.get("data")
    nodes = document.get("nodes", [])
    if columns is None or not _texts(columns) or not isinstance(data, list) or not isinstance(nodes, list):
        raise _damage(path, "has no columns, data and nodes as json-split has")
    if len(columns) > MOST_ATTRIBUTES:
        raise _damage(path, f"has more than {MOST_ATTRIBUTES:,} columns")
    table = Table()
    described = _described(document.get("column_metadata"), len(columns))
    names = [clean(column) for column in columns]
    for name, facts in zip(names, described, strict=True):
        table.attributes[name] = Attribute(name, _word(facts, "attribute.alias"), _word(facts, "attribute.unit"))
    places = _regions(table, nodes, path)
    labels = [clean(str(node.get("label", ""))) for node in nodes]
    is_value = [_is_value(name, facts, nodes) for name, facts in zip(names, described, strict=True)]
    # The column of nested regions; every other column of labels stands beside it, such as the place of a sample.
    nested = _path_column(names, is_value)
    for row in data:
        if not isinstance(row, list):
            raise _damage(path, "has a row that is not a list")
        table.rows.append(_row(row, names, is_value, nested, places, labels, path))
    table.facts = {
        str(key): value if isinstance(value, str) else str(value)
        for key, value in document.items()
        if key not in ("data", "columns", "column_metadata", "nodes") and isinstance(value, str | int | float)
    }
    if not table.rows:
        raise AdapterError(
            "has no rows: nothing was measured", path=path, hint="Mark regions, or look at the run's output."
        )
    return table


def _row(
    row: Sequence[Any],
    names: Sequence[str],
    is_value: Sequence[bool],
    nested: str,
    places: Sequence[int],
    labels: Sequence[str],
    path: Path,
) -> Row:
    place, beside, values = -1, {}, {}
    for name, value, cell in zip(names, is_value, row, strict=False):
        if cell is None or name in _ORDER:
            continue
        if value:
            number = _number(cell)
            if number is not None:
                values[name] = number
            else:
                beside[name] = clean(str(cell))[:1000]
            continue
        if not isinstance(cell, int) or isinstance(cell, bool) or not 0 <= cell < len(labels):
            raise _damage(path, f"refers to node {clean(str(cell))[:20]}, which does not exist")
        if name == nested:
            place = places[cell]
        else:
            beside[name] = labels[cell]
    return Row(place, beside, values)


def _regions(table: Table, nodes: Sequence[Any], path: Path) -> list[int]:
    """For each node of the file its region, which it shares with nodes of the same name at the same place."""
    parents = []
    for node in nodes:
        if not isinstance(node, Mapping):
            raise _damage(path, "has a node that is not an object")
        parent = node.get("parent", -1)
        parent = -1 if parent is None else parent
        if not isinstance(parent, int) or isinstance(parent, bool) or not -1 <= parent < len(nodes):
            raise _damage(path, "has a node below one that does not exist")
        parents.append(parent)
    places, depth = [-2] * len(nodes), list[int]()
    index: dict[Region, int] = {}
    for number in range(len(nodes)):
        pending = []
        at = number
        while at >= 0 and places[at] == -2:
            pending.append(at)
            places[at] = -3  # on the way: to meet it again is a circle
            at = parents[at]
        if at >= 0 and places[at] == -3:
            raise _damage(path, "has nodes below themselves")
        above = places[at] if at >= 0 else -1
        for one in reversed(pending):
            name = clean(str(nodes[one].get("label", "")))
            kind = kind_of(str(nodes[one].get("column", "")), name)
            found = index.setdefault((above, kind, name), len(table.regions))
            if found == len(table.regions):
                table.regions.append((above, kind, name))
                depth.append(1 + (depth[above] if above >= 0 else 0))
                if depth[-1] > DEEPEST:
                    raise _damage(path, f"has regions more than {DEEPEST:,} deep")
            places[one] = above = found
    return places


def _path_column(names: Sequence[str], is_value: Sequence[bool]) -> str:
    """The column whose nodes are the region path."""
    label_columns = [name for name, value in zip(names, is_value, strict=True) if not value]
    for wanted in ("path", "source.function#callpath.address", "annotation", "function", "region"):
        if wanted in label_columns:
            return wanted
    return next((name for name in label_columns if "function" in name or "callpath" in name), "")


def _is_value(name: str, facts: Mapping[str, Any], nodes: Sequence[Any]) -> bool:
    given = facts.get("is_value")
    return (
        bool(given) if given is not None else not any(isinstance(n, Mapping) and n.get("column") == name for n in nodes)
    )


def _described(given: object, count: int) -> list[Mapping[str, Any]]:
    """`column_metadata`, one entry for each column; older files lack it."""
    if not isinstance(given, list):
        given = []
    entries = [entry if isinstance(entry, Mapping) else {} for entry in given[:count]]
    return entries + [{}] * (count - len(entries))


def _word(facts: Mapping[str, Any], key: str) -> str:
    value = facts.get(key)
    return clean(value) if isinstance(value, str) else ""


def _number(cell: object) -> float | None:
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        try:
            return float(cell)
        except OverflowError:
            return None
    if isinstance(cell, str):
        try:
            return float(cell)
        except ValueError:
            return None
    return None


def _texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)


def _damage(path: Path, what: str) -> AdapterError:
    return AdapterError(what, path=path, hint=DAMAGED)
