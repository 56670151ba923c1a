from __future__ import annotations

import pytest
from hypothesis import given

from tests.profile.build import build, call, line, loop
from tests.profile.strategies import METRICS, profiles


def test_an_edge_has_the_time_of_the_callee_under_that_caller():
    profile = build(
        call(
            "main",
            line("m.c:2", call("solve", loop("s.c:3", call("exp", time=2.0)), time=1.0)),
            line("m.c:4", call("solve", time=4.0)),
            call("exp", time=8.0, at="exp.c:1", module="libm.so"),
        )
    )
    graph = profile.callgraph("cpu.time")
    assert dict(graph.edges) == {
        ("main", "solve"): {"time": 7.0, "calls": 2},
        ("main", "exp"): {"time": 8.0, "calls": 1},
        ("solve", "exp"): {"time": 2.0, "calls": 1},
    }
    assert graph.nodes["exp"] == {"exclusive": 10.0, "inclusive": 10.0, "file": "exp.c", "line": 1, "module": "libm.so"}
    assert graph.nodes["main"]["inclusive"] == 15.0
    assert graph.graph == {"metric": "cpu.time", "unit": "s"}


def test_a_call_within_recursion_is_counted_once():
    profile = build(call("f", call("f", call("f", call("g", time=1.0), time=2.0)), time=4.0))
    edges = dict(profile.callgraph().edges)
    assert edges[("f", "f")] == {"time": 3.0, "calls": 2}
    assert edges[("f", "g")] == {"time": 1.0, "calls": 1}


def test_what_was_not_measured_is_not_in_the_graph():
    profile = build(call("main", call("idle"), time=1.0))
    assert list(profile.callgraph().nodes) == ["main"]


@given(profiles(metrics=METRICS[:1]))
def test_calls_and_times_equal_a_walk_over_all_nodes(profile):
    tree, value = profile.tree, profile.inclusive("cpu.time")
    time: dict[tuple[str, str], float] = {}
    calls: dict[tuple[str, str], int] = {}

    def edge(node: int) -> tuple[str, str] | None:
        if tree.function[node] != node or tree.parent[node] < 0 or value.at(node) is None:
            return None
        return tree.function_name(int(tree.parent[node])), tree.function_name(node)

    for node in range(len(tree)):
        if (key := edge(node)) is not None:
            calls[key] = calls.get(key, 0) + 1
            nested = any(edge(above) == key for above in tree.path(node)[:-1])
            time[key] = time.get(key, 0.0) + (0.0 if nested else value.at(node))
    graph = profile.callgraph("cpu.time")
    assert {key: facts["time"] for key, facts in graph.edges.items()} == pytest.approx(time)
    assert {key: facts["calls"] for key, facts in graph.edges.items()} == calls
