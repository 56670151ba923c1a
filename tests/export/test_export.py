"""What is handed on is what was read: sums compared with those of the profile, structure by other readers."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from chathpc.errors import UsageError
from chathpc.export import TARGETS, exporter
from chathpc.export.perfetto import stays
from chathpc.profile.metric import Aggregation, Metric, Unit
from chathpc.profile.profile import Profile
from chathpc.profile.remark import Device
from chathpc.profile.timeline import IntervalLane, Lane, LaneKind, Timeline
from tests.adapters.test_load import database  # noqa: F401  a fixture
from tests.profile.build import build, call, line, loop
from tests.profile.strategies import profiles
from tests.profile.test_helper_threads import with_helpers

SMALL = build(
    call(
        "main",
        line("a.c:3", time=0.25),
        loop("a.c:5", line("a.c:6", time=1.0), call("exp;2\n", time=2.0, module="/lib/libm.so")),
        call("solve", line("a.c:12", time=0.5), time=0.125),
        at="a.c:1",
    )
)


def weights(folded: str) -> dict[str, int]:
    return {path: int(weight) for path, _, weight in (row.rpartition(" ") for row in folded.splitlines())}


def test_folded_stacks_are_functions_with_microseconds():
    assert weights(exporter("folded")(SMALL, None)) == {
        "main": 1250000,
        "main;exp:2\N{REPLACEMENT CHARACTER}": 2000000,
        "main;solve": 625000,
    }  # a semicolon and a line break cannot be part of a name there


@given(profiles(locations=None))
def test_folded_weights_sum_to_the_total_within_one_unit(profile):
    for name, metric in profile.metrics.items():
        values = profile.exclusive(name).values
        if (values >= 0).all() and values.sum() > 0:
            scale = 1e6 if metric.unit == Unit.SECONDS else 1.0
            assert abs(sum(weights(exporter("folded")(profile, name)).values()) - profile.total(name) * scale) <= 1


def test_speedscope_has_one_profile_a_metric_and_its_weights_sum_to_the_total():
    document = json.loads(exporter("speedscope")(SMALL, None))
    assert document["$schema"].startswith("https://www.speedscope.app/")
    (sampled,) = document["profiles"]
    assert sum(sampled["weights"]) == sampled["endValue"] == SMALL.total("cpu.time")
    assert sampled["unit"] == "seconds"
    names = [frame["name"] for frame in document["shared"]["frames"]]
    paths = {tuple(names[index] for index in stack) for stack in sampled["samples"]}
    assert paths == {("main",), ("main", "exp;2\n"), ("main", "solve")}
    assert document["shared"]["frames"][0] == {"name": "main", "file": "a.c", "line": 1}


def test_speedscope_leaves_out_what_does_not_add_up_and_what_is_hidden():
    metrics = {
        **SMALL.metrics,
        "io.read.bytes": Metric("io.read.bytes", Unit.BYTES, "bytes", "bytes"),
        "rate": Metric("rate", Unit.RATIO, "rate", "rate", aggregation=Aggregation.DERIVED),
        "secret": Metric("secret", Unit.COUNT, "inner", "inner", hidden=True),
    }
    document = json.loads(exporter("speedscope")(replace(SMALL, metrics=metrics), None))
    assert [one["name"].split()[0] for one in document["profiles"]] == ["cpu.time", "io.read.bytes"]
    assert [one["unit"] for one in document["profiles"]] == ["seconds", "bytes"]


def test_nodes_that_hatchet_orders_otherwise_keep_their_time():
    import hatchet

    profile = build(call("main", call("z", time=2.0), call("a", time=1.0), time=0.5))
    frame = hatchet.GraphFrame.from_json(exporter("hatchet-json")(profile, None))
    assert dict(zip(frame.dataframe["name"], frame.dataframe["time"], strict=True)) == {"main": 0.5, "z": 2, "a": 1}


def test_hatchet_reads_its_json_back_with_the_same_values():
    import hatchet

    frame = hatchet.GraphFrame.from_json(exporter("hatchet-json")(SMALL, None))
    again = Profile.from_graphframe(frame)
    assert again.total("cpu.time") == SMALL.total("cpu.time")
    assert frame.dataframe["time"].sum() == SMALL.total("cpu.time")
    assert "main" in frame.tree()  # of its default metric, time
    ours, theirs = SMALL.table("function", "cpu.time"), again.table("function", "cpu.time")
    assert sorted(zip(ours["name"], ours["inclusive"], strict=True)) == sorted(
        zip(theirs["name"], theirs["inclusive"], strict=True)
    )


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@given(profiles(locations=None))
def test_the_table_has_every_node_and_value(profile):
    table = rows(exporter("csv")(profile, None))
    assert [int(row["parent"]) for row in table] == profile.tree.parent.tolist()
    for name, metric in profile.metrics.items():
        if not metric.has_values:
            continue
        for heading, column in (("", profile.exclusive(name)), (" (inc)", profile.inclusive(name))):
            found = [row[f"{name}{heading} [{metric.unit}]"] for row in table]
            dense = column.dense(len(table), missing=np.nan).tolist()
            assert [None if value == "" else float(value) for value in found] == [None if v != v else v for v in dense]


def test_the_table_of_one_metric_has_its_columns_only_and_no_formulas():
    profile = build(call("=HYPERLINK(1)", time=1.0), call("-x\x1b[2J", time=2.0))
    table = rows(exporter("csv")(profile, "cpu.time"))
    assert [row["name"] for row in table] == ["'=HYPERLINK(1)", "'-x\N{REPLACEMENT CHARACTER}[2J"]
    assert list(table[0])[8:] == ["cpu.time [s]", "cpu.time (inc) [s]"]


def traced() -> Profile:
    spans = IntervalLane(
        LaneKind.H2D, 0, 0, np.array([1100, 1500]), np.array([1400, 1600]), np.array([1, -1], dtype=np.int32),
        bytes=np.array([64, 128]),
    )  # fmt: skip
    host = IntervalLane(LaneKind.API, -1, -1, np.array([1000]), np.array([1010]), np.array([0], dtype=np.int32))
    lane = Lane(0, np.array([1000, 1200, 1700], dtype=np.uint64), np.array([1, -1, 2], dtype=np.int32))
    timeline = Timeline(1000, 2000, (lane,), (spans, host))
    return replace(SMALL, read_timeline=lambda: timeline, devices={0: Device("H100")})


def test_the_timeline_as_a_table_has_every_interval_from_the_beginning():
    table = rows(exporter("timeline-csv")(traced(), None))
    assert [tuple(row.values()) for row in table] == [
        ("gpu-copy-h2d", "0", "thread 0", "100", "400", "main", "64"),
        ("gpu-copy-h2d", "0", "thread 0", "500", "600", "", "128"),
        ("host-api", "", "", "0", "10", "main", ""),
        ("context", "", "thread 0", "0", "200", "main", ""),
        ("context", "", "thread 0", "700", "1000", "main", ""),
    ]


@pytest.mark.parametrize("target", ["perfetto", "timeline-csv"])
def test_a_lane_without_samples_has_no_stays(target):
    nothing = Lane(0, np.array([], dtype=np.uint64), np.array([], dtype=np.int32))
    some = Lane(0, np.array([1000], dtype=np.uint64), np.array([1], dtype=np.int32))
    profile = replace(SMALL, read_timeline=lambda: Timeline(1000, 2000, (nothing, some)))
    assert exporter(target)(profile, None).count("main") == 1


def test_perfetto_gets_a_track_for_each_lane_and_a_process_for_each_device():
    document = json.loads(exporter("perfetto")(traced(), None))
    events = document["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M"}
    assert names[(2, 0)] == "GPU 0: H100"
    assert "gpu-copy-h2d thread 0" in names.values()
    complete = [(e["name"], e["pid"], e["ts"], e["dur"], e.get("args")) for e in events if e["ph"] == "X"]
    assert complete[0] == ("main", 2, 0.1, 0.3, {"bytes": 64})
    assert complete[1][0] == "gpu-copy-h2d"
    assert len(complete) == 5


def test_calls_of_a_sampled_trace_lie_in_one_another_and_go_on_over_samples():
    tree = SMALL.tree
    exp, solve = (next(n for n in range(len(tree)) if tree.label(n).startswith(name)) for name in ("exp", "solve"))
    solve_line = next(n for n in range(len(tree)) if tree.label(n) == "a.c:12")
    found = stays(tree, [0, 100, 300, 400, 700], [exp, solve, solve_line, -1, exp], 1000)
    assert [(each.start, each.end, each.depth, tree.label(each.node)[:5]) for each in found] == [
        (0, 400, 0, "main"),
        (0, 100, 1, "exp;2"),
        (100, 400, 1, "solve"),
        (700, 1000, 0, "main"),
        (700, 1000, 1, "exp;2"),
    ]


@pytest.mark.parametrize("target", ["perfetto", "timeline-csv"])
def test_helper_threads_are_in_no_timeline_unless_they_are_asked_for(target):
    profile = with_helpers()
    lanes = tuple(Lane(at, np.array([1000], dtype=np.uint64), np.array([0], dtype=np.int32)) for at in range(6))
    spans = tuple(IntervalLane(LaneKind.OS, -1, lane.location, lane.start, lane.start + 1, lane.node) for lane in lanes)
    profile = replace(profile, read_timeline=lambda: Timeline(1000, 2000, lanes, spans))
    threads = [f"rank {rank} thread {thread}" for rank in range(2) for thread in range(3)]
    for chosen, shown in ((profile, threads[::3]), (profile.everything, threads)):
        text = exporter(target)(chosen, None)
        text = text.decode() if isinstance(text, bytes) else text
        assert [thread for thread in threads if thread in text] == shown


@pytest.mark.parametrize("target", ["perfetto", "timeline-csv"])
def test_without_a_timeline_the_remedy_is_told(target):
    with pytest.raises(UsageError, match="no timeline") as caught:
        exporter(target)(SMALL, None)
    assert "nsys profile" in caught.value.hint


def test_a_metric_that_does_not_add_up_is_refused():
    rate = Metric("rate", Unit.RATIO, "rate", "rate", aggregation=Aggregation.DERIVED)
    profile = replace(SMALL, metrics={**SMALL.metrics, "rate": rate})
    with pytest.raises(UsageError, match="'rate' does not add up") as caught:
        exporter("folded")(profile, "rate")
    assert "cpu.time" in caught.value.hint
    with pytest.raises(UsageError, match="no metric that adds up"):
        exporter("speedscope")(replace(SMALL, metrics={"rate": rate}), None)


def test_a_profile_without_a_tree_is_refused_where_one_is_needed():
    with pytest.raises(UsageError, match="no call tree"):
        exporter("hatchet-json")(build(), None)


def test_the_command_writes_every_format_or_says_why_not(database: Path, tmp_path: Path) -> None:  # noqa: F811
    from click.testing import CliRunner

    from chathpc.commands.main import cli

    for target in TARGETS:
        file = tmp_path / target
        result = CliRunner().invoke(cli, ["export", str(database), "--to", target, "-o", str(file)])
        if target == "roofline-png":  # nothing counted operations here
            assert (type(result.exception), file.exists()) == (UsageError, False)
            continue
        assert result.exit_code == 0, result.output
        assert file.stat().st_size > 100
