"""Hypothesis strategies for calling context trees and profiles; every tree and every gap in the values can come out."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from chathpc.profile.location import Locations
from chathpc.profile.metric import Metric, column_of
from chathpc.profile.profile import Profile
from chathpc.profile.tree import FUNCTION_KINDS, CallTree, NodeKind, Relation
from chathpc.profile.values import MemoryValues
from tests.profile.build import metric

NAMES = ("main", "solve", "fib", "exp", "<gpu kernel>", "λ")
FILES = ("heat.c", "src/solve.f90", "[libm.so.6]")
MODULES = ("/opt/heat", "/lib/libm.so.6", "libgomp.so.1.0.0")
METRICS = ("cpu.time", "cpu.cycles", "io.read.bytes")

#: Sums of a hundred of these are exact in double precision, so that tests can compare with ==.
exact = st.integers(0, 2**20).map(lambda k: k / 16)


def parents_from(choices: list[int]) -> list[int]:
    """Parents in preorder: node i hangs below the node that is choices[i] steps up the path to node i − 1 (or is a root)."""
    parent: list[int] = []
    path: list[int] = []
    for index, up in enumerate(choices):
        del path[max(0, len(path) - up) :]
        parent.append(path[-1] if path else -1)
        path.append(index)
    return parent


def ends_of(parent: list[int]) -> list[int]:
    """End of each subtree, by the definition: one past the last node that has the node on its path."""
    end = list(range(1, len(parent) + 1))
    for index in range(len(parent) - 1, -1, -1):
        if parent[index] >= 0:
            end[parent[index]] = max(end[parent[index]], end[index])
    return end


@st.composite
def trees(draw: st.DrawFn, min_size: int = 0, max_size: int = 40) -> CallTree:
    """Any tree: several roots, names used again, nodes without name, file, line or module."""
    up = st.one_of(st.integers(0, 3), st.just(10**6)) if draw(st.booleans()) else st.integers(0, 2)
    parent = parents_from(draw(st.lists(up, min_size=min_size, max_size=max_size)))
    n = len(parent)

    def column(values: st.SearchStrategy[int], dtype: type) -> np.ndarray:
        return np.array(draw(st.lists(values, min_size=n, max_size=n)), dtype=dtype)

    kind = column(st.sampled_from([int(k) for k in NodeKind]), np.uint8)
    relation = column(st.sampled_from([int(r) for r in Relation]), np.uint8)
    # Loops and lines are part of what they stand in and have no name; functions usually have one.
    within = np.isin(kind, (NodeKind.LOOP, NodeKind.LINE))
    name = column(st.integers(-1, len(NAMES) - 1), np.int32)
    named = np.isin(kind, FUNCTION_KINDS)
    return CallTree(
        parent=np.array(parent, dtype=np.int32),
        end=np.array(ends_of(parent), dtype=np.int32),
        kind=kind,
        relation=np.where(within, int(Relation.LEXICAL), relation).astype(np.uint8),
        name=np.where(named, name, -1).astype(np.int32),
        file=column(st.integers(-1, len(FILES) - 1), np.int32),
        line=column(st.integers(0, 3), np.int32),
        module=column(st.integers(-1, len(MODULES) - 1), np.int32),
        names=NAMES,
        files=FILES,
        modules=MODULES,
        source_id=np.arange(n, dtype=np.int64) if draw(st.booleans()) else None,
        offset=column(st.integers(0, 2**40), np.uint64) if draw(st.booleans()) else None,
    )


@st.composite
def profiles(
    draw: st.DrawFn,
    *,
    min_size: int = 1,
    max_size: int = 30,
    locations: int | None = 1,
    metrics: tuple[str, ...] = METRICS,
) -> Profile:
    """A profile of a random tree: exact exclusive values at some nodes (0 among them), inclusive values that fit.

    `locations` None draws one to three threads with a matrix of values each.
    """
    tree = draw(trees(min_size=min_size, max_size=max_size))
    n = len(tree)
    count = draw(st.integers(1, 3)) if locations is None else locations
    known: dict[str, Metric] = {}
    exclusives, inclusives, matrices = {}, {}, {}
    for identifier in draw(st.lists(st.sampled_from(metrics), unique=True, min_size=1)):
        known[identifier] = metric(identifier)
        present = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
        cells = draw(st.lists(exact, min_size=n * count, max_size=n * count))
        matrix = np.array(cells).reshape(count, n) * present
        exclusives[identifier] = column_of(matrix.sum(axis=0), present)
        below = tree.inclusive(present.astype(float)) > 0
        inclusives[identifier] = column_of(tree.inclusive(matrix.sum(axis=0)), below)
        matrices[identifier] = matrix
    return Profile(
        format="test",
        title="test",
        tree=tree,
        metrics=known,
        values=MemoryValues(tree, exclusives, inclusives, count, matrices if count > 1 else {}),
        where=Locations.of(count, thread=np.arange(count)),
    )
