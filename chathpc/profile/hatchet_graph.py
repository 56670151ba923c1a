"""The graph and the rows of a hatchet GraphFrame as a call tree and locations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chathpc.errors import AdapterError
from chathpc.profile.build import ends
from chathpc.profile.location import Locations
from chathpc.profile.tree import FUNCTION_KINDS, CallTree, IntArray, NodeKind, Relation

if TYPE_CHECKING:
    import pandas as pd

#: What hatchet's readers write in the column `type`, where it is not our own word.
_KINDS = {kind.text: kind for kind in NodeKind} | {
    "statement": NodeKind.LINE,
    "procedure": NodeKind.FUNCTION,
    "kernel": NodeKind.GPU_KERNEL,
    "memcpy": NodeKind.GPU_OP,
}
#: Names of columns in the order of preference.
_NAME = ("name", "function", "path")
_FILE = ("file", "filename", "source.file", "source_file")
_LINE = ("line", "source.line", "lineno")
_MODULE = ("module", "load_module")
#: How hatchet's readers put the place of a line or loop into its name.
_LINE_NAME = re.compile(r"(?:Loop@|loop at )?(?P<file>.+):(?P<line>\d+)")


def preorder(graph: Any) -> tuple[list[Any], list[int], int]:
    """Nodes of a hatchet graph in preorder, their parents, and how many had several; these, and what has no root, become roots."""
    callers: dict[int, int] = {}
    everything: dict[int, Any] = {}
    pending = list(graph.roots)
    while pending:
        node = pending.pop()
        if id(node) in everything:
            continue
        everything[id(node)] = node
        for child in {id(child): child for child in node.children}.values():
            callers[id(child)] = callers.get(id(child), 0) + 1
            pending.append(child)
    roots = {id(root) for root in graph.roots}
    shared = [node for key, node in everything.items() if callers.get(key, 0) + (key in roots) > 1]
    cut = {id(node) for node in shared} | roots
    starts = [*graph.roots, *(node for node in shared if id(node) not in roots)]
    nodes: list[Any] = []
    parents: list[int] = []
    stack = [(node, -1) for node in reversed(list({id(node): node for node in starts}.values()))]
    while stack:
        node, above = stack.pop()
        own_children = [child for child in {id(c): c for c in node.children}.values() if id(child) not in cut]
        stack += [(child, len(nodes)) for child in reversed(own_children)]
        nodes.append(node)
        parents.append(above)
    return nodes, parents, len(shared)


def _text(value: object) -> str | None:
    """`value` if it says something; readers fill gaps with None, NaN, "None" and the empty string."""
    return value if isinstance(value, str) and value not in ("", "None", "nan") else None


def _first(row: Mapping[str, object], names: tuple[str, ...], attributes: Mapping[str, object]) -> object:
    for source in (row, attributes):
        for name in names:
            value = source.get(name)
            if _text(value) is not None or (isinstance(value, int | float) and value == value):
                return value
    return None


def _line_number(value: object) -> int:
    """A line that a source file may have; 0 for everything else."""
    return int(value) if isinstance(value, int | float | np.integer) and 0 < value < 1 << 31 else 0


def call_tree(nodes: list[Any], parent: list[int], table: pd.DataFrame) -> CallTree:
    """The call tree of hatchet nodes in preorder; facts come from the table, where it has none from the node's frame."""
    facts = [c for c in table.columns if c in {*_NAME, *_FILE, *_LINE, *_MODULE, "type", "relation", "offset"}]
    records: dict[int, Mapping[str, object]] = {}
    levels = table.index.get_level_values("node")
    for node, values in zip(levels, zip(*(table[c] for c in facts), strict=True) if facts else (), strict=False):
        records.setdefault(id(node), dict(zip(facts, values, strict=True)))
    tables: dict[str, dict[str, int]] = {"name": {}, "file": {}, "module": {}}

    def number(what: str, text: str | None) -> int:
        return -1 if text is None else tables[what].setdefault(text, len(tables[what]))

    count = len(nodes)
    columns = {what: np.full(count, -1, dtype=np.int32) for what in tables}
    line = np.zeros(count, dtype=np.int32)
    kinds = np.zeros(count, dtype=np.uint8)
    relation = np.zeros(count, dtype=np.uint8)
    offset = np.zeros(count, dtype=np.uint64)
    names: list[str | None] = []
    for index, node in enumerate(nodes):
        row, attributes = records.get(id(node), {}), node.frame.attrs
        name = _text(_first(row, _NAME, attributes))
        kind = _KINDS.get(str(_first(row, ("type",), attributes)).lower(), NodeKind.FUNCTION)
        file, at = _text(_first(row, _FILE, attributes)), _first(row, _LINE, attributes)
        number_of_line = _line_number(at)
        if kind in (NodeKind.LINE, NodeKind.LOOP) and file is None and name not in (None, "unknown line", "loop"):
            found = _LINE_NAME.fullmatch(str(name))
            file, number_of_line = (found["file"], _line_number(float(found["line"]))) if found else (name, 0)
        called = Relation.INLINED_CALL if kind == NodeKind.INLINED else Relation.CALL
        default = called if kind in FUNCTION_KINDS and parent[index] >= 0 else Relation.LEXICAL
        relation[index] = Relation.__members__.get(str(row.get("relation")).upper(), default)
        kinds[index], line[index] = kind, number_of_line
        columns["file"][index] = number("file", file)
        columns["module"][index] = number("module", _text(_first(row, _MODULE, attributes)))
        address = row.get("offset")
        if isinstance(address, int | np.integer) and 0 < address < 1 << 64:
            offset[index] = address
        names.append(name)
    parents = np.array(parent, dtype=np.int32)
    tree = CallTree(
        parent=parents,
        end=ends(parents),
        kind=kinds,
        relation=relation,
        name=columns["name"],
        file=columns["file"],
        line=line,
        module=columns["module"],
        names=[],
        files=list(tables["file"]),
        modules=list(tables["module"]),
        offset=offset if "offset" in facts else None,
    )
    # A name that the node would be given anyway is no name of its own.
    for index, name in enumerate(names):
        if int(kinds[index]) not in (NodeKind.LINE, NodeKind.LOOP) and name != tree.label(index):
            columns["name"][index] = number("name", name)
    tree = replace(tree, name=columns["name"], names=list(tables["name"]))
    tree.check()
    return tree


def rows_to_nodes(nodes: list[Any], table: pd.DataFrame) -> IntArray:
    """For each row of the table the tree node that it belongs to."""
    by_identity = {id(node): index for index, node in enumerate(nodes)}
    by_number = {node._hatchet_nid: index for index, node in enumerate(nodes) if node._hatchet_nid >= 0}
    found = []
    for node in table.index.get_level_values("node"):
        index = by_identity.get(id(node), by_number.get(node._hatchet_nid))
        if index is None:
            raise AdapterError(
                f"the GraphFrame has a row for {node}, which is not in its graph.",
                hint="Call squash() after filter(..., squash=False), or copy the graph together with its table.",
            )
        found.append(index)
    return np.array(found, dtype=np.int32)


def locations_of(table: pd.DataFrame) -> tuple[Locations, IntArray, list[str]]:
    """The locations, that of each row, and the names of the index levels that are no part of a location."""
    import pandas as pd

    parts = [level for level in ("rank", "thread") if level in table.index.names]
    others = [str(level) for level in table.index.names if level not in ("node", *parts)]
    if not parts or len(table) == 0:
        return Locations.single(), np.zeros(len(table), dtype=np.int32), others
    # timemory's reader writes "1,2" for two threads whose values are added up: they have no number of their own.
    levels = (pd.Series(table.index.get_level_values(part)) for part in parts)
    keys = np.stack([pd.to_numeric(level, errors="coerce").to_numpy(float) for level in levels])
    keys = np.where(np.isnan(keys), -1, keys).astype(np.int64)
    places, row_location = np.unique(keys, axis=1, return_inverse=True)
    where = Locations.of(places.shape[1], **dict(zip(parts, places, strict=True)))
    return where, row_location.reshape(-1).astype(np.int32), others
