"""Reports, through a stand-in for NVIDIA's reader that has the same interface."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chathpc.adapters.load import load
from chathpc.adapters.nsight_compute import ADAPTER, native
from chathpc.adapters.nsight_compute.facts import DEVICE, SOURCES, WANTED, facts
from chathpc.adapters.nsight_compute.launch import Launch
from chathpc.errors import AdapterError
from chathpc.profile.gpu_counters import COUNTERS
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind
from tests.adapters.nsight_compute.runs import AXPY, BASE, DOT, FAILED, FULL, LOCATED, SAMPLES, SM, THREE
from tests.synthetic.nsight_compute import STUB, Run, report

Reads = Callable[..., Profile]


@pytest.fixture
def reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reads:
    """Writes launches as a report and reads it through the adapter."""
    monkeypatch.syspath_prepend(str(STUB))

    def read(*runs: Run, behaviour: str = "") -> Profile:
        path = tmp_path / "report.ncu-rep"
        path.write_bytes(report(runs, behaviour=behaviour))
        return ADAPTER.read(path)

    return read


def node_of(profile: Profile, name: str, kind: NodeKind = NodeKind.GPU_KERNEL) -> int:
    """The one node of that name and kind."""
    found = [
        node for node in range(len(profile.tree))
        if profile.tree.kind[node] == kind and profile.tree.label(node) == name
    ]  # fmt: skip
    assert len(found) == 1
    return found[0]


def at(profile: Profile, metric: str, node: int) -> float | None:
    return profile.exclusive(metric).at(node)


def test_launches_of_one_kernel_and_configuration_are_averaged_with_their_time_as_weight(reads: Reads) -> None:
    profile = reads(*THREE)
    profile.tree.check()
    node = node_of(profile, AXPY)
    assert at(profile, "gpu.kernel.count", node) == 2
    assert at(profile, "gpu.kernel.time", node) == pytest.approx(0.004)
    assert at(profile, "gpu.kernel.sm-throughput", node) == pytest.approx((3 * 10 + 1 * 50) / 4)
    assert profile.total("gpu.time") == pytest.approx(0.01)
    assert profile.total("gpu.kernel.count") == 3
    assert any("time-weighted" in caveat for caveat in profile.caveats)
    assert not any("PC sampling" in caveat for caveat in profile.caveats)


def test_another_grid_block_or_shared_memory_is_another_entry_of_the_same_name(reads: Reads) -> None:
    one = THREE[0]
    shared = {**one.metrics, "launch__shared_mem_per_block_dynamic": (4096.0, "byte/block")}
    profile = reads(
        one, replace(one, grid=(95, 1, 1)), replace(one, block=(64, 2, 1)), replace(one, metrics=shared), one
    )
    kernels = np.flatnonzero(profile.tree.kind == NodeKind.GPU_KERNEL)
    assert len(kernels) == 4
    assert {profile.tree.label(int(node)) for node in kernels} == {AXPY}
    assert sorted(profile.exclusive("gpu.kernel.count").values.tolist()) == [1, 1, 1, 2]
    assert profile.kernels["launches"].tolist() == [5]


def test_launch_facts_and_units_become_si(reads: Reads) -> None:
    profile = reads(*THREE)
    node = node_of(profile, DOT)
    assert at(profile, "gpu.kernel.blocks", node) == 8
    assert at(profile, "gpu.kernel.threads-per-block", node) == 256
    assert at(profile, "gpu.kernel.registers", node) == 64
    assert at(profile, "gpu.kernel.shared-memory-per-block", node) == 2048
    assert at(profile, "gpu.kernel.occupancy", node) == 75
    assert at(profile, "gpu.kernel.time", node) == pytest.approx(0.006)
    assert profile.timed
    assert sorted(profile.where.stream.tolist()) == [7, 13]


def test_the_roofline_is_computed_from_counters(reads: Reads) -> None:
    profile = reads(FULL)
    node = node_of(profile, AXPY)
    assert at(profile, "gpu.kernel.flops.fp32", node) == pytest.approx(300e9)
    assert at(profile, "gpu.kernel.peak-flops.fp32", node) == pytest.approx(2000e9)
    assert at(profile, "gpu.kernel.dram-rate", node) == pytest.approx(150e9)
    assert at(profile, "gpu.kernel.peak-dram-rate", node) == pytest.approx(600e9)
    assert at(profile, "gpu.kernel.dram-throughput", node) == pytest.approx(100 * 150 / 600)
    assert at(profile, "gpu.kernel.arithmetic-intensity", node) == pytest.approx(2.0)
    assert "gpu.kernel.flops.fp64" not in profile.metrics


def test_ranges_lines_and_instructions_are_the_call_path(reads: Reads) -> None:
    profile = reads(FULL)
    tree = profile.tree
    load = node_of(profile, "LDG.E R2, [R2.64]", NodeKind.INSTRUCTION)
    labels = [tree.label(node) for node in tree.path(load)]
    assert labels == ["process", "solver", "aten::add", AXPY, "kernel.cu:12", "LDG.E R2, [R2.64]"]
    assert tree.offset is not None
    assert tree.offset[load] == 16
    leave = node_of(profile, "EXIT", NodeKind.INSTRUCTION)
    assert tree.label(int(tree.parent[leave])) == AXPY  # no line is known for it
    excerpt = profile.source(load, context=1)
    assert excerpt is not None
    assert (excerpt.first, excerpt.lines) == (11, ("    line 11", "    line 12", "    line 13"))
    assert profile.source(leave) is None


def test_samples_stalls_and_excess_add_up_over_instructions(reads: Reads) -> None:
    profile = reads(FULL, FULL)
    load = node_of(profile, "LDG.E R2, [R2.64]", NodeKind.INSTRUCTION)
    assert profile.total("gpu.instructions") == 200
    assert profile.total("gpu.stall.any") == 2 * (100 - 15)
    assert profile.total("gpu.stall.memory") == 2 * 60
    assert at(profile, "gpu.stall.memory", load) == 100
    assert sum("PC sampling" in caveat for caveat in profile.caveats) == 1
    assert profile.total("gpu.stall.dependency") == 2 * 25
    assert profile.total("gpu.l2.sectors.excessive") == 2 * 2800
    assert profile.total("gpu.instructions.executed") == 800
    lines = profile.table("line", "gpu.instructions")
    assert lines.loc[lines["line"] == 12, "exclusive"].sum() == 170


def test_addresses_differ_between_runs_but_offsets_do_not(reads: Reads) -> None:
    moved = replace(
        FULL, base=BASE + 0x5000,
        code={address + 0x5000: place for address, place in FULL.code.items()},
        located={name: {address + 0x5000: value for address, value in places.items()} for name, places in LOCATED.items()},
    )  # fmt: skip
    profile = reads(FULL, moved)
    assert int((profile.tree.kind == NodeKind.INSTRUCTION).sum()) == 4
    assert profile.total("gpu.instructions") == 200


def test_devices_are_described(reads: Reads) -> None:
    device = reads(FULL).devices[0]
    assert (device.name, device.multiprocessors, device.memory, device.capability) == (
        "Test GPU",
        108,
        40_000_000_000,
        "8.0",
    )
    assert device.bandwidth == pytest.approx(2 * 1.215e9 * 5120 / 8)
    assert device.clock == pytest.approx(1.41e9)


def test_rules_are_remarks_in_plain_words(reads: Reads) -> None:
    profile = reads(FULL)
    remarks = {remark.rule: remark for remark in profile.remarks}
    kernel, load = node_of(profile, AXPY), node_of(profile, "LDG.E R2, [R2.64]", NodeKind.INSTRUCTION)
    latency = remarks["SOLBottleneck"]
    assert (latency.kind, latency.title, latency.node) == ("warning", "Latency Issue", kernel)
    assert latency.text == "Low use. Look at Scheduler Statistics for more."
    assert latency.speedup is None
    uncoalesced = remarks["UncoalescedGlobalAccess"]
    assert uncoalesced.node == load
    assert uncoalesced.text == "Uncoalesced, expected 400 sectors, got 3200 at PC kernel.cu:12"
    assert uncoalesced.title == "Name of UncoalescedGlobalAccess"
    assert (remarks["Occupancy"].speedup, remarks["Occupancy"].scope) == (0.25, "local")
    assert remarks["Occupancy"].text == "See the CUDA Guide."
    assert (remarks["TheoreticalOccupancy"].speedup, remarks["TheoreticalOccupancy"].scope) == (0.5, "global")
    assert remarks["TheoreticalOccupancy"].text == "Limited by kernel.cu:12."
    assert "Launch" not in remarks  # the rule's own program failed
    assert all(remark.tool == "Nsight Compute" for remark in profile.remarks)


def test_rules_of_several_launches_are_those_of_the_longest(reads: Reads) -> None:
    short = replace(FULL, metrics={**FULL.metrics, "gpu__time_duration.sum": (1.0, "ns")})
    assert len(reads(short, FULL, short).remarks) == 4


def test_a_kernel_without_data_is_named_and_the_others_are_used(reads: Reads) -> None:
    profile = reads(THREE[0], FAILED)
    assert profile.insufficient == ""
    (caveat,) = [caveat for caveat in profile.caveats if "Nothing was measured" in caveat]
    assert "1 of 2 launches" in caveat
    assert "flash(int)" in caveat
    failed = node_of(profile, "flash(int)")
    assert at(profile, "gpu.kernel.count", failed) == 1
    assert at(profile, "gpu.kernel.time", failed) is None
    assert at(profile, "gpu.kernel.sm-throughput", failed) is None


def test_a_report_without_any_data_is_insufficient(reads: Reads) -> None:
    assert "Profiling failed" in reads(FAILED, FAILED).insufficient
    assert "Profiling failed" in reads(FAILED).insufficient


def test_a_report_without_launches_is_refused(reads: Reads) -> None:
    with pytest.raises(AdapterError, match="nothing was profiled") as caught:
        reads()
    assert "--kernel-name" in caught.value.hint


def test_what_was_not_measured_is_not_zero(reads: Reads) -> None:
    metrics = {
        **THREE[0].metrics,
        "lts__t_sector_hit_rate.pct": (None, "%"),
        "l1tex__t_sector_hit_rate.pct": (float("nan"), "%"),
    }
    profile = reads(replace(THREE[0], metrics=metrics))
    assert "gpu.kernel.l2-hit-rate" not in profile.metrics
    assert "gpu.kernel.l1-hit-rate" not in profile.metrics
    assert "cache hit rates" in profile.not_collected


def test_a_hit_rate_over_100_stays_as_it_was_measured(reads: Reads) -> None:
    profile = reads(replace(THREE[0], metrics={**THREE[0].metrics, "lts__t_sector_hit_rate.pct": (100.1, "%")}))
    assert at(profile, "gpu.kernel.l2-hit-rate", node_of(profile, AXPY)) == pytest.approx(100.1)


def test_a_small_set_says_what_it_lacks_and_how_to_collect_it(reads: Reads) -> None:
    lacking = reads(*THREE).not_collected
    assert "--section WarpStateStats" in lacking["stall reasons"]
    assert "--section MemoryWorkloadAnalysis_Tables" in lacking["memory tables (sectors per request, bank conflicts)"]
    assert "--section SourceCounters --import-source yes" in lacking["samples per source line"]
    assert "--section SpeedOfLight_RooflineChart" in lacking["floating point operations (roofline)"]
    assert "speed of light" not in lacking
    assert "occupancy" not in lacking
    full = reads(FULL).not_collected
    assert "samples per source line" not in full
    assert "source lines" not in full


def test_samples_without_lines_ask_for_line_information(reads: Reads) -> None:
    code = {address: (sass, "", 0) for address, (sass, _, _) in FULL.code.items()}
    profile = reads(replace(FULL, code=code))
    assert "-lineinfo" in profile.not_collected["source lines"]
    assert not profile.tree.has(NodeKind.LINE)
    assert any("instruction +0x10 (LDG.E R2, [R2.64])" in remark.text for remark in profile.remarks)


def test_metrics_only_reports_say_what_can_be_used(reads: Reads) -> None:
    timed = reads(Run(AXPY, {"gpu__time_duration.sum": (5000.0, "nsecond")}))
    assert timed.total("gpu.time") == pytest.approx(5e-6)
    assert any("only times and launch configurations" in caveat for caveat in timed.caveats)
    untimed = reads(Run(AXPY, {"smsp__inst_executed.sum": (12.0, "inst")}))
    assert "gpu.time" not in untimed.metrics
    assert any("No time was measured for 1 of 1 launches" in caveat for caveat in untimed.caveats)
    assert any("only launch configurations" in caveat for caveat in untimed.caveats)
    assert "kernel times" in untimed.not_collected
    assert untimed.insufficient == ""


def test_times_say_that_the_clock_was_set(reads: Reads) -> None:
    assert any("not comparable with times of Nsight Systems" in caveat for caveat in reads(*THREE).caveats)


def test_ranges_of_several_kernels_are_called_so(reads: Reads) -> None:
    assert any("ranges or graphs" in caveat for caveat in reads(replace(THREE[0], type=1)).caveats)


# -- NVIDIA's reader -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("behaviour", "words"), [
    ("crash", "crashed (signal 11)"), ("exit", "ended with status 3"), ("memory", "more memory than is allowed"),
    ("The report version is newer", "rejects it (RuntimeError: The report version is newer)"),
])  # fmt: skip
def test_a_reader_that_fails_is_a_refusal(reads: Reads, behaviour: str, words: str) -> None:
    with pytest.raises(AdapterError) as caught:
        reads(*THREE, behaviour=behaviour)
    assert words in caught.value.message
    assert caught.value.hint


def test_a_newer_report_asks_for_a_newer_reader(reads: Reads) -> None:
    with pytest.raises(AdapterError) as caught:
        reads(*THREE, behaviour="unknown version")
    assert "--upgrade ncu-report" in caught.value.hint


def test_a_reader_that_never_ends_is_stopped(reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_SECONDS", 1)
    monkeypatch.setattr("chathpc.adapters.native._WALL", 2)
    began = time.monotonic()
    for behaviour in ("hang", "sleep"):
        with pytest.raises(AdapterError, match=r"crashed|did not finish"):
            reads(*THREE, behaviour=behaviour)
    assert time.monotonic() - began < 30


def test_what_the_reader_prints_is_no_answer(reads: Reads, capfd: pytest.CaptureFixture[str]) -> None:
    assert reads(*THREE, behaviour="print").total("gpu.kernel.count") == 3
    assert capfd.readouterr().out == ""


def test_an_answer_beyond_its_limit_is_refused(reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_ANSWER", 1 << 20)
    monkeypatch.setattr(native, "_ANSWER_PER_BYTE", 0)
    with pytest.raises(AdapterError, match="more than is read at once") as caught:
        reads(replace(FULL, sources={"/src/app/kernel.cu": "x" * (2 << 20)}))
    assert "--launch-count" in caught.value.hint


def test_the_report_is_not_changed_and_nothing_is_left_behind(reads: Reads, tmp_path: Path) -> None:
    reads(FULL)
    path = tmp_path / "report.ncu-rep"
    assert path.read_bytes() == report([FULL])
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.ncu-rep"]


def test_without_nvidias_reader_the_error_says_what_to_install_or_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.ncu-rep"
    path.write_bytes(report(THREE))
    monkeypatch.setattr("chathpc.adapters.native.find_spec", lambda name: None)
    with pytest.raises(AdapterError) as caught:
        ADAPTER.read(path)
    assert "pip install 'chathpc[ncu]'" in caught.value.hint
    assert "ncu --import report.ncu-rep --page raw --csv" in caught.value.hint
    assert "chathpc[ncu]" in ADAPTER.needs()


def test_a_reader_that_is_installed_but_broken_is_like_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "packages"
    broken.mkdir()
    (broken / "ncu_report.py").write_text("raise ImportError('libnvperf_host.so: cannot open shared object file')\n")
    monkeypatch.setattr(sys, "path", [str(broken), *sys.path])
    path = tmp_path / "report.ncu-rep"
    path.write_bytes(report(THREE))
    with pytest.raises(AdapterError, match="only NVIDIA's package"):
        ADAPTER.read(path)


def test_needs_is_silent_where_the_reader_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chathpc.adapters.native.find_spec", lambda name: object())
    assert ADAPTER.needs() == ""


def test_a_search_path_that_cannot_be_searched_means_no_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> object:
        raise ValueError(name)

    monkeypatch.setattr("chathpc.adapters.native.find_spec", refuse)
    assert not native.installed()


def test_a_process_that_cannot_be_started_is_a_refusal(reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", os.devnull)
    with pytest.raises(AdapterError, match="no process can be started"):
        reads(*THREE)


@pytest.mark.parametrize(("content", "words", "hint"), [
    (b"", "an empty file", "Copy the file again"),
    (b"<html>not found</html>", "not a Nsight Compute report", "Copy the file again"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", "pointer of Git LFS", "git lfs pull"),
])  # fmt: skip
def test_what_is_only_called_a_report_is_told_by_name(tmp_path: Path, content: bytes, words: str, hint: str) -> None:
    path = tmp_path / "report.ncu-rep"
    path.write_bytes(content)
    with pytest.raises(AdapterError, match=words) as caught:
        load(path)
    assert hint in caught.value.hint


def test_a_report_that_goes_away_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(STUB))
    with pytest.raises(AdapterError) as caught:
        native.read_report(tmp_path / "gone.ncu-rep")
    assert caught.value.hint


def test_names_are_shown_without_control_characters(reads: Reads) -> None:
    hostile = replace(FULL, kernel="evil\x1b[31m()", ranges=("range\u202e",))
    profile = reads(hostile)
    texts = [*profile.tree.names, *profile.caveats, *(remark.text for remark in profile.remarks)]
    assert not any("\x1b" in text or "\u202e" in text for text in texts)


def test_a_sample_metric_alone_counts_for_the_stall_rules(reads: Reads) -> None:
    profile = reads(replace(FULL, located={SAMPLES: LOCATED[SAMPLES]}))
    assert profile.total("gpu.stall.any") == profile.total("gpu.instructions") == 100
    assert profile.exclusive("gpu.samples.period").values.tolist() == [1.0]
    assert SM in {metric.source_name for metric in profile.metrics.values()}


def test_addresses_and_counts_that_cannot_be_are_left_out(reads: Reads) -> None:
    places = {BASE: float("nan"), BASE + 16: 7.0, 2**63 + 2**62: 5.0}
    profile = reads(replace(FULL, located={SAMPLES: places}))
    profile.tree.check()
    assert profile.total("gpu.instructions") == 7


def test_reasons_that_never_occurred_are_zero_and_measured(reads: Reads) -> None:
    profile = reads(
        replace(FULL, located={**LOCATED, "smsp__pcsamp_warps_issue_stalled_barrier": {BASE: 0.0, BASE + 16: 0.0}})
    )
    assert profile.metrics["gpu.stall.barrier"].has_values
    assert profile.total("gpu.stall.barrier") == 0
    assert "gpu.stall.drain" not in profile.metrics


def test_tensor_operations_are_counted_once(reads: Reads) -> None:
    cycle, peak = ".sum.per_cycle_elapsed", ".sum.peak_sustained"
    stem = "sm__ops_path_tensor_"
    metrics = {
        stem + "src_fp16" + cycle: (100.0, ""), stem + "src_fp16_dst_fp32" + cycle: (60.0, ""), stem + "src_int8" + cycle: (10.0, ""),
        stem + "op_hmma_src_fp16_dst_fp32_sparsity_off" + cycle: (100.0, ""), stem + "src_fp16" + peak: (400.0, ""),
        stem + "src_int8" + peak: (800.0, ""), "sm__cycles_elapsed.avg.per_second": (1e9, "hz"), "gpu__time_duration.sum": (1e6, "ns"),
    }  # fmt: skip
    profile = reads(Run(AXPY, metrics))
    node = node_of(profile, AXPY)
    assert at(profile, "gpu.kernel.flops.tensor", node) == pytest.approx(110e9)
    assert at(profile, "gpu.kernel.peak-flops.tensor", node) == pytest.approx(400e9)
    totals = {stem + "src_bf16_dst_fp32.sum": (5e6, ""), "gpu__time_duration.sum": (1e6, "ns")}
    profile = reads(Run(AXPY, totals))
    assert at(profile, "gpu.kernel.flops.tensor", node_of(profile, AXPY)) == pytest.approx(5e9)
    idle = reads(
        Run(
            AXPY,
            {
                stem + "src_fp16" + cycle: (0.0, ""),
                stem + "src_fp16" + peak: (4.0, ""),
                "sm__cycles_elapsed.avg.per_second": (1e9, "hz"),
            },
        )
    )
    assert idle.exclusive("gpu.kernel.flops.tensor").values.tolist() == [0.0]
    assert "gpu.kernel.peak-flops.tensor" not in idle.metrics


_APERTURE = "lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum"
_MISSES, _HITS = (f"lts__t_sectors_srcunit_tex_lookup_{what}.sum" for what in ("miss", "hit"))
_SECTORS, _FILL = "lts__t_sectors_srcunit_tex.sum", "lts__d_sectors_fill_{}.avg.pct_of_peak_sustained_elapsed"


@pytest.mark.parametrize(("metrics", "fact", "expected"), [
    ({"dram__bytes_read.sum.per_second": 3e9, "dram__bytes_write.sum.per_second": 1e9}, "dram-rate", 4e9),
    ({"dram__bytes_read.sum": 3e6, "dram__bytes_write.sum": 1e6, "gpu__time_duration.sum": 1e-3}, "dram-rate", 4e9),
    ({"dram__bytes.sum": 5e6, "gpu__time_duration.sum": 1e-3}, "dram-rate", 5e9),
    ({"dram__bytes_read.sum": 3e6, "gpu__time_duration.sum": 1e-3}, "dram-rate", None),
    ({"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 320, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 10},
     "sectors-per-request.global-load", 32.0),
    ({"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 0, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 0},
     "sectors-per-request.global-load", None),
    ({"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio": 8}, "sectors-per-request.global-store", 8.0),
    ({"memory_l2_sectors_global": 100, "memory_l2_sectors_global_ideal": 25}, "excessive-sectors", 0.75),
    ({"memory_l1_wavefronts_shared": 100, "derived__memory_l1_wavefronts_shared_excessive": 50}, "excessive-wavefronts", 0.5),
    ({"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": 3, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": 4},
     "bank-conflicts", 7.0),
    ({"smsp__issue_active.avg.per_cycle_active": 0.25}, "issue-active", 25.0),
    ({"sm__inst_executed.avg.per_cycle_active": 2.09}, "ipc", 2.09),
    ({"smsp__issue_inst0.avg.pct_of_peak_sustained_active": 80}, "issue-active", 20.0),
    ({"smsp__warp_issue_stalled_barrier_per_warp_active.pct": 50, "smsp__average_warp_latency_per_inst_issued.ratio": 30},
     "stall.barrier", 15.0),
    ({"smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio": 2}, "stall.sleep", 2.0),
    ({"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed": 5}, "pipe.xu", 5.0),
    ({"launch__shared_mem_per_block": 4096}, "shared-memory-per-block", 4096.0),
    ({"launch__shared_mem_per_block_static": 96, "launch__shared_mem_per_block_dynamic": 4000, "launch__shared_mem_per_block": 5120},
     "shared-memory-per-block", 4096.0),
    ({"derived__smsp__sass_thread_inst_executed_op_hadd_pred_on_x2": 20, "derived__smsp__sass_thread_inst_executed_op_hmul_pred_on_x2": 30,
      "derived__smsp__sass_thread_inst_executed_op_hfma_pred_on_x4": 50, "smsp__cycles_elapsed.avg.per_second": 1e9}, "flops.fp16", 100e9),
    ({"derived__sm__sass_thread_inst_executed_op_hfma_pred_on_x4": 400, "sm__cycles_elapsed.avg.per_second": 1e9}, "peak-flops.fp16", 400e9),
    ({"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum": 1e6, "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum": 1e6,
      "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum": 4e6, "gpu__time_duration.sum": 1e-3}, "flops.fp64", 10e9),
    ({_APERTURE: 900, _MISSES: 1000, _SECTORS: 1500}, "host-misses", 0.9),
    ({_APERTURE: 900, _MISSES: 1000, _SECTORS: 1500}, "host-sectors", 0.6),
    ({_APERTURE: 900, _MISSES: 1000, _HITS: 800}, "host-sectors", 0.5),
    ({_APERTURE: 900}, "host-bytes", 28_800.0),
    ({_APERTURE: 900, _MISSES: 1000, _SECTORS: 1500, "device__attribute_integrated": 1}, "host-misses", None),
    ({_APERTURE: 900, _MISSES: 1000, _SECTORS: 1500, "device__attribute_integrated": 1}, "host-sectors", None),
    ({_APERTURE: 900, "device__attribute_integrated": 1}, "host-bytes", None),
    ({_APERTURE: 0, _MISSES: 0, _FILL.format("sysmem"): 0.2, _FILL.format("device"): 0.6}, "host-misses", None),
    ({_FILL.format("sysmem"): 0.2, _FILL.format("device"): 0.6}, "host-misses", 0.25),
    ({"lts__d_sectors_fill_sysmem.sum": 10, "lts__d_sectors_fill_device.sum": 30}, "host-misses", 0.25),
    ({"lts__d_sectors_fill_sysmem.sum": 10}, "host-bytes", 320.0),
    ({"lts__d_sectors_fill_sysmem.sum": 10}, "host-misses", None),
    ({_FILL.format("sysmem"): 0.2}, "host-fill-throughput", 0.2),
    ({"pcie__read_bytes.sum.per_second": 9e9, "pcie__write_bytes.sum.per_second": 1e9}, "pcie-rate", 10e9),
])  # fmt: skip
def test_facts_are_computed_from_what_is_there(metrics: dict[str, float], fact: str, expected: float | None) -> None:
    found = dict(facts(Launch(AXPY, metrics))).get(f"gpu.kernel.{fact}")
    assert found == (None if expected is None else pytest.approx(expected))


def test_every_name_that_a_fact_is_computed_from_is_read_from_reports() -> None:
    asked: set[str] = set()

    class Asked(dict[str, float]):
        def get(self, key: str, default: object = None) -> None:  # type: ignore[override]
            asked.add(key)

    assert list(facts(Launch(AXPY, Asked()))) == []
    assert asked <= WANTED | DEVICE
    assert set(SOURCES) <= set(COUNTERS)


def test_a_hatchet_graphframe_keeps_the_totals(reads: Reads) -> None:
    profile = reads(FULL, *THREE)
    back = Profile.from_graphframe(profile.graphframe())
    for metric in ("gpu.kernel.time", "gpu.kernel.count", "gpu.instructions"):
        assert back.total(metric) == pytest.approx(profile.total(metric))
