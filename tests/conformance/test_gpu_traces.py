"""Real traces of PyTorch, of AMD's profilers and of nsys stats, against arithmetic on the files with json, csv and SQL alone."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import chathpc
from chathpc.profile import intervals
from chathpc.profile.profile import Profile
from chathpc.profile.timeline import DEVICE_LANES, LaneKind, Timeline

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CHATHPC_TEST_DATA", REPOSITORY.parent / "shared" / "data")) / "profiles"
pytestmark = pytest.mark.skipif(
    not (DATA / "kineto").is_dir(),
    reason="needs measured profiles (CHATHPC_TEST_DATA, or ../shared/data beside the repository)",
)

KINETO = sorted(path.name for path in (DATA / "kineto").glob("*.json.gz"))
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
#: Part of the window from the first to the last operation in which the GPU works, in percent (INDEX.md).
BUSY = {
    "bert_small_h100.json.gz": 7.9, "bert_small_mi300.json.gz": 11.2, "sglang_qwen3_decode.json.gz": 2.1,
    "hta_event_sync.json.gz": 19, "hta_ns_resolution_rank0.json.gz": 98.4, "hta_dist_rank0.json.gz": 44.8,
}  # fmt: skip
#: Milliseconds of communication that nothing hides (INDEX.md).
EXPOSED = {"hta_dist_rank0.json.gz": 336, "hta_dist_rank1.json.gz": 299}


@cache
def load(*place: str) -> Profile:
    profile = chathpc.load(DATA.joinpath(*place))
    profile.tree.check()
    return profile


@cache
def events(name: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / "kineto" / name, "rt") as file:
        content = json.load(file)
    return [event for event in content["traceEvents"] if event.get("ph") == "X" and event["dur"] >= 0]


def timeline_of(profile: Profile) -> Timeline:
    timeline = profile.timeline
    assert timeline is not None
    return timeline


def busy(profile: Profile) -> float:
    """Percent of the window in which the one device works."""
    timeline = timeline_of(profile)
    return 100 * intervals.length(timeline.busy(*DEVICE_LANES)) / (timeline.end - timeline.begin)


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """Length of the union of spans, one by one."""
    total, reach = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, reach))
        reach = max(reach, end)
    return total


def rows(*place: str) -> list[dict[str, str]]:
    path = DATA.joinpath(*place)
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
        return list(csv.DictReader(file))


def sql(place: tuple[str, ...], statement: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(f"file:{DATA.joinpath(*place)}?mode=ro&immutable=1", uri=True)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


# -- PyTorch -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINETO)
def test_times_and_bytes_of_pytorch_are_the_sums_of_its_events(name: str) -> None:
    profile = load("kineto", name)
    kernels = [event for event in events(name) if event.get("cat") == "kernel"]
    copies = [event for event in events(name) if event.get("cat") == "gpu_memcpy"]
    sets = [event for event in events(name) if event.get("cat") == "gpu_memset"]
    expected = {
        "gpu.kernel.time": sum(event["dur"] for event in kernels) * 1e-6,
        "gpu.copy.time": sum(event["dur"] for event in copies) * 1e-6,
        "gpu.memset.time": sum(event["dur"] for event in sets) * 1e-6,
        "gpu.time": sum(event["dur"] for event in kernels + copies + sets) * 1e-6,
        "gpu.kernel.count": len(kernels) or sum(event.get("cat") == "cuda_profiler_range" for event in events(name)),
        "gpu.copy.count": len(copies),
    }
    for direction, letters in (("h2d", "HtoD"), ("d2h", "DtoH"), ("d2d", "DtoD")):
        moved = [event for event in copies if letters in event["name"]]
        expected[f"gpu.copy.{direction}.time"] = sum(event["dur"] for event in moved) * 1e-6
        expected[f"gpu.copy.{direction}.bytes"] = sum(event["args"]["bytes"] for event in moved)
    for metric, value in expected.items():
        if value:
            assert profile.total(metric) == pytest.approx(value, rel=1e-9), metric
        else:
            assert metric not in profile.metrics
    for metric in profile.metrics.values():
        if metric.aggregation == "sum":
            assert profile.exclusive(metric.id).sum() == pytest.approx(profile.total(metric.id), rel=1e-9)


@pytest.mark.parametrize("name", KINETO)
def test_time_of_host_threads_is_the_union_of_their_events(name: str) -> None:
    left_out = (*DEVICE, "gpu_user_annotation", "cuda_sync", "Trace", "overhead", "cuda_profiler_range")
    spans: dict[tuple[Any, Any], list[tuple[float, float]]] = defaultdict(list)
    count = 0
    for event in events(name):
        if event.get("cat") not in left_out:
            spans[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
            count += 1
    profile = load("kineto", name)
    expected = sum(covered(mine) for mine in spans.values()) * 1e-6
    # Microseconds since 1970 have a resolution of 0.25 µs in double precision.
    assert profile.total("host.time") == pytest.approx(expected, rel=1e-4)
    assert profile.total("calls.count") == count


@pytest.mark.parametrize("name", BUSY)
def test_the_busy_part_of_the_gpu_is_the_known_one(name: str) -> None:
    device = [event for event in events(name) if event.get("cat") in DEVICE]
    begin, end = min(event["ts"] for event in device), max(event["ts"] + event["dur"] for event in device)
    own = 100 * covered((event["ts"], event["ts"] + event["dur"]) for event in device) / (end - begin)
    assert busy(load("kineto", name)) == pytest.approx(own, rel=1e-3)
    assert busy(load("kineto", name)) == pytest.approx(BUSY[name], abs=0.5 if BUSY[name] == 19 else 0.06)


@pytest.mark.parametrize("name", EXPOSED)
def test_communication_that_nothing_hides_is_the_known_one(name: str) -> None:
    timeline = timeline_of(load("kineto", name))
    others = [kind for kind in DEVICE_LANES if kind != LaneKind.COLLECTIVE]
    alone = intervals.subtract(timeline.busy(LaneKind.COLLECTIVE), timeline.busy(*others))
    assert intervals.length(alone) * 1e-6 == pytest.approx(EXPOSED[name], abs=0.6)


@pytest.mark.parametrize("name", [name for name in KINETO if name != "hta_cupti_counters.json.gz"])
def test_every_kernel_hangs_below_the_call_with_its_correlation(name: str) -> None:
    profile = load("kineto", name)
    launched = {
        event["args"]["correlation"]: event["name"]
        for event in events(name)
        if event.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in event.get("args", {})
    }
    expected: dict[tuple[str, str], float] = defaultdict(float)
    for event in events(name):
        if event.get("cat") == "kernel":
            expected[launched[event["args"]["correlation"]], event["name"]] += event["dur"] * 1e-6
    found: dict[tuple[str, str], float] = defaultdict(float)
    tree = profile.tree
    if not expected:
        assert "gpu.kernel.time" not in profile.metrics
        return
    column = profile.exclusive("gpu.kernel.time")
    for node, value in zip(column.nodes.tolist(), column.values.tolist(), strict=True):
        found[tree.label(int(tree.parent[node])), tree.label(node)] += value
    assert set(found) == set(expected)
    assert found == pytest.approx(expected, rel=1e-9)


def test_parents_of_python_frames_are_those_that_pytorch_wrote() -> None:
    name = "bert_small_h100.json.gz"
    frames = {event["args"]["Python id"]: event for event in events(name) if event.get("cat") == "python_function"}
    profile = load("kineto", name)
    tree = profile.tree

    def plain(text: str) -> str:
        place = re.fullmatch(r".+?\(\d+\): (.+)", re.sub(r" at 0x[0-9a-fA-F]+", "", text), re.S)
        return place[1] if place else re.sub(r" at 0x[0-9a-fA-F]+", "", text)

    pairs = {
        (plain(frames[parent]["name"]), plain(event["name"]))
        for event in frames.values()
        if (parent := event["args"]["Python parent id"]) in frames
    }
    python = {plain(event["name"]) for event in frames.values()}
    above = {}
    for node in range(len(tree)):
        parent = int(tree.parent[node])
        label = tree.label(node)
        above[node] = above.get(parent, "") if label not in python else label
    found = {
        (above[int(tree.parent[node])], tree.label(node))
        for node in range(len(tree))
        if tree.label(node) in python and above.get(int(tree.parent[node]))
    }
    assert pairs == found


def test_a_trace_of_the_host_alone_concludes_nothing_about_the_gpu() -> None:
    profile = load("kineto", "hta_cpu_only.json.gz")
    assert timeline_of(profile).devices == ()
    assert "GPU activity" in profile.not_collected
    assert not [metric for metric in profile.metrics if metric.startswith("gpu")]


# -- AMD -----------------------------------------------------------------------------------------------------


def test_rocprofv3_json_is_mostly_communication() -> None:
    profile = load("rocprof_json", "908_results.json.gz")
    with gzip.open(DATA / "rocprof_json" / "908_results.json.gz", "rt") as file:
        tool = json.load(file)["rocprofiler-sdk-tool"][0]
    records = tool["buffer_records"]["kernel_dispatch"]
    names = {symbol["kernel_id"]: symbol["formatted_kernel_name"] for symbol in tool["kernel_symbols"]}
    spans = [(record["start_timestamp"], record["end_timestamp"]) for record in records]
    assert profile.total("gpu.kernel.count") == len(records) == 43_915
    assert profile.total("gpu.kernel.time") == pytest.approx(sum(b - a for a, b in spans) * 1e-9, rel=1e-9)
    nccl = [
        span
        for span, record in zip(spans, records, strict=True)
        if "nccl" in names[record["dispatch_info"]["kernel_id"]]
    ]
    assert profile.total("gpu.collective.time") == pytest.approx(sum(b - a for a, b in nccl) * 1e-9, rel=1e-9)
    assert covered(nccl) / covered(spans) == pytest.approx(0.98, abs=0.005)
    assert timeline_of(profile).seconds == pytest.approx(15.1, abs=0.05)
    assert busy(profile) == pytest.approx(28, abs=0.1)


def test_rpd_is_bound_by_copies_and_host() -> None:
    place = ("rpd", "matmul_result.rpd")
    profile = load(*place)
    statement = "SELECT s.string, sum(o.end - o.start), count(*) FROM rocpd_op o JOIN rocpd_string s ON s.id = o.opType_id GROUP BY 1"
    own = {kind: (time * 1e-9, count) for kind, time, count in sql(place, statement)}
    assert profile.total("gpu.copy.h2d.time") == pytest.approx(own["CopyHostToDevice"][0], rel=1e-9)
    assert profile.total("gpu.kernel.time") == pytest.approx(own["KernelExecution"][0], rel=1e-9)
    assert profile.total("gpu.kernel.count") == own["KernelExecution"][1]
    assert profile.total("gpu.time") == pytest.approx(sum(time for time, _ in own.values()), rel=1e-9)
    assert profile.total("gpu.copy.h2d.time") / profile.total("gpu.time") == pytest.approx(0.85, abs=0.006)
    assert busy(profile) == pytest.approx(6.2, abs=0.05)
    assert profile.total("calls.count") == sql(place, "SELECT count(*) FROM rocpd_api")[0][0]
    assert not any("cannot be joined" in caveat for caveat in profile.caveats)


def test_results_of_the_first_rocprof_are_dominated_by_one_kernel() -> None:
    place = ("rocprof_legacy", "finite_difference_results.db")
    profile = load(*place)
    ((time, count),) = sql(place, "SELECT sum(EndNs - BeginNs), count(*) FROM KERN")
    assert profile.total("gpu.kernel.time") == pytest.approx(time * 1e-9, rel=1e-9)
    assert profile.total("gpu.kernel.count") == count
    first = profile.kernels.iloc[0]
    assert "laplacian_kernel" in first["name"]
    assert (first["launches"], first["time"] / first["launches"]) == (1001, pytest.approx(2.606e-3, abs=1e-6))


def test_rocpd_holds_two_kernels_and_two_copies() -> None:
    (path,) = (DATA / "rocpd").glob("*.db")
    place = ("rocpd", path.name)
    profile = load(*place)
    ((kernels, count),) = sql(place, "SELECT sum(end - start), count(*) FROM rocpd_kernel_dispatch")
    ((copies, size),) = sql(place, "SELECT sum(end - start), sum(size) FROM rocpd_memory_copy")
    assert profile.total("gpu.kernel.time") == pytest.approx(kernels * 1e-9, rel=1e-9)
    assert profile.total("gpu.kernel.count") == count == 2
    assert profile.total("gpu.copy.time") == pytest.approx(copies * 1e-9, rel=1e-9)
    assert profile.total("gpu.copy.h2d.bytes") + profile.total("gpu.copy.d2h.bytes") == size
    assert profile.total("calls.count") == 2


def test_the_files_of_rocprofv3_add_up_to_their_rows() -> None:
    def length(name: str) -> float:
        return (
            sum(int(row["End_Timestamp"]) - int(row["Start_Timestamp"]) for row in rows("rocprofv3_csv", name)) * 1e-9
        )

    for name, metric in (
        ("kernel_trace.csv", "gpu.kernel.time"), ("memory_copy_trace.csv", "gpu.copy.time"), ("counter_collection.csv", "gpu.kernel.time"),
    ):  # fmt: skip
        assert load("rocprofv3_csv", name).total(metric) == pytest.approx(length(name), rel=1e-9)
    for name in ("hip_trace.csv", "rccl_trace.csv", "marker_api_trace.csv"):
        assert load("rocprofv3_csv", name).total("calls.count") == len(rows("rocprofv3_csv", name))
    samples = rows("rocprofv3_csv", "pc_sampling_host_trap.csv")
    profile = load("rocprofv3_csv", "pc_sampling_host_trap.csv")
    assert profile.total("gpu.instructions") == len(samples)
    stated = defaultdict(float)
    for row in samples:
        stated[row["Instruction"]] += 1
    column = profile.exclusive("gpu.instructions")
    assert (
        dict(zip((profile.tree.label(n) for n in column.nodes.tolist()), column.values.tolist(), strict=True)) == stated
    )
    counters = load("rocprofv3_csv", "counter_collection.csv")
    assert counters.total("other.sq-waves") == sum(
        float(row["Counter_Value"]) for row in rows("rocprofv3_csv", "counter_collection.csv")
    )
    calls = rows("rocprofv3_csv", "hip_api_stats.csv")
    stats = load("rocprofv3_csv", "hip_api_stats.csv")
    assert stats.total("host.time") == pytest.approx(sum(int(row["TotalDurationNs"]) for row in calls) * 1e-9, rel=1e-9)
    allocated = load("rocprofv3_csv", "memory_allocation_trace.csv")
    assert allocated.total("memory.allocated.bytes") == sum(
        int(row["Allocation_Size"]) for row in rows("rocprofv3_csv", "memory_allocation_trace.csv")
    )


def test_a_copy_kernel_of_rocprof_compute_does_no_arithmetic_and_moves_its_arrays() -> None:
    for folder, size in (("vcopy_MI200", 131_000 * 64), ("vcopy_MI300X_rocpd", 131_000 * 64)):
        profile = load("rocprof_compute", folder)
        (row,) = profile.kernels.to_dict("records")
        assert row["gpu.kernel.arithmetic-intensity"] == 0
        assert row["launches"] == 3
        # Each launch reads an array of 8 MB and writes one.
        moved = row["gpu.kernel.dram-rate"] * row["time"] / row["launches"]
        assert 1.6 * size < moved < 2.1 * size
    wide = rows("rocprof_compute", "vcopy_MI200", "pmc_perf.csv")
    hits, misses = (sum(float(row[f"TCC_{what}_sum"]) for row in wide) for what in ("HIT", "MISS"))
    found = load("rocprof_compute", "vcopy_MI200").kernels.iloc[0]
    assert found["gpu.kernel.l2-hit-rate"] == pytest.approx(100 * hits / (hits + misses), rel=0.01)
    assert load("rocprof_compute", "vcopy_MI200").total("other.sq-waves") == sum(float(row["SQ_WAVES"]) for row in wide)
    long = rows("rocprof_compute", "vcopy_MI300X_rocpd", "pmc_perf.csv.gz")
    waves = sum(float(row["Counter_Value"]) for row in long if row["Counter_Name"] == "SQ_WAVES")
    assert load("rocprof_compute", "vcopy_MI300X_rocpd").total("other.sq-waves") == waves


def test_a_database_of_rocprof_compute_agrees_with_its_own_roofline() -> None:
    (path,) = (DATA / "rocprof_compute").glob("*.db")
    place = ("rocprof_compute", path.name)
    profile = load(*place)
    times = sql(place, "SELECT sum(end_timestamp - start_timestamp), count(*) FROM compute_dispatch")
    assert profile.total("gpu.kernel.time") == pytest.approx(times[0][0] * 1e-9, rel=1e-9)
    assert profile.total("gpu.kernel.count") == times[0][1]
    own = dict(
        sql(
            place,
            "SELECT kernel_name, hbm_cache_data FROM compute_kernel JOIN compute_kernel_roofline_data USING (kernel_uuid)",
        )
    )
    found = profile.kernels.set_index("name")["gpu.kernel.arithmetic-intensity"].to_dict()
    assert len(found) == len(own) == 7
    for name, value in own.items():
        assert found[name] == pytest.approx(value, rel=1e-4)  # the tool averages over launches before it divides


# -- nsys stats ----------------------------------------------------------------------------------------------


def test_kernels_of_nsys_stats_have_the_shares_that_nsys_printed() -> None:
    profile = load("nsys_stats_csv", "cuda_gpu_kern_sum.csv")
    table = rows("nsys_stats_csv", "cuda_gpu_kern_sum.csv")
    assert profile.total("gpu.kernel.time") == pytest.approx(
        sum(int(row["Total Time (ns)"]) for row in table) * 1e-9, rel=1e-9
    )
    assert profile.total("gpu.kernel.count") == sum(int(row["Instances"]) for row in table)
    first = profile.kernels.iloc[0]
    assert first["launches"] == 329_035
    assert 100 * first["time"] / profile.total("gpu.kernel.time") == pytest.approx(
        float(table[0]["Time (%)"]), abs=0.06
    )


# -- privacy -------------------------------------------------------------------------------------------------


def test_names_of_hosts_and_users_in_the_metadata_are_not_taken_in() -> None:
    (database,) = (DATA / "rocprof_compute").glob("*.db")
    ((name, info),) = sql(("rocprof_compute", database.name), "SELECT name, sys_info_extdata FROM compute_workload")
    with gzip.open(DATA / "rocprof_json" / "908_results.json.gz", "rt") as file:
        node = json.load(file)["rocprofiler-sdk-tool"][0]["metadata"]["node"]
    with gzip.open(DATA / "kineto" / "hta_cpu_only.json.gz", "rt") as file:
        user = json.load(file)["username"]
    system = rows("rocprof_compute", "vcopy_MI200", "sysinfo.csv")[0]
    for place, secrets in (
        (("rocprof_compute", database.name), (name, json.loads(info)["hostname"], json.loads(info)["command"])),
        (("rocprof_json", "908_results.json.gz"), (node["hostname"], node["machine_id"])),
        (("kineto", "hta_cpu_only.json.gz"), (user,)),
        (("rocprof_compute", "vcopy_MI200"), (system["hostname"], system["command"])),
    ):
        profile = load(*place)
        told = repr(
            (profile.title, profile.run, profile.hardware, profile.caveats, profile.devices, list(profile.tree.names))
        )
        report = chathpc.explain(profile, llm="none").model_dump_json()
        for secret in secrets:
            assert secret
            assert secret not in told
            assert secret not in report.replace(str(DATA), "")
