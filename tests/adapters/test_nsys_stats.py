"""Reports of nsys stats: sums by name, traces, and several reports together."""

from __future__ import annotations

from pathlib import Path

import pytest

import chathpc
from chathpc.adapters.glance import Glance
from chathpc.adapters.nsys_stats import recognises
from chathpc.errors import AdapterError
from chathpc.profile import intervals
from chathpc.profile.profile import Profile
from chathpc.profile.timeline import DEVICE_LANES, LaneKind
from tests.adapters.contained import Server
from tests.synthetic import nsys_stats as written


def load(path: Path, *texts: str) -> Profile:
    """The profile of one report, or of a folder with several."""
    if len(texts) == 1:
        path.write_text(texts[0])
    else:
        path.mkdir()
        for number, text in enumerate(texts):
            (path / f"report_{number}.csv").write_text(text)
    profile = chathpc.load(path)
    profile.tree.check()
    return profile


def totals(profile: Profile, *metrics: str) -> list[float]:
    return [profile.total(metric) for metric in metrics]


def test_kernels_have_their_times_and_launches(tmp_path: Path) -> None:
    profile = load(tmp_path / "k.csv", written.KERNELS)
    assert profile.format == "nsys stats CSV"
    assert totals(profile, "gpu.kernel.time", "gpu.kernel.count") == pytest.approx([1_000_000e-9, 215])
    assert profile.total("gpu.collective.time") == pytest.approx(100_000e-9)
    assert profile.kernels["name"].tolist()[0] == "gemv(float*)"
    assert profile.timeline is None
    assert "timeline" in profile.not_collected


def test_a_folder_of_reports_counts_nothing_twice(tmp_path: Path) -> None:
    texts = (
        written.KERNELS,
        written.SHAPES,
        written.KERNELS,
        written.COPIES,
        written.SIZES,
        written.OPERATIONS,
        written.CALLS,
    )
    profile = load(tmp_path / "all", *texts, written.SYSTEM_CALLS)
    assert totals(profile, "gpu.kernel.time", "gpu.kernel.count") == pytest.approx([900_000e-9, 210])
    assert totals(profile, "gpu.copy.time", "gpu.memset.time") == pytest.approx([80_000e-9, 5_000e-9])
    assert totals(profile, "gpu.copy.h2d.bytes", "gpu.copy.d2h.bytes") == pytest.approx([1.5e6, 1000.25e6])
    assert totals(profile, "gpu.copy.h2d.time", "gpu.copy.d2h.time") == pytest.approx([50_000e-9, 30_000e-9])
    assert totals(profile, "host.time", "gpu.sync.time") == pytest.approx([2_000_000e-9, 400_000e-9])
    row = profile.kernels.set_index("name").loc["gemv(float*)"]
    assert (row["gpu.kernel.blocks"], row["gpu.kernel.threads-per-block"]) == (128, 128)


def test_operations_of_all_kinds_in_one_report_are_told_apart(tmp_path: Path) -> None:
    profile = load(tmp_path / "o.csv", written.OPERATIONS)
    assert totals(profile, "gpu.kernel.time", "gpu.copy.h2d.time", "host.time") == pytest.approx([6e-4, 5e-5, 1e-5])


def test_ranges_lie_in_each_other_and_are_no_host_time(tmp_path: Path) -> None:
    profile = load(tmp_path / "r.csv", written.RANGES)
    assert profile.total("other.range.time") == pytest.approx(3_500_000e-9)
    assert "host.time" not in profile.metrics
    assert "kernels" in profile.not_collected


def test_several_reports_may_stand_in_one_file_with_other_text(tmp_path: Path) -> None:
    text = f"Processing [x.sqlite] with [cuda_api_sum.py]...\n\n{written.CALLS}\n\n ** CUDA (x):\n\n{written.KERNELS}\nend\n"
    profile = load(tmp_path / "all.csv", text)
    assert totals(profile, "host.time", "gpu.kernel.time") == pytest.approx([1_300_000e-9, 1_000_000e-9])


def test_times_may_be_in_any_unit(tmp_path: Path) -> None:
    text = written.KERNELS.replace("Total Time (ns)", "Total Time (us)")
    assert load(tmp_path / "k.csv", text).total("gpu.kernel.time") == pytest.approx(1.0)


def test_a_trace_gives_a_timeline_and_launches(tmp_path: Path) -> None:
    profile = load(tmp_path / "t", written.GPU_TRACE, written.CALL_TRACE)
    timeline = profile.timeline
    assert timeline is not None
    assert (timeline.end - timeline.begin, timeline.devices) == (8100 - 1000, (0,))
    assert intervals.length(timeline.busy(*DEVICE_LANES, device=0)) == 500 + 3000 + 1000 + 100
    (copies,) = timeline.of(LaneKind.H2D)
    assert copies.bytes is not None
    assert copies.bytes.tolist() == [4096]
    assert copies.pageable is not None
    assert copies.pageable.tolist() == [True]
    assert len(timeline.of(LaneKind.COLLECTIVE)) == len(timeline.of(LaneKind.MEMSET)) == 1
    row = profile.kernels.set_index("name").loc["gemm(float*)"]
    assert row["gpu.kernel.blocks"] == 128
    assert row["gpu.kernel.registers"] == 40
    assert row["gpu.kernel.shared-memory-per-block"] == 3000
    assert profile.devices[0].name == "Example GPU"
    depth = profile.tree.depth.tolist()
    assert ["  " * depth[n] + profile.tree.label(n) for n in range(len(profile.tree))] == [
        "process 4", "  thread 4", "    cudaMemcpyAsync", "      [CUDA memcpy Host-to-Device]", "    cudaLaunchKernel",
        "      gemm(float*)", "  thread 5", "    cudaLaunchKernel", "      ncclKernel_AllReduce(x)",
        "[unattributed]", "  [CUDA memset]",
    ]  # fmt: skip
    assert "2 rows are damaged and were skipped." in profile.caveats
    calls = load(tmp_path / "c.csv", written.CALL_TRACE)
    assert calls.total("host.time") == pytest.approx(150e-9)
    assert calls.timeline is not None
    alone = load(tmp_path / "g.csv", written.GPU_TRACE)
    assert "calls of the host" in alone.not_collected
    assert alone.timeline is not None


@pytest.mark.parametrize(
    "text", [written.CALLS, written.SYSTEM_CALLS, written.RANGES, written.SIZES, written.OPERATIONS, written.CALL_TRACE]
)
def test_a_report_that_says_little_is_explained_as_such(tmp_path: Path, text: str) -> None:
    report = chathpc.explain(load(tmp_path / "r.csv", text), llm="none")
    assert report.verdict in ("insufficient-data", "hot-spot")


def test_other_tables_are_no_reports(tmp_path: Path) -> None:
    for number, text in enumerate(
        ("a,b,c,d,e (s)\n1,2,3,4,5\n", "", "Time (%),Total Time (ns),x,y,z\n", '"' * 50 + ",,,,,(")
    ):
        path = tmp_path / f"{number}.csv"
        path.write_text(text)
        assert not recognises(Glance(path))
        with pytest.raises(AdapterError, match="no report"):
            chathpc.load(path, format="nsys-stats")
    (tmp_path / "empty").mkdir()
    assert not recognises(Glance(tmp_path / "empty"))


def test_damage_and_bombs_do_no_harm(tmp_path: Path) -> None:
    header = written.KERNELS.splitlines()[0] + "\n"
    trace = written.GPU_TRACE.splitlines()[0] + "\n"
    files = {
        "none.csv": header,
        "odd.csv": header
        + "x,-5,1,,,,,,k\n1,nan,1,,,,,,k\n1,inf,,,,,,,k\n1,1e300,,,,,,,k\n1\n,,,,,,,,\n1,2,3,4,5,6,7,8,\n",
        "quote.csv": header + '1,2,3,4,5,6,7,8,"' + "x" * 200_000,
        "long.csv": header + "1,5,1,1,1,1,1,1," + "k" * 100_000 + "\n",
        "names.csv": header + "1,5,1,1,1,1,1,1,\x1b[31m\u202e\n",
        "times.csv": trace
        + "9" * 19
        + ",5,1,,,,,,,,,,,,,,,,,7,k\n1,-5,1,,,,,,,,,,,,,,,,,7,k\n1e3,2,x,,,,,,,,,,,,,,,,,y,k\n",
        "zeros.csv": trace + "\0" * 1000,
        "wide.csv": header + "," * 500_000,
    }
    with Server() as server:
        for name, text in files.items():
            (tmp_path / name).write_text(text)
            outcome = server.run(tmp_path / name)
            assert outcome.good, f"{name}: {outcome}"
            assert outcome.kind == "profile" or outcome.hint
    assert chathpc.load(tmp_path / "none.csv").insufficient
