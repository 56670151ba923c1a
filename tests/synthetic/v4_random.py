"""Large calling context trees of programs that could be, and samples on them, by the million and seeded."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from tests.synthetic.v4_columns import Contexts, Floats, FunctionSpec, Ints, Kind, Relation

MODULES, DEPTH = 24, 60
PERIOD = 1 / 256  #: seconds a sample; a power of two, so that sums are exact

#: What stands below a context of each kind: chance of function, inlined function, loop, line.
CHILDREN = {
    Kind.ENTRY: (1.0, 0.0, 0.0, 0.0),
    Kind.FUNCTION: (0.0, 0.0, 0.3, 0.7),
    Kind.LOOP: (0.0, 0.0, 0.25, 0.75),
    Kind.LINE: (0.75, 0.25, 0.0, 0.0),
}
CHOICES = np.array([Kind.FUNCTION, Kind.FUNCTION, Kind.LOOP, Kind.LINE], dtype=np.uint8)
RELATIONS = np.array([Relation.CALL, Relation.INLINED, Relation.LEXICAL, Relation.LEXICAL], dtype=np.uint8)

#: Elided instructions: one below each context without children, and this many more per context in meta.db.
#: Real databases elide 30 to 60 % of all identifiers.
MORE_ELIDED = 0.25


def random_contexts(count: int, random: np.random.Generator) -> Contexts:
    """A tree of `count` contexts below one entry point, with elided instructions besides."""
    parents, kinds, relations = [np.array([-1])], [np.array([Kind.ENTRY], np.uint8)], [np.zeros(1, np.uint8)]
    first = 0
    for width in _widths(count - 1):
        kind = kinds[-1]
        # Most contexts have one child; what the level has beyond that goes to a few (Pareto weights).
        single = random.permutation(len(kind))[: min(int(0.75 * len(kind)), width)]
        weight = random.pareto(1.5, len(kind)) + 0.05
        more = random.choice(len(kind), width - len(single), p=weight / weight.sum())
        chosen = np.sort(np.concatenate([single, more]))
        which = _below(kind[chosen], random)
        parents.append(first + chosen)
        kinds.append(CHOICES[which])
        relations.append(RELATIONS[which])
        first += len(kind)
    parent, kind, relation = np.concatenate(parents), np.concatenate(kinds), np.concatenate(relations)
    return _with_places(*_with_elided(parent, kind, relation, random), random)


def _widths(count: int) -> Ints:
    """Number of contexts on each level below the entry point: one `main`, then a hump of levels, `count` in all."""
    depth = min(DEPTH, max(4, count // 3))
    level = np.arange(1, depth)
    hump = (level / depth) ** 2 * np.exp(-8 * level / depth)
    hump = hump / hump.sum() * (count - depth)
    widths = np.concatenate([[1], 1 + np.floor(hump)]).astype(np.int64)
    widths[np.argmax(widths)] += count - widths.sum()
    return widths


def _below(kind: NDArray[np.uint8], random: np.random.Generator) -> Ints:
    """For each parent's kind a column of `CHOICES`."""
    limits = np.cumsum([CHILDREN[Kind(number)] for number in range(len(CHILDREN))], axis=1)
    return np.asarray((random.random(len(kind))[:, None] >= limits[kind]).sum(axis=1).clip(max=3))


def _with_elided(parent: Ints, kind: NDArray[np.uint8], relation: NDArray[np.uint8],
                 random: np.random.Generator) -> tuple[Ints, NDArray[np.uint8], NDArray[np.uint8], NDArray[np.bool_]]:  # fmt: skip
    """Hang instructions below functions, loops and lines, and put everything breadth first again."""
    count = len(parent)
    weight = np.array([0.0, 0.02, 0.1, 1.0])[kind]
    childless = np.setdiff1d(np.arange(count), parent)
    home = np.concatenate([childless, random.choice(count, int(MORE_ELIDED * count), p=weight / weight.sum())])
    extra = len(home)
    levels = _depths(parent)
    parent = np.concatenate([parent, home])
    kind = np.concatenate([kind, np.full(extra, Kind.INSTRUCTION, np.uint8)])
    relation = np.concatenate([relation, np.zeros(extra, np.uint8)])
    elided = np.arange(count + extra) >= count
    # Level by level; inside a level by the parent's new position, which the level before has settled.
    depth = np.concatenate([levels, levels[home] + 1])
    place = np.full(len(parent), -1, dtype=np.int64)
    by_depth = np.argsort(depth, kind="stable")
    edges = np.searchsorted(depth[by_depth], np.arange(depth.max() + 2))
    order = []
    for begin, end in itertools.pairwise(edges):
        level = by_depth[begin:end]
        above = np.where(parent[level] >= 0, place[parent[level]], -1)
        level = level[np.argsort(above, kind="stable")]
        place[level] = np.arange(begin, end)
        order.append(level)
    shuffle = np.concatenate(order)
    new_parent = np.where(parent[shuffle] >= 0, place[parent[shuffle]], -1)
    return new_parent, kind[shuffle], relation[shuffle], elided[shuffle]


def _depths(parent: Ints) -> Ints:
    """Depth of each context of a breadth-first array of parents."""
    depth = np.zeros(len(parent), dtype=np.int64)
    begin, end = 0, 1
    while end < len(parent):
        after = int(np.searchsorted(parent, end))
        depth[end:after] = depth[begin] + 1
        begin, end = end, after
    return depth


def _with_places(parent: Ints, kind: NDArray[np.uint8], relation: NDArray[np.uint8], elided: NDArray[np.bool_],
                 random: np.random.Generator) -> Contexts:  # fmt: skip
    """Give contexts their functions, files, lines and identifiers; siblings all differ."""
    n = len(parent)
    first = np.flatnonzero(np.diff(parent, prepend=-2))
    rank = np.arange(n) - np.repeat(first, np.diff(first, append=n))
    is_function = kind == Kind.FUNCTION
    functions = _functions(min(4000, max(50, int((~elided).sum()) // 10)))
    files = 1 + len(functions) // 6
    # A few functions are called nearly everywhere (square law); siblings are pushed apart by their rank.
    favourite = np.floor(len(functions) * random.random(n) ** 2).astype(np.int64)
    function = (favourite[parent] + rank) % len(functions)
    function = np.where(is_function, function, -1)
    owner = np.where(is_function | (parent < 0), np.arange(n), -1)
    depth = _depths(parent)
    edges = np.searchsorted(depth, np.arange(depth.max() + 2))
    for begin, end in itertools.pairwise(edges):
        owner[begin:end] = np.where(owner[begin:end] < 0, owner[parent[begin:end]], owner[begin:end])
    within = np.maximum(function[owner], 0)
    has_line = (kind == Kind.LOOP) | (kind == Kind.LINE)
    has_point = (kind == Kind.LOOP) | (kind == Kind.INSTRUCTION)
    function_module = np.array([spec.module for spec in functions])
    ids = np.empty(n, dtype=np.int64)
    contexts = Contexts(
        parent=parent, kind=kind, relation=relation, function=function,
        file=np.where(has_line, within % files, -1),
        line=np.where(has_line, 10 + within // files * 400 + depth % 7 * 20 + rank, 0),
        module=np.where(has_point, function_module[within], -1),
        offset=np.where(has_point, 0x1000 + within * 0x400 + depth * 0x20 + rank * 4, 0),
        entry=np.ones(n, dtype=np.int64), elided=elided, ids=ids, functions=functions,
        files=[f"/home/user/app/src/part{number % 19}/file{number}.cpp" for number in range(files)],
        modules=["/home/user/app/bin/app", *(f"/usr/lib/x86_64-linux-gnu/lib{k}.so.{k}" for k in range(1, MODULES))],
    )  # fmt: skip
    # Threads meet contexts nearly, not quite, in preorder.
    near = contexts.preorder + random.random(n) * max(n / 50, 1)
    ids[np.argsort(near)] = np.arange(1, n + 1)
    return contexts


def _functions(count: int) -> list[FunctionSpec]:
    out = []
    files = 1 + count // 6
    for number in range(count):
        name = f"solver::Grid<{number % 5}>::step{number}(double*, int)" if number % 3 else f"kernel_{number}"
        module = 0 if number % 4 else 1 + number % (MODULES - 1)
        out.append(FunctionSpec(name, module, 0x1000 + number * 0x400, number % files, 5 + number // files * 400))
    return out


def random_points(contexts: Contexts, seed: int, location: int, locations: int) -> Floats:
    """Point values of a location, array (1 × contexts): samples at 15 to 30 % of the elided instructions, in clusters.

    Every instruction has a sample at one location at least, or it would not be there.
    """
    random = np.random.default_rng([seed, 2, location])
    points = np.flatnonzero(contexts.elided)
    points = points[np.argsort(contexts.preorder[points], kind="stable")]
    share = random.uniform(0.15, 0.30)
    # Half of the samples in runs of neighbours (what one rank does alone), half all over.
    blocks = np.repeat(random.random(len(points) // 64 + 1) < share, 64)[: len(points)]
    hit = np.where(random.random(len(points)) < 0.5, blocks, random.random(len(points)) < share)
    hit[location::locations] = True
    values = np.zeros((1, len(contexts)))
    values[0, points[hit]] = random.geometric(0.3, int(hit.sum())) * PERIOD
    return values


def random_trace(
    contexts: Contexts, random: np.random.Generator, samples: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """A trace line of `samples` samples of lines, 5 ms apart."""
    lines = contexts.ids[contexts.kind == Kind.LINE]
    start = np.uint64(1_700_000_000_000_000_000)
    times = start + (np.arange(samples, dtype=np.uint64) * np.uint64(5_000_000))
    return times, random.choice(lines, samples).astype(np.uint32)
