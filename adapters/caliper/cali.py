"""The .cali text format: lines of `__rec=KIND,key=value=value,…` that define a tree of nodes and refer to it.

Everything is a node: attribute keys are nodes below type and property nodes, and region names are nodes whose attribute is
such a key. Nodes 0 to 11 are built in. A `ctx` record refers to nodes (`ref`) and brings numbers of its own (`attr`,
`data`). A definition stands before its use. Source: Caliper's documentation, "Caliper data format (.cali)".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from chathpc.adapters.caliper.table import DEEPEST, MOST_ATTRIBUTES, Attribute, Row, Table, kind_of
from chathpc.adapters.content import DAMAGED, read_text
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

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
        try:
            reader.line(line)
        except (KeyError, ValueError, IndexError):
            if number == len(lines):  # the last line, without its end: the file was cut off
                reader.table.complete = False
                break
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
        return AdapterError(f"line {self.number} {what}", path=self.path, hint=DAMAGED)

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
        for one in self.chain(number) if self.short(number) else ():
            key = self.key(self.nodes[one].attribute)
            if not key.nested:
                found[key.name] = clean(self.nodes[one].data)
        return found

    def short(self, number: int) -> bool:
        """True unless the node itself is a region: labels stand in references of their own."""
        return not self.key(self.nodes[number].attribute).nested

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
