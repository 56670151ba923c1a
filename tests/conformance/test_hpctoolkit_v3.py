"""Public databases with experiment.xml, against totals and tables that an independent reader took from them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chathpc.adapters.glance import Glance
from chathpc.adapters.hpctoolkit_v3 import read, recognises
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CHATHPC_TEST_DATA", REPOSITORY.parent / "shared" / "data")) / "hpctoolkit-upstream"
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="needs the public databases (CHATHPC_TEST_DATA, or ../shared/data beside the repository)"
)

WITH_TRUTH = sorted(path.parent for path in (DATA / "hatchet-v3").glob("*/truth.json"))
METRIC = "CPUTIME (usec)"
XML = DATA / "hpcviewer-bsd3-xml"


@pytest.fixture(params=WITH_TRUTH, ids=lambda path: path.name)
def pair(request: pytest.FixtureRequest) -> tuple[Profile, dict[str, Any]]:
    folder: Path = request.param
    return read(folder), json.loads((folder / "truth.json").read_text())


def test_tree_and_total_are_those_of_the_independent_reader(pair: tuple[Profile, dict[str, Any]]) -> None:
    profile, truth = pair
    profile.tree.check()
    assert len(profile.tree) == truth["n_nodes"]
    tags = truth["node_tags"]
    assert np.count_nonzero(profile.tree.kind == NodeKind.LINE) == tags["C"] + tags["S"]
    assert np.count_nonzero(profile.tree.kind == NodeKind.LOOP) == tags.get("L", 0)
    total = truth["values"][METRIC]["total"]
    assert profile.total(METRIC) == pytest.approx(total * 1e-6, rel=1e-9)
    assert profile.exclusive(METRIC).sum() == pytest.approx(total * 1e-6, rel=1e-9)


def test_functions_have_the_values_of_the_independent_reader(pair: tuple[Profile, dict[str, Any]]) -> None:
    profile, truth = pair
    table = profile.table("function", METRIC).groupby("name")[["exclusive", "inclusive"]].sum() * 1e6
    values = truth["values"][METRIC]
    for name, expected in values["top_functions_exclusive"]:
        assert table.loc[name, "exclusive"] == pytest.approx(expected, rel=1e-9), name
    for name, expected in values["top_functions_inclusive_outermost"]:
        assert table.loc[name, "inclusive"] == pytest.approx(expected, rel=1e-9), name


def test_lines_and_entry_points_have_the_values_of_the_independent_reader(pair: tuple[Profile, dict[str, Any]]) -> None:
    profile, truth = pair
    tree, own = profile.tree, profile.exclusive(METRIC)
    by_place: dict[tuple[str | None, int], float] = {}
    for node, value in zip(own.nodes.tolist(), own.values.tolist(), strict=True):
        place = (tree.file_name(node), int(tree.line[node]))
        by_place[place] = by_place.get(place, 0.0) + value * 1e6
    for file, line, expected in truth["values"][METRIC]["top_lines"]:
        assert by_place[file, int(line)] == pytest.approx(expected, rel=1e-9)
    entries = truth["values"][METRIC]["entry_points"]
    assert [tree.function_name(root) for root in tree.roots.tolist()] == [entry["name"] for entry in entries]
    inclusive = profile.inclusive(METRIC)
    assert [(inclusive.at(root) or 0.0) * 1e6 for root in tree.roots.tolist()] == pytest.approx(
        [entry["inclusive"] for entry in entries], rel=1e-9
    )


def test_threads_have_the_totals_of_the_independent_reader(pair: tuple[Profile, dict[str, Any]]) -> None:
    profile, truth = pair
    expected = {tuple(number for _, number, _ in one["tuple"]): one["totals"][METRIC] for one in truth["profiles"]}
    totals = np.nan_to_num(profile.values.location_totals(profile.metric(METRIC).id)) * 1e6
    places = zip(profile.where.rank.tolist(), profile.where.thread.tolist(), strict=True)
    assert dict(zip(places, totals.tolist(), strict=True)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["inline.xml.db", "vectorAdd"])
def test_packed_files_agree_with_the_rounded_sums_of_the_document(name: str, tmp_path: Path) -> None:
    exact = read(XML / name)
    (tmp_path / "experiment.xml").write_bytes((XML / name / "experiment.xml").read_bytes())
    rounded = read(tmp_path)
    measured = [metric for metric in exact.metrics.values() if metric.has_values]
    assert measured
    for metric in measured:
        assert exact.total(metric.id) == pytest.approx(rounded.total(metric.id), rel=1e-5), metric.source_name
    nodes = np.arange(len(exact.tree), dtype=np.int32)
    for metric in measured:
        if metric.id not in exact.everything.values.ratios:  # type: ignore[attr-defined]
            own = exact.everything.values.per_location(metric.id, nodes, inclusive=False).sum(axis=0)
            assert own == pytest.approx(exact.everything.exclusive(metric.id).dense(len(nodes)), rel=1e-12)


def test_totals_of_hardware_counters_are_the_sums_over_the_files() -> None:
    # The number at the root of each of the eight records, added up by hand: 15742566884 + … = 113527965558.
    assert read(XML / "inline.xml.db").total("cycles") == 113527965558


def test_a_gpu_profile_has_kernels_copies_and_a_lane_for_the_stream() -> None:
    profile = read(XML / "acc_f3")
    kernels = np.flatnonzero(profile.tree.kind == NodeKind.GPU_KERNEL)
    time = profile.inclusive("gpu.kernel.time")
    launched = {profile.tree.label(node): time.at(node) for node in kernels.tolist() if time.at(node) is not None}
    assert launched == pytest.approx(
        {
            "<unknown procedure> 0x49780 [ad090454dba15cd53d039b287852613f.gpubin]": 0.00184961,
            "<unknown procedure> 0x48e80 [ad090454dba15cd53d039b287852613f.gpubin]": 0.00184945,
        }
    )
    assert profile.total("GXCOPY:H2D (B)") == 8e7
    assert profile.total("gpu.kernel.registers") == 640 / 20
    timeline = profile.read_timeline()
    assert timeline is not None
    assert [profile.where.label(lane.location) for lane in timeline.lanes] == ["thread 0", "stream 0"]
    assert timeline.seconds < 1


@pytest.mark.parametrize("name", ["inline.xml.db", "vectorAdd", "bug-no-gpu-trace", "acc_f3"])
def test_every_sample_of_a_trace_is_at_a_node_or_idle(name: str) -> None:
    timeline = read(XML / name).read_timeline()
    assert timeline is not None
    busy = sum(int(np.count_nonzero(lane.node >= 0)) for lane in timeline.lanes)
    assert busy > 0
    assert all(np.all(np.diff(lane.start.astype(np.int64)) >= 0) for lane in timeline.lanes)


@pytest.mark.parametrize(
    "folder", [XML / "bug-empty", DATA / "hatchet-v3" / "hpctoolkit-kripke-trace-database"], ids=lambda path: path.name
)
def test_a_database_without_a_sample_is_read_with_a_caveat(folder: Path) -> None:
    profile = read(folder)
    assert not any(metric.has_values for metric in profile.metrics.values())
    assert any(caveat.startswith("No metric has any value") for caveat in profile.caveats)


def test_a_database_without_a_metric_is_refused() -> None:
    assert recognises(Glance(XML / "bug-nometric"))
    with pytest.raises(AdapterError, match="no metric and no trace"):
        read(XML / "bug-nometric")


def test_the_hybrid_of_2021_is_refused_by_name() -> None:
    folder = DATA / "pipit-v3hybrid" / "ping-pong-hpctoolkit"
    assert recognises(Glance(folder))
    with pytest.raises(AdapterError, match="HPCPROF-profdb__") as caught:
        read(folder)
    assert "2022.10" in caught.value.hint
    with pytest.raises(AdapterError, match="HPCPROF-profdb__"):
        read(folder / "experiment.xml")
