from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.errors import UsageError
from chathpc.profile.metric import Aggregation
from chathpc.profile.tables import GROUPINGS, function_table, group_nodes, rows_of
from tests.profile.build import (
    build,
    call,
    called_code,
    entry,
    gpu_op,
    inlined,
    kernel,
    line,
    loop,
    nested,
    placeholder,
)
from tests.profile.strategies import METRICS, profiles


def as_dict(frame, *columns):
    keys = ["name"] if not columns else list(columns)
    rows = {}
    for row in frame.to_dict("records"):
        rows[tuple(row[k] for k in keys) if columns else row["name"]] = (row["exclusive"], row["inclusive"])
    return rows


HEAT = build(
    entry(
        "main thread",
        call(
            "main",
            line("heat.c:11", call("init", line("heat.c:5", time=1.0), at="heat.c:4", module="/opt/heat")),
            loop(
                "heat.c:12",
                loop(
                    "heat.c:13",
                    line(
                        "heat.c:14",
                        call("exp", time=2.0, module="/lib/libm.so.6"),
                        inlined("square", line("heat.c:2", time=0.5), at="heat.c:1"),
                        time=4.0,
                    ),
                    time=0.25,
                ),
                line("heat.c:15", time=0.125),
            ),
            at="heat.c:10",
            module="/opt/heat",
            time=0.0625,
        ),
    ),
    entry("application thread", called_code("/lib/libgomp.so.1.0.0", time=8.0)),
)


def test_functions_are_sorted_by_their_own_time_and_add_up_to_the_total():
    frame = HEAT.table()
    assert list(frame.columns) == ["name", "file", "line", "module", "exclusive", "inclusive"]
    assert frame["name"].tolist() == [
        "<insn> libgomp.so.1.0.0", "main", "exp", "init", "square", "application thread", "main thread",
    ]  # fmt: skip
    assert frame["exclusive"].tolist() == [8.0, 4.4375, 2.0, 1.0, 0.5, 0.0, 0.0]
    assert frame["inclusive"].tolist() == [8.0, 7.9375, 2.0, 1.0, 0.5, 8.0, 7.9375]
    assert frame["exclusive"].sum() == HEAT.total("cpu.time") == 15.9375


def test_a_row_has_the_place_of_its_function():
    frame = HEAT.table().set_index("name")
    assert frame.loc["main", ["file", "line", "module"]].tolist() == ["heat.c", 10, "/opt/heat"]
    assert frame.loc["exp", ["file", "line", "module"]].tolist() == [None, 0, "/lib/libm.so.6"]
    assert frame.loc["square", "module"] == "/opt/heat"  # inlined code is in its caller's module


def test_lines_have_the_time_that_sits_on_them_and_headers_what_has_no_line():
    assert as_dict(HEAT.table("line"), "name", "file", "line") == {
        ("<insn> libgomp.so.1.0.0", None, 0): (8.0, 8.0),
        ("main", "heat.c", 14): (4.0, 6.5),
        ("exp", None, 0): (2.0, 2.0),
        ("init", "heat.c", 5): (1.0, 1.0),
        ("square", "heat.c", 2): (0.5, 0.5),
        ("main", "heat.c", 13): (0.25, 0.25),
        ("main", "heat.c", 15): (0.125, 0.125),
        ("main", "heat.c", 10): (0.0625, 0.0625),
        ("main", "heat.c", 11): (0.0, 1.0),
    }


def test_a_loop_has_neither_nested_loops_nor_called_functions_in_its_own_time():
    assert as_dict(HEAT.table("loop"), "file", "line") == {
        ("heat.c", 13): (4.25, 6.75),
        ("heat.c", 12): (0.125, 6.875),
    }


def test_modules_have_all_time_and_code_without_one_is_in_that_of_its_caller():
    rows = as_dict(HEAT.table("module"))
    assert rows == {
        "libgomp.so.1.0.0": (8.0, 8.0),
        "heat": (5.9375, 7.9375),
        "libm.so.6": (2.0, 2.0),
        "<unknown module>": (0.0, 15.9375),
    }


def test_a_recursive_function_is_counted_once_in_the_inclusive_column():
    profile = build(call("main", call("fib", call("fib", time=1.0), call("add", call("fib", time=2.0)), time=4.0)))
    assert as_dict(profile.table()) == {"fib": (7.0, 7.0), "main": (0.0, 7.0), "add": (0.0, 2.0)}


def test_functions_of_one_name_are_one_row_placed_where_most_of_its_time_is():
    profile = build(
        call("main", call("f", at="a.c:1", time=1.0), call("f", at="b.c:2", time=1.5), call("f", at="b.c:2", time=1.0))
    )
    frame = profile.table().set_index("name")
    assert frame.loc["f", ["file", "line", "exclusive"]].tolist() == ["b.c", 2, 3.5]


def test_a_function_without_own_time_is_placed_where_most_passes_through():
    profile = build(
        call("main", call("f", call("g", time=1.0), at="a.c:1"), call("f", call("g", time=3.0), at="b.c:2"))
    )
    frame = profile.table().set_index("name")
    assert frame.loc["f", ["file", "line", "inclusive"]].tolist() == ["b.c", 2, 4.0]


def test_a_nested_function_keeps_its_time_from_the_one_around_it():
    profile = build(call("x", nested("x._omp_fn.0", line("x.f90:3", time=2.0)), time=1.0))
    assert as_dict(profile.table()) == {"x._omp_fn.0": (2.0, 2.0), "x": (1.0, 3.0)}


def test_a_line_in_recursion_is_counted_once():
    profile = build(
        call("f", line("f.c:2", call("f", line("f.c:2", time=1.0), at="f.c:1", time=4.0), time=2.0), at="f.c:1")
    )
    assert as_dict(profile.table("line"), "line") == {(2,): (3.0, 7.0), (1,): (4.0, 4.0)}


def test_a_function_on_one_line_with_its_code_is_one_row_with_both():
    profile = build(call("f", line("f.c:1", call("g", time=1.0), time=2.0), at="f.c:1", time=4.0))
    assert as_dict(profile.table("line"), "line")[(1,)] == (6.0, 7.0)


def test_nested_contexts_of_the_same_loop_count_once():
    profile = build(call("f", loop("f.c:2", call("f", loop("f.c:2", time=1.0)), time=2.0)))
    assert as_dict(profile.table("loop"), "line") == {(2,): (3.0, 3.0)}


def test_loops_without_a_place_are_told_apart_by_their_functions():
    profile = build(call("f", loop("", time=1.0), call("g", loop("", time=2.0))))
    assert as_dict(profile.table("loop")) == {"g": (2.0, 2.0), "f": (1.0, 1.0)}


def test_functions_that_were_not_measured_have_no_row_and_measured_zeros_do():
    profile = build(call("main", call("zero", time=0.0), call("io", values={"io.read.bytes": 5.0}), time=1.0))
    assert as_dict(profile.table()) == {"main": (1.0, 1.0), "zero": (0.0, 0.0)}
    assert as_dict(profile.table("function", "io.read.bytes")) == {"io": (5.0, 5.0), "main": (0.0, 5.0)}


def test_an_unknown_grouping_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="'thread'") as caught:
        HEAT.table("thread")
    assert "function, line, loop, module, kernel" in caught.value.hint


def test_a_derived_metric_has_no_table():
    profile = build(kernel("k", values={"gpu.kernel.registers": 32.0}))
    with pytest.raises(UsageError, match="does not add up"):
        profile.table("function", "gpu.kernel.registers")


def test_a_metric_that_is_a_maximum_is_not_added_up():
    profile = build(call("f", time=3.0), call("f", time=5.0))
    highest = rows_of(
        profile,
        type(profile.metrics["cpu.time"])(
            **{**_fields(profile.metrics["cpu.time"]), "aggregation": Aggregation.MAX},
        ),
        group_nodes(profile.tree, "function"),
    )
    assert highest.exclusive.tolist() == [5.0]


def _fields(metric):
    return {name: getattr(metric, name) for name in metric.__slots__}


def test_an_empty_profile_has_empty_tables():
    profile = build(call("main"))
    for by in GROUPINGS:
        with pytest.raises(UsageError):
            profile.table(by, "cpu.time")
    nothing = build(call("main", values={"cpu.time": 0.0}))
    assert len(nothing.table("kernel")) == len(nothing.table("loop")) == 0


# -- against a naive reader ---------------------------------------------------------------------------------------


@given(profiles(metrics=METRICS[:1]))
def test_the_function_table_equals_walking_up_from_every_node(profile):
    tree, metric = profile.tree, profile.metrics["cpu.time"]
    own, total = profile.exclusive("cpu.time"), profile.inclusive("cpu.time")
    exclusive: dict[str, float] = defaultdict(float)
    inclusive: dict[str, float] = defaultdict(float)
    for node in range(len(tree)):
        if (value := own.at(node)) is not None:
            exclusive[tree.function_name(node)] += value
        functions = {tree.function_name(a) for a in tree.path(node)[:-1]}
        if tree.function[node] == node and (value := total.at(node)) is not None:
            if tree.function_name(node) not in functions:
                inclusive[tree.function_name(node)] += value
            exclusive[tree.function_name(node)] += 0.0
    rows = function_table(profile, metric)
    found = dict(zip(rows.name, rows.exclusive.tolist(), strict=True))
    assert found == dict(exclusive)
    assert dict(zip(rows.name, rows.inclusive.tolist(), strict=True)) == {n: inclusive[n] for n in exclusive}
    assert rows.exclusive.tolist() == sorted(rows.exclusive.tolist(), reverse=True)
    assert [tree.function_name(node) for node in rows.node.tolist()] == rows.name


@given(profiles(metrics=METRICS[:1]), st.sampled_from(["function", "line", "module"]))
def test_every_value_is_in_exactly_one_row(profile, by):
    rows = rows_of(profile, profile.metrics["cpu.time"], group_nodes(profile.tree, by))
    assert rows.exclusive.sum() == profile.total("cpu.time")
    own = profile.exclusive("cpu.time")
    again = np.bincount(rows.row_of[own.nodes], weights=own.values, minlength=len(rows)) if len(rows) else np.empty(0)
    assert again.tolist() == rows.exclusive.tolist()


@given(profiles(metrics=METRICS[:1]), st.sampled_from(GROUPINGS))
def test_no_row_is_smaller_than_its_own_time_or_larger_than_the_run(profile, by):
    rows = rows_of(profile, profile.metrics["cpu.time"], group_nodes(profile.tree, by))
    assert (rows.inclusive >= rows.exclusive).all() or by == "line"
    assert (rows.inclusive <= profile.total("cpu.time")).all()
    profile.table(by)


# -- locations and kernels ----------------------------------------------------------------------------------------


def test_the_location_table_has_a_row_per_thread_and_a_column_per_summed_metric():
    profile = build(call("main", call("a", time=(1.0, 2.0)), values={"io.read.bytes": (64.0, None)}))
    frame = profile.locations
    assert frame["label"].tolist() == ["thread 0", "thread 1"]
    assert frame["thread"].tolist() == [0, 1]
    assert frame["rank"].tolist() == [-1, -1]
    assert frame["cpu.time"].tolist() == [1.0, 2.0]
    assert frame["io.read.bytes"].tolist()[0] == 64.0
    assert math.isnan(frame["io.read.bytes"].tolist()[1])


GPU = build(
    call(
        "main",
        gpu_op("<gpu kernel>", kernel("axpy", line("a.cu:3", values={"gpu.stall.memory": 70.0}), module="a.gpubin",
            values={"gpu.kernel.time": 2.0, "gpu.kernel.count": 3.0, "gpu.kernel.registers": 32.0})),
        gpu_op("<gpu kernel>", kernel("axpy", module="a.gpubin",
            values={"gpu.kernel.time": 1.0, "gpu.kernel.count": 1.0, "gpu.kernel.registers": 64.0})),
        gpu_op("<gpu kernel>", kernel("dot", values={"gpu.kernel.time": 4.0, "gpu.kernel.count": 10.0})),
    ),
)  # fmt: skip


def test_kernels_have_their_launches_time_and_launch_facts():
    frame = GPU.kernels
    assert frame["name"].tolist() == ["dot", "axpy"]
    assert frame["launches"].tolist() == [10.0, 4.0]
    assert frame["time"].tolist() == [4.0, 3.0]
    assert frame["module"].tolist() == [None, "a.gpubin"]
    registers = frame["gpu.kernel.registers"].tolist()
    assert math.isnan(registers[0])
    assert registers[1] == 40.0  # (3 × 32 + 1 × 64) / 4 launches
    assert frame["gpu.stall.memory"].tolist()[1] == 70.0
    assert math.isnan(frame["gpu.stall.memory"].tolist()[0])


def test_the_kernel_grouping_has_the_same_times():
    assert as_dict(GPU.table("kernel", "gpu.kernel.time")) == {"dot": (4.0, 4.0), "axpy": (3.0, 3.0)}


def test_without_gpu_data_the_kernel_table_is_empty_and_has_its_columns():
    assert len(HEAT.kernels) == 0
    assert list(HEAT.kernels.columns)[:4] == ["name", "module", "launches", "time"]


def test_waiting_states_without_a_module_count_for_their_caller():
    profile = build(call("main", placeholder("<omp barrier wait>", time=1.0), module="/opt/heat", time=2.0))
    assert as_dict(profile.table("module")) == {"heat": (3.0, 3.0)}
