"""What both of Caliper's file formats hold: rows of values, each at a region path and with labels beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chathpc.adapters.content import damaged, read_json, read_text
from chathpc.errors import AdapterError
from chathpc.profile.text import clean
from chathpc.profile.tree import NodeKind

#: A region path deeper than this is none that a person annotated or a sampler unwound.
DEEPEST = 10_000
#: Attributes (metrics and labels) in a file; Caliper's own number about a hundred.
MOST_ATTRIBUTES = 5_000

#: Attributes whose values are functions of the program or of a library; any other nested attribute names a region.
_FUNCTIONS = (
    "function",
    "mpi.function",
    "cupti.runtimeAPI",
    "cupti.driverAPI",
    "cuda.runtimeAPI",
    "rocm.api",
    "pthread",
)
#: Labels that name the GPU kernel that a row is about.
KERNEL_LABELS = ("cupti.kernel.name", "rocm.kernel.name", "gpu.kernel.name", "kernel.name")


def kind_of(attribute: str, name: str) -> NodeKind:
    """What a value of a nested attribute stands for in the tree."""
    if attribute in KERNEL_LABELS:
        return NodeKind.GPU_KERNEL
    if attribute in _FUNCTIONS or "function" in attribute or name.startswith(("MPI_", "PMPI_")):
        return NodeKind.FUNCTION
    return NodeKind.REGION


#: A region of the tree: the one that it stands in (−1: none), what it stands for, its name.
Region = tuple[int, NodeKind, str]


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column: `name` as Caliper calls it, `alias` and `unit` as it tells people."""

    name: str
    alias: str = ""
    unit: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The name taken apart: operators, outermost first, then what was measured."""
        return tuple(self.name.split("#"))


@dataclass(frozen=True, slots=True)
class Row:
    """One record: its place in the tree of regions (−1: outside all), labels by attribute, numbers by attribute."""

    place: int
    labels: dict[str, str]
    values: dict[str, float]


@dataclass(slots=True)
class Table:
    """A whole file: `regions` are (parent, kind, name), parents first; `facts` the run's metadata, not to be shown as it is."""

    regions: list[Region] = field(default_factory=list)
    attributes: dict[str, Attribute] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    complete: bool = True


# -- the .cali text format: lines of `__rec=KIND,key=value=value,…` that define a tree of nodes and refer to it ---
#
# Everything is a node: attribute keys are nodes below type and property nodes, and region names are nodes whose attribute is
# such a key. Nodes 0 to 11 are built in. A `ctx` record refers to nodes (`ref`) and brings numbers of its own (`attr`,
# `data`). A definition stands before its use. Source: Caliper's documentation, "Caliper data format (.cali)".

NESTED, HIDDEN = 256, 128
#: Built-in nodes: the attribute "name of an attribute", the one that holds an attribute's properties, and their types.
_NAME, _PROPERTIES = 8, 10
_TYPES = {0: "usr", 1: "int", 2: "uint", 3: "string", 4: "addr", 5: "double", 6: "bool", 7: "type", 11: "ptr"}
_NUMBERS = ("int", "uint", "double")
#: Regions for each line of the file, at most: several references in one record may append whole paths to each other.
_REGIONS_PER_LINE, _REGIONS = 16, 1_000

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_FIELD = re.compile(r"(?:[^\\,]|\\.)+", re.DOTALL)
_TOKEN = re.compile(r"=|(?:[^\\=]|\\.)+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Node:
    attribute: int
    data: str
    parent: int


@dataclass(frozen=True, slots=True)
class _Key:
    """An attribute key: what its properties and its type say."""

    name: str
    type: str
    nested: bool
    hidden: bool


def fields_of(line: str) -> dict[str, list[str]]:
    """`__rec=ctx,ref=1=2` → {"__rec": ["ctx"], "ref": ["1", "2"]}; a backslash takes the next character as it is."""
    if "\\" not in line:
        pieces = (piece.split("=") for piece in line.split(",") if piece)
        return {key: values for key, *values in pieces}
    found = {}
    for piece in _FIELD.findall(line):
        parts = [""]
        for part in _TOKEN.findall(piece):
            if part == "=":
                parts.append("")
            else:
                parts[-1] = _ESCAPED.sub(_plain, part)
        key, *values = parts
        found[key] = values
    return found


def _plain(match: re.Match[str]) -> str:
    return "\n" if match[1] == "n" else match[1]


def read_cali(path: Path) -> Table:
    """All records of a .cali file; AdapterError naming the line for anything that is none."""
    lines = read_text(path).split("\n")
    reader = _Reader(path, len(lines))
    for number, line in enumerate(lines, start=1):
        line = line.strip("\r\n \t")
        if not line:
            continue
        reader.number = number
        if number == len(lines):  # the last line, without its end: the file was cut off, perhaps in a number
            reader.table.complete = False
            break
        try:
            reader.line(line)
        except (KeyError, ValueError, IndexError):
            raise reader.damage("is not a Caliper record") from None
    return reader.finish()


class _Reader:
    """The nodes and regions so far. Regions are numbered in the order in which records come to them."""

    def __init__(self, path: Path, lines: int) -> None:
        self.path, self.number = path, 0
        self.table = Table()
        self.nodes: dict[int, _Node] = {0: _Node(9, "usr", -1)} | {
            number: _Node(9, name, -1) for number, name in _TYPES.items()
        }
        self.nodes |= {8: _Node(8, "cali.attribute.name", 3), 9: _Node(8, "cali.attribute.type", 7)}
        self.nodes[10] = _Node(8, "cali.attribute.prop", 1)
        self.keys: dict[int, _Key] = {}
        self.index: dict[tuple[int, int, str], int] = {}
        self.depth: list[int] = []
        self.appended: dict[tuple[int, int], int] = {}
        self.most = _REGIONS + _REGIONS_PER_LINE * lines

    def damage(self, what: str) -> AdapterError:
        return damaged(self.path, f"line {self.number} {what}")

    def line(self, line: str) -> None:
        fields = fields_of(line)
        kind = fields["__rec"][0]
        if kind == "node":
            self.define(fields)
        elif kind == "ctx":
            self.record(fields)
        elif kind == "globals":
            self.globals(fields)

    def define(self, fields: dict[str, list[str]]) -> None:
        number, attribute = int(fields["id"][0]), int(fields["attr"][0])
        parent = int(fields["parent"][0]) if "parent" in fields else -1
        if number <= 11 or number in self.nodes:
            raise self.damage(f"defines node {number} a second time")
        if attribute not in self.nodes or (parent not in self.nodes and parent != -1):
            raise self.damage("refers to a node that is not defined")
        self.nodes[number] = _Node(attribute, fields.get("data", [""])[0], parent)

    def key(self, number: int) -> _Key:
        """The attribute key with that node number."""
        found = self.keys.get(number)
        if found is None:
            if len(self.keys) >= MOST_ATTRIBUTES:
                raise self.damage(f"has more than {MOST_ATTRIBUTES:,} attributes")
            node, properties, type_name = self.nodes[number], 0, ""
            facts: dict[str, str] = {}
            above = node.parent
            for _ in range(DEEPEST):
                if above < 0:
                    break
                one = self.nodes[above]
                if above in _TYPES:
                    type_name = type_name or _TYPES[above]
                elif one.attribute == _PROPERTIES:
                    properties = int(one.data)
                else:
                    facts.setdefault(self.nodes[one.attribute].data, one.data)
                above = one.parent
            found = _Key(clean(node.data), type_name, bool(properties & NESTED), bool(properties & HIDDEN))
            self.keys[number] = found
            unit = facts.get("attribute.unit") or facts.get("time.unit") or ""
            self.table.attributes[found.name] = Attribute(
                found.name, clean(facts.get("attribute.alias", "")), clean(unit)
            )
        return found

    def chain(self, number: int) -> list[int]:
        """Nodes from the outermost down to `number`."""
        found = []
        while number >= 0 and number not in _TYPES:
            found.append(number)
            if len(found) > DEEPEST:
                raise self.damage(f"is nested below more than {DEEPEST:,} nodes")
            number = self.nodes[number].parent
        return found[::-1]

    def append(self, place: int, number: int) -> int:
        """The region at the end of the path of node `number`, when it starts below region `place`."""
        known = self.appended.get((place, number))
        if known is not None:
            return known
        pending, start = [], number
        while start >= 0 and start not in _TYPES and (place, start) not in self.appended:
            pending.append(start)
            start = self.nodes[start].parent
            if len(pending) > DEEPEST:
                raise self.damage(f"is nested below more than {DEEPEST:,} nodes")
        at = self.appended.get((place, start), place)
        for one in reversed(pending):
            node = self.nodes[one]
            key = self.key(node.attribute)
            if key.nested:
                at = self.region(at, key.name, node.data)
            self.appended[place, one] = at
        if len(self.appended) > 4 * self.most:
            raise self.damage("appends too many paths to each other")
        return at

    def region(self, parent: int, attribute: str, name: str) -> int:
        kind = kind_of(attribute, name)
        entry = parent, int(kind), name
        found = self.index.get(entry)
        if found is None:
            depth = 1 + (self.depth[parent] if parent >= 0 else 0)
            if len(self.depth) >= self.most or depth > DEEPEST:
                raise self.damage("has more regions than a profile of this size can have")
            found = self.index[entry] = len(self.depth)
            self.depth.append(depth)
            self.table.regions.append((parent, kind, clean(name)))
        return found

    def record(self, fields: dict[str, list[str]]) -> None:
        place, labels, values = -1, {}, {}
        for reference in fields.get("ref", ()):
            number = int(reference)
            place = self.append(place, number)
            labels.update(self.labels(number))
        for attribute, data in zip(fields.get("attr", ()), fields.get("data", ()), strict=False):
            key = self.key(int(attribute))
            if key.type in _NUMBERS:
                values[key.name] = float(data)
            elif not key.hidden:
                labels[key.name] = clean(data)
        self.table.rows.append(Row(place, labels, values))

    def labels(self, number: int) -> dict[str, str]:
        """What a reference says beside regions: the channel, a kernel's name."""
        found: dict[str, str] = {}
        if self.key(self.nodes[number].attribute).nested:  # labels stand in references of their own
            return found
        for one in self.chain(number):
            key = self.key(self.nodes[one].attribute)
            if not key.nested:
                found[key.name] = clean(self.nodes[one].data)
        return found

    def globals(self, fields: dict[str, list[str]]) -> None:
        for reference in fields.get("ref", ()):
            for one in self.chain(int(reference)):
                node = self.nodes[one]
                self.table.facts[self.key(node.attribute).name] = node.data
        for attribute, data in zip(fields.get("attr", ()), fields.get("data", ()), strict=False):
            self.table.facts[self.key(int(attribute)).name] = data

    def finish(self) -> Table:
        if not self.table.rows:
            raise AdapterError(
                "has no records: nothing was measured",
                path=self.path,
                hint="Run with CALI_CONFIG=runtime-report,profile.mpi,output=run.cali, and mark regions or functions.",
            )
        return self.table


# -- the json-split format: rows of numbers, whose cells in label columns are numbers of nodes of a separate table

#: Columns that number rows and measure nothing.
_ORDER = ("Node order", "node.order")


def read_split(path: Path) -> Table:
    """All rows of a json-split file; AdapterError for anything else."""
    document = read_json(path)
    if not isinstance(document, Mapping):
        raise damaged(path, "is not a Caliper table")
    columns, data = document.get("columns"), document.get("data")
    nodes = document.get("nodes", [])
    if columns is None or not _texts(columns) or not isinstance(data, list) or not isinstance(nodes, list):
        raise damaged(path, "has no columns, data and nodes as json-split has")
    if len(columns) > MOST_ATTRIBUTES:
        raise damaged(path, f"has more than {MOST_ATTRIBUTES:,} columns")
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
            raise damaged(path, "has a row that is not a list")
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
            raise damaged(path, f"refers to node {clean(str(cell))[:20]}, which does not exist")
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
            raise damaged(path, "has a node that is not an object")
        parent = node.get("parent", -1)
        parent = -1 if parent is None else parent
        if not isinstance(parent, int) or isinstance(parent, bool) or not -1 <= parent < len(nodes):
            raise damaged(path, "has a node below one that does not exist")
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
            raise damaged(path, "has nodes below themselves")
        above = places[at] if at >= 0 else -1
        for one in reversed(pending):
            name = clean(str(nodes[one].get("label", "")))
            kind = kind_of(str(nodes[one].get("column", "")), name)
            found = index.setdefault((above, kind, name), len(table.regions))
            if found == len(table.regions):
                table.regions.append((above, kind, name))
                depth.append(1 + (depth[above] if above >= 0 else 0))
                if depth[-1] > DEEPEST:
                    raise damaged(path, f"has regions more than {DEEPEST:,} deep")
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
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return None
    try:
        return float(cell)
    except (OverflowError, ValueError):
        return None


def _texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)
