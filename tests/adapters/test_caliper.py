"""Caliper files written by our own writer; expected numbers are sums over what is written."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.caliper import ADAPTER, read, recognises
from chathpc.adapters.caliper.files import fields_of
from chathpc.adapters.glance import Glance
from chathpc.adapters.load import load
from chathpc.diagnosis.command import filled
from chathpc.errors import AdapterError, UsageError
from chathpc.profile.metric import Aggregation, Clock
from chathpc.profile.profile import Profile
from chathpc.profile.run import run_facts, run_words
from chathpc.profile.tree import NodeKind
from tests.adapters.samples.caliper import MAIN, STEP, write_samples
from tests.synthetic.caliper import CaliWriter, Record, across, escaped, write_cali, write_split

ALLREDUCE = (*STEP, ("mpi.function", "MPI_Allreduce"))


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
        again = Profile.from_graphframe(profile.graphframe())
        assert again.total("cpu.time") == pytest.approx(profile.total("cpu.time"), rel=1e-12)
        assert len(again.tree) == len(profile.tree)


@pytest.mark.parametrize(
    "text", ["", "{}", '{"traceEvents": []}', "__record=node", '{"columns": 3}', '{"data": {"a": 1}}', "[1, 2]"]
)
def test_other_files_are_not_recognised(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    assert not recognises(Glance(path)) or text == '{"columns": 3}'


def test_times_over_ranks_are_sums_and_inclusive_ones_are_taken_apart(tmp_path: Path) -> None:
    records = [
        Record((), across((0.5, 0.5))),
        Record(MAIN, across((10.0, 10.0))),
        Record(STEP, across((8.0, 9.0))),
        Record(ALLREDUCE, across((1.0, 3.0)), loose=1),
        Record((*MAIN, ("mpi.function", "MPI_Gather")), across((0.25,)), loose=1),
    ]
    profile = read(write_cali(tmp_path / "a.cali", records, facts={"jobsize": "2"}))
    assert own(profile) == {
        "[outside of annotated regions]": 1.0, "main": 20.0 - 17.0 - 0.25, "time.step": 13.0, "MPI_Allreduce": 4.0,
        "MPI_Gather": 0.25,
    }  # fmt: skip
    assert profile.total("cpu.time") == 21.0
    assert profile.metrics["cpu.time"].clock == Clock.WALL
    assert profile.timed
    assert profile.sample_count is None
    assert profile.total("avg#inclusive#sum#time.duration") == 10.0
    node = next(i for i in range(len(profile.tree)) if profile.tree.label(i) == "MPI_Allreduce")
    assert [profile.exclusive(f"cpu.time.rank-{end}").at(node) for end in ("min", "mean", "max", "count")] == [1.0, 2.0, 3.0, 2.0]  # fmt: skip
    assert profile.run["ranks"] == "2"
    assert "sums over the ranks" in " ".join(profile.caveats)
    assert filled(profile, profile.not_collected["times of each rank"]).startswith("mpirun -n 2 env CALI_CONFIG=")


def test_a_sum_over_ranks_is_no_wall_time(tmp_path: Path) -> None:
    records = [Record((), across((0.5, 0.5))), Record(MAIN, across((10.0, 12.0)))]
    run = run_facts(read(write_cali(tmp_path / "a.cali", records, facts={"jobsize": "2"})))
    assert (run.ranks, run.wall_seconds, run.total, run.mean) == (2, None, 23.0, 11.5)
    assert run_words(run) == ["2 ranks", "11.5 s per rank, 23.0 s over all ranks (measured)"]
    alone = run_facts(read(write_cali(tmp_path / "b.cali", [Record(MAIN, across((10.0,)))], facts={"jobsize": "1"})))
    assert run_words(alone) == ["1 rank", "10.0 s wall (measured)"]
    largest = [Record(MAIN, {"max#sum#time.duration": 12.0})]
    assert "ranks" not in " ".join(
        run_words(run_facts(read(write_cali(tmp_path / "c.cali", largest, facts={"jobsize": "2"}))))
    )


def test_a_mean_over_ranks_counts_only_those_that_have_the_region(tmp_path: Path) -> None:
    stem = "inclusive#sum#time.duration"
    means = [
        Record(MAIN, {f"avg#{stem}": 4.0, f"avg.count#{stem}": 8}),
        Record((*MAIN, ("function", "output")), {f"avg#{stem}": 3.0, f"avg.count#{stem}": 1}),
    ]
    assert own(read(write_cali(tmp_path / "a.cali", means))) == {"main": 29.0, "output": 3.0}
    sums = [Record(MAIN, {f"avg#{stem}": 4.0, f"avg.sum#{stem}": 32.5})]
    assert own(read(write_cali(tmp_path / "b.cali", sums))) == {"main": 32.5}
    alone = [Record(MAIN, {f"avg#{stem}": 4.0})]
    profile = read(write_cali(tmp_path / "c.cali", alone, facts={"mpi.world.size": "8"}))
    assert own(profile) == {"main": 32.0}
    assert any("all 8 ranks" in caveat for caveat in profile.caveats)
    unknown = read(write_cali(tmp_path / "d.cali", alone))
    assert own(unknown) == {"main": 4.0}
    assert any("no sums" in caveat for caveat in unknown.caveats)


def test_sums_over_all_ranks_of_two_runs_are_not_joined(tmp_path: Path) -> None:
    for name, seconds in (("a.cali", 32.0), ("b.cali", 64.0)):
        sums = [Record(MAIN, {"sum#inclusive#sum#time.duration": seconds})]
        write_cali(tmp_path / name, sums, facts={"mpi.world.size": "8"})
    with pytest.raises(UsageError, match="are two runs") as caught:
        load(tmp_path / "a.cali", tmp_path / "b.cali")
    assert "chathpc scale" in caught.value.hint


def test_extremes_of_visits_are_not_taken_for_extremes_of_ranks(tmp_path: Path) -> None:
    visits = {"min#time.duration": 0.1, "max#time.duration": 0.5, "avg#time.duration": 0.2, "sum#time.duration": 1.0}
    profile = read(write_cali(tmp_path / "a.cali", [Record(MAIN, visits)]))
    assert [name for name in profile.metrics if name.startswith("cpu")] == ["cpu.time"]
    assert own(profile) == {"main": 1.0}
    assert not profile.caveats


def test_only_one_channel_of_a_spot_file_is_counted(tmp_path: Path) -> None:
    records = [
        Record(MAIN, {"sum#inclusive#sum#time.duration": 3.0}, {"spot.channel": "regionprofile"}),
        Record(MAIN, {"max#sum#time.duration": 2.0, "block": 1.0}, {"spot.channel": "timeseries"}),
    ]
    profile = read(write_cali(tmp_path / "a.cali", records))
    assert profile.total("cpu.time") == 3.0
    assert any("timeseries" in caveat for caveat in profile.caveats)
    assert profile.format.endswith("(SPOT)")
    only = read(write_cali(tmp_path / "b.cali", records[1:]))
    assert only.total("cpu.time") == 2.0


@pytest.mark.parametrize(
    ("name", "unit", "value", "seconds"),
    [
        ("sum#time.duration", "", 1.5, 1.5),
        ("time.duration", "sec", 2.0, 2.0),
        ("sum#time.duration", "usec", 1.5e6, 1.5),
        ("sum#time.duration", "", 1_500_000.0, 1.5),
        ("sum#time.duration.ns", "", 1.5e9, 1.5),
        ("time.inclusive.duration.ns", "", 1.5e9, 1.5),
        ("sum#cupti.host.duration", "", 1.5e9, 1.5),
        ("inclusive#scale#sum#cupti.host.duration", "", 1.5, 1.5),
    ],
)
def test_units_of_time(tmp_path: Path, name: str, unit: str, value: float, seconds: float) -> None:
    profile = read(write_cali(tmp_path / "a.cali", [Record(MAIN, {name: value})], aliases={name: ("Time", unit)}))
    assert profile.total("cpu.time") == pytest.approx(seconds)
    guessed = any("microseconds" in caveat for caveat in profile.caveats)
    assert guessed == (unit == "" and value == 1_500_000.0)


def test_activities_of_the_gpu_are_told_apart_by_label_kernel_and_call(tmp_path: Path) -> None:
    name = "sum#scale#cupti.activity.duration"

    def call(api: str) -> tuple[tuple[str, str], ...]:
        return (*MAIN, ("cupti.runtimeAPI", api))

    records = [
        Record(MAIN, {"inclusive#scale#sum#cupti.host.duration": 9.0}),
        Record(call("cudaLaunchKernel"), {name: 1.0}),
        Record(call("cudaLaunchKernel"), {name: 2.0}, {"cupti.kernel.name": "axpy"}),
        Record(call("cudaMemcpyAsync"), {name: 4.0}),
        Record(call("cudaMemset"), {name: 8.0}),
        Record(call("other"), {name: 16.0}, {"cupti.activity.kind": "memcpy"}),
        Record(call("other"), {name: 32.0}),
    ]
    profile = read(write_cali(tmp_path / "a.cali", records))
    totals = {n: profile.total(n) for n in profile.metrics if n.startswith("gpu")}
    assert totals == {"gpu.time": 63.0, "gpu.kernel.time": 3.0, "gpu.copy.time": 20.0, "gpu.memset.time": 8.0}
    kernel = next(i for i in range(len(profile.tree)) if profile.tree.kind[i] == NodeKind.GPU_KERNEL)
    assert profile.tree.label(kernel) == "axpy"
    inclusive = [Record(MAIN, {"inclusive#" + name: 5.0}), Record(call("cudaLaunchKernel"), {"inclusive#" + name: 2.0})]
    assert own(read(write_cali(tmp_path / "b.cali", inclusive)), "gpu.time") == {"main": 3.0, "cudaLaunchKernel": 2.0}


def test_snapshots_of_a_series_are_added_up(tmp_path: Path) -> None:
    records = [
        Record(STEP, {"sum#time.duration": 0.5, "timeseries.snapshot": i, "sum#region.count": 2.0}) for i in range(4)
    ]
    profile = read(write_cali(tmp_path / "a.cali", records))
    assert profile.total("cpu.time") == 2.0
    assert profile.total("calls.count") == 8.0
    assert any("4 snapshots" in caveat for caveat in profile.caveats)


def test_ranks_and_threads_become_locations(tmp_path: Path) -> None:
    records = [
        Record(MAIN, {"sum#time.duration": 1.0, "mpi.rank": 0}),
        Record(MAIN, {"sum#time.duration": 2.0, "mpi.rank": 1}),
        Record(STEP, {"sum#time.duration": 4.0, "mpi.rank": 1, "thread": 3}),
    ]
    profile = read(write_cali(tmp_path / "a.cali", records))
    assert [profile.where.label(i) for i in range(3)] == ["rank 0", "rank 1", "rank 1 thread 3"]
    assert profile.location_totals("cpu.time").tolist() == [1.0, 2.0, 4.0]
    # Before MPI_Init a process does not know its rank.
    late = [Record((), {"sum#time.duration": 1.0}), Record(MAIN, {"sum#time.duration": 2.0, "mpi.rank": 5})]
    assert len(read(write_cali(tmp_path / "b.cali", late)).where) == 1


def test_files_of_ranks_are_one_run_and_other_files_are_several(tmp_path: Path) -> None:
    ranks = tmp_path / "ranks"
    ranks.mkdir()
    for rank in range(3):
        records = [Record(MAIN, {"sum#time.duration": 1.0, "mpi.rank": rank})]
        records += [Record(STEP, {"sum#time.duration": 2.0, "mpi.rank": rank})] * (rank > 0)
        write_cali(ranks / f"{rank}.cali", records)
    profile = read(ranks)
    assert (len(profile.tree), len(profile.where), profile.total("cpu.time")) == (2, 3, 7.0)
    runs = tmp_path / "runs"
    runs.mkdir()
    for number in range(6):
        write_cali(runs / f"{number}.cali", [Record(MAIN, {"sum#sum#time.duration": 1.0})])
    with pytest.raises(AdapterError, match=r"holds 6 runs \(0.cali, 1.cali, 2.cali, 3.cali, …\)") as caught:
        read(runs)
    assert "Give one of them" in caught.value.hint
    alone = tmp_path / "alone"
    alone.mkdir()
    write_cali(alone / "run.cali", [Record(MAIN, {"sum#sum#time.duration": 1.0})])
    assert recognises(Glance(alone))
    assert read(alone).total("cpu.time") == 1.0


def test_personal_facts_of_the_run_are_not_taken_in(tmp_path: Path) -> None:
    secret = "PLANTED-a1b2c3"
    facts = {
        "user": secret, "hostname": secret, "cmdline": f"[/home/{secret}/heat,--key,{secret}]", "env.SECRET_TOKEN": secret,
        "problem_size": secret, "elapsed_time": "12.5", "executablepath": f"/home/{secret}/bin/heat", "launchdate": secret,
    }  # fmt: skip
    for path in (
        write_cali(tmp_path / "a.cali", [Record(MAIN, {"sum#time.duration": 1.5})], facts=facts),
        write_split(tmp_path / "a.json", [(MAIN, {"time": 1.5})], facts=facts),
    ):
        profile = read(path)
        shown = repr(
            (profile.run, profile.hardware, profile.title, profile.caveats, profile.metrics, profile.tree.names)
        )
        assert secret not in shown
        assert profile.run == {"elapsed seconds": "12.5"}
        assert profile.title == "heat"


def test_names_with_the_separators_of_the_format_survive(tmp_path: Path) -> None:
    name = 'void f<a, b>(x = "1,2", y\\z)'
    profile = read(write_cali(tmp_path / "a.cali", [Record((("function", name),), {"sum#time.duration": 1.5})]))
    assert own(profile) == {name: 1.5}


def test_regions_that_have_less_than_what_is_below_them_are_told(tmp_path: Path) -> None:
    stem = "inclusive#sum#time.duration"
    records = [Record(MAIN, {stem: 1.0}), Record(STEP, {stem: 2.5})]
    profile = read(write_cali(tmp_path / "a.cali", records))
    assert own(profile) == {"main": 0.0, "time.step": 2.5}
    assert any("1.5 less" in caveat for caveat in profile.caveats)
    rounded = [Record(MAIN, {stem: 1.0}), Record(STEP, {stem: 1.000001})]
    assert not read(write_cali(tmp_path / "b.cali", rounded)).caveats


def test_a_file_without_times_says_so(tmp_path: Path) -> None:
    profile = read(
        write_cali(tmp_path / "a.cali", [Record(MAIN, {"sum#papi.PAPI_TOT_CYC": 5.0, "any#max#Flops/Rep": 2.0})])
    )
    assert profile.insufficient
    assert profile.metrics["cpu.cycles"].source_name == "sum#papi.PAPI_TOT_CYC"
    assert "times of regions" in profile.not_collected
    assert own(profile, "other.any-max-flops-rep") == {"main": 2.0}


@pytest.mark.parametrize("rest", ["__rec=ctx,ref=99", "__rec=ctx,ref=0,attr=1,data=0.0000"])
def test_a_file_that_was_cut_off_is_read_up_to_there_and_told(rest: str, tmp_path: Path) -> None:
    path = write_cali(
        tmp_path / "a.cali", [Record(MAIN, {"sum#time.duration": 1.5}), Record(STEP, {"sum#time.duration": 2.5})]
    )
    path.write_text(path.read_text().rstrip("\n") + f"\n{rest}")
    profile = read(path)
    assert profile.total("cpu.time") == 4.0
    assert "cut off" in profile.caveats[0]


# -- json-split ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [True, False])
@pytest.mark.parametrize("described", [True, False])
def test_json_split_with_and_without_an_order_of_nodes(tmp_path: Path, order: bool, described: bool) -> None:
    rows: list[tuple[Any, dict[str, Any]]] = [
        (MAIN, {"time": 1.5, "mpi.rank": 0}),
        (STEP, {"time": 2.5, "mpi.rank": 1}),
        (STEP, {"time": None, "mpi.rank": 0}),
    ]
    profile = read(write_split(tmp_path / "a.json", rows, order=order, described=described))
    assert own(profile) == {"main": 1.5, "time.step": 2.5}
    assert profile.where.rank.tolist() == [0, 1]
    assert recognises(Glance(tmp_path / "a.json"))


def test_json_split_of_samples_counts_samples_and_keeps_lines(tmp_path: Path) -> None:
    *_, sampled = write_samples(tmp_path)
    profile = read(sampled)
    assert (profile.sample_count, profile.timed) == (3.0, False)
    assert own(profile) == {"heat.c:12": 0.01, "time.step": 0.005}
    assert any("microseconds" in caveat for caveat in profile.caveats)
    document = json.loads(sampled.read_text())
    at = document["columns"].index("sum#time.duration")
    for row in (document["columns"], *document["data"]):
        del row[at]
    sampled.write_text(json.dumps(document))
    assert own(read(sampled), "cpu.samples") == {"heat.c:12": 2.0, "time.step": 1.0}


def test_aliases_of_json_columns_are_understood(tmp_path: Path) -> None:
    rows = [(MAIN, {"Time (I)": 4.0, "GPU time": 0.5}), (STEP, {"Time (I)": 3.0, "GPU time": 0.25})]
    profile = read(write_split(tmp_path / "a.json", rows, units={"Time (I)": "sec", "GPU time": "sec"}))
    assert own(profile) == {"main": 1.0, "time.step": 3.0}
    assert profile.total("gpu.time") == 0.75


# -- damage --------------------------------------------------------------------------------------------------

GOOD = CaliWriter()
GOOD.record(Record(MAIN, {"time.duration": 1.5}))


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("hello", "is not a Caliper record"),
        ("__rec=node,id=3,attr=8,data=x", "defines node 3 a second time"),
        ("__rec=node,id=20,attr=8,data=x", "a second time"),
        ("__rec=node,id=90,attr=77,data=x", "not defined"),
        ("__rec=node,id=90,attr=8,data=x,parent=91", "not defined"),
        ("__rec=node,id=x,attr=8", "is not a Caliper record"),
        ("__rec=ctx,ref=999", "is not a Caliper record"),
        ("__rec=ctx,attr=999,data=1", "is not a Caliper record"),
        ("__rec=ctx,ref=" + "9" * 5000, "is not a Caliper record"),
    ],
)
def test_damaged_lines_are_named(tmp_path: Path, line: str, what: str) -> None:
    path = tmp_path / "a.cali"
    path.write_text(GOOD.text() + line + "\n" + GOOD.lines[-1] + "\n")
    with pytest.raises(AdapterError, match=what) as caught:
        read(path)
    assert f"line {len(GOOD.lines) + 1}" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"columns": [], "data": []},
        {"columns": ["time"], "data": 3},
        {"columns": ["time"], "data": [3], "nodes": []},
        {"columns": ["time"], "data": []},
        {"columns": ["time", "path"], "data": [[1.0, 7]], "nodes": [{"label": "a", "column": "path"}]},
        {"columns": ["time", "path"], "data": [[1.0, "x"]], "nodes": [{"label": "a", "column": "path"}]},
        {"columns": ["time", "path"], "data": [[1.0, 0]], "nodes": [{"label": "a", "column": "path", "parent": 0}]},
        {"columns": ["time", "path"], "data": [[1.0, 0]], "nodes": [{"label": "a", "column": "path", "parent": 9}]},
        {"columns": ["time", "path"], "data": [[1.0, 0]], "nodes": [7]},
        {"columns": ["a"] * 6000, "data": [[1]]},
        {"columns": ["path"], "data": [[0]], "nodes": [{"label": "a", "column": "path"}]},
    ],
)  # fmt: skip
def test_damaged_tables_are_refused(tmp_path: Path, document: object) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    with pytest.raises(AdapterError):
        read(path)


def test_numbers_beyond_anything_measured_are_left_out(tmp_path: Path) -> None:
    rows: list[tuple[Any, dict[str, Any]]] = [
        (MAIN, {"time": 1.5}),
        (STEP, {"time": 10**400}),
        (STEP, {"time": float("nan")}),
        (STEP, {"time": float("inf")}),
    ]
    assert own(read(write_split(tmp_path / "a.json", rows))) == {"main": 1.5}


@pytest.mark.parametrize("way", ["deep", "wide", "appended", "attributes"])
def test_bombs_end_soon(tmp_path: Path, way: str) -> None:
    writer = CaliWriter()
    writer.record(Record(MAIN, {"time.duration": 1.5}))
    region = writer.attribute("function")
    last = writer.node(region, "main")
    chain = []
    for number in range(20_000):
        last = writer.node(region, f"f{number}", last if way != "wide" else -1)
        chain.append(last)
    value = writer.attribute("time.duration")
    if way == "attributes":
        for number in range(6_000):
            writer.lines.append(f"__rec=ctx,attr={writer.attribute(f'a{number}')},data=1")
    if way == "appended":
        writer.lines = writer.lines[:4_000]
        known = [one for one in chain if f"id={one}," in "".join(writer.lines[-1200:])]
        for one in known[-900:]:
            writer.lines.append(f"__rec=ctx,ref={one}={known[-1]},attr={value},data=1")
    else:
        writer.lines.append(f"__rec=ctx,ref={chain[-1]},attr={value},data=1")
    path = tmp_path / "bomb.cali"
    path.write_text(writer.text())
    began = time.process_time()
    with suppress(AdapterError):
        read(path)
    assert time.process_time() - began < 5


# -- properties ----------------------------------------------------------------------------------------------

names = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=8)


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=6), min_size=1, max_size=4))
def test_fields_come_back_whatever_they_hold(values: list[str]) -> None:
    line = "__rec=ctx,data=" + "=".join(escaped(value) for value in values) + ",ref=1"
    assert fields_of(line)["data"] == values


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.lists(st.sampled_from("abc"), max_size=4), st.floats(0.001, 1e3)), min_size=1, max_size=12)
)
def test_exclusive_and_inclusive_files_of_one_run_read_the_same(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[list[str], float]]
) -> None:
    folder = tmp_path_factory.mktemp("caliper")
    values: dict[tuple[str, ...], float] = {}
    for path, value in rows:
        for length in range(len(path)):
            values.setdefault(tuple(path[:length]), 0.0)
        values[tuple(path)] = values.get(tuple(path), 0.0) + value
    whole = {at: sum(v for path, v in values.items() if path[: len(at)] == at) if at else v for at, v in values.items()}

    def records(column: str, numbers: dict[tuple[str, ...], float]) -> list[Record]:
        return [Record([("function", name) for name in path], {column: value + 0.0}) for path, value in numbers.items()]

    units = {"sum#time.duration": ("t", "sec"), "inclusive#sum#time.duration": ("t", "sec")}
    first = read(write_cali(folder / "e.cali", records("sum#time.duration", values), aliases=units))
    second = read(write_cali(folder / "i.cali", records("inclusive#sum#time.duration", whole), aliases=units))
    assert first.total("cpu.time") == pytest.approx(sum(values.values()), rel=1e-12)
    assert second.total("cpu.time") == pytest.approx(sum(values.values()), rel=1e-9)
    np.testing.assert_allclose(
        first.inclusive("cpu.time").dense(len(first.tree)),
        second.inclusive("cpu.time").dense(len(second.tree)),
        rtol=1e-9,
    )


def test_a_run_that_is_hardly_annotated_says_so(tmp_path: Path) -> None:
    records = [Record((), across((95.0,))), Record(MAIN, across((5.0,)))]
    profile = read(write_cali(tmp_path / "a.cali", records))
    assert profile.insufficient.startswith("95.0 % of the time is outside the annotated regions")
    assert "sample-report" in profile.not_collected["what runs outside the regions"]
    assert "times of each rank" not in profile.not_collected
    assert profile.run == {"ranks": "1", "ranks added up": "1"}
    assert not read(write_cali(tmp_path / "b.cali", [Record((), across((1.0,))), records[1]])).insufficient
