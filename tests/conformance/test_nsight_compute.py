"""Real reports and exports of Nsight Compute, against what NVIDIA's own reader and the csv module say of the same files."""

from __future__ import annotations

import csv
import math
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from chathpc.adapters.glance import Glance
from chathpc.adapters.nsight_compute import recognises
from chathpc.adapters.nsight_compute.read import read
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind
from tests.adapters.contained import Server
from tests.adapters.structured_damage import damage_file

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CHATHPC_TEST_DATA", REPOSITORY.parent / "shared" / "data")) / "profiles"
pytestmark = pytest.mark.skipif(
    not (DATA / "ncu").is_dir(),
    reason="needs measured profiles (CHATHPC_TEST_DATA, or ../shared/data beside the repository)",
)

REPORTS = sorted((DATA / "ncu").glob("*.ncu-rep"))
EXPORTS = sorted((DATA / "ncu_csv").glob("*.csv"))

#: Facts that are one metric of NVIDIA's each.
PLAIN = {
    "gpu.kernel.sm-throughput": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu.kernel.memory-throughput": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu.kernel.dram-throughput": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu.kernel.l2-hit-rate": "lts__t_sector_hit_rate.pct",
    "gpu.kernel.occupancy": "sm__maximum_warps_per_active_cycle_pct",
    "gpu.kernel.achieved-occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "gpu.kernel.blocks": "launch__grid_size",
    "gpu.kernel.registers": "launch__registers_per_thread",
    "gpu.kernel.stall.long-scoreboard": "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
}  # fmt: skip
#: Sums over all instructions of all launches.
SUMMED = {
    "gpu.instructions": ("smsp__pcsamp_sample_count",),
    "gpu.stall.memory": ("smsp__pcsamp_warps_issue_stalled_long_scoreboard",),
    "gpu.stall.barrier": ("smsp__pcsamp_warps_issue_stalled_barrier",),
    "gpu.instructions.executed": ("inst_executed",),
    "gpu.l2.sectors": ("memory_l2_theoretical_sectors_global", "memory_l2_sectors_global"),
    "gpu.l2.sectors.excessive": (
        "derived__memory_l2_theoretical_sectors_global_excessive",
        "derived__memory_l2_sectors_global_excessive",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def vendor() -> Any:
    """NVIDIA's reader, in this process: the samples are whole."""
    return needs_vendor()


def needs_vendor() -> Any:
    return pytest.importorskip("ncu_report", reason="needs NVIDIA's reader: pip install 'chathpc[ncu]'")


@cache
def profile_of(path: Path) -> Profile:
    """What the adapter makes of a report, which only NVIDIA's reader can open, or of an export, which needs nothing."""
    if path.suffix == ".ncu-rep":
        needs_vendor()
    return read(path)


def launches(vendor: Any, path: Path) -> Iterator[tuple[Any, Any]]:
    """(context, action) of each launch; the context must live as long as the action."""
    context = vendor.load_report(str(path))
    for one in range(context.num_ranges()):
        results = context.range_by_idx(one)
        for index in range(results.num_actions()):
            yield context, results.action_by_idx(index)


def number(action: Any, *names: str) -> float | None:
    """The value of the first metric that has one."""
    for name in names:
        metric = action.metric_by_name(name)
        if metric is not None and isinstance(value := metric.value(), int | float) and not math.isnan(value):
            return float(value)
    return None


def kernel_key(action: Any) -> tuple[object, ...]:
    sizes = [number(action, f"launch__{what}_dim_{axis}") for what in ("grid", "block") for axis in "xyz"]
    state = action.nvtx_state()
    ranges = (
        ()
        if state is None
        else tuple(name for one in state.domains() for name in state.domain_by_id(one).push_pop_ranges())
    )
    return (
        action.name(action.NameBase_DEMANGLED),
        *sizes,
        number(action, "launch__shared_mem_per_block_dynamic"),
        ranges,
    )


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_times_launches_and_facts_equal_those_of_the_vendors_reader(vendor: Any, path: Path) -> None:
    assert recognises(Glance(path))
    profile = profile_of(path)
    profile.tree.check()
    groups: dict[tuple[object, ...], list[dict[str, float | None]]] = defaultdict(list)
    for _, action in launches(vendor, path):
        values = {fact: number(action, name) for fact, name in PLAIN.items()}
        groups[kernel_key(action)].append({**values, "time": number(action, "gpu__time_duration.sum")})
    nodes = np.flatnonzero(profile.tree.kind == NodeKind.GPU_KERNEL)
    assert len(nodes) == len(groups)
    assert profile.total("gpu.kernel.count") == sum(map(len, groups.values()))
    times = [one["time"] for group in groups.values() for one in group if one["time"] is not None]
    if times:
        assert profile.total("gpu.time") == pytest.approx(sum(times) * 1e-9, rel=1e-9)
    else:
        assert "gpu.time" not in profile.metrics
    for fact in PLAIN:
        expected = []
        for group in groups.values():
            pairs = [(one[fact], one["time"] or 0.0) for one in group if one[fact] is not None]
            total = sum(weight for _, weight in pairs)
            if pairs:
                expected.append(
                    sum(float(value or 0.0) * (weight or 1.0) for value, weight in pairs) / (total or len(pairs))
                )
        found = profile.exclusive(fact).values.tolist() if fact in profile.metrics else []
        assert sorted(found) == pytest.approx(sorted(expected), rel=1e-9)


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_samples_and_counts_per_instruction_equal_those_of_the_vendors_reader(vendor: Any, path: Path) -> None:
    profile = profile_of(path)
    for identifier, names in SUMMED.items():
        total = 0.0
        measured = False
        for _, action in launches(vendor, path):
            metric = next(
                (one for name in names if (one := action.metric_by_name(name)) is not None and one.num_instances()),
                None,
            )
            if metric is not None:
                measured = True
                total += sum(metric.as_double(index) for index in range(metric.num_instances()))
        if measured:
            assert profile.total(identifier) == pytest.approx(total, rel=1e-12)
        else:
            assert identifier not in profile.metrics


def percents(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"([\d.]+)%", text)]


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_the_roofline_equals_what_nvidias_rule_says(path: Path) -> None:
    profile = profile_of(path)
    checked = 0
    for remark in profile.remarks:
        if remark.rule != "SOLFPRoofline" or "achieved" not in remark.text:
            continue
        stated = percents(remark.text[remark.text.index("achieved") :])
        for precision, percent in zip(("fp32", "fp64"), stated, strict=False):
            rate = profile.exclusive(f"gpu.kernel.flops.{precision}").at(remark.node)
            peak = profile.exclusive(f"gpu.kernel.peak-flops.{precision}").at(remark.node)
            assert rate is not None
            assert peak is not None
            assert round(100 * rate / peak) == pytest.approx(percent, abs=0.51)
            checked += 1
    for node in (
        profile.exclusive("gpu.kernel.dram-rate").nodes if "gpu.kernel.peak-dram-rate" in profile.metrics else ()
    ):
        rate, peak = (profile.exclusive(f"gpu.kernel.{name}").at(int(node)) for name in ("dram-rate", "peak-dram-rate"))
        stated_part = profile.exclusive("gpu.kernel.dram-throughput").at(int(node))
        assert rate is not None
        assert peak is not None
        # Of several launches the parts are averaged, not their ratio.
        several = profile.exclusive("gpu.kernel.count").at(int(node)) != 1
        assert 100 * rate / peak == pytest.approx(stated_part, rel=0.01 if several else 1e-6)
        checked += 1
    if path.stem in ("mistic_node_a100_full", "sglang_h800_full", "indexspaces_julia_a40_full", "speedyscan_rtx3070"):
        assert checked


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_stalls_equal_what_nvidias_rule_says(path: Path) -> None:
    profile = profile_of(path)
    for remark in profile.remarks:
        found = re.search(
            r"spends ([\d.]+) cycles being stalled waiting for a scoreboard dependency on a L1TEX.*?total average of ([\d.]+)",
            remark.text,
        )
        if found is not None:
            stall = profile.exclusive("gpu.kernel.stall.long-scoreboard").at(remark.node)
            total = profile.exclusive("gpu.kernel.latency-per-issue").at(remark.node)
            assert stall == pytest.approx(float(found[1]), abs=0.051)
            assert total == pytest.approx(float(found[2]), abs=0.051)


def test_one_kernel_has_nearly_all_time_of_the_154_launches() -> None:
    profile = profile_of(DATA / "ncu" / "mistic_154kernels_a100_basic.ncu-rep")
    assert profile.total("gpu.kernel.count") == 154
    top = profile.kernels.iloc[0]
    assert top["name"].startswith("distanceCalculationsKernel(")
    assert top["launches"] == 11
    assert top["time"] / profile.total("gpu.time") > 0.999
    assert "stall reasons" in profile.not_collected


def test_a_report_in_which_profiling_failed_is_insufficient() -> None:
    assert "Profiling failed" in profile_of(DATA / "ncu" / "mistic_nan_failed_a100.ncu-rep").insufficient


@pytest.mark.parametrize(
    ("name", "kernel"), [("sglang_h800_full", "flash_fwd_kernel"), ("esmm_gemm_ladder_a10g_basic", "one_d_vec")]
)
def test_a_kernel_without_data_is_named(name: str, kernel: str) -> None:
    profile = profile_of(DATA / "ncu" / f"{name}.ncu-rep")
    assert profile.insufficient == ""
    assert any("Nothing was measured for 1 of" in caveat and kernel in caveat for caveat in profile.caveats)


def test_metrics_of_one_section_say_what_can_be_used() -> None:
    profile = profile_of(DATA / "ncu" / "extrap_exgpu_s10_a100.ncu-rep")
    assert any("only times and launch configurations" in caveat for caveat in profile.caveats)
    assert profile.exclusive("gpu.kernel.blocks").values.tolist() == [1.0] * len(profile.exclusive("gpu.kernel.blocks"))


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_a_kernels_samples_are_below_it_and_devices_are_known(path: Path) -> None:
    profile = profile_of(path)
    assert all(device.multiprocessors and device.bandwidth for device in profile.devices.values())
    assert profile.devices
    if "gpu.instructions" in profile.metrics:
        below = profile.exclusive("gpu.instructions").nodes
        assert set(profile.tree.kind[below].tolist()) == {NodeKind.INSTRUCTION}


#: Texts in the raw files that must not come out: home folders and hosts of those who measured.
HOME = re.compile(r"/(?:home|Users|root)/[\w.-]+")


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_nothing_of_the_machine_that_measured_comes_out(path: Path) -> None:
    profile = profile_of(path)
    shown = repr(
        (
            profile.title,
            dict(profile.run),
            dict(profile.hardware),
            profile.caveats,
            dict(profile.not_collected),
            profile.remarks,
        )
    )
    assert not HOME.search(shown)
    assert not HOME.search(" ".join(profile.tree.names))


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.stem)
def test_exports_equal_what_the_csv_module_reads(path: Path) -> None:
    assert recognises(Glance(path))
    profile = read(path)
    rows = [row for row in csv.DictReader(path.open(encoding="utf-8")) if row["ID"].isdigit()]
    shown = {(row["Section Name"], row["Metric Name"]): (row["Metric Value"], row["Metric Unit"]) for row in rows}
    speed = "GPU Speed Of Light Throughput"
    for fact, place in {
        "gpu.kernel.sm-throughput": (speed, "Compute (SM) Throughput"),
        "gpu.kernel.memory-throughput": (speed, "Memory Throughput"),
        "gpu.kernel.l2-throughput": (speed, "L2 Cache Throughput"),
        "gpu.kernel.l1-hit-rate": ("Memory Workload Analysis", "L1/TEX Hit Rate"),
        "gpu.kernel.occupancy": ("Occupancy", "Theoretical Occupancy"),
        "gpu.kernel.limit.registers": ("Occupancy", "Block Limit Registers"),
    }.items():  # fmt: skip
        if place in shown:
            assert profile.exclusive(fact).values.tolist() == [float(shown[place][0].replace(",", ""))]
        else:
            assert fact not in profile.metrics
    if (speed, "Duration") in shown:
        value, unit = shown[speed, "Duration"]
        assert unit == "us"
        assert profile.total("gpu.time") == pytest.approx(float(value) * 1e-6)
    if ("Memory Workload Analysis", "Memory Throughput") in shown:
        value, unit = shown["Memory Workload Analysis", "Memory Throughput"]
        assert unit == "Gbyte/s"
        assert profile.exclusive("gpu.kernel.dram-rate").values.tolist() == [pytest.approx(float(value) * 1e9)]
    rules = [row["Rule Name"] for row in rows if row["Rule Name"]]
    assert [remark.rule for remark in profile.remarks] == rules
    assert {remark.speedup for remark in profile.remarks if remark.speedup is not None} == {
        float(row["Estimated Speedup"]) / 100 for row in rows if row["Estimated Speedup"]
    }


def test_the_exports_of_several_kernels_in_a_folder_are_one_profile() -> None:
    profile = read(DATA / "ncu_csv")  # also has two sections of the first kernel, as files of their own
    assert profile.total("gpu.kernel.count") == 3
    assert profile.total("gpu.time") == pytest.approx((6.75 + 18.34 + 23.42) * 1e-6)


CASES = int(os.environ.get("CHATHPC_NCU_CASES", "30"))


def test_damaged_reports_are_refused_or_read(vendor: Any, tmp_path: Path) -> None:
    bases = [path for path in REPORTS if path.stat().st_size < 400_000]
    wrong = []
    with Server("chathpc.adapters.nsight_compute.read:read") as server:
        for seed in range(CASES):
            random = Random(seed)
            path = tmp_path / "damaged.ncu-rep"
            path.write_bytes(random.choice(bases).read_bytes())
            way = damage_file(path, random, random.choice(bases).read_bytes())
            outcome = server.run(path, wall=60.0)
            if not outcome.good or (outcome.kind == "refused" and not outcome.hint):
                wrong.append((seed, way, outcome))
    assert not wrong
