"""Programs with a GPU whose trouble was built in, written as profilers write them, and explained: the conclusion must be that one.

A table: for each scenario the verdict, the causes of which the first finding must name one, the causes that must not be found, words
that the headline must hold, and words that must not be anywhere in the report.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import chathpc
from chathpc.diagnosis.diagnose import diagnose
from chathpc.report import Report
from tests.diagnosis.parts import check
from tests.diagnosis.timeline_scenarios import SCENARIOS
from tests.synthetic import rocprof

H2D, D2H, OVERLAP, PAGEABLE = "gpu-h2d-copy-bound", "gpu-d2h-copy-bound", "gpu-no-overlap", "gpu-pageable-copies"
KERNEL, GRID, IDLE, LAUNCH, SYNC = (
    "gpu-kernel-bound", "gpu-small-grid", "gpu-idle-host-bound", "gpu-launch-bound", "gpu-sync-overuse",
)  # fmt: skip
JIT, NCCL, UNEVEN, ALLOCATION, UNIFIED = (
    "jit-compilation", "nccl-bound", "multi-gpu-imbalance", "gpu-allocation-in-loop", "gpu-unified-memory",
)  # fmt: skip
COPIED, COLLECTIVE, MESSAGES = "redundant-copies", "mpi-collective-wait", "mpi-communication-bound"
HEALTHY, BAD, NOTHING = "healthy", "bottleneck", "insufficient-data"
#: A device that one kernel keeps busy is not at fault, and not known to be as fast as it can be.
HOT_SPOT = "hot-spot"
#: What no report of a healthy device may name.
TROUBLE = (
    H2D,
    D2H,
    OVERLAP,
    PAGEABLE,
    IDLE,
    LAUNCH,
    SYNC,
    JIT,
    NCCL,
    UNEVEN,
    ALLOCATION,
    GRID,
    COPIED,
    COLLECTIVE,
    MESSAGES,
)


@dataclass(frozen=True)
class Truth:
    """What a careful reader concludes."""

    scenario: str
    verdict: str
    first: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    among: tuple[str, ...] = ()


def healthy(scenario: str, *words: str, unsaid: tuple[str, ...] = ()) -> Truth:
    return Truth(scenario, HEALTHY, (KERNEL,), TROUBLE, words, unsaid)


MISSING = "operations may be missing"
TRUTHS = (
    # copies
    Truth("d2h_bound", BAD, (D2H,), (H2D, SYNC, IDLE, PAGEABLE), ("92.1 %", "hardly ever idle")),
    Truth("h2d_bound", BAD, (H2D,), (D2H, SYNC, IDLE, PAGEABLE), ("78.9 %",)),
    Truth("h2d_pageable", BAD, (H2D, PAGEABLE), (D2H, SYNC, IDLE), among=(PAGEABLE,)),
    Truth("h2d_without_kernels_traced", NOTHING, words=("no kernel", "launches 60", "nsys profile")),
    Truth("copies_alternate", BAD, (OVERLAP, H2D), (SYNC, IDLE), among=(OVERLAP,)),
    healthy("copies_overlap"),
    Truth("copies_inside_the_device", BAD, (COPIED,), (H2D, D2H, IDLE), ("inside the device take 75.8 %",)),
    Truth("copies_between_devices", BAD, (NCCL,), (IDLE, UNEVEN), ("copies between devices",)),
    Truth("pages_migrate", BAD, (UNIFIED,), (IDLE, H2D), ("49.1 %",)),
    healthy("one_copy_each_way_around_a_long_run"),
    healthy("blocking_copy_waits_for_long_kernels"),
    Truth("a_benchmark_of_copies", BAD, (H2D,), (IDLE, SYNC)),
    Truth("many_small_blocking_copies", BAD, (SYNC, H2D), (IDLE, LAUNCH), ("cudaMemcpy",)),
    Truth("memory_sets_fill_the_device", BAD, (COPIED,), (IDLE,), ("Memory sets take 90.0 %",)),
    # launches and waits
    Truth("waits_after_tiny_kernels", BAD, (SYNC,), (IDLE, KERNEL), ("cudaDeviceSynchronize", "55.6 %")),
    healthy("waits_for_long_kernels"),
    Truth("many_tiny_kernels", BAD, (LAUNCH,), (IDLE, SYNC, KERNEL), ("2.00 µs on average", "75.0 %")),
    Truth("many_tiny_kernels_without_calls", BAD, (LAUNCH,), (SYNC, KERNEL), ("2.00 µs",)),
    healthy("graphs_of_short_kernels"),
    healthy("graphs_as_a_whole", "--cuda-graph-trace=node", unsaid=("-k KERNEL",)),
    Truth("graphs_of_tiny_kernels", BAD, (LAUNCH,), (SYNC, IDLE), ("launched long before",)),
    healthy("launches_ahead_of_short_kernels"),
    Truth("slow_launches", BAD, (LAUNCH,), (IDLE, SYNC), ("calls that launch",)),
    Truth("fetches_a_flag_after_each_kernel", BAD, (SYNC,), (D2H,), ("cudaMemcpy",)),
    Truth("a_thread_waits_all_the_time", BAD, (LAUNCH,), (SYNC, IDLE)),
    # the host
    Truth("host_phases", BAD, (IDLE,), (SYNC, LAUNCH), ("74.0 %", "assemble matrix")),
    Truth("host_phases_unnamed", BAD, (IDLE,), (SYNC,), ("74.0 %", "was not recorded"), ("the host works",)),
    Truth("host_reads_files", BAD, (IDLE,), (SYNC,), ("in read",)),
    Truth("sleeps_between_requests", BAD, (IDLE,), (SYNC,), ("epoll_wait", "waits"), ("not traced", "the host works")),
    Truth("allocates_in_the_loop", BAD, (ALLOCATION,), (IDLE, SYNC), ("69.5 %",)),
    healthy("allocates_before_a_long_run"),
    healthy("frees_memory_behind_long_kernels"),
    healthy("compiles_at_the_start_of_a_long_run"),
    healthy("loads_modules_at_first_use"),
    Truth("compiles_most_of_the_time", BAD, (JIT,), (IDLE, KERNEL), ("nvrtcCompileProgram",)),
    Truth("compiles_only_before_the_device_works", BAD, (JIT,), (SYNC,), ("31.0 %",)),
    healthy("warms_up_then_works"),
    healthy("saves_a_checkpoint_now_and_then"),
    Truth("starts_late_then_works", BAD, (IDLE,), (), ("read input",), among=(KERNEL,)),
    Truth("touches_the_device_long_before_it_works", BAD, (IDLE,), (), ("one pause of 20.0 s", "read input")),
    healthy("application_start_unnamed"),
    Truth("idle_with_a_graph_between", BAD, (IDLE,), (SYNC,), ("sample tokens",)),
    # MPI
    Truth("mpi_between_kernels", BAD, (COLLECTIVE,), (IDLE, SYNC), ("MPI_Allreduce",)),
    Truth("mpi_messages_between_kernels", BAD, (MESSAGES,), (IDLE, SYNC), ("MPI_Sendrecv",)),
    healthy("mpi_beside_kernels"),
    Truth("waits_for_messages_in_another_thread", BAD, (IDLE,), (MESSAGES,), ("refine mesh",)),
    Truth("ranks_with_unequal_work", BAD, (UNEVEN, COLLECTIVE), (IDLE, SYNC), ("GPU 2 computes 360 ms",)),
    healthy("ranks_with_equal_work"),
    Truth("ranks_wait_for_the_host_work_of_one", BAD, (COLLECTIVE, IDLE), (SYNC,), ("GPU 0", "write checkpoint"), ("From one rank alone",)),
    Truth("ranks_with_tiny_kernels", BAD, (SYNC,), (IDLE,)),
    Truth("ranks_that_allocate_in_the_loop", BAD, (IDLE,), (SYNC,), ("pack halo",), (MISSING,)),
    # several devices
    Truth("one_of_two_devices_has_the_work", BAD, (UNEVEN,), (IDLE, SYNC), ("GPU 0 computes 400 ms",)),
    Truth("two_devices_take_turns", BAD, (UNEVEN,), (IDLE, SYNC), ("take turns",), (MISSING,)),
    Truth("three_devices_of_four_are_not_used", BAD, (UNEVEN,), (IDLE,), ("GPU 0",)),
    Truth("collectives_exposed", BAD, (NCCL,), (IDLE, SYNC), ("AllReduce", "37.4 %")),
    healthy("collectives_hidden"),
    Truth("collectives_wait_for_a_slow_rank", BAD, (UNEVEN, NCCL), (IDLE, SYNC), ("GPU 1",), ("only the timelines of all ranks",)),
    # shapes of recordings
    Truth("tiny_run", NOTHING, words=("too short",)),
    healthy("kernels_alone_busy"),
    Truth("kernels_alone_with_long_gaps", BAD, (IDLE,), (SYNC, LAUNCH), ("was not recorded",), ("the host works",)),
    Truth("only_ranges_and_system_calls", NOTHING, words=("Nothing ran on the GPU",)),
    Truth("small_grid", BAD, (GRID,), (IDLE, SYNC), ("2 blocks", "sequential_scan")),
    healthy("one_huge_kernel", "simulate"),
    healthy("many_streams"),
    healthy("kernels_of_all_lengths"),
    Truth("times_days_from_zero", BAD, (H2D,), (IDLE, SYNC), ("203 ms",)),
    healthy("one_event_days_away", "300 ms"),
    healthy("processes_take_turns_on_a_device"),
    healthy("threads_that_each_wait_for_their_stream"),
    Truth("collectives_of_ranks_in_step", BAD, (NCCL,), (UNEVEN, IDLE, SYNC), ("33.3 %",), ("slowest rank", "busiest")),
    healthy("kernels_and_copies_of_two_processes"),
    healthy("a_busy_device_and_an_idle_rank_zero"),
    healthy("pageable_copies_of_small_arrays"),
    Truth("idle_tail_after_the_work", BAD, (IDLE,), (SYNC, D2H), ("one pause of 5.00 s", "write output")),
    Truth("old_export_h2d_bound", BAD, (H2D,), (IDLE, SYNC), ("78.9 %",)),
    healthy("old_export_healthy"),
    # PyTorch
    Truth("waits_in_pytorch_after_each_operator", BAD, (SYNC,), (D2H, KERNEL), ("cudaStreamSynchronize in aten::item",)),
    Truth("compiles_in_pytorch_at_the_first_step", BAD, (JIT,), (IDLE,), ("compile_fx",)),
    Truth("runs_compiled_code", BAD, (IDLE,), (JIT,), ("Torch-Compiled Region",)),
    Truth("data_loader_stalls", BAD, (IDLE,), (SYNC, LAUNCH), ("enumerate(DataLoader)",)),
    Truth("eager_operators_on_small_tensors", BAD, (LAUNCH,), (SYNC, KERNEL), ("3.00 µs",)),
    healthy("training_that_fills_the_device"),
    healthy("training_that_fetches_each_loss"),
    healthy("training_of_several_processes_in_one_trace"),
    Truth("a_rank_that_waits_in_collectives", BAD, (NCCL,), (IDLE, SYNC), ("60.0 %",)),
    Truth("copies_alone_pytorch", NOTHING, words=("no kernel", "torch.profiler")),
    # AMD
    Truth("copies_of_unknown_memory", BAD, (D2H,), (IDLE, PAGEABLE), ("92.9 %",)),
    Truth("amd_h2d_bound_csv", BAD, (H2D,), (IDLE, SYNC), ("78.9 %",)),
    Truth("amd_copies_alone_csv", NOTHING, words=("no kernel", "rocprofv3")),
    Truth("amd_kernels_alone_csv", BAD, (IDLE,), (SYNC, LAUNCH), ("74.0 %", "was not recorded")),
    Truth("amd_tiny_kernels_rocpd", BAD, (LAUNCH,), (IDLE, SYNC)),
    healthy("amd_healthy_json", "rocprof-compute"),
    Truth("amd_host_phases_rocpd", BAD, (IDLE,), (SYNC,), ("assemble matrix",)),
)  # fmt: skip


@cache
def report(scenario: str) -> Report:
    with TemporaryDirectory() as folder:
        profile = chathpc.load(SCENARIOS[scenario](Path(folder)))
        check(diagnose(profile))
        return chathpc.explain(profile, llm="none")


def test_every_scenario_has_a_truth() -> None:
    assert sorted(truth.scenario for truth in TRUTHS) == sorted(SCENARIOS)


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.scenario)
def test_the_conclusion_is_the_trouble_that_was_built_in(truth: Truth) -> None:
    told = report(truth.scenario)
    causes = [finding.cause for finding in told.findings]
    assert told.verdict in ((HEALTHY, HOT_SPOT) if truth.verdict == HEALTHY else (truth.verdict,)), (
        told.headline,
        causes,
    )
    assert not truth.first or (causes and causes[0] in truth.first), (told.headline, causes)
    assert set(truth.among) <= set(causes)
    assert not set(truth.never) & set(causes), causes
    assert all(word in told.headline for word in truth.words), told.headline
    said = [told.headline, *(item.statement for item in told.evidence)]
    for finding in told.findings:
        said += [finding.summary, finding.next_measurement or "", *finding.against]
        assert 0 <= finding.share <= 1
        assert 0 < finding.confidence <= 1
    assert not [word for word in truth.unsaid if any(word in sentence for sentence in said)]


def test_sums_of_copies_alone_allow_no_conclusion(tmp_path: Path) -> None:
    folder = rocprof.write_statistics(tmp_path / "statistics")
    told = chathpc.explain(folder / "1_memory_copy_stats.csv", llm="none")
    assert (told.verdict, told.findings) == (NOTHING, [])
    assert "no kernels" in told.headline


def test_sums_of_kernels_alone_say_nothing_about_the_host(tmp_path: Path) -> None:
    folder = rocprof.write_statistics(tmp_path / "statistics")
    told = chathpc.explain(folder / "1_kernel_stats.csv", llm="none")
    assert "The profile does not show whether the device was idle in between, or what the host did" in told.headline
    assert "input and output" not in told.headline


def test_users_of_pytorch_are_not_told_to_write_kernels() -> None:
    (found,) = report("data_loader_stalls").findings
    assert found.where.function == "enumerate(DataLoader)"
    assert any("num_workers" in advice for advice in found.advice)
    assert not any(word in advice for advice in found.advice for word in ("thrust", "acc wait", "taskwait"))


def test_the_next_measurement_is_with_the_tool_of_the_device() -> None:
    assert report("amd_host_phases_rocpd").findings[0].next_measurement.startswith("rocprofv3 ")
    assert report("host_phases").findings[0].next_measurement.startswith("nsys ")
