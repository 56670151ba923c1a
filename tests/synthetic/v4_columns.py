"""Contexts of a synthetic database as numpy columns, and the propagation of point values over them.

Nodes stand level by level (breadth first), the children of one parent side by side. A roll-up is then one
`bincount` per level, from the deepest up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Kind(IntEnum):
    """Entry point, or `lexicalType` of the format plus one."""

    ENTRY = 0
    FUNCTION = 1
    LOOP = 2
    LINE = 3
    INSTRUCTION = 4


class Relation(IntEnum):
    """`relation` of the format."""

    LEXICAL = 0
    CALL = 1
    INLINED = 2


@dataclass(frozen=True, slots=True)
class FunctionSpec:
    """One row of the Functions section; −1 where there is no module or file, None for an anonymous function."""

    name: str | None
    module: int = -1
    offset: int = 0
    file: int = -1
    line: int = 0


@dataclass(frozen=True, eq=False)
class Contexts:
    """n contexts, breadth first. `elided` ones have an identifier and values but do not stand in meta.db.

    `entry` is the type of an entry point (roots only). Tables: functions, files (path, relative ones being copied), modules.
    """

    parent: Ints
    kind: NDArray[np.uint8]
    relation: NDArray[np.uint8]
    function: Ints
    file: Ints
    line: Ints
    module: Ints
    offset: Ints
    entry: Ints
    elided: Bools
    ids: Ints
    functions: Sequence[FunctionSpec]
    files: Sequence[str]
    modules: Sequence[str]

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def levels(self) -> list[tuple[int, int]]:
        """Slices of the levels, the roots first."""
        found = [(0, int(np.searchsorted(self.parent, 0)))]
        while True:
            _begin, end = found[-1]
            after = int(np.searchsorted(self.parent, end))
            if after == end:
                return found
            found.append((end, after))

    @cached_property
    def depth(self) -> Ints:
        """Depth of each context, 0 for entry points."""
        return np.repeat(np.arange(len(self.levels)), [end - begin for begin, end in self.levels])

    @cached_property
    def is_lexical(self) -> Bools:
        """True where the parent encloses the context in the source: propagation bit 0 of scope `function`."""
        return np.asarray((self.relation == Relation.LEXICAL) & (self.parent >= 0))

    def roll_up(self, points: Floats, passes_on: Bools) -> Floats:
        """Each context's point value plus the rolled-up values of those children for which `passes_on` holds."""
        if len(self.levels) > 1000:
            return self._roll_up_one_by_one(points, passes_on)
        total = points.copy()
        for (above, _), (begin, end) in zip(self.levels[-2::-1], self.levels[:0:-1], strict=True):
            given = passes_on[begin:end]
            sums = np.bincount(
                self.parent[begin:end][given] - above, weights=total[begin:end][given], minlength=begin - above
            )
            total[above:begin] += sums
        return total

    def _roll_up_one_by_one(self, points: Floats, passes_on: Bools) -> Floats:
        """The same without arrays, for trees with more levels than is good for them."""
        total, parent, given = points.tolist(), self.parent.tolist(), passes_on.tolist()
        for node in range(len(total) - 1, -1, -1):
            if given[node] and parent[node] >= 0:
                total[parent[node]] += total[node]
        return np.array(total)

    def scopes(self, points: Floats) -> list[Floats]:
        """Values of scopes point, function, lex_aware and execution, from those of scope point.

        `function` adds up what is reached without a call. `lex_aware` of a loop leaves out the loops inside it;
        of anything else it equals `function`. `execution` adds up everything below.
        """
        everywhere = np.ones(len(self), dtype=bool)
        loop = self.kind == Kind.LOOP
        function = self.roll_up(points, self.is_lexical)
        without_loops = self.roll_up(points, self.is_lexical & ~loop)
        return [points, function, np.where(loop, without_loops, function), self.roll_up(points, everywhere)]

    # -- the order of meta.db ------------------------------------------------------------------------------

    @cached_property
    def preorder(self) -> Ints:
        """Position of each context among those in meta.db, parents first; elided ones get their parent's successor's."""
        size = self.in_tree_size
        position = np.zeros(len(self), dtype=np.int64)
        begin, end = self.levels[0]
        position[begin:end] = _exclusive_sum(size[begin:end])
        for begin, end in self.levels[1:]:
            before = _exclusive_sum(size[begin:end])
            parent = self.parent[begin:end]
            first = np.flatnonzero(np.diff(parent, prepend=-2))
            position[begin:end] = (
                position[parent] + 1 + before - np.repeat(before[first], np.diff(first, append=len(parent)))
            )
        return position

    @cached_property
    def in_tree_size(self) -> Ints:
        """Number of contexts of each subtree that stand in meta.db, its root included."""
        return self.roll_up((~self.elided).astype(np.float64), np.ones(len(self), dtype=bool)).astype(np.int64)

    @cached_property
    def postorder(self) -> Ints:
        """Position of each context among those in meta.db, parents last. Undefined for elided ones."""
        return self.preorder - self.depth + self.in_tree_size - 1


def _exclusive_sum(values: Ints) -> Ints:
    return np.cumsum(values) - values
