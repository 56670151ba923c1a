"""Metric values of databases: sums worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.hpctoolkit import read
from chathpc.adapters.hpctoolkit.values import DatabaseValues
from chathpc.errors import AdapterError
from chathpc.profile.metric import Aggregation
from chathpc.profile.profile import Profile
from chathpc.profile.tree import FloatArray
from tests.adapters.hpctoolkit.bombs import File
from tests.synthetic import programs
from tests.synthetic.hpctoolkit_v4 import (
    TIME,
    Context,
    Database,
    Location,
    Metric,
    Options,
    Relation,
    entry,
    function,
    inlined,
    line,
    loop,
    point,
    write,
)  # fmt: skip

ONE = {TIME: {0: 1.0}}
PERIOD = "GSAMP:PER (cyc)"


def values_of(profile: Profile) -> DatabaseValues:
    values = profile.everything.values
    assert isinstance(values, DatabaseValues)
    return values


def everything(profile: Profile, metric: str = TIME) -> dict[str, FloatArray]:
    size = len(profile.tree)
    return {
        "exclusive": profile.exclusive(metric).dense(size),
        "inclusive": profile.inclusive(metric).dense(size),
        "locations": np.nan_to_num(profile.location_totals(metric)),
    }


@pytest.mark.parametrize("options", [Options(summary=False), Options(stats=True)], ids=["no summary", "all statistics"])
def test_with_no_or_more_statistics_the_sums_are_the_same(tmp_path: Path, options: Options) -> None:
    plain = read(write(tmp_path / "plain", programs.small()).path)
    other = read(write(tmp_path / "other", programs.small(), options).path)
    assert values_of(plain).from_summary
    assert values_of(other).from_summary == options.summary
    for metric in (TIME, "perf::page-faults"):
        for name, expected in everything(plain, metric).items():
            np.testing.assert_array_equal(everything(other, metric)[name], expected, err_msg=name)


def test_the_wrong_squares_of_all_statistics_are_not_used(tmp_path: Path) -> None:
    write(tmp_path, programs.small(), Options(stats=True))
    profile = read(tmp_path)
    used = {
        one for scopes in values_of(profile).metrics.values() for one in (scopes.inclusive_stat, scopes.function_stat)
    }
    # Statistics of metric number m begin at 20 m: 4 scopes each of "1", "$$", "($$^2)", min, max.
    assert used == {20 * m + 4 + scope for m in range(4) for scope in (1, 3)}


def test_values_of_one_metric_are_found_whatever_the_number_of_metrics(tmp_path: Path) -> None:
    names = [f"metric {k}" for k in range(40)]
    text = line("a.c", 2, point(0x10, {name: {0: float(k)} for k, name in enumerate(names) if k}))
    other = line("a.c", 3, point(0x20, {name: {0: 100.0} for name in names[::3]}))
    main = function("main", text, other)
    profile = read(write(tmp_path, Database([entry(main)], metrics=[Metric(name) for name in reversed(names)])).path)
    for k, name in enumerate(names):
        assert profile.total(name) == k + (100.0 if k % 3 == 0 else 0.0)
        assert profile.exclusive(name).sum() == profile.total(name)


def test_functions_nested_lexically_are_counted_once(tmp_path: Path) -> None:
    # gfortran: the outlined region of an OpenMP loop stands inside its function, and the function scope includes it.
    region = function("solve._omp_fn.0", line("a.f90", 5, point(0x20, {TIME: {0: 3.0}})), relation=Relation.LEXICAL)
    solve = function("solve", line("a.f90", 2, point(0x10, ONE)), region)
    profile = read(write(tmp_path, Database([entry(solve)])).path)
    table = profile.table("function", TIME).set_index("name")
    assert (table.exclusive["solve"], table.inclusive["solve"]) == (1.0, 4.0)
    assert (table.exclusive["solve._omp_fn.0"], table.inclusive["solve._omp_fn.0"]) == (3.0, 3.0)
    assert profile.exclusive(TIME).sum() == profile.total(TIME) == 4.0


def test_inlined_functions_have_their_own_time(tmp_path: Path) -> None:
    inner = inlined("inner", line("i.h", 1, point(0x10, {TIME: {0: 2.0}})))
    repeat = loop("a.c", 3, line("a.c", 4, inner, point(0x14, ONE)), point(0x18, {TIME: {0: 0.5}}))
    profile = read(write(tmp_path, Database([entry(function("main", repeat))])).path)
    table = profile.table("function", TIME).set_index("name")
    assert (table.exclusive["main"], table.inclusive["main"], table.exclusive["inner"]) == (1.5, 3.5, 2.0)
    (row,) = profile.table("loop", TIME).itertuples()
    assert (row.exclusive, row.inclusive) == (1.5, 3.5)


def test_values_that_differ_from_their_children_by_rounding_only_are_no_own_values(tmp_path: Path) -> None:
    repeat = loop("a.c", 3, *(line("a.c", k, point(k, {TIME: {0: 0.1}})) for k in range(1, 8)))
    profile = read(write(tmp_path, Database([entry(function("main", repeat))])).path)
    assert len(profile.exclusive(TIME)) == 7


# -- what is set, not counted ------------------------------------------------------------------------------


def kernels(ranks: int) -> Database:
    """Two kernels launched by each of some ranks, with the period of PC sampling at each kernel."""
    launched = {PERIOD: dict.fromkeys(range(ranks), 4096.0), "GINS": dict.fromkeys(range(ranks), 8192.0)}
    calls = [function("<gpu kernel>", function(f"k{k}", samples=launched), module=None) for k in range(2)]
    main = function("main", line("a.cu", 1, *calls))
    return Database([entry(main)], [Location(rank=k) for k in range(ranks)], [Metric(PERIOD), Metric("GINS")])


@pytest.mark.parametrize("options", [Options(), Options(summary=False), Options(stats=True)])
def test_the_period_of_sampling_is_never_added_up(tmp_path: Path, options: Options) -> None:
    # hpcprof adds it up over kernels and locations like any other metric: 3 × 2 × 4096 at the root.
    profile = read(write(tmp_path, kernels(3), options).path)
    assert profile.metric(PERIOD).aggregation == Aggregation.MAX
    assert set(profile.exclusive(PERIOD).values.tolist()) == {4096.0}
    assert len(profile.exclusive(PERIOD)) == 2
    assert set(profile.inclusive(PERIOD).values.tolist()) == {4096.0}
    assert profile.total(PERIOD) == 4096.0
    assert profile.total("GINS") == 3 * 2 * 8192.0


# -- values per location -----------------------------------------------------------------------------------


def test_values_per_location_are_zero_where_a_location_has_none(tmp_path: Path) -> None:
    profile = read(write(tmp_path, programs.small()).path)
    tree = profile.tree
    names = [tree.label(node) for node in range(len(tree))]
    nodes = np.array([names.index("worker"), names.index("work"), names.index("work.c:10")], dtype=np.int32)
    inclusive = profile.values.per_location("cpu.time", nodes)
    exclusive = profile.values.per_location("cpu.time", nodes, inclusive=False)
    assert inclusive.tolist() == [[0.0, 6.5, 4.5], [8.0, 4.5, 3.5]]
    assert exclusive.tolist() == [[0.0, 0.0, 4.0], [8.0, 0.0, 3.0]]
    assert profile.values.per_location("perf::page-faults", nodes).tolist() == [[0, 0, 0]] * 2
    assert profile.values.per_location("cpu.page-faults", nodes[:0]).shape == (2, 0)


def test_a_metric_that_does_not_exist_has_no_values(tmp_path: Path) -> None:
    values = values_of(read(write(tmp_path, programs.small()).path))
    nodes = np.arange(3, dtype=np.int32)
    assert values.per_location("none", nodes).tolist() == [[0] * 3] * 2
    assert values.grouped("none", nodes, 4).tolist() == [[0] * 4] * 2
    assert np.isnan(values.location_totals("none")).all()
    assert np.isnan(values.derived_total("none"))
    assert len(values.exclusive("none")) == len(values.inclusive("none")) == 0


def test_values_are_in_the_unit_of_the_metric(tmp_path: Path) -> None:
    name = "perf::cpu-clock"
    main = function("main", line("a.c", 1, point(1, {name: {0: 2e9, 1: 1e9}})))
    database = Database([entry(main)], [Location(thread=k) for k in range(2)], [Metric(name)])
    profile = read(write(tmp_path, database).path)
    assert (profile.total("cpu.time"), profile.total(name)) == (3.0, 3.0)
    assert profile.location_totals(name).tolist() == [2.0, 1.0]
    nodes = np.arange(3, dtype=np.int32)
    assert profile.values.per_location("cpu.time", nodes).tolist() == [[2.0] * 3, [1.0] * 3]
    assert profile.values.grouped("cpu.time", np.array([0, 0, 1], dtype=np.int32), 2).tolist() == [[0, 2], [0, 1]]


groups = st.lists(st.integers(-1, 3), min_size=30, max_size=30)


@settings(max_examples=40)
@given(group=groups)
def test_grouped_values_are_the_sums_of_exclusive_values_per_location(
    tmp_path_factory: pytest.TempPathFactory, group: list[int]
) -> None:
    folder = tmp_path_factory.getbasetemp() / "grouped"
    if not folder.exists():
        write(folder, programs.small())
    profile = read(folder)
    size = len(profile.tree)
    numbers = np.array(group[:size], dtype=np.int32)
    nodes = np.arange(size, dtype=np.int32)
    for metric in ("cpu.time", "cpu.page-faults"):
        own = profile.values.per_location(metric, nodes, inclusive=False)
        expected = np.stack([own[:, numbers == number].sum(axis=1) for number in range(4)], axis=1)
        np.testing.assert_array_equal(profile.values.grouped(metric, numbers, 4), expected)


def test_damage_in_a_location_is_found_where_its_values_are_asked_for(tmp_path: Path) -> None:
    write(tmp_path, programs.small())
    with File(tmp_path / "profile.db") as profiles:
        row = profiles.u64(profiles.u64(0x18)) + 0x30
        for number in range(profiles.u64(row)):
            profiles.put(profiles.u64(row + 8) + 10 * number + 2, "d", float("nan"))
    profile = read(tmp_path)
    assert profile.total(TIME) == 20.875
    with pytest.raises(AdapterError, match="not a number"):
        profile.values.grouped("cpu.time", np.zeros(len(profile.tree), dtype=np.int32), 1)
    without = replace(values_of(profile), contexts=None)
    with pytest.raises(AdapterError, match="not a number"):
        without.location_totals("cpu.time")


def test_a_tree_without_context_ids_cannot_be_asked_for_locations(tmp_path: Path) -> None:
    values = values_of(read(write(tmp_path, programs.small()).path))
    lost = replace(values, tree=replace(values.tree, source_id=None))
    with pytest.raises(AdapterError, match="lost its context ids"):
        lost.per_location("cpu.time", np.zeros(1, dtype=np.int32))


def test_a_database_of_many_contexts_and_few_values_is_read_by_node(tmp_path: Path) -> None:
    # Values of few of the nodes are sorted, those of many are placed: the same columns either way.
    lines: list[Context] = [line("a.c", k + 1, point(k, ONE if k % 50 == 0 else {})) for k in range(600)]
    few = read(write(tmp_path / "few", Database([entry(function("main", *lines))]), Options(seed=4)).path)
    assert few.exclusive(TIME).nodes.tolist() == sorted(few.exclusive(TIME).nodes.tolist())
    assert few.total(TIME) == len(few.exclusive(TIME)) == 12.0
