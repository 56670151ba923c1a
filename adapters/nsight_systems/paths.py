"""Nodes of the call tree from columns: equal children of one parent become one node, whole levels at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.nsight_systems.columns import Int32Array, Int64Array, distinct
from chathpc.profile.build import depths, tree_of_columns
from chathpc.profile.text import clean
from chathpc.profile.tree import CallTree, NodeKind, Relation

#: Characters of the longest name that is kept: templates of C++ reach some thousands.
LONGEST_NAME = 20_000


class Names:
    """Texts by number; equal texts have one number. What could act on a terminal is replaced."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._number: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of `text`."""
        shown = clean(text[:LONGEST_NAME])
        found = self._number.get(shown)
        if found is None:
            found = self._number[shown] = len(self.texts)
            self.texts.append(shown)
        return found

    def rename(self, text: str, new: str) -> None:
        """Give the text that is known as `text` another wording."""
        self.texts[self._number[text]] = clean(new[:LONGEST_NAME])


class Paths:
    """A growing tree. Numbers of nodes given here are provisional: `finish` merges those that are equal."""

    def __init__(self) -> None:
        self.names = Names()
        self.modules = Names()
        self._pieces: list[tuple[Int32Array, NDArray[np.uint8], Int32Array, Int32Array]] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def node(self, parent: int, kind: NodeKind, name: str) -> int:
        """One node with that name below `parent` (−1: a root)."""
        return int(self.add(np.array([parent]), kind, np.array([self.names.number(name)], dtype=np.int32))[0])

    def add(
        self,
        parent: Int64Array | Int32Array,
        kind: NodeKind | NDArray[np.uint8],
        name: Int32Array,
        module: Int32Array | None = None,
    ) -> Int32Array:
        """For each row the node below `parent` with that kind, name and module; rows that are equal share it."""
        n = len(parent)
        if n == 0:
            return np.zeros(0, dtype=np.int32)
        # One number for kind, name and module together, which can be taken apart again.
        names, kinds, modules = len(self.names.texts) + 1, max(NodeKind) + 1, len(self.modules.texts) + 1
        code = name.astype(np.int64) + 1
        code += (kind.astype(np.int64) if isinstance(kind, np.ndarray) else int(kind)) * names
        if module is not None:
            code += (module.astype(np.int64) + 1) * (names * kinds)
        above, code, index = self._distinct(parent, code, names * kinds * (1 if module is None else modules))
        self._pieces.append((
            above,
            (code // names % kinds).astype(np.uint8),
            (code % names - 1).astype(np.int32),
            (code // (names * kinds) - 1).astype(np.int32),
        ))  # fmt: skip
        return index

    def add_coded(self, parent: Int32Array, code: Int32Array, names: int, kinds: Sequence[NodeKind]) -> Int32Array:
        """As `add`, for millions of rows: `code` is the number of the name, plus `names` times the place of the kind in `kinds`."""
        if len(parent) == 0:
            return np.zeros(0, dtype=np.int32)
        above, known, index = self._distinct(parent, code, names * len(kinds))
        kind = np.array(kinds, dtype=np.uint8)[known // names]
        nothing = np.full(len(known), -1, dtype=np.int32)
        self._pieces.append((above, kind, (known % names).astype(np.int32), nothing))
        return index

    def _distinct(
        self, parent: Int64Array | Int32Array, code: Int64Array | Int32Array, space: int
    ) -> tuple[Int32Array, Int64Array, Int32Array]:
        """The distinct pairs of a parent and a code of [0, space), and for each row the provisional number of its pair."""
        lowest, highest = int(parent.min()), int(parent.max())
        codes: Int64Array | None = None
        if (highest - lowest + 1) * space > max(4 * len(parent), 1 << 16):
            codes, code = distinct(code.astype(np.int64), space)
            space = len(codes)
        total = (highest - lowest + 1) * space
        key: Int64Array | Int32Array = parent.astype(np.int32) if total < 2**31 else parent.astype(np.int64)
        np.subtract(key, lowest, out=key)
        np.multiply(key, space, out=key)
        np.add(key, code, out=key, casting="same_kind")
        known, index = distinct(key, total)
        index += self._count
        self._count += len(known)
        above = (known // space + lowest).astype(np.int32)
        return above, known % space if codes is None else codes[known % space], index

    def nearest(self, nodes: Int32Array) -> Int32Array:
        """For each provisional node the place in `nodes` of the one at or above it; −1 without one."""
        parent = np.concatenate([piece[0] for piece in self._pieces])
        own = np.full(self._count, -1, dtype=np.int32)
        own[nodes] = np.arange(len(nodes), dtype=np.int32)
        pointer = np.where((own >= 0) | (parent < 0), np.arange(self._count), parent)
        while not np.array_equal(jumped := pointer[pointer], pointer):
            pointer = jumped
        return own[pointer]

    def finish(self) -> tuple[CallTree, Int32Array]:
        """The tree, and for each provisional number the index of its node."""
        if not self._pieces:
            self.node(-1, NodeKind.ENTRY, "<nothing recorded>")
        parent, kind, name, module = (
            np.concatenate([piece[column] for piece in self._pieces]) for column in range(4)
        )  # fmt: skip
        final = self._merged(parent, kind, name, module)
        kept, first = np.unique(final, return_index=True)
        above = parent[first]
        number = np.empty(int(kept[-1]) + 1, dtype=np.int32)
        number[kept] = np.arange(len(kept), dtype=np.int32)
        nothing = np.full(len(kept), -1, dtype=np.int32)
        kinds = kind[first]
        tree, place = tree_of_columns(
            np.where(above >= 0, number[final[np.maximum(above, 0)]], -1).astype(np.int32),
            kind=kinds,
            relation=np.where(above >= 0, Relation.CALL, Relation.LEXICAL).astype(np.uint8),
            name=name[first],
            file=nothing,
            line=np.zeros(len(kept), dtype=np.int32),
            module=module[first],
            names=self.names.texts,
            files=[],
            modules=self.modules.texts,
        )
        return tree, place[number[final]]

    def _merged(
        self, parent: Int32Array, kind: NDArray[np.uint8], name: Int32Array, module: Int32Array
    ) -> NDArray[np.int64]:
        """For each node the first one that is equal to it, down from the roots; a parent stands before its children."""
        final = np.arange(len(parent), dtype=np.int64)
        depth = depths(parent)
        by_depth = np.argsort(depth, kind="stable")
        edges = np.searchsorted(depth[by_depth], np.arange(int(depth.max()) + 2))
        for level in range(len(edges) - 1):
            nodes = by_depth[edges[level] : edges[level + 1]]
            above = parent[nodes]
            above = np.where(above >= 0, final[np.maximum(above, 0)], -1)
            order = np.lexsort((nodes, module[nodes], name[nodes], kind[nodes], above))
            columns = (above[order], kind[nodes[order]], name[nodes[order]], module[nodes[order]])
            new = np.ones(len(nodes), dtype=bool)
            new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
            first = nodes[order][new]
            final[nodes[order]] = first[np.cumsum(new) - 1]
        return final
