from __future__ import annotations

import math
import os
from collections import Counter

import hatchet
import numpy as np
import pandas as pd
import pytest
from hatchet.frame import Frame
from hatchet.graph import Graph
from hatchet.node import Node
from hypothesis import given

from chathpc.errors import AdapterError
from chathpc.profile.metric import Aggregation, Unit
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind
from tests.profile.build import build, call, called_code, entry, inlined, kernel, line, loop
from tests.profile.strategies import profiles
from tests.profile.test_tree import chain


def contexts(profile: Profile) -> Counter:
    """Every node as its path of (kind, relation, name, file, line, module, values), whatever the order of siblings."""
    tree = profile.tree
    columns = [
        column
        for metric in sorted(profile.metrics)
        for column in (profile.exclusive(metric), profile.inclusive(metric))
    ]
    paths: list[tuple] = []
    for node in range(len(tree)):
        name = int(tree.name[node])
        own = (
            int(tree.kind[node]), int(tree.relation[node]), tree.names[name] if name >= 0 else None,
            tree.file_name(node), int(tree.line[node]), tree.module_name(node), *(column.at(node) for column in
            columns), 0 if tree.offset is None else int(tree.offset[node]),
        )  # fmt: skip
        parent = int(tree.parent[node])
        paths.append((*(paths[parent] if parent >= 0 else ()), own))
    return Counter(paths)


HEAT = build(
    entry(
        "main thread",
        call(
            "main",
            loop(
                "heat.c:12",
                line("heat.c:14", inlined("square", time=0.5), call("exp", time=2.0, module="libm.so"), time=4.0),
            ),
            called_code("/lib/libgomp.so.1", time=1.0),
            kernel("axpy", values={"gpu.time": 3.0}),
            at="heat.c:10",
        ),
    ),
    title="heat",
)


@given(profiles(max_size=12))
def test_a_profile_comes_back_from_hatchet_as_it_went(profile):
    back = Profile.from_graphframe(profile.graphframe())
    assert contexts(back) == contexts(profile)
    assert back.metrics == profile.metrics
    assert back.title == profile.title


def test_the_graphframe_has_a_row_per_node_and_two_columns_per_metric():
    frame = HEAT.graphframe()
    assert (frame.exc_metrics, frame.inc_metrics) == (["cpu.time", "gpu.time"], ["cpu.time (inc)", "gpu.time (inc)"])
    assert frame.default_metric == "cpu.time"
    rows = frame.dataframe.set_index("name")
    assert rows.loc["heat.c:14", ["type", "file", "line", "cpu.time", "cpu.time (inc)"]].tolist() == [
        "line", "heat.c", 14, 4.0, 6.5,
    ]  # fmt: skip
    assert rows.loc["main", "cpu.time (inc)"] == 7.5
    assert math.isnan(rows.loc["main", "cpu.time"])  # not measured is never 0
    assert math.isnan(rows.loc["exp", "gpu.time"])


def test_hatchet_itself_can_work_with_the_graphframe():
    frame = HEAT.graphframe()
    assert list(frame.graph.traverse()) == list(frame.dataframe.index)
    assert [node._hatchet_nid for node in frame.graph.traverse()] == list(range(len(HEAT.tree)))
    assert [node._depth for node in frame.graph.traverse()] == [len(node.path()) - 1 for node in frame.graph.traverse()]
    text = frame.tree(metric_column="cpu.time (inc)", render_header=False)
    assert "7.500" in text
    assert "square" in text
    hot = frame.filter(lambda row: row["cpu.time (inc)"] > 1.5, squash=True, num_procs=1)
    assert sorted(hot.dataframe["name"]) == ["exp", "heat.c:14", "loop at heat.c:12", "main", "main thread"]
    again = Profile.from_graphframe(hot)
    assert again.total("cpu.time") == 6.0  # hatchet adds up what is left: 4 + 2
    doubled = frame + HEAT.graphframe()
    assert Profile.from_graphframe(doubled).exclusive("cpu.time").sum() == 15.0


@given(profiles(max_size=12))
def test_nodes_are_numbered_as_hatchet_traverses_them(profile):
    frame = profile.graphframe()
    assert [node._hatchet_nid for node in frame.graph.traverse()] == list(range(len(profile.tree)))
    assert [id(node) for node in frame.dataframe.index] == [id(node) for node in frame.graph.traverse()]


def test_a_chain_of_100_000_calls_goes_to_hatchet_and_back():
    n = 100_000
    profile = build(call("main", time=1.0))
    deep = type(profile)(
        format="test", title="deep", tree=chain(n), metrics={}, values=profile.values, where=profile.where
    )  # fmt: skip
    frame = deep.graphframe()
    assert len(frame.dataframe) == n
    back = Profile.from_graphframe(frame)
    assert back.tree.parent.tolist() == deep.tree.parent.tolist()


def test_an_empty_tree_goes_to_hatchet_and_back():
    empty = build()
    assert len(Profile.from_graphframe(empty.graphframe()).tree) == 0


# -- GraphFrames of others ----------------------------------------------------------------------------------------


def literal(name, own, total, *children):
    return {
        "frame": {"name": name, "type": "function"},
        "metrics": {"time": own, "time (inc)": total},
        "children": list(children),
    }


def test_a_literal_graphframe_with_two_roots_is_read():
    frame = hatchet.GraphFrame.from_literal(
        [literal("main", 0.0, 30.0, literal("foo", 5.0, 6.0, literal("bar", 1.0, 1.0)), literal("baz", 24.0, 24.0)),
         literal("helper", 2.0, 2.0)]
    )  # fmt: skip
    profile = Profile.from_graphframe(frame, title="literal")
    assert (profile.title, profile.format) == ("literal", "hatchet")
    assert profile.total("cpu.time") == 32.0
    assert profile.total("time") == 32.0
    table = profile.table().set_index("name")
    assert table["exclusive"].to_dict() == {"baz": 24.0, "foo": 5.0, "helper": 2.0, "bar": 1.0, "main": 0.0}
    assert table["inclusive"].to_dict() == {"baz": 24.0, "foo": 6.0, "helper": 2.0, "bar": 1.0, "main": 30.0}
    assert profile.caveats == ()


def graphframe(graph, rows, exc=(), inc=(), levels=("node",)):
    graph.enumerate_traverse()
    table = pd.DataFrame(rows).set_index(list(levels))
    return hatchet.GraphFrame(graph, table, list(exc), list(inc))


def test_rows_per_rank_and_thread_become_locations():
    graph = Graph.from_lists(["main", "solve"])
    main, solve = graph.traverse()
    rows = [
        {"node": main, "rank": 1, "thread": 0, "name": "main", "time": 1.0, "time (inc)": 3.0},
        {"node": main, "rank": 0, "thread": 0, "name": "main", "time": 4.0, "time (inc)": 12.0},
        {"node": solve, "rank": 1, "thread": 0, "name": "solve", "time": 2.0, "time (inc)": 2.0},
        {"node": solve, "rank": 0, "thread": 0, "name": "solve", "time": 8.0, "time (inc)": 8.0},
        {"node": solve, "rank": 0, "thread": 1, "name": "solve", "time": 16.0, "time (inc)": 16.0},
    ]
    profile = Profile.from_graphframe(graphframe(graph, rows, ["time"], ["time (inc)"], ("node", "rank", "thread")))
    assert profile.locations["label"].tolist() == ["rank 0 thread 0", "rank 0 thread 1", "rank 1 thread 0"]
    assert profile.locations["cpu.time"].tolist() == [12.0, 16.0, 3.0]
    nodes = np.array([0, 1], dtype=np.int32)
    assert profile.values.per_location("cpu.time", nodes).tolist() == [[12.0, 8.0], [16.0, 16.0], [3.0, 2.0]]
    assert profile.exclusive("cpu.time").values.tolist() == [5.0, 26.0]


def test_a_metric_with_inclusive_values_only_gets_its_exclusive_ones_from_the_tree():
    graph = Graph.from_lists(["main", ["a", "b"], "c"])
    main, a, b, c = graph.traverse()
    total = {main: 10.0, a: math.nan, b: 3.0, c: 2.0}
    rows = [{"node": node, "name": node.frame["name"], "time (inc)": value} for node, value in total.items()]
    profile = Profile.from_graphframe(graphframe(graph, rows, (), ["time (inc)"]))
    assert profile.table().set_index("name")["exclusive"].to_dict() == {"main": 5.0, "b": 3.0, "c": 2.0}
    assert profile.exclusive("cpu.time").at(1) is None  # a was not measured


def test_a_metric_with_exclusive_values_only_gets_its_inclusive_ones_from_the_tree():
    frame = hatchet.GraphFrame.from_lists(["main", ["a", "b"], "c"])
    bare = hatchet.GraphFrame(frame.graph, frame.dataframe[["time", "name"]], ["time"], [])
    profile = Profile.from_graphframe(bare)
    assert profile.inclusive("cpu.time").values.tolist() == [4.0, 2.0, 1.0, 1.0]


def test_a_function_with_several_callers_stands_beside_them_and_keeps_its_time():
    shared = Node(Frame(name="dgemm", type="function"))
    graph = Graph.from_lists(["main", ["a", shared], ["b", shared]])
    frame = graphframe(
        graph,
        [{"node": n, "name": n.frame["name"], "time": 1.0, "time (inc)": 9.0} for n in graph.traverse()],
        ["time"],
        ["time (inc)"],
    )
    profile = Profile.from_graphframe(frame)
    assert profile.total("cpu.time") == 4.0
    assert sorted(profile.tree.label(int(root)) for root in profile.tree.roots) == ["dgemm", "main"]
    assert "Functions with several callers (1)" in profile.caveats[0]


def test_inclusive_values_alone_of_a_call_graph_are_left_out_and_said_to_be():
    shared = Node(Frame(name="dgemm", type="function"))
    graph = Graph.from_lists(["main", ["a", shared], ["b", shared]])
    rows = [{"node": n, "name": n.frame["name"], "time (inc)": 9.0} for n in graph.traverse()]
    profile = Profile.from_graphframe(graphframe(graph, rows, (), ["time (inc)"]))
    assert profile.metrics == {}
    assert "time is excluded" in profile.caveats[1]


def test_a_cycle_ends_where_it_began():
    graph = Graph.from_lists(["main", ["f", "g"]])
    main, f, g = graph.traverse()
    g.add_child(f)
    f.add_parent(g)
    rows = [{"node": n, "name": n.frame["name"], "time": 1.0} for n in (main, f, g)]
    table = pd.DataFrame(rows).set_index("node")
    profile = Profile.from_graphframe(hatchet.GraphFrame(graph, table, ["time"], []))
    assert profile.total("cpu.time") == 3.0


def test_columns_of_readers_with_other_names_are_understood():
    graph = Graph.from_lists(["main", "solve", "x"])
    main, solve, x = graph.traverse()
    rows = [
        {"node": main, "name": "main", "type": "PF", "source.file": "a.c", "source.line": 3.0, "module": "/opt/a",
         "sum#inclusive#sum#time.duration": 3.0, "sum#sum#time.duration": 1.0, "avg#L2 misses": 5.0, "Bytes/s": 2.0},
        {"node": solve, "name": "Loop@src/b.c:17", "type": "loop", "source.file": None, "source.line": math.nan,
         "module": None, "sum#inclusive#sum#time.duration": 2.0, "sum#sum#time.duration": 2.0, "avg#L2 misses": 5.0,
         "Bytes/s": 2.0},
        {"node": x, "name": "weird", "type": "statement", "source.file": None, "source.line": math.nan,
         "module": None, "sum#inclusive#sum#time.duration": math.nan, "sum#sum#time.duration": math.nan,
         "avg#L2 misses": math.nan, "Bytes/s": math.nan},
    ]  # fmt: skip
    profile = Profile.from_graphframe(graphframe(graph, rows))
    tree = profile.tree
    assert [NodeKind(k).text for k in tree.kind.tolist()] == ["function", "loop", "line"]
    assert [tree.label(i) for i in range(3)] == ["main", "loop at b.c:17", "weird"]
    assert (tree.place(0), tree.file_name(1), tree.module_name(0)) == ("a.c:3", "src/b.c", "/opt/a")
    assert sorted(profile.metrics) == ["cpu.time", "other.avg-l2-misses", "other.bytes-s"]
    assert profile.metrics["other.avg-l2-misses"].aggregation == Aggregation.DERIVED
    assert profile.total("cpu.time") == 3.0


def test_metrics_are_read_in_their_own_unit():
    graph = Graph.from_lists(["main"])
    (main,) = graph.traverse()
    rows = [{"node": main, "name": "main", "CPUTIME (usec)": 2_000_000, "REALTIME (sec)": 3.0}]
    profile = Profile.from_graphframe(graphframe(graph, rows, ["CPUTIME (usec)", "REALTIME (sec)"]))
    assert profile.total("cpu.time") == pytest.approx(2.0)
    assert profile.total("CPUTIME (usec)") == pytest.approx(2.0)
    assert profile.metrics["cpu.time"].unit == Unit.SECONDS
    assert profile.total("cpu.time.2") == 3.0


def test_metrics_that_carry_our_ids_keep_them():
    graph = Graph.from_lists(["main"])
    (main,) = graph.traverse()
    rows = [{"node": main, "name": "main", "gpu.kernel.time": 3.0, "io.read.bytes": 64.0}]
    profile = Profile.from_graphframe(graphframe(graph, rows, ["gpu.kernel.time", "io.read.bytes"]))
    assert profile.metrics["gpu.kernel.time"].unit == Unit.SECONDS
    assert profile.metrics["io.read.bytes"].unit == Unit.BYTES


def test_a_column_without_any_value_is_a_metric_without_values():
    frame = hatchet.GraphFrame.from_lists(["main"])
    frame.dataframe["energy"] = math.nan
    frame.exc_metrics.append("energy")
    profile = Profile.from_graphframe(frame)
    assert not profile.metrics["other.energy"].has_values
    assert len(profile.exclusive("energy")) == 0


def test_values_are_added_up_over_an_index_level_that_is_no_location():
    graph = Graph.from_lists(["main"])
    rows = [{"node": node, "step": step, "name": "main", "time": 1.0} for node in graph.traverse() for step in (0, 1)]
    profile = Profile.from_graphframe(graphframe(graph, rows, ["time"], levels=("node", "step")))
    assert profile.total("cpu.time") == 2.0
    assert profile.caveats == ("Values were added up over step.",)


def test_a_copy_of_a_graphframe_whose_rows_point_at_the_old_nodes_is_read_by_number():
    frame = HEAT.graphframe()
    mixed = hatchet.GraphFrame(HEAT.graphframe().graph, frame.dataframe, frame.exc_metrics, frame.inc_metrics)
    assert Profile.from_graphframe(mixed).total("cpu.time") == 7.5


def test_a_row_without_a_node_in_the_graph_is_refused():
    frame = HEAT.graphframe()
    alone = hatchet.GraphFrame(Graph([Node(Frame(name="x"), hnid=99)]), frame.dataframe, ["cpu.time"], [])
    with pytest.raises(AdapterError, match="not in its graph"):
        Profile.from_graphframe(alone)


def test_values_that_do_not_fit_the_tree_are_said():
    frame = hatchet.GraphFrame.from_literal([literal("main", 1.0, 10.0, literal("a", 1.0, 1.0))])
    assert "exclusive values sum to 2" in Profile.from_graphframe(frame).caveats[0]


def test_graphframes_of_hatchets_own_readers_are_read(tmp_path):
    profiler = pytest.importorskip("cProfile").Profile()
    profiler.enable()
    sorted(range(1000), key=lambda number: -number)
    os.path.normpath("a/../b")
    profiler.disable()
    profiler.dump_stats(tmp_path / "stats")
    profile = Profile.from_graphframe(hatchet.GraphFrame.from_cprofile(str(tmp_path / "stats")))
    assert profile.total("cpu.time") >= 0.0
    assert any("sorted" in name for name in profile.table()["name"])
