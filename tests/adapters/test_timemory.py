"""timemory output written by our own writer; expected numbers are arithmetic on what is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.glance import Glance
from chathpc.adapters.timemory import ADAPTER, recognises
from chathpc.adapters.timemory.profile import read
from chathpc.errors import AdapterError
from chathpc.profile.metric import Aggregation, Clock
from chathpc.profile.profile import Profile
from chathpc.profile.run import run_facts, run_words, wall_seconds
from tests.adapters.samples.timemory import MAIN, write_samples
from tests.synthetic.timemory import Scope, component, flat, write_timemory


def own(profile: Profile, metric: str = "cpu.time") -> dict[str, float]:
    """Exclusive values by the node's label."""
    column = profile.exclusive(metric)
    return {profile.tree.label(int(n)): float(v) for n, v in zip(column.nodes, column.values, strict=True)}


def test_samples_are_recognised_and_read(tmp_path: Path) -> None:
    for path in write_samples(tmp_path):
        assert recognises(Glance(path)), path
        profile = ADAPTER.read(path)
        profile.tree.check()
        for name, metric in profile.metrics.items():
            if metric.aggregation == Aggregation.SUM:
                assert profile.exclusive(name).sum() == pytest.approx(profile.total(name), rel=1e-9)
        assert len(Profile.from_graphframe(profile.graphframe()).tree) == len(profile.tree)


@pytest.mark.parametrize(
    "text", ["", "{}", '{"timemory": {"metadata": {}}}', '[{"timemory": 1}]', '{"wall": {"timemory": 1}}']
)
def test_other_files_are_not_recognised(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    assert not recognises(Glance(tmp_path / "a.json"))
    assert not recognises(Glance(tmp_path))


def test_trees_of_ranks_are_taken_apart_and_places_in_names_understood(tmp_path: Path) -> None:
    profile = read(write_timemory(tmp_path / "a.json", {"WALL_CLOCK": component([[MAIN], [MAIN]])}))
    assert own(profile) == {"main": 4.0, "sweep/inner": 14.0, "output": 2.0}
    assert profile.location_totals("cpu.time").sum() == 20.0
    assert own(profile, "calls.count") == {"main": 2, "sweep/inner": 10, "output": 2}
    node = next(n for n in range(len(profile.tree)) if profile.tree.label(n) == "sweep/inner")
    assert profile.tree.place(node) == "heat.cpp:30"
    assert profile.metrics["cpu.time"].clock == Clock.WALL
    assert profile.timed
    assert profile.run == {"ranks": "2"}


def test_time_of_other_threads_is_not_taken_from_the_thread_above(tmp_path: Path) -> None:
    main = Scope("main", 10.0, (Scope("worker", 16.0, threads=(1, 2)), Scope("output", 1.0)))
    profile = read(write_timemory(tmp_path / "a.json", {"WALL_CLOCK": component([[main]])}))
    assert own(profile) == {"main": 9.0, "worker": 16.0, "output": 1.0}
    assert profile.caveats == ("Values of up to 2 threads are added up in each process.",)
    assert wall_seconds(profile) == 10.0


def test_a_sum_over_threads_is_no_wall_time(tmp_path: Path) -> None:
    rank = [Scope("worker", 16.0, threads=(1, 2))]
    run = run_facts(read(write_timemory(tmp_path / "a.json", {"WALL_CLOCK": component([rank, rank])})))
    assert run_words(run) == ["2 ranks × 2 threads", "32.0 s over all threads (measured)"]


def test_flat_lists_nest_by_depth(tmp_path: Path) -> None:
    rows = [(0, "main", 9.0), (1, "a", 4.0), (2, "b", 3.0), (1, "c", 1.0), (0, "other", 2.0)]
    profile = read(write_timemory(tmp_path / "a.json", {"wall_clock": flat([rows])}))
    assert own(profile) == {"main": 4.0, "a": 1.0, "b": 3.0, "c": 1.0, "other": 2.0}
    assert profile.total("cpu.time") == 11.0


def test_components_of_a_folder_are_metrics_of_one_tree(tmp_path: Path) -> None:
    profile = read(write_samples(tmp_path)[-1])
    assert profile.total("cpu.time") == 10.0
    assert profile.metrics["memory.peak.bytes"].aggregation == Aggregation.MAX
    assert profile.total("memory.peak.bytes") == 10e6
    assert len(profile.tree) == 3


@pytest.mark.parametrize(
    ("id", "unit", "metric", "factor"),
    [
        ("wall_clock", "msec", "cpu.time", 1e-3),
        ("thread_cpu_clock", "sec", "cpu.time", 1.0),
        ("read_bytes", "KB", "io.read.bytes", 1e3),
        ("written_bytes", "MiB", "io.write.bytes", 2.0**20),
        ("user_clock", "usec", "other.user-clock", 1e-6),
        ("trip_count", "", "other.trip-count", 1.0),
    ],
)
def test_components_and_units(tmp_path: Path, id: str, unit: str, metric: str, factor: float) -> None:
    profile = read(write_timemory(tmp_path / "a.json", {"X": component([[MAIN]], id=id, unit=unit)}))
    assert profile.total(metric) == pytest.approx(10.0 * factor)
    assert bool(profile.insufficient) == (metric != "cpu.time")
    assert bool(profile.not_collected) == (metric != "cpu.time")


def test_both_clocks_and_counters(tmp_path: Path) -> None:
    clocks = {"CPU": component([[MAIN]], id="cpu_clock"), "WALL": component([[MAIN]])}
    profile = read(write_timemory(tmp_path / "a.json", clocks))
    assert {name: metric.clock for name, metric in profile.metrics.items() if "cpu" in name} == {
        "cpu.time": Clock.WALL, "cpu.time.cpu": Clock.CPU,
    }  # fmt: skip
    counters = read(write_samples(tmp_path)[2])
    assert (counters.total("cpu.cycles"), counters.total("PAPI_L1_DCM")) == (10.0, 4.0)


def test_contradictions_are_told(tmp_path: Path) -> None:
    odd = Scope("main", 1.0, (Scope("a", 3.0),))
    profile = read(write_timemory(tmp_path / "a.json", {"X": component([[odd]])}))
    assert any("larger numbers were used" in caveat for caveat in profile.caveats)


@pytest.mark.parametrize(
    "given",
    [
        [],
        {"timemory": []},
        {"timemory": {}},
        {"timemory": {"X": {"mpi": []}}},
        {"timemory": {"X": {"mpi": [[3]]}}},
        {"timemory": {"X": {"mpi": [[{"node": {}, "children": []}]]}}},
        {"timemory": {"X": {"mpi": [[{"node": {"prefix": "a", "inclusive": {"entry": {}}}, "children": 3}]]}}},
        {"timemory": {"X": {"mpi": [[{"node": {"prefix": "a", "inclusive": 3}, "children": []}]]}}},
        {"timemory": {"X": {"ranks": [{"graph": [3, {"prefix": "", "entry": {}}]}]}}},
        {"timemory": {str(n): {} for n in range(1001)}},
    ],
)  # fmt: skip
def test_damage_is_refused(tmp_path: Path, given: Any) -> None:
    (tmp_path / "a.json").write_text(json.dumps(given))
    with pytest.raises(AdapterError) as caught:
        read(tmp_path / "a.json")
    assert caught.value.hint


def test_values_that_are_no_numbers_are_not_measured(tmp_path: Path) -> None:
    path = write_timemory(
        tmp_path / "a.json", {"X": component([[Scope("a", 2.0, (Scope("b", 1.0),)), Scope("c", 1e300)]])}
    )
    path.write_text(path.read_text().replace("1e+300", '"x"'))
    assert own(read(path)) == {"a": 1.0, "b": 1.0}


@settings(max_examples=40, deadline=None)
@given(
    st.recursive(
        st.tuples(st.sampled_from("abc"), st.floats(0.001, 10), st.just([])),
        lambda inner: st.tuples(st.sampled_from("abc"), st.floats(0.001, 10), st.lists(inner, max_size=3)),
        max_leaves=12,
    )
)
def test_trees_and_flat_lists_read_the_same(tmp_path_factory: pytest.TempPathFactory, program: Any) -> None:
    folder = tmp_path_factory.mktemp("timemory")
    rows: list[tuple[int, str, float]] = []

    def scope(given: Any, depth: int) -> Scope:
        name, value, inside = given
        at = len(rows)
        rows.append((depth, name, 0.0))
        children = tuple(scope(one, depth + 1) for one in inside)
        whole = value + sum(float(child.value) for child in children if not isinstance(child.value, list))
        rows[at] = depth, name, whole
        return Scope(name, whole, children)

    whole = scope(program, 0)
    first = read(write_timemory(folder / "a.json", {"X": component([[whole]])}))
    second = read(write_timemory(folder / "b.json", {"X": flat([rows])}))
    assert own(first) == pytest.approx(own(second), rel=1e-9)
    assert first.total("cpu.time") == pytest.approx(whole.value, rel=1e-9)
