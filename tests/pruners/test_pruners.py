"""Every pruner keeps every sum, and does what its name says; small trees by hand, random ones by Hypothesis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.profile.text import estimate_tokens
from chathpc.profile.tree import NodeKind
from chathpc.pruners.cold import drop_cold, fold_chains, keep_paths_to
from chathpc.pruners.merge import merge_recursion, merge_siblings
from chathpc.pruners.outline import outline, render_outline
from chathpc.pruners.prune import fit_tokens
from chathpc.pruners.pruned import PrunedTree, collapse, drop_lines, fold, whole_tree
from tests.profile.build import build, call, called_code, entry, gpu_op, kernel, line, loop
from tests.profile.strategies import profiles
from tests.profile.test_tree import flags


def whole(*roots) -> PrunedTree:
    profile = build(*roots)
    return whole_tree(profile, profile.metrics)


def shown(pruned: PrunedTree, metric: str = "cpu.time") -> list[str]:
    """Indented labels with exclusive values, siblings by size."""
    return [f"{'  ' * row.depth}{row.label} {row.exclusive:g}" for row in outline(pruned, metric)]


PRUNERS = {
    "fold": lambda tree, mask, share: fold(tree, mask),
    "drop_lines": lambda tree, mask, share: drop_lines(tree),
    "merge_recursion": lambda tree, mask, share: merge_recursion(tree),
    "merge_siblings": lambda tree, mask, share: merge_siblings(tree),
    "drop_cold": lambda tree, mask, share: drop_cold(tree, share),
    "drop_cold keeping": lambda tree, mask, share: drop_cold(tree, share, keep=mask),
    "fold_chains": lambda tree, mask, share: fold_chains(tree, share, longest=3),
    "fold_chains keeping": lambda tree, mask, share: fold_chains(tree, share, longest=3, keep=mask),
    "fit_tokens": lambda tree, mask, share: fit_tokens(tree, 20, lambda t: "x" * 10 * len(t), min_share=share)[0],
}


@given(profiles(), st.lists(st.sampled_from(sorted(PRUNERS)), min_size=1, max_size=5), st.data())
def test_no_sequence_of_pruners_loses_a_value_or_a_context(profile, sequence, data):
    pruned = whole_tree(profile, profile.metrics)
    for name in sequence:
        before = pruned
        pruned = PRUNERS[name](pruned, flags(pruned.tree, data.draw), data.draw(st.floats(0, 1)))
        pruned.check()
        assert len(pruned) <= len(before)
    for metric in profile.metrics:
        own = profile.exclusive(metric).dense(len(profile.tree))
        expected = np.bincount(pruned.home, weights=own, minlength=len(pruned))
        assert pruned.exclusive[metric] == pytest.approx(expected)
        assert pruned.exclusive[metric].sum() == profile.total(metric)
    shown_nodes = np.flatnonzero(~pruned.synthetic)
    assert pruned.home[pruned.origin[shown_nodes]].tolist() == shown_nodes.tolist()
    assert len(outline(pruned, next(iter(profile.metrics)))) == len(pruned)


# -- folding ------------------------------------------------------------------------------------------------------


def test_what_is_inside_a_runtime_call_goes_to_the_call_and_callbacks_stay():
    pruned = whole(
        call(
            "main",
            call(
                "MPI_Allreduce", call("progress", call("poll", time=2.0), time=1.0), call("my_op", time=8.0), time=4.0
            ),
        )
    )
    folded = fold(pruned, np.array([False, False, True, True, False]))
    assert shown(folded) == ["main 0", "  MPI_Allreduce 7", "    my_op 8"]
    assert folded.contexts.tolist() == [1, 3, 1]
    assert folded.home.tolist() == [0, 1, 1, 1, 2]


def test_an_opaque_root_has_nowhere_to_go_and_stays():
    pruned = whole(call("poll", call("futex", time=1.0)))
    assert shown(fold(pruned, np.array([True, True]))) == ["poll 1"]


def test_lines_go_to_their_loop_or_function_and_called_code_without_symbols_stays():
    pruned = whole(
        call(
            "main", line("a.c:1", time=1.0), loop("a.c:2", line("a.c:3", called_code("libm.so.6", time=2.0), time=4.0))
        )
    )
    assert shown(drop_lines(pruned)) == ["main 1", "  loop at a.c:2 4", "    libm.so.6 2"]


# -- merging ------------------------------------------------------------------------------------------------------


def test_a_recursive_function_is_folded_onto_its_first_occurrence():
    pruned = whole(
        call(
            "main",
            call(
                "fib",
                call("fib", call("fib", time=1.0), call("add", time=2.0), time=4.0),
                call("add", time=8.0),
                time=16.0,
            ),
        )
    )
    assert shown(merge_recursion(pruned)) == ["main 0", "  fib 21", "    add 10"]


def test_functions_that_call_each_other_in_turn_are_folded_both():
    pruned = whole(
        call("f", call("g", call("f", call("h", call("g", time=1.0), time=2.0), time=4.0), time=8.0), time=16.0)
    )
    assert shown(merge_recursion(pruned)) == ["f 20", "  g 9", "  h 2"]


def test_a_tree_without_recursion_is_left_as_it_is():
    pruned = whole(call("main", call("f", time=1.0), call("f", time=2.0)))
    assert merge_recursion(pruned) is pruned


def test_nameless_code_is_no_recursion():
    pruned = whole(call(None, call(None, time=1.0)))
    assert merge_recursion(pruned) is pruned


def test_siblings_of_one_label_become_one_with_the_children_of_all():
    pruned = whole(
        call(
            "main",
            gpu_op("<gpu kernel>", kernel("axpy", time=1.0)),
            call("other", time=0.5),
            gpu_op("<gpu kernel>", kernel("axpy", time=2.0), kernel("dot", time=4.0)),
        )
    )
    merged = merge_siblings(pruned)
    merged.check()
    assert shown(merged) == ["main 0", "  <gpu kernel> 0", "    dot 4", "    axpy 3", "  other 0.5"]
    assert merge_siblings(merged) is merged


def test_loops_at_different_lines_are_not_the_same():
    pruned = whole(
        call("main", loop("a.c:2", time=1.0), loop("a.c:3", time=2.0), loop("b.c:2", time=4.0), line("a.c:2", time=8.0))
    )
    assert merge_siblings(pruned) is pruned


def test_code_without_symbols_is_the_same_at_the_same_address():
    profile = build(call("main", *(called_code(f"lib{name}.so", time=1.0) for name in "aab")))
    addressed = replace(profile.tree, offset=np.array([0, 16, 32, 16], dtype=np.uint64))
    anywhere = merge_siblings(whole_tree(profile, ["cpu.time"]))
    assert shown(anywhere) == ["main 0", "  liba.so 2", "  libb.so 1"]
    assert len(merge_siblings(whole_tree(replace(profile, tree=addressed), ["cpu.time"]))) == 4


def test_left_out_nodes_are_counted_together_when_their_parents_become_one():
    rest = (call("a", call("b", time=1.0)), call("c", time=1.0))
    pruned = drop_cold(whole(call("main", call("f", *rest, time=50.0), call("f", *rest, time=46.0))), 0.05)
    merged = merge_siblings(pruned)
    merged.check()
    assert shown(merged) == ["main 0", "  f 96", "    … 6 more 4"]


def reference_paths(pruned: PrunedTree) -> dict[tuple[object, ...], float]:
    tree = pruned.tree

    def label(node: int) -> tuple[object, ...]:
        if tree.kind[node] in (NodeKind.LOOP, NodeKind.LINE):
            return int(tree.kind[node]), tree.file_name(node), int(tree.line[node])
        return (pruned.label(node),)

    paths: dict[tuple[object, ...], float] = {}
    for node in range(len(pruned)):
        path = tuple(label(above) for above in tree.path(node))
        paths[path] = paths.get(path, 0.0) + float(pruned.exclusive["cpu.time"][node])
    return paths


@given(profiles(metrics=("cpu.time",), max_size=20))
def test_merged_siblings_have_one_node_per_path_of_labels(profile):
    profile = replace(profile, tree=replace(profile.tree, offset=None))
    named = np.where(profile.tree.kind == NodeKind.INSTRUCTION, NodeKind.FUNCTION, profile.tree.kind).astype(
        np.uint8
    )  # calls instead of instructions
    profile = replace(profile, tree=replace(profile.tree, kind=named))
    before = whole_tree(profile, ["cpu.time"])
    after = merge_siblings(before)
    after.check()
    assert reference_paths(after) == reference_paths(before)
    assert len(after) == len(reference_paths(before))


@given(profiles(metrics=("cpu.time",)))
def test_after_merging_recursion_no_named_function_is_below_itself(profile):
    merged = merge_recursion(whole_tree(profile, ["cpu.time"]))
    for node in range(len(merged)):
        path = [k for k in merged.tree.path(node) if merged.tree.kind[k] in (1, 2, 6, 7) and merged.tree.name[k] >= 0]
        labels = [merged.tree.function_name(k) for k in path]
        assert len(set(labels)) == len(labels)


# -- cold and long ------------------------------------------------------------------------------------------------

HOT_AND_COLD = call(
    "main",
    call("hot", call("warm", time=20.0), time=70.0),
    call("a", call("b", time=1.0), time=2.0),
    call("c", time=3.0),
    call("d", call("e", time=4.0)),
)


def test_cold_subtrees_become_one_node_per_parent():
    assert shown(drop_cold(whole(HOT_AND_COLD), 0.05)) == ["main 0", "  hot 70", "    warm 20", "  … 5 more 10"]


def test_a_single_cold_node_without_children_is_shown_as_itself():
    assert shown(drop_cold(whole(call("main", call("a", time=99.0), call("b", time=1.0))), 0.1)) == [
        "main 0", "  a 99", "  b 1",
    ]  # fmt: skip


def test_a_subtree_that_is_hot_by_any_metric_stays():
    pruned = whole(
        call(
            "main",
            call("a", time=99.0),
            call("io", call("read", values={"io.read.bytes": 5.0}), time=1.0),
            call("z", time=0.0),
        )
    )
    assert shown(drop_cold(pruned, 0.1)) == ["main 0", "  a 99", "  io 1", "    read 0", "  z 0"]


def test_contexts_that_findings_point_at_stay_with_what_leads_to_them():
    pruned = whole(HOT_AND_COLD)
    tree = pruned.tree
    found = next(node for node in range(len(tree)) if tree.label(node) == "b")
    assert shown(drop_cold(pruned, 0.05, keep=keep_paths_to(pruned, [found]))) == [
        "main 0", "  hot 70", "    warm 20", "  a 2", "    b 1", "  … 3 more 7",
    ]  # fmt: skip


def test_dropping_twice_adds_the_counts_up():
    once = drop_cold(whole(HOT_AND_COLD), 0.035)
    assert shown(once)[3:] == ["  d 0", "    e 4", "  … 3 more 6"]
    assert shown(drop_cold(once, 0.5))[-1] == "  … 5 more 10"


def test_the_middle_of_a_long_chain_becomes_one_node():
    node = call("f19", time=100.0)
    for number in range(18, -1, -1):
        node = call(f"f{number}", node, time=0.5)
    short = fold_chains(whole(node), 0.01, longest=6)
    assert [row.label for row in outline(short, "cpu.time")] == ["f0", "f1", "f2", "… 14 levels", "f17", "f18", "f19"]
    assert short.exclusive["cpu.time"].tolist() == [0.5, 0.5, 0.5, 7.0, 0.5, 0.5, 100.0]


def test_nodes_with_time_of_their_own_are_no_mere_links():
    node = call("end", time=1.0)
    for number in range(20):
        node = call(f"f{number}", node, time=1.0)
    tree = whole(node)
    assert fold_chains(tree, 0.01, longest=3) is tree


# -- outline and budget -------------------------------------------------------------------------------------------


def test_the_outline_has_labels_places_and_shares():
    pruned = whole(entry("main thread", call("main", loop("src/a.c:3", time=3.0), at="src/a.c:1", time=1.0)))
    rows = outline(pruned, "cpu.time")
    assert [(row.depth, row.label, row.place, row.inclusive, row.exclusive, row.share) for row in rows] == [
        (0, "main thread", "", 4.0, 0.0, 1.0),
        (1, "main", "a.c:1", 4.0, 1.0, 1.0),
        (2, "loop at a.c:3", "", 3.0, 3.0, 0.75),
    ]
    assert render_outline(pruned, "cpu.time") == (
        "100.0% main thread\n  100.0% (self 25.0%) main a.c:1\n    75.0% (self 75.0%) loop at a.c:3"
    )


def test_an_outline_without_any_time_has_no_shares():
    assert outline(whole(call("main", time=0.0)), "cpu.time")[0].share == 0.0
    assert render_outline(whole(call("main", time=0.0)), "cpu.time") == "0.0% main"


def test_the_smallest_share_that_fits_is_taken():
    profile = build(call("main", *(call(f"f{number}", time=float(number)) for number in range(1, 101))))
    pruned = whole_tree(profile, ["cpu.time"])
    sizes = {}
    for budget in (5, 30, 60, 101):
        fitted, tokens = fit_tokens(pruned, 2 * budget, lambda t: "x" * 7 * len(t), min_share=0.0)
        fitted.check()
        assert tokens == 2 * len(fitted) <= 2 * budget
        sizes[budget] = len(fitted)
    # Total 5050. Shares 0.02, 0.015, 0.01: 0, 25 and 50 functions have at least that; all of them fit into 101.
    assert sizes == {5: 2, 30: 27, 60: 52, 101: 101}


def test_a_budget_that_nothing_fits_gives_the_smallest_tree():
    fitted, tokens = fit_tokens(whole(HOT_AND_COLD), 0, lambda t: "x" * 7 * len(t))
    assert (tokens, len(fitted)) == (4, 2)


def test_tokens_are_estimated_from_the_length():
    assert estimate_tokens("") == 0
    assert estimate_tokens("x" * 35) == 10
    assert estimate_tokens("x" * 36) == 11


# -- check --------------------------------------------------------------------------------------------------------


def test_check_finds_a_lost_value_context_and_label():
    pruned = whole(call("main", call("a", time=1.0)))
    with pytest.raises(ValueError, match=r"cpu\.time was 1\.0 and is 2\.0"):
        replace(pruned, exclusive={"cpu.time": np.array([1.0, 1.0])}).check()
    with pytest.raises(ValueError, match="length"):
        replace(pruned, exclusive={"cpu.time": np.array([1.0])}).check()
    with pytest.raises(ValueError, match="1 of 2 contexts"):
        replace(pruned, contexts=np.array([1, 0])).check()
    with pytest.raises(ValueError, match="lost"):
        replace(pruned, home=np.array([0, 2], np.int32)).check()
    with pytest.raises(ValueError, match="labels"):
        replace(pruned, labels={0: "x"}).check()


def test_a_synthetic_node_has_no_place_of_its_own():
    pruned = whole(call("main", call("a", at="a.c:1", module="x", time=1.0), at="m.c:1"))
    folded = collapse(pruned, np.array([0, 1], np.int32), {1: "… {} more"})
    assert (folded.label(1), folded.tree.place(1), folded.tree.module_name(1)) == ("… 1 more", "", None)
    assert folded.tree.function_name(1) == "… 1 more"
    assert pruned.tree.label(1) == "a"
