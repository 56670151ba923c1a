"""Small experiment.xml documents and thread files written by hand; expected numbers are sums over what is written."""

from __future__ import annotations

import math
import os
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chathpc.adapters.glance import Glance
from chathpc.adapters.hpctoolkit_v3 import read, recognises
from chathpc.errors import AdapterError
from chathpc.profile.metric import Aggregation, Clock
from chathpc.profile.tree import NodeKind, Relation
from tests.synthetic.hpctoolkit_v3 import (
    STORED,
    TRACED,
    TRACED_NS,
    TREE,
    along_the_path,
    database,
    document,
    metric_db,
    packed,
    thread_name,
    trace,
)


def refused(path: Path) -> AdapterError:
    with pytest.raises(AdapterError) as caught:
        read(path)
    assert caught.value.hint, "an error says what to do"
    return caught.value


# -- the tree -------------------------------------------------------------------------------------------------


def test_elements_become_functions_loops_and_lines_in_preorder(tmp_path: Path) -> None:
    tree = read(database(tmp_path)).tree
    tree.check()
    kinds = [NodeKind(kind).name for kind in tree.kind]
    assert kinds == [
        *("ENTRY", "LINE", "FUNCTION", "LINE", "FUNCTION", "LOOP", "LINE", "LINE", "INLINED", "LINE", "LINE"),
        *("PLACEHOLDER", "LINE"),
    ]
    assert tree.source_id is not None
    assert tree.source_id.tolist() == list(range(2, 15))
    assert tree.depth.tolist() == [0, 1, 2, 3, 4, 5, 6, 6, 5, 6, 3, 0, 1]
    assert Relation(tree.relation[4]) == Relation.CALL
    assert Relation(tree.relation[8]) == Relation.INLINED_CALL
    assert Relation(tree.relation[5]) == Relation.LEXICAL


def test_lines_are_in_the_file_and_module_of_the_frame_around_them(tmp_path: Path) -> None:
    tree = read(database(tmp_path)).tree
    assert [tree.place(node) for node in (3, 6, 7, 9)] == ["heat.c:20", "heat.c:7", "heat.c:8", "heat.h:3"]
    assert tree.module_name(9) == "heat"
    assert tree.label(5) == "loop at heat.c:6"
    assert [tree.function_name(node) for node in (6, 9, 10)] == ["sweep", "<inline>", "main"]


def test_placeholders_are_not_shown_in_files_of_the_measurement_library(tmp_path: Path) -> None:
    tree = read(database(tmp_path)).tree
    for node in (0, 1, 11, 12):
        assert tree.file_name(node) is None
        assert tree.module_name(node) is None


def test_a_procedure_nested_in_another_is_lexical_and_not_inlined(tmp_path: Path) -> None:
    text = TREE.replace('n="13" a="1"', 'n="13" a="0"')
    tree = read(database(tmp_path, document(text))).tree
    assert NodeKind(tree.kind[8]) == NodeKind.FUNCTION
    assert Relation(tree.relation[8]) == Relation.LEXICAL


def test_the_function_below_a_gpu_launch_is_a_kernel(tmp_path: Path) -> None:
    text = """<PF i="2" l="1" lm="2" f="4" n="11"><C i="3" l="9"><PF i="4" l="130" lm="3" f="6" n="14">
      <C i="5" l="130"><PF i="6" l="0" lm="2" f="4" n="15"><S i="7" l="2"/></PF></C></PF></C></PF>"""
    tree = read(database(tmp_path, document(text))).tree
    kinds = [NodeKind(kind) for kind in tree.kind]
    assert kinds[2] == NodeKind.GPU_OP
    assert kinds[4] == NodeKind.GPU_KERNEL
    assert tree.place(3) == "", "the call site in a placeholder is in no file of the program"
    assert tree.place(5) == "heat.c:2"


def test_names_may_stand_in_elements_instead_of_the_tables(tmp_path: Path) -> None:
    text = '<PF i="2" l="3-9" lm="a.out" f="b.f90" n="advect_"><S i="3" l="5"/></PF>'
    tree = read(database(tmp_path, document(text))).tree
    assert tree.function_name(1) == "advect_"
    assert (tree.place(0), tree.place(1), tree.module_name(1)) == ("b.f90:3", "b.f90:5", "a.out")


def test_names_that_could_act_on_a_terminal_are_defused(tmp_path: Path) -> None:
    text = document().replace('n="sweep"', 'n="sw&#x202e;ee&#x9b;p"')
    assert "sw�ee�p" in read(database(tmp_path, text)).tree.names


# -- values ---------------------------------------------------------------------------------------------------


def test_totals_are_seconds_by_id_and_microseconds_by_the_name_of_the_tool(tmp_path: Path) -> None:
    profile = read(database(tmp_path))
    assert profile.total("CPUTIME (usec)") == pytest.approx(1000e-6, rel=1e-12)
    assert profile.total("cpu.time") == pytest.approx(1e-3, rel=1e-12)
    metric = profile.metrics["cpu.time"]
    assert (metric.source_unit, metric.scale, metric.clock) == ("usec", 1e-6, Clock.CPU)


def test_exclusive_values_are_those_of_nodes_and_sum_to_the_total(tmp_path: Path) -> None:
    profile = read(database(tmp_path))
    column = profile.exclusive("cpu.time")
    assert column.nodes.tolist() == [6, 7, 9, 10]
    assert column.values == pytest.approx([600e-6, 300e-6, 50e-6, 50e-6], rel=1e-12)
    assert profile.inclusive("cpu.time").at(5) == pytest.approx(900e-6, rel=1e-12)
    assert profile.inclusive("cpu.time").at(11) is None, "nothing was measured in <no activity>"


def test_functions_have_the_time_of_their_own_lines_and_loops(tmp_path: Path) -> None:
    table = read(database(tmp_path)).table("function").set_index("name")
    assert table.loc["sweep", "exclusive"] == pytest.approx(900e-6, rel=1e-12)
    assert table.loc["main", "exclusive"] == pytest.approx(50e-6, rel=1e-12)
    assert table.loc["main", "inclusive"] == pytest.approx(1000e-6, rel=1e-12)


def test_rounding_of_the_sums_gives_inner_nodes_no_time_of_their_own(tmp_path: Path) -> None:
    # 1234567 + 7654321 = 8888888, written with six digits: 1.23457e+06, 7.65432e+06, 8.88889e+06 (1 too many)
    text = """<PF i="2" l="1" lm="2" f="4" n="11"><M n="2" v="8.88889e+06"/>
      <S i="3" l="2"><M n="2" v="1.23457e+06"/></S><S i="4" l="3"><M n="2" v="7.65431e+06"/></S></PF>"""
    profile = read(database(tmp_path, document(text)))
    assert profile.exclusive("cpu.time").nodes.tolist() == [1, 2]
    assert any("six significant digits" in caveat for caveat in profile.caveats)


def test_an_inner_node_keeps_what_its_children_do_not_explain(tmp_path: Path) -> None:
    text = """<PF i="2" l="1" lm="2" f="4" n="11"><M n="2" v="100"/><S i="3" l="2"><M n="2" v="70"/></S></PF>"""
    profile = read(database(tmp_path, document(text)))
    assert profile.exclusive("cpu.time").values == pytest.approx([30e-6, 70e-6])


def test_children_with_more_than_their_parent_are_a_caveat(tmp_path: Path) -> None:
    text = """<PF i="2" l="1" lm="2" f="4" n="11"><M n="2" v="100"/><S i="3" l="2"><M n="2" v="170"/></S></PF>"""
    profile = read(database(tmp_path, document(text)))
    assert profile.total("CPUTIME (usec)") == pytest.approx(170e-6)
    assert any(caveat.startswith("1 values of experiment.xml are smaller") for caveat in profile.caveats)


def test_recursion_is_counted_once_in_the_inclusive_time_of_a_function(tmp_path: Path) -> None:
    text = """<PF i="2" l="1" lm="2" f="4" n="12"><M n="2" v="100"/><C i="3" l="2"><M n="2" v="60"/>
      <PF i="4" l="1" lm="2" f="4" n="12"><M n="2" v="60"/><S i="5" l="3"><M n="2" v="60"/></S></PF></C>
      <S i="6" l="3"><M n="2" v="40"/></S></PF>"""
    table = read(database(tmp_path, document(text))).table("function").set_index("name")
    assert table.loc["sweep", "inclusive"] == pytest.approx(100e-6)
    assert table.loc["sweep", "exclusive"] == pytest.approx(100e-6)


def test_columns_of_single_threads_are_added_up(tmp_path: Path) -> None:
    metrics = "".join(
        f'<Metric i="{number}" n="PAPI_TOT_CYC.[0,{thread}] ({scope})" t="nil"/>'
        for number, thread, scope in ((1, 0, "I"), (2, 0, "E"), (3, 1, "I"), (4, 1, "E"))
    )
    text = """<PF i="2" l="1" lm="2" f="4" n="11"><M n="1" v="7"/><M n="3" v="5"/>
      <S i="3" l="2"><M n="1" v="7"/><M n="2" v="7"/><M n="3" v="5"/><M n="4" v="5"/></S></PF>"""
    profile = read(database(tmp_path, document(text, metrics, "")))
    assert list(profile.metrics) == ["cpu.cycles"]
    assert profile.total("PAPI_TOT_CYC") == 12


def test_sums_are_preferred_to_columns_of_threads_and_other_statistics_are_left_out(tmp_path: Path) -> None:
    metrics = (
        '<Metric i="1" n="PAPI_TOT_INS.[0,0] (I)"/><Metric i="5" n="PAPI_TOT_INS:Sum (I)"/>'
        '<Metric i="6" n="PAPI_TOT_INS:Mean (I)"/><Metric i="7" n="PAPI_TOT_INS:Max (I)"/>'
    )
    values = '<M n="1" v="4"/><M n="5" v="9"/><M n="6" v="3"/><M n="7" v="4"/>'
    text = f'<PF i="2" l="1" n="11"><S i="3" l="2">{values}</S></PF>'
    profile = read(database(tmp_path, document(text, metrics, "")))
    assert list(profile.metrics) == ["cpu.instructions"]
    assert profile.exclusive("PAPI_TOT_INS").sum() == 9


def test_without_inclusive_values_the_exclusive_ones_of_statements_count(tmp_path: Path) -> None:
    text = """<PF i="2" l="1" n="11"><M n="3" v="8"/><S i="3" l="2"><M n="3" v="8"/></S></PF>"""
    only = '<Metric i="3" n="WALLCLOCK (usec):Sum (E)"/>'
    profile = read(database(tmp_path, document(text, only, "")))
    assert profile.total("WALLCLOCK (usec)") == pytest.approx(8e-6)
    assert profile.metrics["cpu.time"].clock == Clock.WALL


def test_formulas_of_the_viewer_are_computed_from_the_metrics_they_name(tmp_path: Path) -> None:
    metrics = """<Metric i="1" n="GKER:FGP_ACT_ACUMU:Sum (I)" o="0" show="4"/>
      <Metric i="2" n="GKER:FGP_MAX_ACUMU:Sum (I)" o="1"/>
      <Metric i="3" n="GKER:OCC_THR:Sum (I)" o="2"><MetricFormula t="view" frm="100*(#0/#1)"/></Metric>
      <Metric i="4" n="GKER:ODD:Sum (I)" o="3"><MetricFormula t="view" frm="sqrt(#0)"/></Metric>"""
    text = """<PF i="2" l="1" lm="2" f="4" n="15"><M n="1" v="24"/><M n="2" v="96"/>
      <S i="3" l="2"><M n="1" v="24"/><M n="2" v="32"/></S><S i="4" l="3"><M n="2" v="64"/></S></PF>"""
    profile = read(database(tmp_path, document(text, metrics, "")))
    occupancy = profile.metric("GKER:OCC_THR")
    assert occupancy.aggregation == Aggregation.DERIVED
    assert profile.exclusive(occupancy.id).at(1) == pytest.approx(100 * 24 / 32)
    assert profile.inclusive(occupancy.id).at(0) == pytest.approx(100 * 24 / 96)
    assert profile.total(occupancy.id) == pytest.approx(25)
    assert profile.metric("GKER:FGP_ACT_ACUMU").hidden
    assert "GKER:ODD" not in {metric.source_name for metric in profile.metrics.values()}
    nodes = np.array([0, 1], dtype=np.int32)
    assert profile.values.per_location(occupancy.id, nodes).tolist() == [[25.0, 75.0]]
    grouped = profile.values.grouped(occupancy.id, np.zeros(3, dtype=np.int32), 1)
    assert grouped.tolist() == [[25.0]]
    assert profile.values.location_totals(occupancy.id).tolist() == [25.0]
    assert math.isnan(profile.values.derived_total("gpu.nothing"))


# -- files of threads -----------------------------------------------------------------------------------------


def test_files_of_threads_give_exact_sums_and_values_by_location(tmp_path: Path) -> None:
    database(tmp_path)
    (tmp_path / thread_name(0, 0, "metric-db")).write_bytes(metric_db(along_the_path(8, 1234567.0)))
    (tmp_path / thread_name(1, 0, "metric-db")).write_bytes(metric_db(along_the_path(12, 7654322.0)))
    profile = read(tmp_path)
    assert profile.total("CPUTIME (usec)") == pytest.approx(8888889e-6, rel=1e-12)
    assert profile.where.counts().words() == "2 ranks"
    assert profile.values.location_totals("cpu.time") == pytest.approx([1.234567, 7.654322], rel=1e-12)
    nodes = np.array([2, 6, 10], dtype=np.int32)
    inclusive = profile.values.per_location("cpu.time", nodes)
    assert inclusive == pytest.approx(np.array([[1.234567, 1.234567, 0], [7.654322, 0, 7.654322]]), rel=1e-12)
    own = profile.values.per_location("cpu.time", nodes, inclusive=False)
    assert own == pytest.approx(np.array([[0, 1.234567, 0], [0, 0, 7.654322]]), rel=1e-12)
    groups = np.full(len(profile.tree), -1, dtype=np.int32)
    groups[[6, 10]] = 0, 1
    grouped = profile.values.grouped("cpu.time", groups, 2)
    assert grouped == pytest.approx(np.array([[1.234567, 0], [0, 7.654322]]), rel=1e-12)
    assert profile.caveats == ()


def test_packed_files_are_read_like_single_ones_and_streams_are_no_threads(tmp_path: Path) -> None:
    database(tmp_path)
    parts = [
        (0, 0, metric_db(along_the_path(8, 10.0))),
        (0, 3, metric_db(along_the_path(12, 4.0))),
        (0, 500, metric_db({})),
    ]
    (tmp_path / "experiment-1.mdb").write_bytes(packed(parts))
    profile = read(tmp_path)
    assert profile.total("CPUTIME (usec)") == pytest.approx(14e-6)
    assert [profile.where.label(row) for row in range(3)] == ["thread 0", "thread 3", "stream 0"]
    totals = profile.values.location_totals("cpu.time")
    assert totals[:2] == pytest.approx([10e-6, 4e-6])
    assert np.isnan(totals[2])


def test_a_program_of_more_than_500_threads_has_no_streams(tmp_path: Path) -> None:
    database(tmp_path)
    (tmp_path / "experiment-1.mdb").write_bytes(packed([(0, number, metric_db({})) for number in (0, 499, 500)]))
    assert not read(tmp_path).where.is_gpu.any()


def test_processes_with_equal_numbers_stay_apart(tmp_path: Path) -> None:
    database(tmp_path)
    for process in (1, 2):
        name = f"1.heat-000000-000-a8c00270-{process}-0.metric-db"
        (tmp_path / name).write_bytes(metric_db(along_the_path(8, 10.0 * process)))
    profile = read(tmp_path)
    assert profile.total("CPUTIME (usec)") == pytest.approx(30e-6)
    assert sorted(profile.values.location_totals("cpu.time")) == pytest.approx([10e-6, 20e-6])


def test_files_of_several_experiments_are_left_alone_and_the_sums_of_the_document_hold(tmp_path: Path) -> None:
    database(tmp_path)
    for group in ("1.", "2."):
        (tmp_path / thread_name(0, 0, "metric-db", group)).write_bytes(metric_db(along_the_path(8, 5.0)))
    assert read(tmp_path).total("CPUTIME (usec)") == pytest.approx(1000e-6)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "header"),
        (b"HPCPROF-metricdb__00.10b\0\0", "header"),
        (metric_db({})[:-8], "claims 14 × 2 values"),
        (b"HPCPROF-metricdb__00.10b" + struct.pack(">II", 2**32 - 1, 2**32 - 1), "claims"),
        (b"HPCPROF-metricdb__00.10b" + struct.pack(">II", 0, 2), "claims"),
        (metric_db({}).replace(b"metricdb", b"otherfil"), "does not begin with"),
        (metric_db({}).replace(b"00.10b", b"00.10l"), "big-endian"),
        (metric_db({}, nodes=5), "5 records"),
        (metric_db({2: math.nan}), "not a number"),
        (metric_db({2: math.inf}), "not a number"),
        (metric_db({}, metrics=0), "claims"),
    ],
)
def test_a_damaged_file_of_a_thread_is_refused(tmp_path: Path, content: bytes, what: str) -> None:
    database(tmp_path)
    path = tmp_path / thread_name(0, 0, "metric-db")
    path.write_bytes(content)
    with pytest.raises(AdapterError, match=what) as caught:
        read(tmp_path).total("cpu.time")
    assert caught.value.path == path


def test_files_of_threads_that_differ_in_shape_are_refused(tmp_path: Path) -> None:
    database(tmp_path)
    (tmp_path / thread_name(0, 0, "metric-db")).write_bytes(metric_db({}))
    (tmp_path / thread_name(1, 0, "metric-db")).write_bytes(metric_db({}, metrics=3))
    assert "14 × 3 values" in refused(tmp_path).message


def test_a_file_without_rank_and_thread_in_its_name_is_refused(tmp_path: Path) -> None:
    database(tmp_path)
    (tmp_path / "copy of thread.metric-db").write_bytes(metric_db({}))
    assert "no rank and thread" in refused(tmp_path).message


def test_a_stored_metric_that_the_files_do_not_have_is_refused(tmp_path: Path) -> None:
    database(tmp_path, document(stored=STORED.replace('db-id="0"', 'db-id="7"')))
    (tmp_path / thread_name(0, 0, "metric-db")).write_bytes(metric_db({}))
    assert "2 metrics" in refused(tmp_path).message


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-1],
        lambda data: data[:12],
        lambda data: b"",
        lambda data: data[:4] + b"\xff\xff\xff\xff" + data[8:],
    ],
)
def test_a_damaged_packed_file_is_refused(tmp_path: Path, change: object) -> None:
    database(tmp_path)
    assert callable(change)
    (tmp_path / "experiment-1.mdb").write_bytes(change(packed([(0, 0, metric_db({}))])))
    assert refused(tmp_path).path == tmp_path / "experiment-1.mdb"


def test_a_packed_file_whose_table_points_outside_is_refused(tmp_path: Path) -> None:
    database(tmp_path)
    data = bytearray(packed([(0, 0, metric_db({}))]))
    data[16:24] = struct.pack(">Q", 2**63)
    (tmp_path / "experiment-1.mdb").write_bytes(data)
    assert "points outside" in refused(tmp_path).message


# -- traces ---------------------------------------------------------------------------------------------------


def test_a_trace_tells_which_node_a_thread_was_at(tmp_path: Path) -> None:
    database(tmp_path, document(more=TRACED_NS))
    samples = [(100, 31), (200, 32), (300, 19), (350, 77)]
    (tmp_path / thread_name(0, 0, "hpctrace", "")).write_bytes(trace(samples))
    timeline = read(tmp_path).read_timeline()
    assert timeline is not None
    assert (timeline.begin, timeline.end) == (100, 350)
    (lane,) = timeline.lanes
    assert lane.start.tolist() == [100, 200, 300, 350]
    assert lane.node.tolist() == [6, 7, -1, -1], "<no activity> and an unknown id are idle"


def test_older_traces_count_microseconds(tmp_path: Path) -> None:
    database(tmp_path, document(more=TRACED))
    (tmp_path / thread_name(0, 0, "hpctrace", "")).write_bytes(trace([(5, 31), (7, 32)]))
    timeline = read(tmp_path).read_timeline()
    assert timeline is not None
    assert timeline.seconds == pytest.approx(2e-6)


def test_the_distance_to_the_last_sample_is_no_part_of_the_time(tmp_path: Path) -> None:
    database(tmp_path, document(more=TRACED))
    samples = [((1023 << 54) | 5, 31), ((4 << 54) | 9, 32)]
    (tmp_path / thread_name(0, 0, "hpctrace", "")).write_bytes(trace(samples, flags=2))
    timeline = read(tmp_path).read_timeline()
    assert timeline is not None
    assert timeline.lanes[0].start.tolist() == [5000, 9000]


def test_a_sample_may_carry_a_metric(tmp_path: Path) -> None:
    database(tmp_path, document(more=TRACED))
    body = b"".join(struct.pack(">QII", *one) for one in ((5, 31, 1), (9, 32, 1)))
    (tmp_path / thread_name(0, 0, "hpctrace", "")).write_bytes(trace([], flags=1) + body)
    timeline = read(tmp_path).read_timeline()
    assert timeline is not None
    assert timeline.lanes[0].node.tolist() == [6, 7]


def test_a_trace_of_version_one_has_no_flags(tmp_path: Path) -> None:
    database(tmp_path, document(more=TRACED))
    content = b"HPCRUN-trace______01.00b" + struct.pack(">QI", 5, 31)
    (tmp_path / thread_name(0, 0, "hpctrace", "")).write_bytes(content)
    timeline = read(tmp_path).read_timeline()
    assert timeline is not None
    assert timeline.lanes[0].node.tolist() == [6]


def test_lanes_belong_to_the_locations_of_the_values(tmp_path: Path) -> None:
    database(tmp_path, document(more=TRACED))
    (tmp_path / "experiment-1.mdb").write_bytes(packed([(0, 1, metric_db({})), (0, 0, metric_db({}))]))
    (tmp_path / "experiment.mt").write_bytes(packed([(0, 500, trace([(1, 31)])), (0, 1, trace([(2, 32)]))]))
    profile = read(tmp_path)
    timeline = profile.read_timeline()
    assert timeline is not None
    assert [profile.where.label(lane.location) for lane in timeline.lanes] == ["thread 1", "stream 0"]


def test_sums_belong_to_the_only_thread_that_a_trace_shows(tmp_path: Path) -> None:
    database(tmp_path, document(more=TRACED))
    for thread in (0, 500):
        (tmp_path / thread_name(0, thread, "hpctrace", "")).write_bytes(trace([(1, 31)]))
    profile = read(tmp_path)
    totals = profile.values.location_totals("cpu.time")
    assert totals[0] == pytest.approx(1e-3)
    assert np.isnan(totals[1])


def test_sums_belong_to_no_location_if_there_are_several_threads(tmp_path: Path) -> None:
    database(tmp_path, document(more=TRACED))
    for thread in (0, 1):
        (tmp_path / thread_name(0, thread, "hpctrace", "")).write_bytes(trace([(1, 31)]))
    profile = read(tmp_path)
    assert np.isnan(profile.values.location_totals("cpu.time")).all()
    assert profile.total("CPUTIME (usec)") == pytest.approx(1000e-6)


def test_traces_without_a_sample_are_no_timeline(tmp_path: Path) -> None:
    database(tmp_path, document(more=TRACED))
    (tmp_path / thread_name(0, 0, "hpctrace", "")).write_bytes(trace([]))
    assert read(tmp_path).read_timeline() is None
    assert read(database(tmp_path)).read_timeline() is None


@pytest.mark.parametrize(
    "content",
    [
        trace([(1, 31)])[:-1],
        trace([(2, 31), (1, 31)]),
        trace([(1, 31)], flags=64),
        b"HPCRUN-trace______01.01b\0",
        trace([(2**64 - 1, 31)]),
        b"",
    ],
)
def test_a_damaged_trace_is_refused_when_it_is_read(tmp_path: Path, content: bytes) -> None:
    database(tmp_path, document(more=TRACED))
    (tmp_path / thread_name(0, 0, "hpctrace", "")).write_bytes(content)
    profile = read(tmp_path)
    with pytest.raises(AdapterError):
        profile.read_timeline()


# -- what is not such a database ------------------------------------------------------------------------------


def test_a_folder_or_its_document_is_recognised_and_nothing_else(tmp_path: Path) -> None:
    database(tmp_path)
    assert recognises(Glance(tmp_path))
    assert recognises(Glance(tmp_path / "experiment.xml"))
    other = tmp_path / "other"
    other.mkdir()
    assert not recognises(Glance(other))
    (other / "experiment.xml").write_text("<experiment/>")
    assert not recognises(Glance(other))
    assert not recognises(Glance(tmp_path / "absent"))
    (tmp_path / "meta.db").write_bytes(b"HPCTOOLKITmeta")
    assert not recognises(Glance(tmp_path)), "that is a database of format 4"


def test_the_document_alone_is_enough(tmp_path: Path) -> None:
    assert read(database(tmp_path) / "experiment.xml").total("CPUTIME (usec)") == pytest.approx(1000e-6)


def test_metrics_without_values_are_known_as_such(tmp_path: Path) -> None:
    text = '<PF i="2" l="1" lm="2" f="4" n="11"><S i="3" l="2"></S></PF>'
    profile = read(database(tmp_path, document(text)))
    assert not profile.metrics["cpu.time"].has_values
    assert profile.total("cpu.time") == 0
    assert any(caveat.startswith("No metric has any value") for caveat in profile.caveats)


def test_values_that_only_the_files_of_threads_have_are_found(tmp_path: Path) -> None:
    database(tmp_path, document(re.sub(r"<M [^>]*/>", "", TREE)))
    (tmp_path / thread_name(0, 0, "metric-db")).write_bytes(metric_db(along_the_path(8, 3.0)))
    profile = read(tmp_path)
    assert profile.metrics["cpu.time"].has_values
    assert profile.total("CPUTIME (usec)") == pytest.approx(3e-6)


def test_a_database_without_metrics_and_traces_is_refused(tmp_path: Path) -> None:
    error = refused(database(tmp_path, document(metrics="", stored="")))
    assert "no metric" in error.message
    assert "hpcrun -e" in error.hint


def test_a_database_without_contexts_is_refused(tmp_path: Path) -> None:
    assert "nothing was measured" in refused(database(tmp_path, document(""))).message


def test_the_layout_before_release_2022_10_is_refused_by_name(tmp_path: Path) -> None:
    database(tmp_path, document(version="4.0"))
    error = refused(tmp_path)
    assert "'4.0'" in error.message
    assert "2022.10" in error.hint
    (tmp_path / "profile.db").write_bytes(b"HPCPROF-profdb__\x01\0" + bytes(100))
    assert recognises(Glance(tmp_path))
    error = refused(tmp_path)
    assert "HPCPROF-profdb__" in error.message
    assert error.path == tmp_path / "profile.db"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "the file is empty"),
        ("no xml", "line 1: not well-formed"),
        ("<html></html>", "begins with <html>"),
        (document()[:-30], "not well-formed"),
        (document().replace("</L>", ""), "mismatched tag"),
        (document(TREE.replace('n="12"', 'n="99"')), "procedure 99"),
        (document(TREE.replace('lm="2"', 'lm="99"')), "load module 99"),
        (document(TREE.replace(' i="8"', "")), "lacks its attribute 'i'"),
        (document(TREE.replace('v="600"', 'v="many"')), "a number is expected"),
        (document(TREE.replace('v="600"', 'v="nan"')), "not a number"),
        (document(TREE.replace('v="600"', 'v="1e999"')), "not a number"),
        (document(TREE.replace('i="8"', f'i="{10**30}"')), "a number is expected"),
        (document(TREE.replace("<L ", "<Q ").replace("</L>", "</Q>")), "<Q> has no place"),
        (document().replace("SecCallPathProfileData", "SecSomething"), "no call path profile"),
        (
            document()
            .replace("SecCallPathProfile ", "SecFlatProfile ")
            .replace("SecCallPathProfile>", "SecFlatProfile>"),
            "flat profile",
        ),
        (document(version="1.5"), "'1.5'"),
        (document(more=TRACED.replace('i="0"', 'i="0" u="0"')), "trace timestamps"),
        ('<?xml version="1.0" encoding="klingon"?>' + document()[22:], "encoding"),
    ],
)
def test_a_damaged_or_foreign_document_is_refused_with_its_place(tmp_path: Path, text: str, what: str) -> None:
    error = refused(database(tmp_path, text))
    assert what in error.message
    assert str(tmp_path / "experiment.xml") in error.message


def test_damage_is_reported_with_line_and_byte(tmp_path: Path) -> None:
    text = document(TREE.replace('v="600"', 'v="many"'))
    error = refused(database(tmp_path, text))
    at = text.index('<M n="2" v="many"')
    assert error.offset is not None
    assert at <= error.offset <= at + len('<M n="2" v="many"/>')
    assert f"line {text[:at].count(chr(10)) + 1}:" in error.message


def test_two_trees_in_one_document_are_refused(tmp_path: Path) -> None:
    text = document()
    one = text[text.index("<SecCallPathProfileData>") : text.index("</SecCallPathProfile>")]
    assert "second call path profile" in refused(database(tmp_path, text.replace(one, one + one))).message


# -- hostile input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a SYSTEM "http://localhost/x.dtd"> %a;',
        '<!ENTITY a "x">',
    ],
)
def test_entities_are_refused_before_they_can_expand(tmp_path: Path, declaration: str) -> None:
    head = f"<!DOCTYPE HPCToolkitExperiment [{declaration}]>"
    text = document(head=head).replace('n="main"', 'n="&a;"')
    assert "declares an entity" in refused(database(tmp_path, text)).message


def test_an_external_document_type_is_not_fetched(tmp_path: Path) -> None:
    head = '<!DOCTYPE HPCToolkitExperiment SYSTEM "experiment.dtd">'
    (tmp_path / "experiment.dtd").write_text('<!ATTLIST S l CDATA "4711">')
    text = document('<PF i="2" n="11"><S i="3"/></PF>', head=head)
    assert read(database(tmp_path, text)).tree.line.tolist() == [0, 0]


def test_thousands_of_attribute_declarations_are_refused(tmp_path: Path) -> None:
    attributes = " ".join(f'a{number} CDATA "x"' for number in range(2000))
    head = f"<!DOCTYPE HPCToolkitExperiment [<!ATTLIST S {attributes}>]>"
    assert "too many attributes" in refused(database(tmp_path, document(head=head))).message


def test_thousands_of_metrics_are_refused(tmp_path: Path) -> None:
    metrics = "".join(f'<Metric i="{number}" n="{number}"/>' for number in range(20_001))
    assert "more than 20,000 metrics" in refused(database(tmp_path, document(metrics=metrics))).message


def test_a_call_path_of_fifty_thousand_frames_is_read(tmp_path: Path) -> None:
    frames = 50_000
    text = "".join(f'<PF i="{i}" n="12"><M n="2" v="1"/>' for i in range(2, frames + 2)) + "</PF>" * frames
    profile = read(database(tmp_path, document(text)))
    assert int(profile.tree.depth.max()) == frames - 1
    assert profile.exclusive("CPUTIME (usec)").nodes.tolist() == [frames - 1]


@pytest.mark.parametrize("element", ['<PF i="1" n="12">', "<Info>"])
def test_elements_nested_without_end_are_refused(tmp_path: Path, element: str) -> None:
    inside = document(element * 100_001)
    text = inside if element.startswith("<PF") else document().split("<Info/>")[0] + element * 100_001
    assert "nested deeper than 100,000" in refused(database(tmp_path, text)).message


def test_a_pipe_in_place_of_a_file_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "experiment.xml")
    assert not recognises(Glance(tmp_path))
    assert "not a regular file" in refused(tmp_path).message
    (tmp_path / "experiment.xml").unlink()
    database(tmp_path)
    os.mkfifo(tmp_path / thread_name(0, 0, "metric-db"))
    assert "not a regular file" in refused(tmp_path).message


def test_an_absent_folder_is_refused(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "absent").message


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, len(document()) - 1), junk=st.binary(min_size=1, max_size=8))
@example(at=0, junk=b"\xff\xfe")
def test_any_damage_of_the_document_ends_in_a_profile_or_an_adapter_error(tmp_path: Path, at: int, junk: bytes) -> None:
    data = bytearray(document().encode())
    data[at : at + len(junk)] = junk
    database(tmp_path, bytes(data))
    try:
        profile = read(tmp_path)
    except AdapterError:
        return
    profile.tree.check()
    for name in profile.metrics:
        assert np.isfinite(profile.total(name)) or profile.metrics[name].aggregation == Aggregation.DERIVED


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 300), junk=st.binary(min_size=1, max_size=8), cut=st.integers(0, 300))
def test_any_damage_of_packed_files_ends_in_a_profile_or_an_adapter_error(
    tmp_path: Path, at: int, junk: bytes, cut: int
) -> None:
    database(tmp_path, document(more=TRACED))
    for name, part in (("experiment-1.mdb", metric_db({2: 1.0, 8: 1.0})), ("experiment.mt", trace([(1, 31), (2, 32)]))):
        data = bytearray(packed([(0, 0, part), (0, 1, part)]))
        data[at : at + len(junk)] = junk
        (tmp_path / name).write_bytes(data[: len(data) - cut] if cut < 40 else data)
    try:
        profile = read(tmp_path)
        profile.read_timeline()
        totals = profile.values.location_totals("cpu.time")
    except AdapterError:
        return
    assert len(totals) == len(profile.where)
