"""Trees of several views of one run put into one: a kernel that was seen before takes in what another view has below it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chathpc.profile.build import tree_of_columns
from chathpc.profile.kernel_names import base_key, kernel_key
from chathpc.profile.tree import BoolArray, CallTree, FloatArray, IntArray, NodeKind

#: What makes two children of one node the same: kind, name, base name of the file, line, offset.
ChildKey = tuple[int, str, str, int, int]


@dataclass(slots=True)
class _Columns:
    """Columns of the tree to be, one array for each view that added nodes."""

    parent: list[IntArray] = field(default_factory=list)
    kind: list[NDArray[np.uint8]] = field(default_factory=list)
    relation: list[NDArray[np.uint8]] = field(default_factory=list)
    name: list[IntArray] = field(default_factory=list)
    file: list[IntArray] = field(default_factory=list)
    line: list[IntArray] = field(default_factory=list)
    module: list[IntArray] = field(default_factory=list)
    offset: list[NDArray[np.uint64]] = field(default_factory=list)


class Forest:
    """A tree that takes in one view after the other."""

    def __init__(self) -> None:
        self.size = 0
        self._columns = _Columns()
        self._tables: tuple[dict[str, int], dict[str, int], dict[str, int]] = ({}, {}, {})
        self._children: dict[tuple[int, ChildKey], int] = {}
        self._kernels: dict[str, list[tuple[float, int]]] = {}
        self._by_base: dict[str, set[str]] = {}

    def add(
        self, tree: CallTree, weight: FloatArray, measured: BoolArray
    ) -> tuple[IntArray, tuple[IntArray, IntArray]]:
        """Take in the nodes of `tree`; for each its number in the forest, −1 if it was left out.

        `weight` (time of each node) decides which of several places of a kernel takes in what is below it; nodes of a later
        view without a `measured` value below them, other than those of known kernels, are left out. The second result are
        pairs (node of `tree`, number): the other places of a known kernel, which share its facts.
        """
        n = len(tree)
        known = self._matches(tree)
        place = np.full(n, -1, dtype=np.int32)
        copies: list[tuple[int, int]] = []
        inner = np.zeros(n, dtype=bool)
        for node, numbers in known.items():
            place[node] = numbers[0]
            copies += [(node, number) for number in numbers[1:]]
            inner[node : tree.end[node]] = True
        keep = (
            ~inner & (tree.inclusive((measured & ~inner).astype(np.float64)) > 0)
            if self.size
            else np.ones(n, dtype=bool)
        )
        for node in known:
            self._graft(tree, node, place, keep)
        new = np.flatnonzero(keep)
        place[new] = np.arange(self.size, self.size + len(new), dtype=np.int32)
        self._append(tree, new, place)
        self._remember(tree, place, weight)
        first, second = zip(*copies, strict=True) if copies else ((), ())
        return place, (np.array(first, dtype=np.int32), np.array(second, dtype=np.int32))

    def finish(self) -> tuple[CallTree, IntArray]:
        """The tree, and for each number the index in it."""
        c = self._columns
        names, files, modules = (list(table) for table in self._tables)
        return tree_of_columns(
            np.concatenate(c.parent),
            kind=np.concatenate(c.kind),
            relation=np.concatenate(c.relation),
            name=np.concatenate(c.name),
            file=np.concatenate(c.file),
            line=np.concatenate(c.line),
            module=np.concatenate(c.module),
            names=names,
            files=files,
            modules=modules,
            offset=np.concatenate(c.offset),
        )

    # -- kernels ---------------------------------------------------------------------------------------------

    def _matches(self, tree: CallTree) -> dict[int, list[int]]:
        """Kernels of `tree` that the forest has: node → numbers of the places, the heaviest first."""
        found = {}
        for node in _outermost_kernels(tree):
            name = tree.function_name(node)
            key = kernel_key(name)
            if key not in self._kernels:
                # Tools that shorten names leave out template arguments: the base name decides if it is unambiguous.
                full = self._by_base.get(base_key(name), set())
                if len(full) != 1 or ("<" in key and "<" in next(iter(full))):
                    continue
                key = next(iter(full))
            found[node] = [number for _, number in sorted(self._kernels[key], key=lambda pair: -pair[0])]
        return found

    def _remember(self, tree: CallTree, place: IntArray, weight: FloatArray) -> None:
        """Kernels of the view just added, for those to come, and what is below them."""
        below = tree.inclusive(weight)
        for node in _outermost_kernels(tree):
            key = kernel_key(tree.function_name(node))
            places = self._kernels.setdefault(key, [])
            if all(number != place[node] for _, number in places):
                places.append((float(below[node]), int(place[node])))
            self._by_base.setdefault(base_key(key), set()).add(key)
            for child in range(node + 1, int(tree.end[node])):
                self._children.setdefault((int(place[tree.parent[child]]), _child_key(tree, child)), int(place[child]))

    def _graft(self, tree: CallTree, kernel: int, place: IntArray, keep: BoolArray) -> None:
        """Nodes below a known kernel: those that the forest has are found by line or name, the others will be added."""
        for child in range(kernel + 1, int(tree.end[kernel])):
            above = int(tree.parent[child])
            number = self._children.get((int(place[above]), _child_key(tree, child))) if place[above] >= 0 else None
            if number is None:
                keep[child] = True
            else:
                place[child] = number

    def _append(self, tree: CallTree, new: NDArray[np.intp], place: IntArray) -> None:
        above = tree.parent[new]
        parent = np.where(above >= 0, place[np.maximum(above, 0)], np.int32(-1)).astype(np.int32)
        c = self._columns
        c.parent.append(parent)
        c.kind.append(tree.kind[new])
        c.relation.append(tree.relation[new])
        c.line.append(tree.line[new])
        c.offset.append(np.zeros(len(new), dtype=np.uint64) if tree.offset is None else tree.offset[new])
        for column, indices, texts, table in (
            (c.name, tree.name, tree.names, self._tables[0]),
            (c.file, tree.file, tree.files, self._tables[1]),
            (c.module, tree.module, tree.modules, self._tables[2]),
        ):
            numbers = np.array([table.setdefault(text, len(table)) for text in texts] + [-1], dtype=np.int32)
            column.append(numbers[indices[new]])
        self.size += len(new)


def _outermost_kernels(tree: CallTree) -> list[int]:
    nodes = np.flatnonzero(tree.kind == NodeKind.GPU_KERNEL).astype(np.int32)
    return [int(node) for node in tree.outermost(nodes)] if len(nodes) else []


def _child_key(tree: CallTree, node: int) -> ChildKey:
    name = int(tree.name[node])
    file = tree.file_name(node) or ""
    offset = 0 if tree.offset is None else int(tree.offset[node])
    return (
        int(tree.kind[node]),
        "" if name < 0 or tree.kind[node] in (NodeKind.LINE, NodeKind.LOOP) else tree.names[name],
        file.rsplit("/", 1)[-1],
        int(tree.line[node]),
        offset,
    )
