"""Calling context trees of several runs laid on each other, by the names on the paths.

What builds do differently is folded before: lines and loops into their function, a runtime's inner frames into the call, direct
recursion and outlined regions into the function, and functions that only one side has into their nearest common caller,
so that inlining and renaming move no other context.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from chathpc.comparison.function_names import common_keys, function_key, template_key
from chathpc.comparison.run import Run
from chathpc.profile.build import tree_of_columns
from chathpc.profile.names import in_words
from chathpc.profile.tree import CallTree, FloatArray, IntArray, NodeKind, Relation

HashArray = NDArray[np.uint64]

#: Names of a path that are told: recursion can be as deep as memory.
LONGEST = 100


class Part(IntEnum):
    """What a context of the joint tree is."""

    ROOT = 0  #: all runs
    FUNCTION = 1  #: a function of the program, or an entry point
    CALL = 2  #: a library call (or the sum of those of one kind) that the context above makes
    LONE = 3  #: a function that only one side has, at its nearest caller that both have


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """The tree of all runs: a context for each path of names.

    `tree` has function names only; node 0 stands for the run. `part[i]` is a Part. `own` (runs × nodes) are the values of the
    contexts themselves: they add up to each run's total. `place[k][j]` is the context of node j of run k.
    """

    tree: CallTree
    part: NDArray[np.uint8]
    own: FloatArray
    place: tuple[IntArray, ...]

    def name(self, node: int) -> str:
        """The name of a context, for a reader; empty for the run as a whole."""
        return in_words(function_key(self.tree.names[int(self.tree.name[node])]))


@dataclass(frozen=True, slots=True, eq=False)
class _Reduced:
    """A run's tree of common functions, and its leaves: parallel columns of contexts, identified by the sum of their path."""

    path: HashArray
    above: HashArray
    key: IntArray
    part: NDArray[np.uint8]
    depth: IntArray
    own: FloatArray
    place: IntArray  #: for each node of the run's tree the row of its context


def join(runs: Sequence[Run], count: int) -> Joint:
    """Lay the trees of `runs` on each other; the first `count` are one side, the others the other."""
    table = _Keys(runs, count)
    for seed in range(8):
        reduced = [_reduce(run, table, number, seed) for number, run in enumerate(runs)]
        joint = _joined(reduced, table.names)
        if joint is not None:
            return joint
    raise ValueError("two paths have the same sum, whatever the seed")


class _Keys:
    """Numbers of the names that contexts are compared by: one table for all runs."""

    def __init__(self, runs: Sequence[Run], count: int) -> None:
        before = {name for run in runs[:count] for name in run.own_names}
        after = {name for run in runs[count:] for name in run.own_names}
        keys = common_keys(before, after)
        common = {keys[name] for name in before} & {keys[name] for name in after}
        number: dict[str, int] = {"": 0}

        def numbers(texts: Iterable[str | None]) -> IntArray:
            return np.array(
                [-1 if text is None else number.setdefault(text, len(number)) for text in (*texts, None)],
                dtype=np.int32,
            )

        #: By run, for each label of its tree; then for each label of a function of the C++ library; for each library key.
        self.own, self.template, self.library = [], [], []
        for run in runs:
            texts, used = run.profile.tree.function_labels[1], run.template_labels
            self.own.append(numbers(keys.get(text) for text in texts))
            self.template.append(numbers(template_key(text) if at in used else None for at, text in enumerate(texts)))
            self.library.append(numbers(run.library_labels[1]))
        self.names = list(number)
        self.common = np.array([name in common for name in self.names] + [False])


def _reduce(run: Run, table: _Keys, number: int, seed: int) -> _Reduced:
    tree = run.profile.tree
    label = tree.function_labels[0]
    calls = run.facts.activities.call >= 0
    coarse, home = tree.select(run.is_own)
    key = table.own[number][label[run.is_own]]
    template = run.is_template[run.is_own]
    inner = template & (coarse.parent >= 0) & template[np.maximum(coarse.parent, 0)]
    used = coarse.nearest(template & ~inner)  # the function of the C++ library that the program uses
    key[template] = table.template[number][label[run.is_own][used[template]]]
    # Functions that one side alone has, then calls of a function by itself.
    both = table.common[key] & ~template
    common, to_common = coarse.select(both)
    common_key = key[both]
    above = common.parent
    outer = (above < 0) | (common_key != common_key[np.maximum(above, 0)])
    kept, to_kept = common.select(outer)
    kept_key = common_key[outer]
    to_common = np.append(to_common, np.int32(-1))
    to_kept = np.append(to_kept, np.int32(-1))
    path = _path_sums(kept, kept_key, seed)
    context = to_kept[to_common[home]]  # for each node of the run its function's row, −1: the run as a whole
    used_here = (home >= 0) & np.append(template, False)[home] & ~calls
    lone = (home >= 0) & ~np.append(both, False)[home] & ~calls & ~used_here

    # Row 0 is the run; then functions; then leaves: one for each pair of function and library call, or lone function.
    rows = 1 + len(kept)
    place = (context + 1).astype(np.int64)
    leaf_key = np.where(calls, table.library[number][run.library_labels[0]], -1).astype(np.int64)
    is_leaf = calls | lone | used_here
    leaf_key[is_leaf & ~calls] = key[home[is_leaf & ~calls]]
    leaf_part = np.where(lone, int(Part.LONE), int(Part.CALL)).astype(np.int64)
    width = len(table.names)
    code = (place * 4 + leaf_part) * width + leaf_key
    codes, leaf_row = np.unique(code[is_leaf], return_inverse=True)
    place[is_leaf] = rows + leaf_row
    leaf_above, part_of_leaf, key_of_leaf = codes // width // 4, codes // width % 4, codes % width

    function_path = np.append(np.uint64(0), path)
    function_depth = np.append(0, kept.depth + 1).astype(np.int32)
    leaf_depth = (function_depth[leaf_above] + 1).astype(np.int32)
    leaf_path = function_path[leaf_above] + _mixed(key_of_leaf * 4 + part_of_leaf, leaf_depth, seed)
    function_above = np.append(0, kept.parent.astype(np.int64) + 1)
    size = rows + len(codes)
    return _Reduced(
        path=np.concatenate([function_path, leaf_path]),
        above=np.concatenate([function_path[function_above], function_path[leaf_above]]),
        key=np.concatenate([[0], kept_key, key_of_leaf]).astype(np.int32),
        part=np.concatenate([[Part.ROOT], np.full(len(kept), Part.FUNCTION), part_of_leaf]).astype(np.uint8),
        depth=np.concatenate([function_depth, leaf_depth]),
        own=np.bincount(place, weights=run.values, minlength=size).astype(np.float64),
        place=place.astype(np.int32),
    )


def _mixed(key: NDArray[np.int64] | IntArray, depth: IntArray, seed: int) -> HashArray:
    """64 bits that look random for each pair of key and depth: the finaliser of splitmix64 (Steele, Lea and Flood, 2014)."""
    with np.errstate(over="ignore"):
        x = key.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + depth.astype(np.uint64)
        x += np.uint64((seed + 1) * 0xD1B54A32D192ED03 & 0xFFFFFFFFFFFFFFFF)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(x ^ (x >> np.uint64(31)))


def _path_sums(tree: CallTree, key: IntArray, seed: int) -> HashArray:
    """For each node the sum (modulo 2^64) of the mixed keys on the path down to it: what identifies the path.

    In preorder that is what has begun less what has ended, so two running sums do it.
    """
    n = len(tree)
    term = _mixed(key.astype(np.int64) * 4 + int(Part.FUNCTION), (tree.depth + 1).astype(np.int32), seed)
    order = np.argsort(tree.end, kind="stable")
    ended = np.append(np.uint64(0), np.cumsum(term[order], dtype=np.uint64))
    closed = ended[np.searchsorted(tree.end[order], np.arange(n), side="right")]
    return np.asarray(np.cumsum(term, dtype=np.uint64) - closed)


def _joined(reduced: Sequence[_Reduced], names: list[str]) -> Joint | None:
    """The joint tree; None if two different paths have the same sum."""
    path, first, inverse = np.unique(
        np.concatenate([each.path for each in reduced]), return_index=True, return_inverse=True
    )
    group: IntArray = inverse.astype(np.int32).reshape(-1)
    every = {
        what: np.concatenate([getattr(each, what) for each in reduced]) for what in ("above", "key", "part", "depth")
    }
    above = np.searchsorted(path, every["above"]).astype(np.int32)
    # The same key, part, depth and context above, all the way up: then the paths are the same.
    for column in (above, every["key"], every["part"], every["depth"]):
        if not np.array_equal(column[first][group], column):
            return None
    depth, part, key = every["depth"][first], every["part"][first], every["key"][first]
    size = len(path)
    order = np.lexsort((key, depth)).astype(np.int32)  # parents first
    rank = np.empty(size, dtype=np.int32)
    rank[order] = np.arange(size, dtype=np.int32)
    parent = np.where(depth[order] > 0, rank[above[first][order]], np.int32(-1)).astype(np.int32)
    tree, index = _of_names(parent, key[order], names)
    node = index[rank]  # context of each path sum
    parts = np.empty(size, dtype=np.uint8)
    parts[node] = part
    own = np.zeros((len(reduced), size))
    places = []
    start = 0
    for number, each in enumerate(reduced):
        mine = node[group[start : start + len(each.path)]]
        start += len(each.path)
        places.append(mine[each.place])
        own[number] = np.bincount(mine, weights=each.own, minlength=size)
    return Joint(tree, parts, own, tuple(places))


def _of_names(parent: IntArray, name: IntArray, names: Sequence[str]) -> tuple[CallTree, IntArray]:
    """A tree of functions, by the numbers of their names, and where each of them is in it."""
    nothing = np.full(len(parent), -1, dtype=np.int32)
    return tree_of_columns(
        parent,
        kind=np.full(len(parent), NodeKind.FUNCTION, dtype=np.uint8),
        relation=np.full(len(parent), Relation.CALL, dtype=np.uint8),
        name=name.astype(np.int32),
        file=nothing,
        line=np.zeros(len(parent), dtype=np.int32),
        module=nothing,
        names=names,
        files=(),
        modules=(),
    )


def rebuilt(
    joint: Joint,
    parent: Sequence[int],
    name: Sequence[int],
    part: Sequence[int],
    home: Sequence[int],
    names: Sequence[str] = (),
) -> Joint:
    """The runs on another tree: its contexts by their parents (before them), names and parts; `names` are those that the tree has more.

    `home[j]` is the number of the new context that has what was at context j.
    """
    tree, index = _of_names(
        np.array(parent, dtype=np.int32), np.array(name, dtype=np.int32), [*joint.tree.names, *names]
    )
    now = index[np.array(home, dtype=np.int32)]
    parts = np.empty(len(tree), dtype=np.uint8)
    parts[index] = part
    own = np.stack([np.bincount(now, weights=row, minlength=len(tree)) for row in joint.own]).astype(np.float64)
    return Joint(tree, parts, own, tuple(now[place].astype(np.int32) for place in joint.place))


def inclusive(joint: Joint) -> FloatArray:
    """Values of the contexts with all below them (runs × nodes)."""
    return np.stack([joint.tree.inclusive(row) for row in joint.own])


def path_of(joint: Joint, node: int) -> list[str]:
    """Names from the entry point down to `node`; of a path of more than LONGEST the middle is left out."""
    steps = [step for step in joint.tree.path(node) if joint.part[step] != Part.ROOT]
    if len(steps) <= LONGEST:
        return [joint.name(step) for step in steps]
    half = LONGEST // 2
    return [*map(joint.name, steps[:half]), "…", *map(joint.name, steps[-half:])]
