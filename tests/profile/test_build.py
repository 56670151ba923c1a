"""Trees put together node by node or from columns, and values that come as triples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.profile.build import TreeBuilder, depths, ends, preorder, sum_along_path, tree_of_columns
from chathpc.profile.metric import Aggregation, Metric, Unit
from chathpc.profile.sparse import SparseValues
from chathpc.profile.tree import NodeKind, Relation
from tests.profile.strategies import ends_of, exact, parents_from, trees

parents = st.lists(st.integers(0, 10**6), max_size=60).map(
    lambda choices: [choice % (index + 1) - 1 for index, choice in enumerate(choices)]
)
TIME = Metric("cpu.time", Unit.SECONDS, "time", "t")
PEAK = Metric("memory.peak", Unit.BYTES, "peak", "p", aggregation=Aggregation.MAX)
RATE = Metric("rate", Unit.RATIO, "rate", "r", aggregation=Aggregation.DERIVED)


def visited(parent):
    """Preorder by definition: depth first, siblings in order."""
    children = {}
    for node, above in enumerate(parent):
        children.setdefault(above, []).append(node)
    order, pending = [], children.get(-1, [])[::-1]
    while pending:
        node = pending.pop()
        order.append(node)
        pending += children.get(node, [])[::-1]
    return order


def paths_of(parent):
    """The nodes from each one up to its root."""
    paths = []
    for node, above in enumerate(parent):
        paths.append([node, *(paths[above] if above >= 0 else [])])
    return paths


@given(parents, st.integers(0, 500))
def test_preorder_is_that_of_a_depth_first_walk(parent, wide):
    # With many nodes for each of its levels it is gone through by levels.
    parent += [(7919 * at) % (len(parent) + 1) - 1 for at in range(wide)]
    position, size = preorder(np.array(parent, dtype=np.int32))
    assert np.argsort(position).tolist() == visited(parent)
    sizes = [1] * len(parent)
    for node in reversed(range(len(parent))):
        if parent[node] >= 0:
            sizes[parent[node]] += sizes[node]
    assert size.tolist() == sizes


@given(st.lists(st.integers(0, 4), max_size=40))
def test_ends_depths_and_sums_along_paths_are_as_defined(choices):
    parent = parents_from(choices)
    assert ends(np.array(parent, dtype=np.int32)).tolist() == ends_of(parent)
    assert depths(np.array(parent, dtype=np.int32)).tolist() == [len(path) - 1 for path in paths_of(parent)]
    values = np.arange(len(parent), dtype=np.uint64)
    assert sum_along_path(np.array(parent, dtype=np.int32), values).tolist() == [sum(path) for path in paths_of(parent)]


def test_a_parent_after_its_child_is_refused():
    with pytest.raises(ValueError, match="before its child"):
        preorder(np.array([1, -1], dtype=np.int32))


@given(parents)
def test_columns_in_any_order_become_a_sound_tree(parent):
    n = len(parent)
    zeros, none = np.zeros(n, dtype=np.int32), np.full(n, -1, dtype=np.int32)
    line = np.arange(n, dtype=np.int32)
    tree, place = tree_of_columns(
        np.array(parent, dtype=np.int32), kind=zeros.astype(np.uint8), relation=zeros.astype(np.uint8), name=none,
        file=none, line=line, module=none, names=[], files=[], modules=[],
    )  # fmt: skip
    tree.check()
    assert tree.line[place].tolist() == line.tolist()
    assert [int(tree.parent[place[i]]) for i in range(n)] == [-1 if p < 0 else int(place[p]) for p in parent]


def test_equal_children_are_one_node_and_their_values_add_up():
    builder = TreeBuilder()
    main = builder.node(-1, NodeKind.FUNCTION, "main", file="a.c", line=3, module="/bin/a")
    for value in (1.0, 2.0):
        leaf = builder.node(main, NodeKind.LINE, file="a.c", line=7)
        builder.add("cpu.time", leaf, value, location=1)
    inner = builder.node(main, NodeKind.INLINED, "f")
    builder.add("cpu.time", inner, 0.5)
    builder.add("memory.peak", inner, 3.0)
    builder.add("memory.peak", leaf, 9.0)
    assert len(builder) == 3
    tree, values, place = builder.finish([TIME, PEAK, RATE], locations=2)
    tree.check()
    assert [tree.label(place[i]) for i in (main, leaf, inner)] == ["main", "a.c:7", "f"]
    assert tree.relation[place[inner]] == Relation.INLINED_CALL
    assert tree.relation[place[leaf]] == Relation.LEXICAL
    assert values.inclusive("cpu.time").at(0) == 3.5
    assert values.inclusive("memory.peak").at(0) == 9.0
    assert values.location_totals("cpu.time").tolist() == [0.5, 3.0]
    assert len(values.exclusive("rate")) == 0
    assert len(values.exclusive("unknown")) == 0


def test_a_row_of_frames_is_a_path():
    builder = TreeBuilder()
    assert builder.path(["a", "b"]) == builder.path(["b"], parent=builder.path(["a"]))
    assert builder.path([], parent=5) == 5


def test_an_empty_builder_makes_an_empty_tree():
    tree, values, place = TreeBuilder().finish([TIME])
    tree.check()
    assert (len(tree), len(place)) == (0, 0)
    assert np.isnan(values.location_totals("cpu.time")).all()


@st.composite
def triples(draw):
    tree = draw(trees(min_size=1, max_size=20))
    locations = draw(st.integers(1, 4))
    node = st.integers(0, len(tree) - 1)
    rows = draw(st.lists(st.tuples(node, st.integers(0, locations - 1), exact), max_size=30))
    return tree, locations, rows


@given(triples())
def test_sums_of_triples_are_those_of_a_matrix(case):
    tree, locations, rows = case
    values = SparseValues(tree, locations)
    nodes = np.array([n for n, _, _ in rows], dtype=np.int32)
    where = np.array([w for _, w, _ in rows], dtype=np.int32)
    amounts = np.array([v for _, _, v in rows], dtype=np.float64)
    values.put(TIME, nodes, amounts, where)
    values.put(PEAK, nodes, amounts, where)
    matrix, largest = np.zeros((locations, len(tree))), np.full((locations, len(tree)), -np.inf)
    for n, w, v in rows:
        matrix[w, n] += v
        largest[w, n] = max(largest[w, n], v)
    every = np.arange(len(tree), dtype=np.int32)
    assert values.exclusive("cpu.time").dense(len(tree)).tolist() == matrix.sum(axis=0).tolist()
    assert sorted(values.exclusive("cpu.time").nodes.tolist()) == sorted(set(nodes.tolist()))
    below = np.array([matrix.sum(axis=0)[i : tree.end[i]].sum() for i in range(len(tree))])
    assert values.inclusive("cpu.time").dense(len(tree)).tolist() == below.tolist()
    assert values.per_location("cpu.time", every, inclusive=False).tolist() == matrix.tolist()
    rolled = [[row[i : tree.end[i]].sum() for i in range(len(tree))] for row in matrix]
    assert values.per_location("cpu.time", every).tolist() == rolled
    group = (every % 3 - 1).astype(np.int32)
    expected = [[row[group == g].sum() for g in range(2)] for row in matrix]
    assert values.grouped("cpu.time", group, 2).tolist() == expected
    peak = largest.max(axis=0)
    highest = {i: peak[i : tree.end[i]].max() for i in range(len(tree)) if peak[i : tree.end[i]].max() > -np.inf}
    column = values.inclusive("memory.peak")
    assert dict(zip(column.nodes.tolist(), column.values.tolist(), strict=True)) == highest
    totals = [matrix[w].sum() if w in where else None for w in range(locations)]
    assert [None if np.isnan(t) else t for t in values.location_totals("cpu.time").tolist()] == totals


def test_a_derived_metric_stands_at_its_own_nodes():
    builder = TreeBuilder()
    top = builder.node(-1, NodeKind.FUNCTION, "f")
    builder.add("rate", builder.node(top, NodeKind.FUNCTION, "g"), 0.5)
    tree, values, _ = builder.finish([RATE])
    assert values.inclusive("rate").nodes.tolist() == [1]
    assert np.isnan(values.derived_total("rate"))
    values.put(RATE, np.array([0, 0], dtype=np.int32), np.array([1.0, 2.0]), total=1.5)
    assert values.exclusive("rate").values.tolist() == [1.5]
    assert values.derived_total("rate") == 1.5
    assert len(tree) == 2


def test_values_of_no_node_or_location_are_refused():
    tree, values, _ = TreeBuilder().finish([])
    assert values.grouped("cpu.time", np.empty(0, np.int32), 0).shape == (1, 0)
    with pytest.raises(ValueError, match="no node"):
        values.put(TIME, np.array([0], dtype=np.int32), np.array([1.0]))
    builder = TreeBuilder()
    builder.node(-1, NodeKind.FUNCTION, "f")
    tree, values, _ = builder.finish([])
    with pytest.raises(ValueError, match="no location"):
        values.put(TIME, np.array([0], dtype=np.int32), np.array([1.0]), np.array([1], dtype=np.int32))
    assert len(tree) == 1
