"""The GPU's part of the tree, and its lanes: kernels, copies, memsets, graphs, waits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chathpc.adapters.nsight_systems.device import Launches
from chathpc.adapters.nsight_systems.report import read
from chathpc.profile import intervals
from chathpc.profile.profile import Profile
from chathpc.profile.timeline import DEVICE_LANES, LaneKind
from chathpc.profile.tree import NodeKind
from tests.adapters.nsight_systems.looking import below, paths
from tests.synthetic.nsight_systems import (
    AGES,
    D2D,
    D2H,
    H2D,
    ON_DEVICE,
    PAGEABLE,
    PEER,
    PINNED,
    STREAM_WAIT,
    UNIFIED_D2H,
    Export,
    all_features,
)  # fmt: skip


def export_of(folder: Path, export: Export) -> Profile:
    profile = read(export.write(folder / "report.sqlite"))
    profile.tree.check()
    return profile


@pytest.mark.parametrize("age", AGES)
@pytest.mark.parametrize("lazy", [True, False])
def test_every_feature_is_read_at_every_age(tmp_path: Path, age: int, lazy: bool) -> None:
    profile = export_of(tmp_path, all_features(age, lazy=lazy))
    assert profile.total("gpu.kernel.count") == 2 * 5
    assert profile.total("gpu.copy.count") == 2 * 5
    assert profile.total("gpu.time") == pytest.approx(
        sum(profile.total(f"gpu.{what}.time") for what in ("kernel", "copy", "memset", "graph"))
    )
    assert profile.total("gpu.collective.time") == pytest.approx(2 * 50e-6)
    assert profile.total("gpu.sync.time") == pytest.approx(2 * 440e-6)
    assert profile.total("cpu.samples") == 6
    for metric in profile.metrics:
        if profile.metrics[metric].aggregation == "sum":
            roots = profile.inclusive(metric).dense(len(profile.tree))[profile.tree.roots].sum()
            assert profile.exclusive(metric).sum() == pytest.approx(roots, rel=1e-9)


def test_correlation_ids_are_those_of_one_process_only(tmp_path: Path) -> None:
    export = Export()
    export.call(0, 10, "cudaLaunchKernel", pid=7, correlation=5)
    export.call(0, 10, "cuLaunchKernelEx", pid=8, correlation=5)
    export.kernel(20, 30, "one(int)", 5, pid=7)
    export.kernel(20, 40, "two(int)", 5, pid=8, device=1)
    profile = export_of(tmp_path, export)
    assert below(profile, "gpu.kernel.time", "one(int)") == pytest.approx(
        {"process 0 / main thread / cudaLaunchKernel": 10e-9}
    )
    assert below(profile, "gpu.kernel.time", "two(int)") == pytest.approx(
        {"process 1 / main thread / cuLaunchKernelEx": 20e-9}
    )


def test_operations_whose_launch_was_not_recorded_are_unattributed(tmp_path: Path) -> None:
    export = Export()
    export.call(0, 10, "cudaLaunchKernel", correlation=5)
    export.kernel(20, 30, "known(int)", 5)
    export.kernel(30, 50, "lost(int)", 4)
    export.kernel(50, 55, "without(int)", None)
    profile = export_of(tmp_path, export)
    assert below(profile, "gpu.kernel.time", "lost(int)") == pytest.approx({"process / [unattributed]": 20e-9})
    assert below(profile, "gpu.kernel.time", "without(int)") == pytest.approx({"process / [unattributed]": 5e-9})
    assert any(sentence.startswith("The launching call of 2 GPU operations") for sentence in profile.caveats)
    lost = next(node for node in range(len(profile.tree)) if profile.tree.label(node) == "[unattributed]")
    assert profile.tree.kind[lost] == NodeKind.PLACEHOLDER


def test_an_export_without_process_ids_is_taken_to_be_of_its_one_process(tmp_path: Path) -> None:
    import sqlite3
    from contextlib import closing

    path = tmp_path / "small.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
            "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'gemm(float*)');"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, correlationId INTEGER, globalTid INTEGER, nameId INTEGER);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (-3000, -500, 1, 1, 1);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, "
            "correlationId INTEGER, demangledName INTEGER);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 2000000, 0, 7, 1, 2);"
        )
    profile = read(path)
    assert below(profile, "gpu.kernel.time", "gemm(float*)") == pytest.approx(
        {"process / thread 1 / cudaLaunchKernel": 2e-3}
    )
    assert profile.format == "Nsight Systems"
    assert "gpu.kernel.blocks" not in profile.metrics


def test_all_kernels_of_a_graph_hang_below_its_launch(tmp_path: Path) -> None:
    profile = export_of(tmp_path, all_features())
    launch = "main thread / step / aten::mul / overlapping / cudaGraphLaunch"
    assert below(profile, "gpu.kernel.count", "graph_kernel(int)") == {
        f"rank {rank} (solver) / {launch}": 3 for rank in (0, 1)
    }
    assert below(profile, "gpu.graph.time", "<gpu graph>") == pytest.approx(
        {f"rank {rank} (solver) / {launch}": 100e-6 for rank in (0, 1)}
    )


def test_copies_are_told_apart_by_direction_bytes_and_kind_of_memory(tmp_path: Path) -> None:
    export = Export()
    call = export.call(0, 10, "cudaMemcpyAsync")
    export.copy(100, 200, H2D, 1_000, call, memory=(PAGEABLE, ON_DEVICE))
    export.copy(200, 250, H2D, 500, call, memory=(PINNED, ON_DEVICE))
    export.copy(300, 310, D2H, 50, call, memory=(ON_DEVICE, PAGEABLE))
    export.copy(320, 330, D2D, 7, call, memory=(ON_DEVICE, ON_DEVICE))
    export.copy(330, 340, D2D, 9, call, memory=(ON_DEVICE, ON_DEVICE), devices=(0, 1))
    export.copy(340, 345, PEER, 11, call, memory=(ON_DEVICE, ON_DEVICE))
    export.copy(350, 353, UNIFIED_D2H, 13, None, memory=(4, 4))
    export.copy(360, 361, 9, 17, call, memory=(PINNED, PINNED))
    profile = export_of(tmp_path, export)
    expected = {
        "gpu.copy.h2d.bytes": 1_500, "gpu.copy.d2h.bytes": 50, "gpu.copy.d2d.bytes": 7, "gpu.copy.p2p.bytes": 20,
        "gpu.copy.unified.bytes": 13, "gpu.copy.pageable.bytes": 1_050, "gpu.copy.count": 8,
    }  # fmt: skip
    assert {metric: profile.total(metric) for metric in expected} == expected
    assert profile.total("gpu.copy.time") == pytest.approx(189e-9)
    thread = "process / main thread / cudaMemcpyAsync"
    assert paths(profile, "gpu.copy.time") == pytest.approx({
        f"{thread} / <gpu copyin>": 150e-9, f"{thread} / <gpu copyout>": 10e-9, f"{thread} / <gpu copy>": 26e-9,
        "process / [unattributed] / <gpu copy>": 3e-9,
    })  # fmt: skip
    assert not any("was not recorded" in sentence for sentence in profile.caveats)  # nobody launches a migration
    timeline = profile.timeline
    assert timeline is not None
    lane = timeline.of(LaneKind.H2D)[0]
    assert lane.bytes is not None
    assert lane.pageable is not None
    assert (lane.bytes.tolist(), lane.pageable.tolist()) == ([1_000, 500], [True, False])
    assert timeline.of(LaneKind.D2D)[0].pageable is None


def test_kinds_of_memory_that_were_not_recorded_are_not_pinned(tmp_path: Path) -> None:
    path = all_features().write(tmp_path / "report.sqlite")
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(path)) as database:
        database.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY DROP COLUMN srcKind")
    profile = read(path)
    assert "gpu.copy.pageable.bytes" not in profile.metrics
    assert "whether host memory of copies is pinned" in profile.not_collected


def test_launches_of_one_kernel_at_one_path_are_averaged(tmp_path: Path) -> None:
    export = Export()
    for step, blocks in enumerate((10, 20)):
        call = export.call(1_000 * step, 1_000 * step + 10, "cudaLaunchKernel")
        export.kernel(
            1_000 * step + 20,
            1_000 * step + 40,
            "solve(int)",
            call,
            grid=(blocks, 2, 3),
            block=(32, 2, 1),
            registers=40,
            shared=(100, 28),
        )
    profile = export_of(tmp_path, export)
    row = profile.kernels.iloc[0]
    assert row["name"] == "solve(int)"
    assert (row["launches"], row["time"]) == (2, pytest.approx(40e-9))
    facts = {"blocks": 90, "threads-per-block": 64, "registers": 40, "shared-memory-per-block": 128}
    assert {fact: row[f"gpu.kernel.{fact}"] for fact in facts} == facts


def test_waits_of_streams_for_events_are_not_waits_of_the_host(tmp_path: Path) -> None:
    export = Export()
    call = export.call(0, 10, "cudaStreamWaitEvent")
    export.sync(2, 9, call, kind=STREAM_WAIT)
    export.kernel(20, 30, "solve(int)", call)
    assert "gpu.sync.time" not in export_of(tmp_path, export).metrics
    export.sync(40, 45, call)
    waited = export_of(tmp_path, export)
    assert waited.total("gpu.sync.time") == pytest.approx(5e-9)
    # The stream of the wait is one of its own, which does nothing.
    assert (int(waited.where.is_gpu.sum()), waited.counts.streams) == (2, 1)


def test_busy_and_idle_are_the_session_to_the_nanosecond(tmp_path: Path) -> None:
    timeline = export_of(tmp_path, all_features()).timeline
    assert timeline is not None
    assert timeline.devices == (0, 1)
    assert (timeline.begin, timeline.end) == (220_000, 3_329_000)
    for device in timeline.devices:
        busy = intervals.length(timeline.busy(*DEVICE_LANES, device=device))
        assert busy + intervals.length(timeline.idle(device)) == timeline.end - timeline.begin
    covered = sum(int((lane.end - lane.start).sum()) for lane in timeline.of(*DEVICE_LANES))
    assert covered == round(export_of(tmp_path, all_features()).total("gpu.time") * 1e9)


def test_each_lane_is_of_one_stream_and_leads_to_nodes_of_the_tree(tmp_path: Path) -> None:
    profile = export_of(tmp_path, all_features())
    timeline = profile.timeline
    assert timeline is not None
    collective = timeline.of(LaneKind.COLLECTIVE)
    assert [lane.device for lane in collective] == [0, 1]
    assert {profile.tree.label(int(node)) for lane in collective for node in lane.node} == {
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"
    }
    assert {int(profile.where.stream[lane.location]) for lane in collective} == {9}
    for lane in timeline.of(LaneKind.COMPUTE):
        assert (np.diff(lane.start) >= 0).all()
        assert int(profile.where.stream[lane.location]) == 7
        assert {NodeKind(int(profile.tree.kind[node])) for node in lane.node} == {NodeKind.GPU_KERNEL}


def test_the_gpu_of_a_kernel_is_found_by_the_ordinal_of_cuda(tmp_path: Path) -> None:
    export = Export()
    export.gpu(0, "GPU with number 0", ordinal=1)
    export.gpu(1, "GPU with number 1", ordinal=0)
    export.kernel(0, 2_000_000, "solve(int)")
    profile = export_of(tmp_path, export)
    assert {ordinal: device.name for ordinal, device in profile.devices.items()} == {0: "GPU with number 1"}
    device = profile.devices[0]
    assert (device.multiprocessors, device.memory, device.bandwidth, device.clock, device.capability) == (
        108,
        40 << 30,
        1.5552e12,
        1.41e9,
        "8.0",
    )
    assert profile.hardware == {"GPU 0": "GPU with number 1"}


def test_exports_of_2021_tell_the_gpu_in_thousands(tmp_path: Path) -> None:
    export = Export(2021)
    export.gpu(0, "Synthetic GPU")
    export.kernel(0, 2_000_000, "solve(int)")
    device = export_of(tmp_path, export).devices[0]
    assert (device.bandwidth, device.clock, device.capability) == (1.5552e12, 1.41e9, "8.0")


def test_a_process_that_sees_one_gpu_only_may_call_it_0(tmp_path: Path) -> None:
    export = Export()
    for number in range(4):
        export.gpu(number, f"GPU {number}")
    for pid, gpu in ((7, 2), (8, 3)):
        export.add("TARGET_INFO_CUDA_DEVICE", gpuId=gpu, cudaId=0, pid=pid)
        export.kernel(0, 2_000_000, "solve(int)", pid=pid, device=0)
    profile = export_of(tmp_path, export)
    assert profile.timeline is not None
    assert profile.timeline.devices == (2, 3)
    assert profile.hardware == {"GPU 2": "GPU 2", "GPU 3": "GPU 3"}


def test_a_capture_without_gpu_operations_is_insufficient(tmp_path: Path) -> None:
    export = Export()
    export.call(0, 10, "cudaGetDeviceCount")
    profile = export_of(tmp_path, export)
    assert profile.insufficient.startswith("Nothing ran on the GPU in this capture")
    assert "--trace=cuda,nvtx,osrt" in profile.not_collected["GPU kernels and copies"]


def test_a_handful_of_launches_is_too_short(tmp_path: Path) -> None:
    export = Export()
    export.kernel(0, 2_000, "solve(int)")
    assert "span 0.002 ms" in export_of(tmp_path, export).insufficient
    export.kernel(1_000_000, 1_002_000, "solve(int)")
    assert export_of(tmp_path, export).insufficient == ""


def test_what_is_missing_is_told_with_the_option_that_collects_it(tmp_path: Path) -> None:
    export = Export(2022)
    export.kernel(0, 2_000_000, "solve(int)")
    missing = export_of(tmp_path, export).not_collected
    assert any("--trace=cuda,nvtx" in command for command in missing.values())
    assert any("--cudabacktrace=all" in command for command in missing.values())
    assert any("--sample=process-tree" in command for command in missing.values())
    full = export_of(tmp_path, all_features()).not_collected
    assert list(full.values()) == ["ncu --set full -o report ./app"]


def test_launches_are_found_whether_ids_are_dense_sparse_or_of_many_processes() -> None:
    rng = np.random.default_rng(5)
    for processes, spread in ((1, 1), (3, 1), (3, 10**9), (200, 1)):
        process = rng.integers(0, processes, 1_000).astype(np.int32)
        correlation = rng.permutation(1_000).astype(np.int64) * spread
        node = np.arange(1_000, dtype=np.int32)
        found = Launches(process, correlation, node)
        assert (found.find(process, correlation) == node).all()
        missing = np.array([-1, -(2**62), 2**62, 1_000 * spread + 1])
        assert (found.find(np.zeros(4, dtype=np.int32), missing) == -1).all()
        assert (found.find(np.full(5, processes, dtype=np.int32), correlation[:5]) == -1).all()


def test_ids_of_32_bits_do_not_wrap_around_beside_wide_ones() -> None:
    for low in (2**40, 2**31 - 3):
        wide = np.arange(low, low + 3)
        found = Launches(np.zeros(3, dtype=np.int32), wide, np.arange(3, dtype=np.int32))
        narrow = np.array([-1, -(2**31), 2**31 - 1, 2**31 - 3], dtype=np.int32)
        expected = [int(value - low) if low <= value < low + 3 else -1 for value in narrow.tolist()]
        assert found.find(np.zeros(4, dtype=np.int32), narrow).tolist() == expected


def test_reading_the_kernels_meanwhile_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = export_of(tmp_path, all_features())
    monkeypatch.setattr("chathpc.adapters.nsight_systems.export.LARGE", 0)
    meanwhile = export_of(tmp_path, all_features())
    assert meanwhile.tree.names == usual.tree.names
    assert {metric: paths(meanwhile, metric) for metric in meanwhile.metrics} == {
        metric: paths(usual, metric) for metric in usual.metrics
    }


def test_large_exports_keep_their_totals(tmp_path: Path) -> None:
    from tests.synthetic.nsight_systems_large import kernel_nanoseconds, write_large

    n = 60_000
    profile = read(write_large(tmp_path / "large.sqlite", n))
    profile.tree.check()
    assert profile.total("gpu.kernel.count") == n
    assert profile.total("calls.count") == 2 * n
    assert profile.total("gpu.kernel.time") == pytest.approx(sum(map(kernel_nanoseconds, range(n))) * 1e-9, rel=1e-12)
    assert not any("was not recorded" in sentence for sentence in profile.caveats)
    steps = [node for node in range(len(profile.tree)) if profile.tree.label(node) == "step"]
    assert len(steps) == 1
    assert profile.inclusive("host.time").at(steps[0]) == pytest.approx((n // 1_000) * (20_000_000 - 1) * 1e-9)
