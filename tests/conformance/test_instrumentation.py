"""Public samples of instrumentation tools, against other readers of the same files and the conclusions they allow."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chathpc
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Verdict
from chathpc.diagnosis.wait_states import Pattern
from chathpc.profile.metric import Aggregation
from chathpc.profile.profile import Profile

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CHATHPC_TEST_DATA", REPOSITORY.parent / "shared" / "data")) / "profiles"
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="needs the public samples (CHATHPC_TEST_DATA, or ../shared/data beside the repository)"
)

DATABASE = DATA.parent / "hpctoolkit-upstream" / "hatchet-v3" / "hpctoolkit-cpi-database"
SCALING = DATA / "caliper_scaling"
CUBES = [DATA / "scorep_cubex" / "cpi_profile.cubex", *sorted((DATA / "extrap" / "cube").glob("*/profile.cubex"))]
EVERY = [
    *sorted((DATA / "caliper").glob("*.cali")), *sorted((DATA / "caliper").glob("*.json")), *sorted(SCALING.glob("*.cali")),
    *sorted((DATA / "caliper_rajaperf").glob("*.cali")), *sorted((DATA / "spotdb").glob("*.cali")), DATA / "tau" / "cpi-mpi",
    *CUBES, DATA / "timemory" / "wall.tree.json", DATA / "literal" / "hatchet-graph-literal.json",
]  # fmt: skip


def missing(package: str) -> bool:
    return importlib.util.find_spec(package) is None


def paths(profile: Profile, metric: str, *, inclusive: bool = False) -> dict[tuple[str, ...], float]:
    """Values by the names on the path."""
    column = profile.inclusive(metric) if inclusive else profile.exclusive(metric)
    found: dict[tuple[str, ...], float] = defaultdict(float)
    for node, value in zip(column.nodes.tolist(), column.values.tolist(), strict=True):
        found[tuple(profile.tree.label(step) for step in profile.tree.path(node))] += value
    return found


@pytest.mark.parametrize("path", EVERY, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_every_sample_adds_up_and_passes_through_hatchet(path: Path) -> None:
    profile = chathpc.load(path)
    profile.tree.check()
    again = Profile.from_graphframe(profile.graphframe())
    assert len(again.tree) == len(profile.tree)
    for name, metric in profile.metrics.items():
        if metric.has_values and metric.aggregation == Aggregation.SUM:
            total = profile.total(name)
            assert profile.exclusive(name).sum() == pytest.approx(total, rel=1e-9)
            assert float(profile.exclusive(name).values.min()) >= 0
            assert again.total(name) == pytest.approx(total, rel=1e-12)
    sums = np.nansum(profile.location_totals("cpu.time"))
    assert sums == pytest.approx(profile.total("cpu.time"), rel=1e-9)


# -- Caliper -------------------------------------------------------------------------------------------------


@pytest.mark.skipif(missing("caliperreader"), reason="needs the package caliper-reader as an independent reader")
@pytest.mark.parametrize(
    "path", [p for p in EVERY if p.suffix == ".cali"], ids=lambda path: f"{path.parent.name}-{path.name}"
)
def test_caliper_files_against_the_package_of_calipers_makers(path: Path) -> None:
    import caliperreader

    records, _ = caliperreader.read_caliper_contents(str(path))
    profile = chathpc.load(path)
    name = profile.metrics["cpu.time"].source_name
    scale = profile.metrics["cpu.time"].scale
    wanted: dict[tuple[str, ...], float] = defaultdict(float)
    for record in records:
        if record.get("spot.channel", "regionprofile") == "regionprofile" and name in record:
            wanted[tuple(record.get("path", ("[outside of annotated regions]",)))] += float(record[name]) * scale
    found = paths(profile, "cpu.time", inclusive="inclusive" in name)
    for at, value in wanted.items():
        # Files have six digits behind the point: sums of children may exceed a parent's by as many millionths.
        assert found[at] == pytest.approx(value, rel=1e-9, abs=1e-6 * (len(wanted) if "inclusive" in name else 1e-6))


@pytest.mark.parametrize("path", sorted((DATA / "caliper").glob("*.json")), ids=lambda path: path.name)
def test_json_split_against_plain_sums(path: Path) -> None:
    document = json.loads(path.read_text())
    columns = document["columns"]
    time = columns.index("time" if "time" in columns else "sum#time.duration")
    rank = columns.index("mpi.rank")
    unit = 1.0 if columns[time] == "time" else 1e-6
    by_rank: dict[int, float] = defaultdict(float)
    for row in document["data"]:
        by_rank[row[rank]] += row[time] * unit
    profile = chathpc.load(path)
    totals = profile.location_totals("cpu.time")
    assert dict(zip(profile.where.rank.tolist(), totals.tolist(), strict=True)) == pytest.approx(dict(by_rank))


@pytest.mark.parametrize(
    ("ranks", "mean", "allreduce", "share"),
    [(27, 47.2, 7.86, 16.6), (64, 55.1, 11.4, 20.7), (125, 56.2, 13.5, 24.0), (216, 42.8, 8.9, 20.7)],
)
def test_weak_scaling_ends_in_the_collective_of_the_time_step(
    ranks: int, mean: float, allreduce: float, share: float
) -> None:
    diagnosis = diagnose(profile := chathpc.load(SCALING / f"{ranks}_cores.cali"))
    assert profile.run["ranks"] == str(ranks)
    assert profile.total("avg#inclusive#sum#time.duration") == pytest.approx(mean, rel=2e-3)
    first = diagnosis.findings[0]
    assert (diagnosis.verdict, first.cause, first.where.function) == (
        Verdict.BOTTLENECK,
        "mpi-collective-wait",
        "TimeIncrement",
    )
    assert first.share * 100 == pytest.approx(share, abs=0.06)
    assert first.seconds is not None
    assert first.seconds / ranks == pytest.approx(allreduce, rel=6e-3)
    assert "MPI_Allreduce called from TimeIncrement" in diagnosis.headline


def test_a_folder_of_several_runs_is_refused_with_their_names() -> None:
    with pytest.raises(chathpc.ChathpcError, match=r"holds 3 runs \(0.cali, 1.cali, 2.cali\)"):
        chathpc.load(DATA / "spotdb")


def test_kernels_of_two_block_sizes_have_no_winner() -> None:
    def groups(name: str) -> dict[str, float]:
        found = paths(chathpc.load(DATA / "caliper_rajaperf" / name), "cpu.time", inclusive=True)
        return {path[-1]: value for path, value in found.items() if len(path) == 2}

    small, large = groups("lassen_cuda_block128_1M.cali"), groups("lassen_cuda_block256_1M.cali")
    assert (small["Basic"], large["Basic"]) == pytest.approx((0.359, 0.332), abs=6e-4)
    assert (small["Polybench"], large["Polybench"]) == pytest.approx((0.583, 0.608), abs=6e-4)


def test_gpu_activities_stand_below_the_calls_that_start_them() -> None:
    profile = chathpc.load(DATA / "caliper" / "sw4_cuda_activity_summary.cali")
    assert profile.total("gpu.time") == pytest.approx(15.36, abs=0.005)
    assert {path[-1] for path in paths(profile, "gpu.kernel.time")} == {"cudaLaunchKernel"}


# -- TAU -----------------------------------------------------------------------------------------------------


def test_tau_against_hatchet_and_plain_sums() -> None:
    from hatchet import GraphFrame

    folder = DATA / "tau" / "cpi-mpi"
    profile = chathpc.load(folder)
    frame = GraphFrame.from_tau(str(folder))
    table = frame.dataframe.reset_index()
    wanted = {str(name).replace("()", "").strip(): value for name, value in table.groupby("name")["time"].sum().items()}
    ours = profile.table("function").set_index("name")["exclusive"].to_dict()
    flat: dict[str, float] = defaultdict(float)
    for file in sorted(folder.glob("profile.*")):
        for name, numbers in re.findall(r'^"([^"]*)" ([0-9. ]+) GROUP=', file.read_text(), re.MULTILINE):
            if "=>" not in name:
                flat[name.replace("()", "").strip()] += float(numbers.split()[2]) * 1e-6
    assert ours == pytest.approx(dict(flat), rel=1e-9)
    for name, value in wanted.items():
        assert value * 1e-6 == pytest.approx(ours[name], rel=1e-9) or value == pytest.approx(ours[name], rel=1e-9)


@pytest.mark.parametrize(
    "path",
    [DATA / "tau" / "cpi-mpi", DATA / "otf2" / "ping-pong-otf2", *(path.parent for path in CUBES[1:2])],
    ids=lambda path: path.name,
)
def test_runs_that_only_start_are_no_ground_for_a_conclusion(path: Path) -> None:
    if path.parent.name == "otf2" and missing("otf2"):
        pytest.skip("needs the package otf2")
    assert diagnose(chathpc.load(path)).verdict == Verdict.INSUFFICIENT


# -- CUBE4, OTF2, timemory, hatchet --------------------------------------------------------------------------


@pytest.mark.skipif(missing("pycubexr"), reason="needs the package pycubexr as an independent reader")
@pytest.mark.parametrize("path", CUBES, ids=lambda path: path.parent.name)
def test_cube_against_pycubexr(path: Path) -> None:
    from pycubexr import CubexParser

    profile = chathpc.load(path)
    with CubexParser(str(path)) as cube:
        for ours, theirs in (("cpu.time", "time"), ("calls.count", "visits")):
            metric = cube.get_metric_by_name(theirs)
            values = cube.get_metric_values(metric)
            per_location = np.zeros(len(profile.where))
            wanted: dict[tuple[str, ...], float] = defaultdict(float)
            stack: list[tuple[Any, tuple[str, ...]]] = [(root, ()) for root in cube.get_root_cnodes()]
            while stack:
                node, above = stack.pop()
                at = (*above, node.region.name)
                row = values.cnode_values(node, convert_to_exclusive=metric.metric_type == "INCLUSIVE").astype(float)
                per_location += row
                wanted[at] += float(row.sum())
                stack += [(child, at) for child in node.get_children()]
            found = paths(profile, ours)
            for at, value in wanted.items():
                assert found.get(at, 0.0) == pytest.approx(value, rel=1e-9, abs=1e-12)
            assert profile.location_totals(ours) == pytest.approx(per_location, rel=1e-9)


def test_the_score_p_profile_is_latency_of_small_messages() -> None:
    diagnosis = diagnose(chathpc.load(CUBES[0]))
    first = diagnosis.findings[0]
    assert (first.cause, first.where.function) == ("mpi-small-messages", "iteration")
    assert first.share == pytest.approx(0.825, abs=5e-4)


@pytest.mark.skipif(missing("otf2"), reason="needs the package otf2")
def test_otf2_against_a_plain_loop_over_events() -> None:
    import otf2

    folder = DATA / "otf2" / "ping-pong-otf2"
    profile = chathpc.load(folder)
    wanted: dict[str, int] = defaultdict(int)
    with otf2.reader.open(str(folder / "traces.otf2")) as trace:
        begun: dict[int, list[int]] = defaultdict(list)
        for location, event in trace.events:
            if isinstance(event, otf2.events.Enter):
                begun[id(location)].append(event.time)
            elif isinstance(event, otf2.events.Leave):
                wanted[event.region.name] += event.time - begun[id(location)].pop()
        resolution = trace.timer_resolution
    found = {path[-1]: value for path, value in paths(profile, "cpu.time", inclusive=True).items()}
    assert found == pytest.approx({name: ticks / resolution for name, ticks in wanted.items()}, rel=1e-9)


@pytest.mark.skipif(missing("otf2"), reason="needs the package otf2")
def test_messages_of_otf2_against_a_plain_loop_over_events() -> None:
    import otf2

    folder = DATA / "otf2" / "ping-pong-otf2"
    facts = Facts(chathpc.load(folder)).messages
    assert facts is not None
    entered: dict[int, int] = {}
    sent: dict[tuple[int, int], list[int]] = defaultdict(list)
    waited = in_mpi = 0
    with otf2.reader.open(str(folder / "traces.otf2")) as trace:
        number = {id(location): rank for rank, location in enumerate(trace.definitions.locations)}
        for location, event in trace.events:
            at = number[id(location)]
            if isinstance(event, otf2.events.Enter):
                entered[at] = event.time
            elif isinstance(event, otf2.events.MpiSend):
                sent[at, event.receiver].append(entered[at])
            elif isinstance(event, otf2.events.MpiRecv):  # two ranks in turn: the oldest message is the one that came
                waited += max(sent[event.sender, at].pop(0) - entered[at], 0)
            elif isinstance(event, otf2.events.Leave) and re.match("MPI_(?!Init|Finalize)", event.region.name):
                in_mpi += event.time - entered[at]
        resolution = trace.timer_resolution
    assert len(facts.communication.messages) == 16
    assert facts.waited(Pattern.LATE_SENDER) == pytest.approx(waited / resolution, abs=16e-9)
    assert facts.in_mpi == pytest.approx(in_mpi / resolution, abs=40e-9)
    found = facts.efficiency
    assert found is not None
    assert found.serialisation is not None
    assert found.transfer is not None
    assert found.parallel == pytest.approx(found.balance * found.serialisation * found.transfer)
    assert found.transfer < 0.9  # a ping-pong hardly computes: what it takes is the network


def test_timemory_against_hatchet() -> None:
    from hatchet import GraphFrame

    path = DATA / "timemory" / "wall.tree.json"
    profile = chathpc.load(path)
    table = profile.table("function").set_index("name")["exclusive"]
    assert table["generate_history/inner-loop-1"] == pytest.approx(64.2, abs=0.05)
    frame = GraphFrame.from_timemory(str(path))
    column = next(name for name in frame.exc_metrics if "sum" in name or "wall" in name)
    theirs = float(frame.dataframe[frame.dataframe["name"].str.contains("inner-loop-1")][column].sum())
    assert table["generate_history/inner-loop-1"] == pytest.approx(theirs, rel=1e-9)


def test_literal_graph_against_hatchet() -> None:
    from hatchet import GraphFrame

    path = DATA / "literal" / "hatchet-graph-literal.json"
    direct = Profile.from_graphframe(GraphFrame.from_json(path.read_text()))
    profile = chathpc.load(path)
    assert paths(profile, "cpu.time") == paths(direct, "cpu.time")
    assert profile.table("function").iloc[0]["name"] == "garply"
    assert profile.table("function").iloc[0]["exclusive"] == 45.0


def graphframes() -> dict[str, Any]:
    """What hatchet's own readers make of the samples that they read without another program."""
    from hatchet import GraphFrame

    return {
        "caliperreader": lambda: GraphFrame.from_caliperreader(
            str(DATA / "caliper" / "lulesh-annotation-profile.cali")
        ),
        "caliper": lambda: GraphFrame.from_caliper(str(DATA / "caliper" / "region-node-order.json")),
        "tau": lambda: GraphFrame.from_tau(str(DATA / "tau" / "cpi-mpi")),
        "timemory": lambda: GraphFrame.from_timemory(str(DATA / "timemory" / "wall.tree.json")),
        "pyinstrument": lambda: GraphFrame.from_pyinstrument(
            str(DATA / "pyinstrument" / "pyinstrument-hatchet-profile.json")
        ),
        "cprofile": lambda: GraphFrame.from_cprofile(str(DATA / "cprofile" / "cprofile-cycle.pstats")),
        "gprof_dot": lambda: GraphFrame.from_gprof_dot(str(DATA / "gprof_dot" / "callgrind.dot.64042.0.1")),
        "json": lambda: GraphFrame.from_json((DATA / "literal" / "hatchet-graph-literal.json").read_text()),
        "hpctoolkit": lambda: GraphFrame.from_hpctoolkit(str(DATABASE)),
    }


@pytest.mark.parametrize(
    "reader",
    ["caliperreader", "caliper", "tau", "timemory", "pyinstrument", "cprofile", "gprof_dot", "json", "hpctoolkit"],
)
def test_any_graphframe_of_hatchets_readers_becomes_a_profile(reader: str) -> None:
    if reader == "hpctoolkit" and not DATABASE.is_dir():
        pytest.skip("needs the public HPCToolkit databases beside the samples")
    frame = graphframes()[reader]()
    profile = Profile.from_graphframe(frame)
    profile.tree.check()
    metrics = [metric for metric in profile.metrics.values() if metric.has_values]
    assert metrics
    again = Profile.from_graphframe(profile.graphframe())
    for metric in metrics:
        if metric.aggregation == Aggregation.SUM:
            assert again.total(metric.id) == pytest.approx(profile.total(metric.id), rel=1e-9)
