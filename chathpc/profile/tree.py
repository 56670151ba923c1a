"""The calling context tree in columns, and the vectorised operations that everything else is built from.

Nodes stand in preorder: a parent before its children, a subtree in one piece. So node `i` and all
below it are the slice `i:end[i]`, a roll-up is one cumulative sum, and "is an ancestor of" is two comparisons.
No operation here loops over nodes in Python or recurses, so a tree may be as wide or as deep as memory allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int32]
Int64Array = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]


class NodeKind(IntEnum):
    """What a node of the tree stands for."""

    ENTRY = 0  #: where the operating system or the runtime enters the program (a thread's first function)
    FUNCTION = 1  #: a function that was called
    INLINED = 2  #: a function that the compiler inlined into its caller
    LOOP = 3
    LINE = 4
    INSTRUCTION = 5
    REGION = 6  #: a named range of the program's own (NVTX, Caliper, …)
    GPU_KERNEL = 7
    GPU_OP = 8  #: a GPU operation as a whole: kernel launches, copies, memsets, synchronisation
    PLACEHOLDER = 9  #: a state that a runtime reports instead of a function: waiting, idle, overhead

    @property
    def text(self) -> str:
        """The kind as it is written in reports and files: `gpu-kernel`."""
        return self.name.lower().replace("_", "-")


#: Kinds that own the time of the lines and loops inside them.
FUNCTION_KINDS = (
    NodeKind.ENTRY,
    NodeKind.FUNCTION,
    NodeKind.INLINED,
    NodeKind.REGION,
    NodeKind.GPU_KERNEL,
    NodeKind.GPU_OP,
    NodeKind.PLACEHOLDER,
)


class Relation(IntEnum):
    """How a node hangs below its parent."""

    LEXICAL = 0  #: inside it in the source: a line in a function
    CALL = 1
    INLINED_CALL = 2


@dataclass(frozen=True, slots=False, eq=False)
class CallTree:
    """A calling context tree of n nodes as numpy columns, in preorder.

    Shapes: every column has n entries. `parent[i] < i`, −1 for a root. The subtree of i is `i:end[i]`.
    `name`, `file`, `module` are indices into the tables `names`, `files`, `modules`; −1 where there is none
    (lines and loops have no name of their own). `line` is 0 where unknown. `offset` is the address inside the
    module for instructions, else 0. `source_id` is the identifier that the measuring tool gave the node.
    """

    parent: IntArray
    end: IntArray
    kind: NDArray[np.uint8]
    relation: NDArray[np.uint8]
    name: IntArray
    file: IntArray
    line: IntArray
    module: IntArray
    names: Sequence[str]
    files: Sequence[str]
    modules: Sequence[str]
    source_id: NDArray[np.int64] | None = None
    offset: NDArray[np.uint64] | None = None

    def __len__(self) -> int:
        return len(self.parent)

    # -- shape ---------------------------------------------------------------------------------------------

    @cached_property
    def depth(self) -> IntArray:
        """Depth of each node, 0 for roots. Node i has i nodes before it; those whose subtree has ended are no
        ancestors.
        """
        n = len(self)
        ended = np.cumsum(np.bincount(self.end, minlength=n + 1))[:n]
        return (np.arange(n) - ended).astype(np.int32)

    def has(self, *kinds: NodeKind) -> bool:
        """True if there is a node of one of the kinds."""
        return any(bool((self.kind == kind).any()) for kind in kinds)

    @cached_property
    def roots(self) -> IntArray:
        """Indices of the roots (entry points), ascending."""
        return np.flatnonzero(self.parent < 0).astype(np.int32)

    def children(self, node: int) -> list[int]:
        """Indices of the children of `node`, ascending; walks sibling by sibling."""
        found = []
        child, stop = node + 1, int(self.end[node])
        while child < stop:
            found.append(child)
            child = int(self.end[child])
        return found

    def path(self, node: int) -> list[int]:
        """Indices from the root down to `node`, both included."""
        found = []
        parents = self.parent.data  # of which a number costs a quarter of what one of the array does
        while node >= 0:
            found.append(node)
            node = parents[node]
        return found[::-1]

    def check(self) -> None:
        """Raise ValueError, naming the broken invariant, unless the columns form a tree in preorder."""
        n = len(self)
        index = np.arange(n)
        lengths = {
            len(column) for column in (self.end, self.kind, self.relation, self.name, self.file, self.line, self.module)
        }
        lengths |= {len(column) for column in (self.source_id, self.offset) if column is not None}
        if lengths != {n}:
            raise ValueError("the columns of the tree differ in length")
        if n == 0:
            return
        if not bool(np.all((self.parent >= -1) & (self.parent < index))):
            raise ValueError("a parent does not stand before its child")
        if not bool(np.all((self.end > index) & (self.end <= n))):
            raise ValueError("a subtree ends before it begins or after the tree")
        inner = self.parent >= 0
        if not bool(np.all(self.end[inner] <= self.end[self.parent[inner]])):
            raise ValueError("a subtree reaches beyond the subtree of its parent")
        # So far each node lies in the subtrees of its ancestors. It lies in no other exactly if their number is its
        # depth.
        if not bool(np.all(self.depth == np.where(inner, self.depth[self.parent] + 1, 0))):
            raise ValueError("the nodes are not in preorder")
        if int(self.kind.max()) > max(NodeKind) or int(self.relation.max()) > max(Relation):
            raise ValueError("a kind or relation is unknown")
        if int(self.line.min()) < 0:
            raise ValueError("a line is negative")
        for column, table, what in (
            (self.name, self.names, "name"),
            (self.file, self.files, "file"),
            (self.module, self.modules, "module"),
        ):
            if int(column.max()) >= len(table) or int(column.min()) < -1:
                raise ValueError(f"a {what} is not in its table")

    # -- values --------------------------------------------------------------------------------------------

    def inclusive(self, exclusive: FloatArray) -> FloatArray:
        """Sum `exclusive` (n values) over the subtree of each node; n values.

        Summed in extended precision: a node's sum is the difference of two running totals, and must not lose the small
        ones.
        """
        running = np.zeros(len(self) + 1, dtype=np.longdouble)
        np.cumsum(exclusive, dtype=np.longdouble, out=running[1:])
        return (running[self.end] - running[:-1]).astype(np.float64)

    def exclusive(self, inclusive: FloatArray) -> FloatArray:
        """Subtract from `inclusive` (n values) what the children of each node have; n values."""
        inner = self.parent >= 0
        below = np.bincount(self.parent[inner], weights=inclusive[inner], minlength=len(self))
        return inclusive - below

    # -- relations between nodes ---------------------------------------------------------------------------

    def nearest(self, wanted: BoolArray) -> IntArray:
        """Index of the closest node at or above each node for which `wanted` holds; −1 where there is none.

        Pointer jumping: each round doubles the distance, so a tree of depth d takes log2(d) rounds.
        """
        if not wanted.any():
            return np.full(len(self), -1, dtype=np.int32)
        # The last slot is what −1 points to: above a root there is nothing, however far one jumps.
        pointer = np.append(self.parent, np.int32(-1))
        pointer[:-1][wanted] = np.flatnonzero(wanted)
        while not np.array_equal(jumped := pointer.take(pointer), pointer):
            pointer = jumped
        return pointer[:-1]

    def outermost(self, nodes: IntArray, group: IntArray | None = None) -> IntArray:
        """Those of `nodes` (ascending) that have no ancestor among `nodes` of the same `group`.

        `group` has one number, not negative, per entry of `nodes`; without it all are one group. Their subtrees are
        then disjoint within a group, so that inclusive values can be added up with recursion counted once.
        """
        return nodes[outermost_spans(nodes, self.end[nodes], group)]

    def inside(self, nodes: IntArray) -> BoolArray:
        """True for each node that lies in the subtree of one of `nodes`, these included."""
        n = len(self)
        edges = np.bincount(nodes, minlength=n + 1) - np.bincount(self.end[nodes], minlength=n + 1)
        return np.asarray(np.cumsum(edges[:n]) > 0)

    @cached_property
    def function(self) -> IntArray:
        """Index of the function-like node that owns each node (itself for functions; its function for a loop or line).

        Code without symbols or structure has no function: there the outermost instruction of the call owns the time.
        """
        function_like = is_one_of(self.kind, FUNCTION_KINDS)
        called = self.relation != Relation.LEXICAL
        return self.nearest(function_like | called | (self.parent < 0))

    def named(self, *names: str) -> BoolArray:
        """True for the nodes that have one of these names, by themselves."""
        return self.where_name(frozenset(names).__contains__)

    def where_name(self, test: Callable[[str], bool], *, nameless: bool = False) -> BoolArray:
        """True for the nodes whose name passes a test, which is made once a name; `nameless` for those without one."""
        return _of_ids(np.array([test(name) for name in self.names] + [nameless]), self.name)

    def where_file(self, test: Callable[[str], bool]) -> BoolArray:
        """True for the nodes whose source file's path passes a test."""
        return _of_ids(np.array([test(path) for path in self.files] + [False]), self.file)

    def where_module(self, test: Callable[[str], bool]) -> BoolArray:
        """True for the nodes whose load module's path passes a test."""
        return _of_ids(np.array([test(path) for path in self.modules] + [False]), self.module)

    @cached_property
    def lines(self) -> Int64Array:
        """One number for the source file and line of each node, the same for the same."""
        return (self.file.astype(np.int64) << 32) + self.line

    @cached_property
    def function_labels(self) -> tuple[IntArray, list[str]]:
        """For each node the number of its owner's name, and the names by number: `function_name` of all nodes at once."""
        nameless = [f"<insn> {module.rsplit('/', 1)[-1]}" for module in self.modules]
        number: dict[str, int] = {}
        numbers = [number.setdefault(text, len(number)) for text in (*self.names, *nameless, "<unknown function>")]
        name, module = self.name[self.function], self.module[self.function]
        slot = np.where(name >= 0, name, np.where(module >= 0, module + len(self.names), len(numbers) - 1))
        return np.array(numbers, dtype=np.int32)[slot], list(number)

    # -- selection -----------------------------------------------------------------------------------------

    def select(self, keep: BoolArray) -> tuple[CallTree, IntArray]:
        """The tree of the nodes for which `keep` holds, and for each old node its new index.

        Children of a dropped node move up to their closest kept ancestor; the second array (n entries) says where each
        node's own values belong: itself, or that ancestor; −1 if all above it is dropped too.
        """
        home = self.nearest(keep)
        kept = np.flatnonzero(keep)
        renumber = np.full(len(self) + 1, -1, dtype=np.int32)
        renumber[kept] = np.arange(len(kept), dtype=np.int32)
        kept_before = np.zeros(len(self) + 1, dtype=np.int32)
        np.cumsum(keep, out=kept_before[1:])
        above = self.parent[kept]
        parent = np.where(above >= 0, renumber[np.where(above >= 0, home[above], -1)], np.int32(-1))
        tree = self.with_nodes(kept, parent.astype(np.int32), kept_before[self.end[kept]])
        return tree, np.where(home >= 0, renumber[home], np.int32(-1)).astype(np.int32)

    def with_nodes(self, nodes: NDArray[np.integer[Any]], parent: IntArray, end: IntArray) -> CallTree:
        """The tree of `nodes`, in their order, below other parents."""
        columns = ("kind", "relation", "name", "file", "line", "module", "source_id", "offset")
        given = {name: column[nodes] for name in columns if (column := getattr(self, name)) is not None}
        return replace(self, parent=parent, end=end, **given)

    # -- words ---------------------------------------------------------------------------------------------

    def file_name(self, node: int) -> str | None:
        """Path of the source file of `node` as the tool recorded it, or None."""
        index = int(self.file[node])
        return self.files[index] if index >= 0 else None

    def module_name(self, node: int) -> str | None:
        """Path of the load module (program or library) of `node`, or None."""
        index = int(self.module[node])
        return self.modules[index] if index >= 0 else None

    def function_name(self, node: int) -> str:
        """Name of the function that owns `node`; `<insn> libx.so` for code without symbols, `<unknown function>` if
        nothing is known.
        """
        owner = int(self.function[node])
        index = int(self.name[owner])
        if index >= 0:
            return self.names[index]
        module = self.module_name(owner)
        if module is not None:
            return f"<insn> {module.rsplit('/', 1)[-1]}"
        return "<unknown function>"

    def place(self, node: int) -> str:
        """`file.c:12` (base name) of `node`, `file.c` without a line, or the empty string."""
        path = self.file_name(node)
        if path is None or path.startswith(("[", "<")):
            return ""
        base = path.rsplit("/", 1)[-1]
        line = int(self.line[node])
        return f"{base}:{line}" if line > 0 else base

    def label(self, node: int) -> str:
        """What a person calls `node`: the function's name, `loop at heat.c:12`, `heat.c:14`, `libm.so.6+0x1234`."""
        kind = NodeKind(int(self.kind[node]))
        if kind == NodeKind.LOOP:
            return f"loop at {self.place(node)}" if self.place(node) else "loop"
        if kind == NodeKind.LINE:
            return self.place(node) or "unknown line"
        if kind == NodeKind.INSTRUCTION and int(self.name[node]) < 0:
            module = self.module_name(node)
            base = "unknown module" if module is None else module.rsplit("/", 1)[-1]
            return base if self.offset is None else f"{base}+{int(self.offset[node]):#x}"
        index = int(self.name[node])
        return self.names[index] if index >= 0 else self.function_name(node)


def is_one_of(column: NDArray[np.integer[Any]], kinds: Iterable[int]) -> BoolArray:
    """True where a column of small numbers (NodeKind, Activity) is one of `kinds`: `np.isin`, twenty times as fast on long columns."""
    table = bytearray(256)
    for kind in kinds:
        table[kind] = 1
    # numpy's own look-up would first make indices of eight bytes.
    numbers = bytearray(column.astype(np.uint8, copy=False).tobytes())
    return np.frombuffer(numbers.translate(table), np.bool_).reshape(column.shape)


def _of_ids(passed: BoolArray, ids: IntArray) -> BoolArray:
    """Whether each id's text passed its test; −1 takes the last entry. Most tests are passed by none."""
    return passed[ids] if passed.any() else np.zeros(len(ids), dtype=bool)


def outermost_spans(start: IntArray, stop: IntArray, group: IntArray | None = None) -> BoolArray:
    """True for each span [start, stop) that lies in no other span of its `group` (numbers, not negative; without it all
    are one).

    Spans must be nested or disjoint within a group, and stand in the order of `start`, an outer one before an inner
    one.
    """
    first = np.ones(len(start), dtype=bool)
    if len(start) == 0:
        return first
    if group is None:
        reach = np.maximum.accumulate(stop)
        first[1:] = start[1:] >= reach[:-1]
        return first
    order = np.argsort(group, kind="stable")
    shift = group[order].astype(np.int64) * (int(stop.max()) + 1)  # one group's spans all stand before the next group's
    reach = np.maximum.accumulate(stop[order] + shift)
    first[order[1:]] = start[order[1:]] + shift[1:] >= reach[:-1]
    return first
