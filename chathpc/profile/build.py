"""Building a call tree and its values from what a tool wrote: node by node, or from columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from chathpc.errors import AdapterError
from chathpc.profile.metric import Metric
from chathpc.profile.sparse import SparseValues
from chathpc.profile.tree import CallTree, IntArray, NodeKind, Relation, is_one_of

#: Contexts that a profile may have; a limit for hostile files, far beyond what a person's profile has.
MOST_CONTEXTS = 20_000_000
#: Lines are numbered with 32 bits.
_LAST_LINE = 2**31 - 1

#: Kind, name, file, line, load module, offset, and what tells it from an equal one.
Frame = tuple[int, str, str, int, str, int, int]


#: A tree with fewer nodes for each of its levels is gone through node by node (measured: 0.3 µs a node against 20 µs a level).
_NARROW = 64


def preorder(parent: IntArray | NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Position in preorder and size of the subtree of each node of a forest, which may be as deep as it likes; siblings keep their order.

    ValueError if the parents (−1 of roots) do not stand before their children.
    """
    n = len(parent)
    if n and not bool(np.all((parent >= -1) & (parent < np.arange(n)))):
        raise ValueError("a parent does not stand before its child")
    # Below node 0 are the roots; the others are moved by one.
    above = np.concatenate(([0], parent.astype(np.int64) + 1))
    children = np.bincount(above[1:], minlength=n + 1)
    families, first = 1 + np.argsort(parent, kind="stable"), np.cumsum(children) - children
    levels: list[
        tuple[NDArray[np.int64], ...]
    ] = []  # its nodes; their numbers of children; where those end in the next; the next
    nodes = np.zeros(1, dtype=np.int64)
    while len(nodes):
        if len(levels) > n // _NARROW + 1:
            return _one_by_one(above.tolist())
        own = children[nodes]
        last = np.cumsum(own)
        following = families[np.repeat(first[nodes] - (last - own), own) + np.arange(last[-1])]
        levels.append((nodes, own, last, following))
        nodes = following
    place, size = np.full(n + 1, -1, dtype=np.int64), np.ones(n + 1, dtype=np.int64)
    for nodes, own, last, following in reversed(levels):
        held = np.concatenate(([0], np.cumsum(size[following])))
        size[nodes] += held[last] - held[last - own]
    for nodes, own, last, following in levels:
        before = np.cumsum(size[following]) - size[following]
        held = np.append(before, 0)
        place[following] = before + np.repeat(place[nodes] + 1 - held[last - own], own)
    return place[1:], size[1:]


def _one_by_one(above: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`preorder`, node by node."""
    size, place, free = [1] * len(above), [-1] * len(above), [0] * len(above)
    for node in range(len(above) - 1, 0, -1):
        size[above[node]] += size[node]
    for node in range(1, len(above)):
        place[node] = free[above[node]]
        free[above[node]] += size[node]
        free[node] = place[node] + 1
    return np.array(place[1:], dtype=np.int64), np.array(size[1:], dtype=np.int64)


def _doubled(parent: IntArray) -> Iterator[tuple[NDArray[np.intp], IntArray]]:
    """Nodes and their ancestors 1, 2, 4, … levels above them, as far as they have some."""
    pointer = parent.copy()
    inner = np.flatnonzero(pointer >= 0)
    while len(inner):
        above = pointer[inner]
        yield inner, above
        pointer[inner] = above = pointer[above]
        inner = inner[above >= 0]


def sum_along_path(parent: IntArray, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sum of `values` (modulo 2^64) over each node and its ancestors."""
    total = values.copy()
    for inner, above in _doubled(parent):
        total[inner] += total[above]
    return total


def depths(parent: IntArray) -> IntArray:
    """Depth of each node, 0 for roots."""
    return sum_along_path(parent, (parent >= 0).astype(np.uint64)).astype(np.int32)


def ends(parent: IntArray) -> IntArray:
    """Ends of the subtrees of nodes that stand in preorder."""
    return (np.arange(len(parent)) + preorder(parent)[1]).astype(np.int32)


class TreeBuilder:
    """A call tree that grows node by node; equal children of one parent are one node.

    Frames get a number once (`frame`), then a step down the tree is one look-up (`step`): some million steps a second; `node` is both.
    Formats with many millions of nodes number them with numpy and use `tree_of_columns`.
    """

    #: Kinds of nodes that are a part of what they stand in, and are not called.
    parts: tuple[NodeKind, ...] = (NodeKind.LINE, NodeKind.LOOP, NodeKind.INSTRUCTION)

    def __init__(self, most: int = MOST_CONTEXTS) -> None:
        self._most = min(most, MOST_CONTEXTS)
        self._frames: dict[Frame, int] = {}
        self._index: dict[int, int] = {}
        self._parent, self._frame = array("i"), array("i")
        self._values: dict[str, tuple[array[int], array[int], array[float]]] = {}
        #: The node that each number stands for, where it is not the one of this number.
        self._moved: IntArray | None = None

    def __len__(self) -> int:
        return len(self._parent)

    def frame(
        self,
        name: str,
        *,
        kind: NodeKind = NodeKind.FUNCTION,
        file: str = "",
        line: int = 0,
        module: str = "",
        offset: int = 0,
        apart: int = 0,
    ) -> int:
        """The number of a frame with these properties; an empty text or 0 is not known. Frames that are equal but for `apart` are two."""
        line = line if 0 < line <= _LAST_LINE else 0
        return self._frames.setdefault((int(kind), name, file, line, module, offset, apart), len(self._frames))

    def step(self, parent: int, frame: int) -> int:
        """The number of the child of `parent` (−1: a root) with this frame; it is made if there is none."""
        key = (parent + 1 << 32) + frame
        found = self._index.get(key)
        if found is None:
            found = self._index[key] = len(self._parent)
            if found >= self._most:
                raise AdapterError(
                    f"has more than {self._most:,} different calling contexts", hint="Record a shorter run."
                )
            self._parent.append(parent)
            self._frame.append(frame)
        return found

    def node(
        self,
        parent: int,
        kind: NodeKind,
        name: str | None = None,
        *,
        file: str | None = None,
        line: int = 0,
        module: str | None = None,
        offset: int = 0,
        apart: int = 0,
    ) -> int:
        """Number of the child of `parent` (−1: a root) with these properties; it is made if there is none.

        Children that are equal but for `apart` are nodes of their own: one kernel in two launch configurations.
        """
        frame = self.frame(
            name or "", kind=kind, file=file or "", line=line, module=module or "", offset=offset, apart=apart
        )
        return self.step(parent, frame)

    def path(self, names: Iterable[str], kind: NodeKind = NodeKind.FUNCTION, *, parent: int = -1) -> int:
        """The node at the end of a row of frames, outermost first."""
        for name in names:
            parent = self.node(parent, kind, name)
        return parent

    def add(self, metric: str, node: int, value: float, location: int = 0) -> None:
        """Add to the exclusive value of a node; several values of one node and location are combined by the metric's rule."""
        columns = self._values.get(metric)
        if columns is None:
            columns = self._values[metric] = (array("i"), array("i"), array("d"))
        nodes, locations, values = columns
        nodes.append(node)
        locations.append(location)
        values.append(value)

    def has(self, metric: str) -> bool:
        """True if a value was added to the metric."""
        return metric in self._values

    def finish(self, metrics: Iterable[Metric], locations: int = 1) -> tuple[CallTree, SparseValues, IntArray]:
        """The tree, its values, and for each number that `node` gave the node's index in the tree."""
        names, files, modules = (dict[str, int](), dict[str, int](), dict[str, int]())
        facts = np.array(
            [
                (
                    kind,
                    names.setdefault(name, len(names)) if name else -1,
                    files.setdefault(file, len(files)) if file else -1,
                    line,
                    modules.setdefault(module, len(modules)) if module else -1,
                )
                for kind, name, file, line, module, *_ in self._frames
            ],
            dtype=np.int32,
        ).reshape(-1, 5)
        frame, parent = (np.asarray(column, dtype=np.int32) for column in (self._frame, self._parent))
        kind = facts[frame, 0].astype(np.uint8)
        relation = np.full(len(parent), Relation.CALL, dtype=np.uint8)
        relation[kind == NodeKind.INLINED] = Relation.INLINED_CALL
        relation[(parent < 0) | is_one_of(kind, self.parts)] = Relation.LEXICAL
        tree, place = tree_of_columns(
            parent, kind=kind, relation=relation, name=facts[frame, 1], file=facts[frame, 2], line=facts[frame, 3],
            module=facts[frame, 4], names=list(names), files=list(files), modules=list(modules),
            offset=np.array([offset for *_, offset, _ in self._frames], dtype=np.uint64)[frame],
        )  # fmt: skip
        place = place if self._moved is None else place[self._moved]
        values = SparseValues(tree, locations)
        for metric in metrics:
            if metric.id in self._values:
                nodes, where, amounts = map(np.asarray, self._values[metric.id])
                values.put(metric, place[nodes], amounts, where)
        return tree, values, place


def tree_of_columns(
    parent: IntArray,
    *,
    kind: NDArray[np.uint8],
    relation: NDArray[np.uint8],
    name: IntArray,
    file: IntArray,
    line: IntArray,
    module: IntArray,
    names: Sequence[str],
    files: Sequence[str],
    modules: Sequence[str],
    offset: NDArray[np.uint64] | None = None,
) -> tuple[CallTree, IntArray]:
    """The tree of nodes in any order in which parents stand before their children, and each one's new index."""
    place, size = preorder(parent)
    order = np.empty(len(parent), dtype=np.int64)
    order[place] = np.arange(len(parent))
    above = parent[order]
    tree = CallTree(
        parent=np.where(above >= 0, place[above], -1).astype(np.int32),
        end=(np.arange(len(parent)) + size[order]).astype(np.int32),
        kind=kind[order],
        relation=relation[order],
        name=name[order],
        file=file[order],
        line=line[order],
        module=module[order],
        names=names,
        files=files,
        modules=modules,
        offset=None if offset is None or not offset.any() else offset[order],
    )
    return tree, place.astype(np.int32)
