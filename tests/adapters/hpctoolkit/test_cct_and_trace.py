"""cct.db and trace.db: read when they are asked for, and never trusted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chathpc.adapters.hpctoolkit import read
from chathpc.adapters.hpctoolkit.binary import DatabaseFile
from chathpc.adapters.hpctoolkit.profiles import ContextDatabase, ProfileDatabase
from chathpc.adapters.hpctoolkit.values import DatabaseValues
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile
from tests.adapters.hpctoolkit.bombs import File
from tests.synthetic import programs
from tests.synthetic.hpctoolkit_v4 import (
    TIME,
    Context,
    Database,
    Location,
    Metric,
    Options,
    Written,
    entry,
    function,
    line,
    write,
)  # fmt: skip

EXECUTION = 3  # propMetricId of the first metric's inclusive value


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return write(tmp_path, programs.small())


def contexts(path: Path, rows: list[int] | None = None) -> ContextDatabase:
    profiles = ProfileDatabase(DatabaseFile(path / "profile.db"))
    if rows is not None:
        profiles.location_of = np.array(rows)
    return ContextDatabase(DatabaseFile(path / "cct.db"), profiles)


def row(cct: File, context: int) -> int:
    return cct.u64(cct.u64(0x18)) + 0x20 * context


# -- cct.db ------------------------------------------------------------------------------------------------


def test_values_of_a_context_come_by_location(written: Written) -> None:
    cct = contexts(written.path)
    work = next(number for context, number in written.ids.items() if context.name == "work")
    assert cct.values(0, EXECUTION).tolist() == [7.875, 13.0]
    assert cct.values(work, EXECUTION).tolist() == [6.5, 4.5]  # 2 + 4 + 0.5, 1 + 3 + 0.5
    assert cct.values(work, EXECUTION + 4).tolist() == [0, 0]  # no page faults there


@pytest.mark.parametrize("context", [-1, 1 << 20])
def test_a_context_that_is_not_in_the_file_has_no_values(written: Written, context: int) -> None:
    assert contexts(written.path).values(context, EXECUTION).tolist() == [0, 0]


@pytest.mark.parametrize("metric", [0, 1000])
def test_a_metric_without_values_at_a_context_is_zero(written: Written, metric: int) -> None:
    assert contexts(written.path).values(0, metric).tolist() == [0, 0]


def test_values_of_a_summary_profile_are_left_out(written: Written) -> None:
    assert contexts(written.path, [0, -1, 1]).values(0, EXECUTION).tolist() == [0, 13.0]
    assert contexts(written.path, [0, 1, -1]).values(0, EXECUTION).tolist() == [0, 7.875]


def test_a_value_of_a_profile_that_does_not_exist_is_damage(written: Written) -> None:
    with pytest.raises(AdapterError, match="profile that does not exist"):
        contexts(written.path, [-1, 0]).values(0, EXECUTION)


def test_an_index_that_goes_back_is_damage(written: Written) -> None:
    with File(written.path / "cct.db") as cct:
        index = cct.u64(row(cct, 0) + 0x18)
        cct.put(index + 10 + 2, "Q", 1 << 50)
    with pytest.raises(AdapterError, match="index of a context's values is not ascending"):
        contexts(written.path).values(0, EXECUTION)


def test_profile_db_gives_the_same_values_where_cct_db_is_missing(tmp_path: Path) -> None:
    whole = read(write(tmp_path / "whole", programs.small()).path)
    without = read(write(tmp_path / "without", programs.small(), Options(omit=frozenset({"cct.db"}))).path)
    assert [c for c in without.caveats if "cct.db" in c] == [
        "cct.db is missing: values per location are read from profile.db, which takes longer."
    ]
    nodes = np.arange(len(whole.tree), dtype=np.int32)
    for metric in whole.metrics:
        for inclusive in (True, False):
            np.testing.assert_array_equal(
                without.values.per_location(metric, nodes, inclusive=inclusive),
                whole.values.per_location(metric, nodes, inclusive=inclusive),
            )
        np.testing.assert_array_equal(without.location_totals(metric), whole.location_totals(metric))


def test_damage_in_cct_db_is_found_when_values_are_asked_for(written: Written) -> None:
    with File(written.path / "cct.db") as cct:
        cct.put(row(cct, 0) + 0x08, "Q", 1 << 62)
    profile = read(written.path)
    assert profile.total(TIME) == 20.875
    with pytest.raises(AdapterError, match=r"cct\.db"):
        profile.location_totals(TIME)


def test_a_cct_db_whose_table_is_damaged_is_not_used(written: Written) -> None:
    with File(written.path / "cct.db") as cct:
        cct.put(cct.u64(0x18) + 8, "I", (1 << 32) - 1)
    profile = read(written.path)
    assert any(c.startswith("cct.db cannot be used") for c in profile.caveats)
    values = profile.everything.values
    assert isinstance(values, DatabaseValues)
    assert values.contexts is None
    assert profile.location_totals(TIME).tolist() == [7.875, 13.0]


# -- trace.db ----------------------------------------------------------------------------------------------


def traced(path: Path) -> tuple[Written, list[Context]]:
    """Three locations: a trace of three elements, one without any, none."""
    text = line("a.c", 2, samples={TIME: {0: 1.0}})
    main = function("main", text)
    locations = [Location(thread=k) for k in range(3)]
    traces: dict[int, list[tuple[int, Context | None]]] = {0: [(100, main), (200, None), (350, text)], 1: []}
    return write(path, Database([entry(main)], locations, traces=traces)), [main, text]


def test_an_element_is_a_node_or_idle_and_lanes_may_be_empty(tmp_path: Path) -> None:
    traced(tmp_path)
    profile = read(tmp_path)
    timeline = profile.timeline
    assert timeline is not None
    assert (timeline.begin, timeline.end) == (100, 350)
    first, second = timeline.lanes
    assert (first.location, first.start.tolist()) == (0, [100, 200, 350])
    assert [n if n < 0 else profile.tree.label(n) for n in first.node.tolist()] == ["main", -1, "a.c:2"]
    assert (second.location, len(second.start), len(second.node)) == (1, 0, 0)
    assert profile.sample_count == 3


def test_a_database_without_traces_has_no_timeline_and_no_samples(tmp_path: Path) -> None:
    main = function("main", samples={TIME: {0: 1.0}})
    write(tmp_path, Database([entry(main)]), Options(omit=frozenset({"trace.db"})))
    profile = read(tmp_path)
    assert profile.timeline is None
    assert profile.sample_count is None
    assert not any("trace" in caveat for caveat in profile.caveats)


def test_traces_without_any_element_count_no_samples(tmp_path: Path) -> None:
    write(tmp_path, Database([entry(function("main", samples={TIME: {0: 1.0}}))], traces={0: []}))
    assert read(tmp_path).sample_count is None


@pytest.mark.parametrize("profile_number", [0, 4, 1 << 30])
def test_a_trace_of_the_summary_or_of_an_unknown_profile_is_left_out(tmp_path: Path, profile_number: int) -> None:
    traced(tmp_path)
    with File(tmp_path / "trace.db") as trace:
        trace.put(trace.u64(trace.u64(0x18)), "I", profile_number)
    timeline = read(tmp_path).timeline
    assert timeline is not None
    assert [lane.location for lane in timeline.lanes] == [1]


def damage(profile: Path, form: str, *values: int, place: int = 0x08) -> Profile:
    traced(profile)
    with File(profile / "trace.db") as trace:
        rows = trace.u64(trace.u64(0x18))
        trace.put(
            rows + place, form, *(value + trace.u64(rows + 0x08) if value < 1 << 20 else value for value in values)
        )
    return read(profile)


@pytest.mark.parametrize(
    ("values", "caveat"),
    [((0, -12), True), ((0, 1 << 62), True), ((0, 30), False)],
    ids=["ends before it begins", "ends after the file", "ends inside an element"],
)
def test_a_trace_of_impossible_bounds_is_refused_when_it_is_asked_for(
    tmp_path: Path, values: tuple[int, int], caveat: bool
) -> None:
    profile = damage(tmp_path, "QQ", *values)
    assert any(c.startswith("trace.db cannot be used (") for c in profile.caveats) == caveat
    assert (profile.sample_count is None) == caveat
    with pytest.raises(AdapterError, match=r"trace\.db"):
        _ = profile.timeline
    assert profile.total(TIME) == 1.0


def test_traces_that_share_their_elements_far_too_often_are_refused(tmp_path: Path) -> None:
    main = function("main", samples={TIME: {0: 1.0}})
    traces: dict[int, list[tuple[int, Context | None]]] = {0: [(n, main) for n in range(200)], 1: [], 2: [], 3: []}
    write(tmp_path, Database([entry(main)], [Location(thread=k) for k in range(4)], traces=traces))
    with File(tmp_path / "trace.db") as trace:
        rows = trace.u64(trace.u64(0x18))
        begin, end = trace.u64(rows + 0x08), trace.u64(rows + 0x10)
        for number in range(4):
            trace.put(rows + 0x18 * number + 8, "QQ", begin, end)
    with pytest.raises(AdapterError, match="traces overlap"):
        _ = read(tmp_path).timeline


def test_elements_out_of_order_are_refused(tmp_path: Path) -> None:
    traced(tmp_path)
    with File(tmp_path / "trace.db") as trace:
        trace.put(trace.u64(trace.u64(trace.u64(0x18)) + 8), "Q", 201)
    with pytest.raises(AdapterError, match="not in order of time"):
        _ = read(tmp_path).timeline


def test_an_elided_context_in_a_trace_is_idle_rather_than_an_error(tmp_path: Path) -> None:
    traced(tmp_path)
    with File(tmp_path / "trace.db") as trace:
        trace.put(trace.u64(trace.u64(trace.u64(0x18)) + 8) + 8, "I", 4_000_000_000)
    timeline = read(tmp_path).timeline
    assert timeline is not None
    assert timeline.lanes[0].node.tolist()[0] == -1


def test_a_metric_without_an_execution_scope_has_no_value_at_any_location(tmp_path: Path) -> None:
    main = function("main", samples={TIME: {0: 1.0}})
    write(tmp_path, Database([entry(main)], metrics=[Metric(TIME)]))
    with File(tmp_path / "meta.db") as meta:
        rows = meta.u64(meta.u64(0x38))
        meta.put(rows + 0x18, "HH", 0, 0)
    profile = read(tmp_path)
    assert not profile.metric(TIME).has_values
    assert np.isnan(profile.location_totals(TIME)).all()
    nodes = np.array([0, 1], dtype=np.int32)
    assert profile.values.per_location("cpu.time", nodes).tolist() == [[0, 0]]
    assert profile.values.grouped("cpu.time", nodes, 2).tolist() == [[0, 0]]
