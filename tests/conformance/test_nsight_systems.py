"""Real exports of 2021 to 2026 against what independent SQL says of them, and against figures that were taken by hand.

The figures are those of INDEX.md beside the samples.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import chathpc
from chathpc.adapters.glance import Glance
from chathpc.adapters.nsight_systems import recognises
from chathpc.adapters.nsight_systems.report import read
from chathpc.errors import AdapterError
from chathpc.profile import intervals
from chathpc.profile.profile import Profile
from chathpc.profile.timeline import COPY_LANES, DEVICE_LANES, LaneKind, Timeline
from chathpc.profile.tree import NodeKind

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CHATHPC_TEST_DATA", REPOSITORY.parent / "shared" / "data"))
SAMPLES = DATA / "profiles" / "nsys"
pytestmark = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="needs real exports (CHATHPC_TEST_DATA, or ../shared/data beside the repository)"
)

EXPORTS = sorted(SAMPLES.glob("*.sqlite"))
KERNELS, COPIES = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY"
TABLES = {
    "gpu.kernel.time": KERNELS, "gpu.copy.time": COPIES, "gpu.memset.time": "CUPTI_ACTIVITY_KIND_MEMSET",
    "gpu.graph.time": "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
}  # fmt: skip


def called(part: str) -> Path:
    (found,) = [path for path in EXPORTS if part in path.name]
    return found


@cache
def profile_of(path: Path) -> Profile:
    return read(path)


class Rows:
    """Independent access to an export."""

    def __init__(self, path: Path) -> None:
        self.database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        self.database.text_factory = lambda raw: raw.decode("utf-8", "replace")
        self.tables = {name for (name,) in self.database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def all(self, statement: str) -> list[tuple[object, ...]]:
        return self.database.execute(statement).fetchall()

    def has(self, table: str, column: str) -> bool:
        return table in self.tables and column in {row[1] for row in self.all(f"PRAGMA table_info({table})")}


@pytest.fixture(params=EXPORTS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.fixture
def rows(path: Path) -> Iterator[Rows]:
    found = Rows(path)
    with closing(found.database):
        yield found


def nanoseconds(profile: Profile, metric: str) -> int:
    return round(profile.total(metric) * 1e9) if metric in profile.metrics else 0


def by_label(profile: Profile, metric: str, kind: NodeKind) -> dict[str, float]:
    column = profile.exclusive(metric)
    sums: dict[str, float] = {}
    for node, value in zip(column.nodes.tolist(), column.values.tolist(), strict=True):
        if profile.tree.kind[node] == kind:
            label = profile.tree.names[int(profile.tree.name[node])]
            sums[label] = sums.get(label, 0.0) + value
    return sums


def timeline_of(path: Path) -> Timeline:
    found = profile_of(path).timeline
    assert found is not None
    return found


def test_every_sample_is_recognised_by_its_content(path: Path) -> None:
    assert recognises(Glance(path))


def test_trees_hold_and_sums_are_those_of_the_roots(path: Path) -> None:
    profile = profile_of(path)
    profile.tree.check()
    for metric in profile.metrics.values():
        if metric.aggregation == "sum":
            own = profile.exclusive(metric.id)
            assert (own.values >= 0).all()
            assert own.sum() == pytest.approx(profile.total(metric.id), rel=1e-9)
            assert np.nansum(profile.location_totals(metric.id)) == pytest.approx(profile.total(metric.id), rel=1e-9)


@pytest.mark.parametrize("metric", TABLES)
def test_totals_of_operations_equal_those_of_sql(rows: Rows, path: Path, metric: str) -> None:
    table = TABLES[metric]
    ((total, count),) = (
        rows.all(f"SELECT sum(end - start), count(*) FROM {table}") if table in rows.tables else [(None, 0)]
    )
    profile = profile_of(path)
    assert nanoseconds(profile, metric) == (total or 0)
    counter = metric.replace(".time", ".count")
    assert (profile.total(counter) if counter in profile.metrics else 0) == count


def test_the_time_of_each_kernel_equals_that_of_sql(rows: Rows, path: Path) -> None:
    if KERNELS not in rows.tables:
        pytest.skip("no kernels in this export")
    expected = {
        str(name): (time, count)
        for name, time, count in rows.all(
            f"SELECT value, sum(end - start), count(*) FROM {KERNELS} JOIN StringIds ON id = demangledName GROUP BY value"
        )
    }
    profile = profile_of(path)
    times = by_label(profile, "gpu.kernel.time", NodeKind.GPU_KERNEL)
    counts = by_label(profile, "gpu.kernel.count", NodeKind.GPU_KERNEL)
    assert {name: (round(times[name] * 1e9), round(counts[name])) for name in times} == expected


@pytest.mark.parametrize(
    ("part", "kinds"),
    [("h2d", (1, 3)), ("d2h", (2, 4)), ("d2d", (5, 6, 7, 8)), ("p2p", (10,)), ("unified", (11, 12, 13))],
)
def test_time_and_bytes_of_copies_equal_those_of_sql(rows: Rows, path: Path, part: str, kinds: tuple[int, ...]) -> None:
    if COPIES not in rows.tables:
        pytest.skip("no copies in this export")
    chosen = ", ".join(map(str, kinds))
    ((time, size),) = rows.all(f"SELECT sum(end - start), sum(bytes) FROM {COPIES} WHERE copyKind IN ({chosen})")
    profile = profile_of(path)
    assert nanoseconds(profile, f"gpu.copy.{part}.time") == (time or 0)
    assert (profile.total(f"gpu.copy.{part}.bytes") if f"gpu.copy.{part}.bytes" in profile.metrics else 0) == (
        size or 0
    )


def test_bytes_from_and_to_pageable_memory_equal_those_of_sql(rows: Rows, path: Path) -> None:
    if not rows.has(COPIES, "srcKind"):
        pytest.skip("kinds of memory were not recorded")
    ((size,),) = rows.all(
        f"SELECT sum(bytes) FROM {COPIES} WHERE (copyKind = 1 AND srcKind = 0) OR (copyKind = 2 AND dstKind = 0)"
    )
    assert profile_of(path).total("gpu.copy.pageable.bytes") == (size or 0)


def test_calls_of_cuda_count_once_and_carry_their_times(rows: Rows, path: Path) -> None:
    """The lane of the API holds each call with its full duration; second rows (class 67) of a call do not count."""
    table = "CUPTI_ACTIVITY_KIND_RUNTIME"
    second = "WHERE eventClass <> 67" if rows.has(table, "eventClass") else ""
    ((total, count),) = rows.all(f"SELECT sum(end - start), count(*) FROM {table} {second}")
    lanes = timeline_of(path).of(LaneKind.API)
    assert sum(len(lane) for lane in lanes) == count
    assert sum(int((lane.end - lane.start).sum()) for lane in lanes) == total


def test_every_operation_hangs_below_the_call_of_its_own_process(rows: Rows, path: Path) -> None:
    """How many kernels have a launching call, joined by process and correlation id."""
    if not rows.has(KERNELS, "globalPid"):
        pytest.skip("no process ids in this export")
    ((expected,),) = rows.all(
        f"SELECT count(*) FROM {KERNELS} k WHERE EXISTS (SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME r "
        "WHERE r.correlationId = k.correlationId AND r.globalTid - (r.globalTid & 16777215) = k.globalPid)"
    )
    profile = profile_of(path)
    lost = np.array([name == "[unattributed]" for name in profile.tree.names])
    column = profile.exclusive("gpu.kernel.count")
    above = profile.tree.parent[column.nodes]
    known = column.values[~lost[profile.tree.name[above]]].sum()
    assert known == expected


def test_samples_equal_those_of_sql(rows: Rows, path: Path) -> None:
    ((expected,),) = rows.all("SELECT count(*) FROM COMPOSITE_EVENTS") if "COMPOSITE_EVENTS" in rows.tables else [(0,)]
    profile = profile_of(path)
    assert (profile.total("cpu.samples") if "cpu.samples" in profile.metrics else 0) == expected


def test_times_of_threads_are_the_unions_of_what_they_did(rows: Rows, path: Path) -> None:
    """Own times of nested spans add up to the time that any span of the thread covers."""
    timeline, profile = timeline_of(path), profile_of(path)
    totals = profile.location_totals("host.time")
    for location in np.flatnonzero(~np.isnan(totals)).tolist():
        lanes = [lane for lane in timeline.intervals if lane.location == location and lane.device < 0]
        covered = intervals.length(intervals.union_of(*((lane.start, lane.end) for lane in lanes)))
        assert covered == pytest.approx(totals[location] * 1e9, rel=1e-6, abs=2)


def test_busy_and_idle_of_each_gpu_are_the_session(path: Path) -> None:
    timeline = timeline_of(path)
    for device in timeline.devices:
        busy, idle = timeline.busy(*DEVICE_LANES, device=device), timeline.idle(device)
        assert intervals.length(busy) + intervals.length(idle) == timeline.end - timeline.begin
    covered = sum(int((lane.end - lane.start).sum()) for lane in timeline.of(*DEVICE_LANES))
    assert covered == nanoseconds(profile_of(path), "gpu.time")


def test_the_session_is_from_the_first_to_the_last_operation_of_a_gpu(rows: Rows, path: Path) -> None:
    edges = [
        rows.all(f"SELECT min(start), max(end) FROM {table}")[0] for table in TABLES.values() if table in rows.tables
    ]
    known = [(low, high) for low, high in edges if isinstance(low, int) and isinstance(high, int)]
    if not known:
        pytest.skip("no operations in this export")
    timeline = timeline_of(path)
    assert (timeline.begin, timeline.end) == (min(low for low, _ in known), max(high for _, high in known))


def test_nothing_private_of_the_export_is_in_the_report(rows: Rows, path: Path) -> None:
    """Values of environments and command lines: none of them, unless the word is a name of the trace too."""
    secrets = {
        str(value)
        for table in ("TARGET_INFO_SYSTEM_ENV", "META_DATA_CAPTURE")
        if table in rows.tables
        for (value,) in rows.all(f"SELECT value FROM {table}")
    }
    report = chathpc.explain(path, llm="none").model_dump_json()
    profile = profile_of(path)
    public = "\n".join((*profile.tree.names, *profile.hardware.values(), profile.title, str(path)))
    told = [secret for secret in secrets if len(secret) > 12 and secret in report and secret not in public]
    assert told == []


# -- figures taken by hand -----------------------------------------------------------------------------------


def share(path: Path, device: int, *kinds: LaneKind) -> float:
    timeline = timeline_of(path)
    return intervals.length(timeline.busy(*kinds, device=device)) / (timeline.end - timeline.begin)


def longest_gap(path: Path, device: int) -> float:
    begin, end = timeline_of(path).idle(device)
    return float((end - begin).max()) * 1e-9


def test_copies_that_fill_the_device_are_not_idle_time() -> None:
    path = called("h100_2gpu")
    for device in (0, 1):
        assert share(path, device, LaneKind.COMPUTE) == pytest.approx(0.023, abs=0.001)
        assert share(path, device, *COPY_LANES) == pytest.approx(0.970, abs=0.001)
        assert share(path, device, *DEVICE_LANES) == pytest.approx(0.993, abs=0.001)
        assert longest_gap(path, device) == pytest.approx(0.75e-3, abs=0.02e-3)
    profile = profile_of(path)
    assert timeline_of(path).seconds == pytest.approx(0.969, abs=0.001)
    assert profile.total("gpu.copy.h2d.bytes") / profile.total("gpu.copy.h2d.time") == pytest.approx(27.7e9, rel=0.01)
    assert profile.total("gpu.copy.pageable.bytes") < 1e-6 * profile.total("gpu.copy.h2d.bytes")


def test_the_healthy_sample_is_busy() -> None:
    path = called("healthy")
    assert share(path, 0, *DEVICE_LANES) == pytest.approx(0.990, abs=0.0005)
    assert longest_gap(path, 0) == pytest.approx(10e-6)
    assert list(profile_of(path).kernels["time"] / profile_of(path).total("gpu.kernel.time")) == pytest.approx(
        [0.5, 0.5], abs=0.01
    )


def test_compute_and_exposed_communication_of_two_gpus() -> None:
    path = called("mfu_2gpu")
    timeline = timeline_of(path)
    for device, compute, exposed in ((0, 0.846, 17.2e-3), (1, 0.854, 8.2e-3)):
        assert share(path, device, LaneKind.COMPUTE) == pytest.approx(compute, abs=0.002)
        talk = timeline.busy(LaneKind.COLLECTIVE, device=device)
        alone = intervals.subtract(talk, timeline.busy(LaneKind.COMPUTE, device=device))
        assert intervals.length(alone) * 1e-9 == pytest.approx(exposed, rel=0.02)
    kernels = profile_of(path).kernels
    assert "flash_fwd_kernel" in kernels.iloc[0]["name"]
    assert kernels.iloc[0]["launches"] == 2 * 34  # on each GPU


@pytest.mark.parametrize(
    ("part", "seconds", "compute", "copies", "gap"),
    [
        ("cloverleaf", 0.342, 0.860, 0.027, None),
        ("saxpy", 1.097, 0.081, 0.26, None),
        ("fuser_matmul", 0.508, 0.0008, 0.0, 0.397),
        ("exgpu_s10_", 3.09e-3, 0.011, 0.0, None),
        ("exgpu_s1000", 3.19e-3, 0.056, 0.0, None),
        ("concurrent_s1_", 0.0682, 0.441, 0.12, 0.021),
    ],
)
def test_shares_of_the_session(part: str, seconds: float, compute: float, copies: float, gap: float | None) -> None:
    path = called(part)
    assert timeline_of(path).seconds == pytest.approx(seconds, rel=0.005)
    assert share(path, 0, LaneKind.COMPUTE) == pytest.approx(compute, abs=0.001)
    found = intervals.length(timeline_of(path).busy(*COPY_LANES, device=0)) * 1e-9
    if part != "concurrent_s1_":  # there copies of several streams overlap, and the figure is the sum of their times
        assert found / seconds == pytest.approx(copies, abs=0.003)
    if gap is not None:
        assert longest_gap(path, 0) == pytest.approx(gap, rel=0.01)


@pytest.mark.parametrize(("series", "milliseconds"), [(1, 30.1), (2, 59.4), (4, 120.1), (8, 232.5)])
def test_kernels_of_the_series_take_linear_time(series: int, milliseconds: float) -> None:
    timeline = timeline_of(called(f"concurrent_s{series}_"))
    assert intervals.length(timeline.busy(LaneKind.COMPUTE)) * 1e-6 == pytest.approx(milliseconds, abs=0.1)


def test_calls_that_cost_most_on_the_host() -> None:
    saxpy = by_label(profile_of(called("saxpy")), "host.time", NodeKind.FUNCTION)
    lanes = timeline_of(called("saxpy")).of(LaneKind.MPI)
    assert sum(int((lane.end - lane.start).sum()) for lane in lanes) * 1e-9 == pytest.approx(
        0.646 + 0.136 + 0.108 + 0.006, abs=0.002
    )
    assert saxpy["cudaHostRegister"] == pytest.approx(0.316, abs=0.001)
    assert saxpy["MPI_Send"] == pytest.approx(0.136, abs=0.001)
    cloverleaf = profile_of(called("cloverleaf"))
    assert cloverleaf.total("gpu.sync.time") == pytest.approx(0.301, abs=0.001)
    assert cloverleaf.devices[0].name.startswith("NVIDIA A100-SXM4-80GB")
    fuser = profile_of(called("fuser_matmul"))
    inclusive = fuser.inclusive("host.time").dense(len(fuser.tree))
    (compiling,) = [n for n in range(len(fuser.tree)) if fuser.tree.label(n) == "executor_utils::NVRTC"]
    assert inclusive[compiling] == pytest.approx(0.352, abs=0.001)


def test_two_blocks_on_a_large_device_are_seen() -> None:
    row = profile_of(called("saxpy")).kernels.iloc[0]
    assert (row["launches"], row["gpu.kernel.blocks"], row["gpu.kernel.threads-per-block"]) == (5, 2, 512)


def test_graphs_that_were_traced_as_a_whole_are_operations() -> None:
    profile = profile_of(called("cudagraph"))
    assert profile.total("gpu.graph.count") == 2
    assert "too short" in profile.insufficient


def test_a_capture_in_which_nothing_ran_is_insufficient() -> None:
    profile = profile_of(called("nokernels"))
    assert profile.insufficient.startswith("Nothing ran on the GPU")
    assert chathpc.explain(called("nokernels"), llm="none").verdict == "insufficient-data"


def test_a_report_of_an_old_version_asks_for_its_export(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(AdapterError) as refused:
        chathpc.load(next(SAMPLES.glob("*.qdrep")))
    assert "nsys export --type=sqlite" in refused.value.hint
