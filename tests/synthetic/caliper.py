"""Writes Caliper's .cali and json-split formats from their layout, for tests: small, deterministic, ours."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NESTED, HIDDEN, AS_VALUE, GLOBAL = 256, 128, 1, 512
_TYPES = {"int": 1, "uint": 2, "string": 3, "double": 5}

#: (attribute, name) of each region from the outermost on.
RegionPath = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Record:
    """One snapshot: where, labels beside (written as references), numbers. `loose` puts each region in a reference of its own."""

    path: RegionPath
    values: Mapping[str, float]
    labels: Mapping[str, str] = field(default_factory=dict)
    loose: int = 0


@dataclass(slots=True)
class CaliWriter:
    """Nodes and lines so far; attributes are defined when they are first used, as Caliper does."""

    kinds: Mapping[str, tuple[str, int]] = field(default_factory=dict)  #: attribute → type, properties
    aliases: Mapping[str, tuple[str, str]] = field(default_factory=dict)  #: attribute → alias, unit
    lines: list[str] = field(default_factory=list)
    _next: int = 20
    _nodes: dict[tuple[int, str, int], int] = field(default_factory=dict)

    def node(self, attribute: int, data: str, parent: int = -1) -> int:
        key = attribute, data, parent
        if key not in self._nodes:
            self._nodes[key] = self._next
            below = f",parent={parent}" if parent >= 0 else ""
            self.lines.append(f"__rec=node,id={self._next},attr={attribute},data={escaped(data)}{below}")
            self._next += 1
        return self._nodes[key]

    def attribute(self, name: str) -> int:
        default = (
            ("double", AS_VALUE)
            if name not in ("region", "function", "loop", "annotation")
            else ("string", NESTED + 12)
        )
        kind, properties = self.kinds.get(name, default)
        parent = _TYPES[kind]
        if name in self.aliases and name not in ("attribute.alias", "attribute.unit"):
            alias, unit = self.aliases[name]
            for attribute, text in (("attribute.unit", unit), ("attribute.alias", alias)):
                if text:
                    parent = self.node(self.attribute(attribute), text, parent)
        return self.node(8, name, self.node(10, str(properties), parent))

    def record(self, record: Record) -> None:
        kept = len(record.path) - record.loose
        references, at = [], -1
        for attribute, name in record.path[:kept]:
            at = self.node(self.attribute(attribute), name, at)
        references += [at] if at >= 0 else []
        references += [self.node(self.attribute(attribute), name) for attribute, name in record.path[kept:]]
        references += [self.node(self.attribute(attribute), name) for attribute, name in record.labels.items()]
        self._line("ctx", references, record.values)

    def globals(self, facts: Mapping[str, str]) -> None:
        at = -1
        for name, value in facts.items():
            at = self.node(self.attribute(name), value, at)
        self._line("globals", [at], {})

    def _line(self, kind: str, references: Sequence[int], values: Mapping[str, float]) -> None:
        attributes = [self.attribute(name) for name in values]
        line = f"__rec={kind}"
        if references:
            line += ",ref=" + "=".join(map(str, references))
        if attributes:
            line += ",attr=" + "=".join(map(str, attributes)) + ",data=" + "=".join(number(v) for v in values.values())
        self.lines.append(line)

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def number(value: float) -> str:
    return str(int(value)) if isinstance(value, int) else repr(value)


def escaped(text: str) -> str:
    for character in "\\,=":
        text = text.replace(character, "\\" + character)
    return text.replace("\n", "\\n")


LABEL = ("string", 12)
FACT = ("string", GLOBAL + 1100)
KINDS = {
    name: kind
    for names, kind in (
        (("mpi.function", "cupti.runtimeAPI"), ("string", NESTED + 12)),
        (("spot.channel", "cupti.kernel.name", "cupti.activity.kind", "attribute.alias", "attribute.unit"), LABEL),
        (("user", "hostname", "cmdline", "executablepath", "jobsize", "mpi.world.size", "cali.caliper.version"), FACT),
        (("problem_size", "elapsed_time", "launchdate", "env.SECRET_TOKEN"), FACT),
        (("avg.count#inclusive#sum#time.duration",), ("uint", AS_VALUE + HIDDEN)),
        (("avg.sum#inclusive#sum#time.duration",), ("double", AS_VALUE + HIDDEN)),
        (("mpi.rank", "count", "sum#count", "timeseries.snapshot", "thread"), ("int", AS_VALUE)),
    )
    for name in names
}


def write_cali(
    path: Path,
    records: Sequence[Record],
    *,
    facts: Mapping[str, str] | None = None,
    aliases: Mapping[str, tuple[str, str]] | None = None,
) -> Path:
    """A .cali file with these records."""
    writer = CaliWriter(KINDS, aliases or {})
    for record in records:
        writer.record(record)
    if facts:
        writer.globals(facts)
    path.write_text(writer.text())
    return path


def across(seconds: Sequence[float], stem: str = "inclusive#sum#time.duration") -> dict[str, float]:
    """Columns that Caliper writes for one region whose ranks have `seconds`."""
    return {
        f"min#{stem}": min(seconds),
        f"max#{stem}": max(seconds),
        f"avg#{stem}": sum(seconds) / len(seconds),
        f"avg.sum#{stem}": sum(seconds),
        f"avg.count#{stem}": len(seconds),
        f"sum#{stem}": sum(seconds),
    }


def write_split(
    path: Path,
    rows: Sequence[tuple[RegionPath, Mapping[str, Any]]],
    *,
    column: str = "path",
    order: bool = False,
    described: bool = True,
    units: Mapping[str, str] | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Path:
    """A json-split file; numbers are cells, texts are nodes of their column, regions nodes of `column`."""
    nodes: list[dict[str, Any]] = []
    index: dict[tuple[str, str, int], int] = {}

    def node(attribute: str, label: str, parent: int) -> int:
        key = attribute, label, parent
        if key not in index:
            index[key] = len(nodes)
            nodes.append({"label": label, "column": attribute} | ({"parent": parent} if parent >= 0 else {}))
        return index[key]

    names = list(dict.fromkeys(name for _, values in rows for name in values))
    labelled = {name for _, values in rows for name, value in values.items() if isinstance(value, str)}
    columns = (["Node order"] if order else []) + [*names, column]
    data = []
    for number_of_row, (regions, values) in enumerate(rows):
        at = -1
        for _, name in regions:
            at = node(column, name, at)
        cells: list[float | int | None] = [number_of_row] if order else []
        for name in names:
            value = values.get(name)
            cells.append(node(name, value, -1) if isinstance(value, str) else value)
        data.append([*cells, at if at >= 0 else None])
    document: dict[str, Any] = {"data": data, "columns": columns}
    if described:
        document["column_metadata"] = [
            {"is_value": name not in labelled | {column}}
            | ({"attribute.unit": units[name], "attribute.alias": name} if units and name in units else {})
            for name in columns
        ]
    document |= {"nodes": nodes, **(facts or {})}
    path.write_text(json.dumps(document))
    return path
