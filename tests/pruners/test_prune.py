from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.profile.location import Locations
from chathpc.profile.metric import column_of
from chathpc.profile.profile import Profile
from chathpc.profile.tree import CallTree, NodeKind, Relation
from chathpc.profile.values import MemoryValues
from chathpc.pruners.merge import merge_recursion, merge_siblings
from chathpc.pruners.outline import outline
from chathpc.pruners.prune import prune
from chathpc.pruners.pruned import whole_tree
from tests.profile.build import build, call, entry, line, loop, metric
from tests.profile.strategies import profiles
from tests.profile.test_tree import flags

MILLION = 1_000_000


def functions(parent: np.ndarray, end: np.ndarray, name: np.ndarray) -> Profile:
    """A profile of functions f0, f1, …, one second each."""
    n = len(parent)
    nothing = np.full(n, -1, dtype=np.int32)
    tree = CallTree(
        parent=parent.astype(np.int32),
        end=end.astype(np.int32),
        kind=np.full(n, NodeKind.FUNCTION, dtype=np.uint8),
        relation=np.full(n, Relation.CALL, dtype=np.uint8),
        name=name.astype(np.int32),
        file=nothing,
        line=np.zeros(n, dtype=np.int32),
        module=nothing,
        names=[f"f{number}" for number in range(int(name.max()) + 1)],
        files=[],
        modules=[],
    )
    seconds = np.ones(n)
    values = MemoryValues(tree, {"cpu.time": column_of(seconds)}, {"cpu.time": column_of(tree.inclusive(seconds))})
    return Profile("test", "test", tree, {"cpu.time": metric("cpu.time")}, values, Locations.single())


def chain(names: int) -> Profile:
    index = np.arange(MILLION)
    return functions(index - 1, np.full(MILLION, MILLION), index % names)


def binary_recursion(depth: int) -> Profile:
    """main calls fib, fib calls fib twice, `depth` levels deep: a full binary tree in preorder."""
    sizes = [2 ** (depth - level) - 1 for level in range(depth)]
    parent, end, stack = [-1], [sizes[0] + 1], [(0, 0)]
    while stack:
        above, level = stack.pop()
        if level >= depth:
            continue
        parent.append(above)
        here = len(parent) - 1
        end.append(here + sizes[level])
        if level + 1 < depth:
            stack += [(here, level + 1), (here, level + 1)]
    name = np.ones(len(parent), dtype=np.int32)
    name[0] = 0
    return functions(np.array(parent), np.array(end), name)


HEAT = build(
    entry(
        "main thread",
        call(
            "main",
            loop(
                "heat.c:12",
                line("heat.c:13", call("sweep", line("heat.c:5", time=60.0), at="heat.c:4")),
                line("heat.c:14", call("sweep", line("heat.c:5", time=20.0), at="heat.c:4")),
                line("heat.c:15", call("MPI_Allreduce", call("opal_progress", call("poll", time=10.0)), time=2.0)),
            ),
            line(
                "heat.c:18", call("report", line("heat.c:30", call("printf", call("vfprintf", time=0.125), time=0.125)))
            ),
            line("heat.c:19", call("cleanup", call("free", time=0.25))),
            line("heat.c:20", time=7.5),
            at="heat.c:10",
        ),
    )
)
OPAQUE = np.array([HEAT.tree.label(node) in ("opal_progress", "poll", "vfprintf") for node in range(len(HEAT.tree))])


def rows(result):
    return [(row.depth, row.label, row.inclusive) for row in outline(result.pruned, result.metric)]


def test_the_default_sequence_makes_a_readable_tree():
    result = prune(HEAT, opaque=OPAQUE)
    result.pruned.check()
    assert rows(result) == [
        (0, "main thread", 100.0),
        (1, "main", 100.0),
        (2, "loop at heat.c:12", 92.0),
        (3, "sweep", 80.0),
        (3, "MPI_Allreduce", 12.0),
        (2, "… 6 more", 0.5),  # report and its line, printf and vfprintf, cleanup, free
    ]
    assert (result.contexts_before, result.contexts_after) == (22, 5)
    assert result.time_kept_share == pytest.approx(0.995)
    assert (result.metrics_before, result.metrics_after) == (1, 1)
    assert 0 < result.tokens < 100


def test_the_contexts_of_findings_stay_however_small_they_are():
    found = [node for node in range(len(HEAT.tree)) if HEAT.tree.label(node) == "free"]
    result = prune(HEAT, focus=found, opaque=OPAQUE, token_budget=1)
    assert [label for _, label, _ in rows(result)] == ["main thread", "main", "cleanup", "free", "… 15 more"]
    assert result.pruned.label(int(result.pruned.home[found[0]])) == "free"


def test_a_small_budget_gives_a_small_tree_and_says_how_much_time_it_covers():
    result = prune(HEAT, opaque=OPAQUE, token_budget=15)
    assert result.tokens <= 15
    assert result.time_kept_share < 0.1
    result.pruned.check()


def test_metrics_that_bear_on_findings_are_kept_and_time_always():
    values = {"cpu.time": 1.0, "io.read.bytes": 5.0, "gpu.time": 2.0, "gpu.kernel.registers": 8.0}
    profile = build(call("main", values=values))
    result = prune(profile, metrics=["io.read.bytes", "gpu.kernel.registers"])
    assert list(result.pruned.exclusive) == ["cpu.time", "io.read.bytes"]
    assert (result.metrics_before, result.metrics_after) == (4, 2)
    assert result.metric == "cpu.time"


def test_a_profile_without_time_is_pruned_by_what_it_has():
    result = prune(build(call("main", values={"io.read.bytes": 5.0})))
    assert (result.metric, result.time_kept_share) == ("io.read.bytes", 1.0)


def test_profiles_without_values_or_nodes_are_pruned_to_nothing():
    bare = prune(build(call("main", call("a"))))
    assert (bare.metric, bare.tokens, bare.time_kept_share) == (None, 0, 0.0)
    empty = prune(build())
    assert (empty.contexts_before, empty.contexts_after) == (0, 0)


@given(profiles(), st.integers(0, 200), st.data())
def test_no_profile_loses_a_value_whatever_the_budget(profile, budget, data):
    focus = data.draw(st.lists(st.integers(0, len(profile.tree) - 1), max_size=3))
    result = prune(
        profile, focus=focus, opaque=flags(profile.tree, data.draw), metrics=list(profile.metrics), token_budget=budget
    )
    result.pruned.check()
    assert set(result.pruned.exclusive) == set(profile.metrics)
    assert 0.0 <= result.time_kept_share <= 1.0
    assert not result.pruned.synthetic[result.pruned.home[focus]].any()


# -- a million contexts -------------------------------------------------------------------------------------------


def test_a_chain_of_a_million_functions_is_shortened():
    result = prune(chain(names=MILLION))
    result.pruned.check()
    assert result.contexts_after < 50
    assert result.tokens <= 2000


def test_a_million_levels_of_two_functions_that_call_each_other_are_two_nodes():
    result = prune(chain(names=2))
    result.pruned.check()
    assert rows(result) == [(0, "f0", 1e6), (1, "f1", 5e5)]
    assert result.time_kept_share == 1.0


def test_a_full_tree_of_recursion_is_one_node():
    result = prune(binary_recursion(18))
    result.pruned.check()
    assert rows(result) == [(0, "f0", 2.0**18), (1, "f1", 2.0**18 - 1)]


def test_a_million_small_children_of_one_parent_are_one_node():
    parent = np.zeros(MILLION)
    parent[0] = -1
    end = np.arange(1, MILLION + 1)
    end[0] = MILLION
    result = prune(functions(parent, end, np.arange(MILLION)))
    assert rows(result) == [(0, "f0", 1e6), (1, "… 999,999 more", 999_999.0)]
    assert result.time_kept_share == pytest.approx(1e-6)


def test_a_million_equal_children_of_one_parent_are_merged():
    parent = np.zeros(MILLION)
    parent[0] = -1
    end = np.arange(1, MILLION + 1)
    end[0] = MILLION
    profile = functions(parent, end, np.minimum(np.arange(MILLION), 1))
    merged = merge_siblings(whole_tree(profile, ["cpu.time"]))
    assert merged.exclusive["cpu.time"].tolist() == [1.0, 999_999.0]


def test_recursion_at_the_bottom_of_a_long_chain_is_merged_without_recursing():
    names = np.arange(100_000)
    names[-1] = names[50_000]
    index = np.arange(100_000)
    profile = functions(index - 1, np.full(100_000, 100_000), names)
    merged = merge_recursion(whole_tree(profile, ["cpu.time"]))
    merged.check()
    assert len(merged) == 99_999
    assert merged.exclusive["cpu.time"][50_000] == 2.0
