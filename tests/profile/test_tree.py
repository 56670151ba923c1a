"""CallTree against naive implementations that follow parent links one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.profile.tree import FUNCTION_KINDS, CallTree, NodeKind, Relation, is_one_of, outermost_spans
from tests.profile.build import call, called_code, inlined, line, loop, nested, tree_of
from tests.profile.strategies import ends_of, exact, parents_from, trees

# -- reference implementations ------------------------------------------------------------------------------------


def ancestors(tree: CallTree, node: int) -> list[int]:
    """`node` and all above it, nearest first."""
    found = [node]
    while tree.parent[found[-1]] >= 0:
        found.append(int(tree.parent[found[-1]]))
    return found


def below(tree: CallTree, node: int) -> list[int]:
    return [i for i in range(len(tree)) if node in ancestors(tree, i)]


def nearest_reference(tree: CallTree, wanted) -> list[int]:
    return [next((a for a in ancestors(tree, i) if wanted[a]), -1) for i in range(len(tree))]


def flags(tree: CallTree, draw) -> np.ndarray:
    return np.array(draw(st.lists(st.booleans(), min_size=len(tree), max_size=len(tree))), dtype=bool)


def chain(n: int) -> CallTree:
    """main calls f calls f calls f …"""
    zeros = np.zeros(n, dtype=np.int32)
    ones = np.full(n, NodeKind.FUNCTION, dtype=np.uint8)
    parent, end = np.arange(-1, n - 1, dtype=np.int32), np.full(n, n, dtype=np.int32)
    return CallTree(parent, end, ones, ones, zeros, zeros - 1, zeros, zeros - 1, ["f"], [], [])


# -- shape --------------------------------------------------------------------------------------------------------


@given(trees())
def test_every_tree_of_the_strategy_passes_its_check(tree):
    tree.check()


@given(trees())
def test_depth_is_the_number_of_ancestors(tree):
    assert tree.depth.tolist() == [len(ancestors(tree, i)) - 1 for i in range(len(tree))]


@given(trees())
def test_children_and_roots_are_the_nodes_with_that_parent(tree):
    assert tree.roots.tolist() == [i for i in range(len(tree)) if tree.parent[i] == -1]
    for node in range(len(tree)):
        assert tree.children(node) == [i for i in range(len(tree)) if tree.parent[i] == node]


@given(trees(min_size=1), st.data())
def test_a_path_leads_from_a_root_to_the_node(tree, data):
    node = data.draw(st.integers(0, len(tree) - 1))
    assert tree.path(node) == ancestors(tree, node)[::-1]


# -- values -------------------------------------------------------------------------------------------------------


@given(trees(), st.data())
def test_inclusive_is_the_sum_over_all_nodes_below(tree, data):
    own = data.draw(st.lists(exact, min_size=len(tree), max_size=len(tree)))
    expected = [sum(own[j] for j in below(tree, i)) for i in range(len(tree))]
    assert tree.inclusive(np.array(own)).tolist() == expected


@given(trees(), st.data())
def test_exclusive_takes_inclusive_back(tree, data):
    own = np.array(data.draw(st.lists(exact, min_size=len(tree), max_size=len(tree))))
    assert tree.exclusive(tree.inclusive(own)).tolist() == own.tolist()


def test_a_tiny_value_behind_a_huge_one_is_not_lost_in_the_running_total():
    tree = tree_of(call("main", call("huge"), call("tiny")))
    assert tree.inclusive(np.array([0.0, 1e12, 1e-6]))[2] == pytest.approx(1e-6, rel=1e-1)


# -- relations ----------------------------------------------------------------------------------------------------


@given(trees(), st.data())
def test_nearest_is_the_first_wanted_node_on_the_way_up(tree, data):
    wanted = flags(tree, data.draw)
    assert tree.nearest(wanted).tolist() == nearest_reference(tree, wanted)


@given(trees(), st.data())
def test_outermost_nodes_have_no_ancestor_among_the_nodes(tree, data):
    chosen = np.flatnonzero(flags(tree, data.draw)).astype(np.int32)
    expected = [i for i in chosen.tolist() if not set(ancestors(tree, i)[1:]) & set(chosen.tolist())]
    assert tree.outermost(chosen).tolist() == expected


@given(trees(), st.data())
def test_outermost_within_groups_looks_only_at_ancestors_of_the_same_group(tree, data):
    chosen = np.flatnonzero(flags(tree, data.draw)).astype(np.int32)
    group = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(chosen), max_size=len(chosen))), dtype=np.int32)
    group_of = dict(zip(chosen.tolist(), group.tolist(), strict=True))
    expected = [
        i for i in chosen.tolist() if all(group_of.get(a) != group_of[i] for a in ancestors(tree, i)[1:])
    ]  # fmt: skip
    assert tree.outermost(chosen, group).tolist() == expected


@given(st.lists(st.integers(0, 255)), st.frozensets(st.integers(0, 255)))
def test_kinds_are_told_as_numpy_tells_them(column, kinds):
    numbers = np.array(column, np.uint8)
    assert is_one_of(numbers, kinds).tolist() == np.isin(numbers, list(kinds)).tolist()


def test_spans_that_end_before_the_next_begins_are_all_outermost():
    start, stop = np.array([0, 1, 1, 4], np.int32), np.array([1, 4, 3, 5], np.int32)
    assert outermost_spans(start, stop).tolist() == [True, True, False, True]
    assert outermost_spans(start, stop, np.array([0, 0, 1, 1], np.int32)).tolist() == [True, True, True, True]


@given(trees(), st.data())
def test_inside_is_the_union_of_the_subtrees(tree, data):
    size = st.lists(st.integers(0, max(0, len(tree) - 1)), max_size=6 if len(tree) else 0)
    nodes = np.array(data.draw(size), dtype=np.int32)
    expected = [bool(set(ancestors(tree, i)) & set(nodes.tolist())) for i in range(len(tree))]
    assert tree.inside(nodes).tolist() == expected


@given(trees())
def test_a_node_belongs_to_the_nearest_function_call_or_root(tree):
    owner = [
        int(tree.kind[i]) in FUNCTION_KINDS or tree.relation[i] != Relation.LEXICAL or tree.parent[i] < 0
        for i in range(len(tree))
    ]
    assert tree.function.tolist() == nearest_reference(tree, owner)


@given(trees())
def test_function_labels_say_what_function_name_says(tree):
    number, texts = tree.function_labels
    assert [texts[i] for i in number.tolist()] == [tree.function_name(i) for i in range(len(tree))]
    assert len(set(texts)) == len(texts)


# -- selection ----------------------------------------------------------------------------------------------------


@given(trees(), st.data())
def test_select_keeps_the_chosen_nodes_below_their_nearest_chosen_ancestor(tree, data):
    keep = flags(tree, data.draw)
    smaller, home = tree.select(keep)
    smaller.check()
    kept = np.flatnonzero(keep).tolist()
    reference = nearest_reference(tree, keep)
    assert home.tolist() == [kept.index(node) if node >= 0 else -1 for node in reference]
    above = [next((a for a in ancestors(tree, i)[1:] if keep[a]), -1) for i in kept]
    assert smaller.parent.tolist() == [kept.index(a) if a >= 0 else -1 for a in above]
    for column in ("kind", "relation", "name", "file", "line", "module"):
        assert getattr(smaller, column).tolist() == getattr(tree, column)[keep].tolist()
    assert (smaller.source_id is None) == (tree.source_id is None)


@given(trees(), st.data())
def test_select_loses_no_value_where_the_roots_are_kept(tree, data):
    own = np.array(data.draw(st.lists(exact, min_size=len(tree), max_size=len(tree))))
    keep = flags(tree, data.draw) | (tree.parent < 0)
    smaller, home = tree.select(keep)
    moved = np.bincount(home, weights=own, minlength=len(smaller)) if len(tree) else own
    assert smaller.inclusive(moved).tolist() == tree.inclusive(own)[keep].tolist()


# -- check --------------------------------------------------------------------------------------------------------

GOOD = tree_of(call("main", call("a", line("a.c:1")), call("b")), call("other"))


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("parent", [-1, 0, 1, 4, -1], "parent"),
        ("parent", [0, 0, 1, 0, -1], "parent"),
        ("parent", [-1, 0, 1, 0, -2], "parent"),
        ("end", [4, 3, 3, 4, 6], "ends"),
        ("end", [4, 3, 2, 4, 5], "ends"),
        ("end", [4, 5, 3, 4, 5], "beyond"),
        ("end", [3, 3, 3, 4, 5], "beyond"),
        ("end", [4, 2, 3, 4, 5], "beyond"),
        ("parent", [-1, 0, 1, 1, -1], "beyond"),
        ("parent", [-1, 0, 0, 0, -1], "preorder"),
        ("parent", [-1, 0, 1, -1, -1], "preorder"),  # a root inside the subtree of another
        ("end", [4, 4, 3, 4, 5], "preorder"),
        ("end", [5, 3, 3, 4, 5], "preorder"),
        ("kind", [0, 1, 1, 10, 1], "kind"),
        ("relation", [0, 1, 1, 1, 3], "relation"),
        ("line", [0, 0, -1, 0, 0], "line"),
        ("name", [0, 1, 2, 3, 4], "name"),
        ("name", [0, 1, -2, 3, 3], "name"),
        ("file", [-1, -1, 1, -1, -1], "file"),
        ("module", [0, -1, -1, -1, -1], "module"),
        ("name", [0, 1, 2, 3], "length"),
        ("source_id", [0], "length"),
        ("offset", [0, 1, 2, 3, 4, 5], "length"),
    ],
)
def test_check_rejects_a_broken_column(column, values, words):
    old = getattr(GOOD, column)
    dtype = np.int32 if old is None else old.dtype
    with pytest.raises(ValueError, match=words):
        replace(GOOD, **{column: np.array(values, dtype=dtype)}).check()


@given(st.data())
def test_check_accepts_exactly_the_trees_in_preorder(data):
    n = data.draw(st.integers(1, 5))
    parent = data.draw(st.lists(st.integers(-1, n - 1), min_size=n, max_size=n))
    end = data.draw(st.lists(st.integers(0, n), min_size=n, max_size=n))
    zeros = np.zeros(n, dtype=np.int32)
    tree = CallTree(
        np.array(parent, np.int32), np.array(end, np.int32), zeros.astype(np.uint8), zeros.astype(np.uint8),
        zeros - 1, zeros - 1, zeros, zeros - 1, [], [], [],
    )  # fmt: skip
    good, path = True, []  # the path to the node before
    for index, above in enumerate(parent):
        good = good and (above == -1 or above in path)
        path = [*path[: path.index(above) + 1], index] if above in path else [index]
    good = good and end == ends_of(parent)
    if good:
        tree.check()
    else:
        with pytest.raises(ValueError, match=r"."):
            tree.check()


@given(trees(), st.booleans())
def test_nodes_are_found_by_tests_of_their_names_files_and_modules(tree, nameless):
    def odd(text: str) -> bool:
        return len(text) % 2 == 1

    for found, column, table, absent in (
        (tree.where_name(odd, nameless=nameless), tree.name, tree.names, nameless),
        (tree.where_file(odd), tree.file, tree.files, False),
        (tree.where_module(odd), tree.module, tree.modules, False),
    ):
        assert found.tolist() == [odd(table[each]) if each >= 0 else absent for each in column.tolist()]


# -- extremes -----------------------------------------------------------------------------------------------------


def test_an_empty_tree_answers_every_question():
    tree = tree_of()
    tree.check()
    nothing = np.empty(0)
    assert len(tree) == 0
    assert tree.depth.tolist() == tree.roots.tolist() == tree.function.tolist() == []
    assert tree.inclusive(nothing).tolist() == tree.exclusive(nothing).tolist() == []
    assert tree.nearest(np.empty(0, bool)).tolist() == []
    assert tree.outermost(np.empty(0, np.int32)).tolist() == []
    assert tree.outermost(np.empty(0, np.int32), np.empty(0, np.int32)).tolist() == []
    assert tree.inside(np.empty(0, np.int32)).tolist() == []
    smaller, home = tree.select(np.empty(0, bool))
    assert (len(smaller), home.tolist()) == (0, [])
    assert tree.function_labels[0].tolist() == []


def test_a_chain_of_100_000_calls_is_no_deeper_problem():
    n = 100_000
    tree = chain(n)
    tree.check()
    assert tree.depth[-1] == n - 1
    assert tree.inclusive(np.ones(n)).tolist() == list(range(n, 0, -1))
    assert tree.exclusive(np.arange(n, 0, -1).astype(float)).tolist() == [1.0] * n
    assert tree.outermost(np.arange(n, dtype=np.int32), tree.name).tolist() == [0]
    only_root = tree.parent < 0
    assert not tree.nearest(only_root).any()
    smaller, home = tree.select(only_root)
    assert (len(smaller), int(home.max())) == (1, 0)
    assert len(tree.path(n - 1)) == n


# -- words --------------------------------------------------------------------------------------------------------


def test_labels_are_what_a_person_calls_the_nodes():
    tree = tree_of(
        call(
            "main",
            loop("src/heat.c:12", line("src/heat.c:14"), loop("")),
            line(""),
            called_code("/lib/libm.so.6", called_code(None)),
            inlined("square", at="math.h:3"),
            at="src/heat.c:10",
        )
    )
    labels = [tree.label(i) for i in range(len(tree))]
    assert labels == [
        "main", "loop at heat.c:12", "heat.c:14", "loop", "unknown line", "libm.so.6", "unknown module", "square",
    ]  # fmt: skip
    with_offsets = replace(tree, offset=np.full(len(tree), 0x1234, dtype=np.uint64))
    assert with_offsets.label(5) == "libm.so.6+0x1234"
    assert [tree.place(i) for i in (0, 1, 5)] == ["heat.c:10", "heat.c:12", ""]


def test_code_without_symbols_is_named_after_its_module():
    tree = tree_of(call(None, line(""), module="/usr/lib/libgomp.so.1.0.0"), call(None), loop("a.c:3"))
    assert tree.function_name(1) == "<insn> libgomp.so.1.0.0"
    assert tree.label(0) == "<insn> libgomp.so.1.0.0"
    assert tree.function_name(2) == tree.function_name(3) == "<unknown function>"


def test_a_pseudo_file_is_no_place():
    tree = tree_of(call("poll", at="[libc.so.6]"), call("f", at="<unknown>:3"), call("g", at="x.c"))
    assert [tree.place(i) for i in range(3)] == ["", "", "x.c"]


def test_a_function_nested_in_another_owns_its_lines():
    tree = tree_of(call("x", nested("x._omp_fn.0", line("x.f90:3"))))
    assert tree.function.tolist() == [0, 1, 1]


def test_kinds_are_written_with_hyphens():
    assert NodeKind.GPU_KERNEL.text == "gpu-kernel"
    assert NodeKind.LOOP.text == "loop"


def test_parents_from_steps_up_the_path():
    assert parents_from([0, 0, 1, 0, 9]) == [-1, 0, 0, 2, -1]
