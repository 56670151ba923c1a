"""Profiles written down as nested calls, for tests to read and to check by hand.

    profile = build(
        call("main", line("heat.c:12", time=1.0),
             loop("heat.c:13", call("exp", time=2.0, module="/lib/libm.so.6")), at="heat.c:10"))

`time` is the exclusive `cpu.time` in seconds; other metrics go by id: `values={"gpu.time": 3.0}`. A tuple has one value
per location, None among them for a location without one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from chathpc.profile.location import Locations
from chathpc.profile.metric import EMPTY_COLUMN, Aggregation, Clock, Column, Metric, Unit, column_of
from chathpc.profile.profile import Profile
from chathpc.profile.tree import CallTree, NodeKind, Relation
from chathpc.profile.values import MemoryValues

Amount = float | tuple[float | None, ...]


@dataclass(frozen=True)
class Node:
    """A node to be, with its children."""

    kind: NodeKind
    relation: Relation
    name: str | None
    children: tuple[Node, ...]
    file: str | None
    line: int
    module: str | None
    values: Mapping[str, Amount] = field(default_factory=dict)


def node(
    kind: NodeKind,
    relation: Relation,
    name: str | None,
    *children: Node,
    at: str = "",
    module: str | None = None,
    time: Amount | None = None,
    values: Mapping[str, Amount] | None = None,
) -> Node:
    """Any node; `at` is `file:line` or `file`."""
    file, _, number = at.partition(":")
    amounts = dict(values or {})
    if time is not None:
        amounts["cpu.time"] = time
    return Node(kind, relation, name, children, file or None, int(number or 0), module, amounts)


def entry(name, *children, **facts):
    return node(NodeKind.ENTRY, Relation.LEXICAL, name, *children, **facts)


def call(name, *children, **facts):
    return node(NodeKind.FUNCTION, Relation.CALL, name, *children, **facts)


def inlined(name, *children, **facts):
    return node(NodeKind.INLINED, Relation.INLINED_CALL, name, *children, **facts)


def nested(name, *children, **facts):
    """A function that stands inside another one, as gfortran's outlined regions do."""
    return node(NodeKind.FUNCTION, Relation.LEXICAL, name, *children, **facts)


def loop(at, *children, **facts):
    return node(NodeKind.LOOP, Relation.LEXICAL, None, *children, at=at, **facts)


def line(at, *children, **facts):
    return node(NodeKind.LINE, Relation.LEXICAL, None, *children, at=at, **facts)


def called_code(module, *children, **facts):
    """Code without symbols that was called."""
    return node(NodeKind.INSTRUCTION, Relation.CALL, None, *children, module=module, **facts)


def gpu_op(name, *children, **facts):
    return node(NodeKind.GPU_OP, Relation.CALL, name, *children, **facts)


def kernel(name, *children, **facts):
    return node(NodeKind.GPU_KERNEL, Relation.CALL, name, *children, **facts)


def placeholder(name, *children, **facts):
    return node(NodeKind.PLACEHOLDER, Relation.CALL, name, *children, **facts)


def metric(identifier: str) -> Metric:
    """A plausible metric for an id: seconds for `….time`, bytes for `….bytes`; launch facts do not add up."""
    unit = Unit.COUNT
    if identifier.endswith(".time") or identifier in ("cpu.time.wall", "gpu.time"):
        unit = Unit.SECONDS
    elif identifier.endswith(".bytes"):
        unit = Unit.BYTES
    clock = {"cpu.time": Clock.CPU, "cpu.time.wall": Clock.WALL}.get(identifier)
    facts = ("gpu.kernel.registers", "gpu.kernel.occupancy", "gpu.kernel.blocks", "gpu.kernel.threads-per-block")
    aggregation = Aggregation.DERIVED if identifier in facts else Aggregation.SUM
    return Metric(identifier, unit, identifier, source_name=identifier.upper(), clock=clock, aggregation=aggregation)


def tree_of(*roots: Node) -> CallTree:
    """The calling context tree of `roots`."""
    return _lay_out(roots)[0]


def build(*roots: Node, locations: Locations | None = None, **facts) -> Profile:
    """A profile of `roots`; inclusive values are the sums over the subtrees; derived metrics have none."""
    tree, nodes = _lay_out(roots)
    ids = sorted({identifier for item in nodes for identifier in item.values})
    widths = {len(v) for item in nodes for v in item.values.values() if isinstance(v, tuple)}
    count = len(locations) if locations is not None else max(widths, default=1)
    metrics = {identifier: metric(identifier) for identifier in ids}
    exclusives: dict[str, Column] = {}
    inclusives: dict[str, Column] = {}
    matrices = {}
    for identifier in ids:
        matrix = np.zeros((count, len(tree)))
        present = np.zeros(len(tree), dtype=bool)
        for index, item in enumerate(nodes):
            if (amount := item.values.get(identifier)) is not None:
                amounts = amount if isinstance(amount, tuple) else (amount,) + (0.0,) * (count - 1)
                matrix[:, index] = [0.0 if a is None else a for a in amounts]
                present[index] = True
        total = matrix.sum(axis=0)
        exclusives[identifier], inclusives[identifier] = column_of(total, present), EMPTY_COLUMN
        if metrics[identifier].aggregation == Aggregation.SUM:
            below = tree.inclusive(present.astype(float)) > 0
            inclusives[identifier] = column_of(tree.inclusive(total), below)
        matrices[identifier] = matrix
    where = locations if locations is not None else Locations.of(count, thread=np.arange(count))
    values = MemoryValues(tree, exclusives, inclusives, count, matrices if count > 1 else {})
    return Profile(
        **{"format": "test", "title": "test", **facts}, tree=tree, metrics=metrics, values=values, where=where
    )


def _lay_out(roots: tuple[Node, ...]) -> tuple[CallTree, list[Node]]:
    nodes: list[Node] = []
    parent: list[int] = []
    pending = [(root, -1) for root in reversed(roots)]
    while pending:
        item, above = pending.pop()
        pending += [(child, len(nodes)) for child in reversed(item.children)]
        nodes.append(item)
        parent.append(above)
    end = list(range(1, len(nodes) + 1))
    for index in range(len(nodes) - 1, -1, -1):
        if parent[index] >= 0:
            end[parent[index]] = max(end[parent[index]], end[index])
    tables = {what: sorted({getattr(item, what) for item in nodes} - {None}) for what in ("name", "file", "module")}

    def ids(what: str) -> np.ndarray:
        table = tables[what]
        found = (getattr(item, what) for item in nodes)
        return np.array([-1 if text is None else table.index(text) for text in found], dtype=np.int32)

    tree = CallTree(
        parent=np.array(parent, dtype=np.int32),
        end=np.array(end, dtype=np.int32),
        kind=np.array([item.kind for item in nodes], dtype=np.uint8),
        relation=np.array([item.relation for item in nodes], dtype=np.uint8),
        name=ids("name"),
        file=ids("file"),
        line=np.array([item.line for item in nodes], dtype=np.int32),
        module=ids("module"),
        names=tables["name"],
        files=tables["file"],
        modules=tables["module"],
    )
    tree.check()
    return tree, nodes
