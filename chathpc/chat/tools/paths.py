"""Which contexts lie on paths that match a query: hatchet's matching, on whole columns of the tree instead of node by node.

A query is a list of steps, each with a quantifier and the contexts that fulfil its condition. What matches is what hatchet's
`QueryEngine` matches (llnl-hatchet 2024.1 and later), with its own reading of `*`: it ends as soon as a context fulfils the next step's
condition. Tests compare both on random trees and queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.profile.tree import BoolArray, CallTree, IntArray

#: A step: ".", exactly one context, or "*", any number of them; and which contexts fulfil its condition.
Step = tuple[str, BoolArray]


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    """The tree as the matching goes through it: parents (0 for roots, which nothing looks up), leaves, nodes by depth."""

    parent: IntArray
    leaf: BoolArray
    below: BoolArray
    levels: tuple[IntArray, ...]

    @classmethod
    def of(cls, tree: CallTree) -> _Shape:
        order = np.argsort(tree.depth, kind="stable").astype(np.int32)
        starts = np.flatnonzero(np.diff(tree.depth[order], prepend=-1))
        return cls(
            np.maximum(tree.parent, 0),
            np.asarray(tree.end == np.arange(1, len(tree) + 1)),
            np.asarray(tree.parent >= 0),
            tuple(np.split(order, starts[1:])),
        )

    def have_child(self, chosen: BoolArray) -> BoolArray:
        """Nodes with a child that is `chosen`."""
        found = np.zeros(len(chosen), dtype=bool)
        found[self.parent[chosen & self.below]] = True
        return found


def matching(tree: CallTree, steps: Sequence[Step]) -> BoolArray:
    """The nodes on paths that match `steps` as a whole: O(nodes x steps), without recursion."""
    shape = _Shape.of(tree)
    count = len(steps)
    whole = np.ones(len(tree), dtype=bool)
    # can[i]: a path that ends here can be completed with the steps from i on; below[i]: here as the next context of a "*".
    can = [whole] * (count + 1)
    below: list[BoolArray] = [whole] * count
    for at in range(count - 1, -1, -1):
        if steps[at][0] == ".":
            can[at] = shape.have_child(steps[at][1] & can[at + 1])
        else:
            below[at] = _several(shape, steps, at, can[at + 1])
            can[at] = np.where(shape.leaf, can[at + 1], shape.have_child(below[at]))
    found = np.zeros(len(tree), dtype=bool)
    reached = [np.zeros(len(tree), dtype=bool) for _ in range(count + 1)]
    for first in (0, 1) if steps[0][0] == "*" and count > 1 else (0,):
        after = 0 if steps[first][0] == "*" else first + 1
        begun = steps[first][1] & can[after]
        found |= begun
        reached[after] |= begun
    for at, (quantifier, fulfilled) in enumerate(steps):
        if quantifier == ".":
            taken = fulfilled & can[at + 1] & shape.below & reached[at][shape.parent]
            found |= taken
            reached[at + 1] |= taken
        else:
            _follow(shape, steps, at, below[at], reached, found)
    return found


def _next(steps: Sequence[Step], at: int) -> BoolArray:
    """The contexts at which the "*" at `at` ends, since they fulfil the next step."""
    return steps[at + 1][1] if at + 1 < len(steps) else np.zeros_like(steps[at][1])


def _several(shape: _Shape, steps: Sequence[Step], at: int, after: BoolArray) -> BoolArray:
    """Whether the "*" at `at` leads to a match where a node comes next; `after`: what can be completed behind it."""
    last = at + 1 == len(steps)
    ends = _next(steps, at)
    inside = steps[at][1] & ~ends
    leads = np.where(ends, after[shape.parent], last)
    leads[inside & ~shape.leaf] = False
    for level in reversed(shape.levels[1:]):
        good = level[leads[level]]
        above = shape.parent[good]
        leads[above[inside[above]]] = True
    return leads


def _follow(
    shape: _Shape, steps: Sequence[Step], at: int, leads: BoolArray, reached: Sequence[BoolArray], found: BoolArray
) -> None:
    """Take the "*" at `at` from where paths have `reached`: marks what it holds as `found`, and where it ends."""
    ends = _next(steps, at)
    inside = steps[at][1] & ~ends
    start = reached[at]
    reached[at + 1][start & shape.leaf] = True
    on = np.zeros(len(start), dtype=bool)
    for level in shape.levels[1:]:
        above = shape.parent[level]
        on[level] = leads[level] & (start[above] | (on[above] & inside[above]))
    found |= on & inside
    reached[at + 1][shape.parent[on & ends]] = True
    reached[at + 1][on & inside & shape.leaf] = True
