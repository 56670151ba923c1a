"""Launches that leave a device empty, arithmetic at its limit, and what warps wait for otherwise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.rules.gpu_launch import lost_in_tail
from chathpc.profile.remark import Device, Remark
from chathpc.profile.tree import NodeKind
from tests.diagnosis.kernels import LATENCY, One, bare, causes, first, found, one, report, with_stalls
from tests.diagnosis.parts import diagnosed, finding, statements

# -- launch --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("waits", "cause"),
    [
        ({"barrier": 30}, "gpu-barrier-stall"),
        ({"no_instruction": 30}, "gpu-instruction-fetch"),
        ({"long_scoreboard": 30}, "gpu-small-grid"),
    ],
)
def test_half_a_wave_is_not_the_cause_where_more_warps_would_wait_for_the_same(
    waits: dict[str, float], cause: str
) -> None:
    """As in two of our kernels on an H100, with a block or eight on each multiprocessor."""
    kernel = with_stalls(
        one(blocks=100, waves=0.5, sm_throughput=6, memory_throughput=5, achieved_occupancy=50), **waits
    )
    assert first(kernel).cause == cause


def test_fewer_blocks_than_multiprocessors_are_a_small_grid() -> None:
    diagnosis = diagnosed(
        report(one(blocks=60, waves=0.075, sm_throughput=12, memory_throughput=9, achieved_occupancy=12))
    )
    small = finding(diagnosis, "gpu-small-grid")
    assert diagnosis.verdict == "bottleneck"
    assert (
        diagnosis.headline
        == "solve<float> is too small for the device: 60 blocks of 256 threads on 100 multiprocessors."
    )
    assert small.share == 1
    assert small.headroom == 0.9  # 1 − 0.075 is more than is ever promised
    assert statements(diagnosis, "gpu-small-grid")[:3] == [
        "solve<float> takes 1.00 s of the 1.00 s of kernel time in the report (100 %): 1 launch.",
        "Its grid has 60 blocks: of 256 threads.",
        "The device has 100 multiprocessors.",
    ]
    assert len(diagnosis.findings) == 1


@pytest.mark.parametrize(("blocks", "small"), [(99, True), (100, False)])
def test_one_block_for_each_multiprocessor_is_no_small_grid_if_no_more_fit(blocks: float, small: bool) -> None:
    kernel = one(blocks=blocks, waves=blocks / 100, sm_throughput=30, memory_throughput=20)
    assert ("gpu-small-grid" in causes(kernel)) is small


def test_a_busy_device_is_not_starved_whatever_its_grid() -> None:
    assert causes(one(blocks=90, waves=0.9, sm_throughput=85, memory_throughput=20)) == ["gpu-compute-bound"]


def test_one_block_is_small_on_any_device_and_says_so_without_any_other_counter() -> None:
    small = first(bare(blocks=1, threads_per_block=10, limit_warps=64))
    assert small.cause == "gpu-small-grid"
    assert small.summary.endswith("A launch of one block reveals nothing about its other properties.")
    assert small.against == ("How busy the device was in the kernel is not in the report.",)


@pytest.mark.parametrize(("blocks", "small"), [(7, True), (8, False)])
def test_fewer_blocks_than_any_device_has_multiprocessors_are_small_where_their_number_is_not_told(
    blocks: float, small: bool
) -> None:
    assert ("gpu-small-grid" in causes(bare(blocks=blocks, threads_per_block=128, limit_warps=64))) is small


@pytest.mark.parametrize(("blocks", "active", "small"), [(40, 30, True), (40, 80, False), (400, 30, False)])
def test_idle_multiprocessors_are_a_sign_where_their_number_is_not_told(
    blocks: float, active: float, small: bool
) -> None:
    kernel = bare(
        blocks=blocks, threads_per_block=128, limit_warps=64, active=active, sm_throughput=9, memory_throughput=7
    )
    assert ("gpu-small-grid" in causes(kernel)) is small
    if small:
        found = first(kernel)
        assert found.headroom == pytest.approx(0.7)
        assert any("30.0 %" in each for each in statements(diagnosed(report(kernel)), "gpu-small-grid"))


def test_a_short_single_block_is_no_more_than_its_launch_and_says_nothing_of_divergence() -> None:
    diagnosis = diagnosed(
        report(
            one("kernel_a", 1.5e-6, blocks=1, threads_per_block=64, waves=0.003, sm_throughput=0.1, memory_throughput=1.2,
                threads_per_instruction=16)
        )
    )  # fmt: skip
    assert [each.cause for each in diagnosis.findings] == ["gpu-small-grid"]
    assert "A launch takes 1.50 µs, launching it about 10.0 µs (0.150 times as much)." in statements(
        diagnosis, "gpu-small-grid"
    )


def test_the_number_of_multiprocessors_may_come_from_the_device() -> None:
    kernel = bare(blocks=60, sm_throughput=5, memory_throughput=5)
    assert "gpu-small-grid" not in causes(kernel)
    diagnosis = diagnose(report(kernel, devices={0: Device("GPU", multiprocessors=100)}))
    assert [each.cause for each in diagnosis.findings] == ["gpu-small-grid"]
    two = {0: Device("GPU", multiprocessors=100), 1: Device("other", multiprocessors=40)}
    assert diagnose(report(kernel, devices=two)).findings == ()


def test_many_small_kernels_are_one_finding() -> None:
    kernels = [
        one(f"step_{i}", 1e-3, blocks=1, waves=0.001, sm_throughput=0.1, memory_throughput=0.1) for i in range(4)
    ]
    (small,) = found(*kernels)
    assert small.share == pytest.approx(1)
    assert small.summary.endswith("(3 other kernels too, together 100 % of the kernel time.)")


def test_part_of_a_wave_with_a_block_everywhere_comes_after_what_explains_more() -> None:
    kernel = with_stalls(one(blocks=760, waves=0.95, **LATENCY), long_scoreboard=20)
    assert causes(kernel) == ["gpu-memory-latency", "gpu-small-grid"]


@pytest.mark.parametrize(("waves", "lost"), [(1.0, 0), (1.25, 0.375), (2.0, 0), (2.5, 1 / 6), (0.5, 0.5), (0.0, 0)])
def test_what_a_part_filled_wave_loses(waves: float, lost: float) -> None:
    assert lost_in_tail(waves) == pytest.approx(lost)


@pytest.mark.parametrize(
    ("waves", "tail"),
    [(1.0, False), (1.01, True), (1.6, True), (1.61, False), (2.4, True), (2.41, False), (5.0, False), (5.1, False)],
)
def test_tails_are_reported_from_a_fifth_of_lost_places_on(waves: float, tail: bool) -> None:
    kernel = one(waves=waves, sm_throughput=65, memory_throughput=20, occupancy=75, achieved_occupancy=55)
    assert (causes(kernel)[0] == "gpu-tail-effect") is tail


def test_a_tail_says_what_is_lost_and_doubts_itself_where_occupancy_does_not_fall() -> None:
    short = first(one(waves=1.25, sm_throughput=65, memory_throughput=20, occupancy=75, achieved_occupancy=50))
    full = first(one(waves=1.25, sm_throughput=65, memory_throughput=20, occupancy=75, achieved_occupancy=74))
    assert short.headroom == full.headroom == pytest.approx(0.375)
    assert short.against == ()
    assert full.against == ("The achieved occupancy is as high as the theoretical one, so the tail is short.",)
    assert short.confidence > full.confidence
    kernel = one(waves=1.25, sm_throughput=65, memory_throughput=20)
    told = statements(diagnosed(report(kernel)), "gpu-tail-effect")
    assert "Its grid has 1.25 waves of blocks that fit on the device at once." in told


@pytest.mark.parametrize(("active", "seconds", "uneven"), [(79.9, 1.0, True), (80.1, 1.0, False), (60, 20e-6, False)])
def test_multiprocessors_that_idle_in_a_large_grid_wait_for_few_long_blocks(
    active: float, seconds: float, uneven: bool
) -> None:
    """Of many waves, and however many of its warps are resident; what launching takes (10 µs) is no block's fault."""
    kernel = one(seconds=seconds, active=active, waves=62, sm_throughput=10, memory_throughput=20)
    told = [each for each in found(kernel) if each.cause == "gpu-tail-effect"]
    assert bool(told) is uneven
    if uneven:
        assert told[0].headroom == pytest.approx(0.201, abs=1e-4)
        assert told[0].summary == (
            "A few blocks of solve<float> run much longer than the others: multiprocessors stand idle in 20.1 % of the time."
        )


def test_blocks_of_a_part_filled_wave_end_sooner_where_they_share_a_unit_at_its_limit() -> None:
    """2.2 waves, a pipe that is busy for 82 % of the time with work (tests/data/gpu/planted, cionize.cu)."""
    facts = {"waves": 2.2, "sm_throughput": 79.5, "memory_throughput": 11.0, "pipe_fp64": 82.0}
    assert first(one(**facts)).cause == "gpu-tail-effect"
    assert causes(one(**facts, active=97)) == ["gpu-fp64-bound"]


def test_a_unit_at_its_limit_has_no_tail_worth_naming() -> None:
    assert causes(one(waves=1.25, sm_throughput=20, memory_throughput=85, dram_throughput=85)) == [
        "gpu-memory-bandwidth"
    ]


# -- compute -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "busy"),
    [
        ({"sm_throughput": 80.0, "pipe_alu": 10.0}, True),
        ({"sm_throughput": 66.0, "pipe_alu": 66.0}, True),
        ({"sm_throughput": 66.0, "pipe_alu": 40.0}, False),
        ({"sm_throughput": 66.0, "pipe_alu": 40.0, "issue_active": 70.0}, True),
        ({"sm_throughput": 66.0}, True),
        ({"sm_throughput": 59.9}, False),
    ],
)  # fmt: skip
def test_arithmetic_is_the_limit_if_a_pipe_or_the_schedulers_are_busy(facts: dict[str, float], busy: bool) -> None:
    assert ("gpu-compute-bound" in causes(one(memory_throughput=20, **facts))) is busy


def test_a_queue_before_a_pipe_tells_it_even_at_half_of_the_peak() -> None:
    kernel = with_stalls(one(sm_throughput=50, memory_throughput=10), math_pipe_throttle=10)
    assert causes(kernel) == ["gpu-compute-bound"]


def test_the_limit_of_a_pipe_names_the_pipe() -> None:
    limit = first(one(sm_throughput=90, memory_throughput=10, pipe_fma=90, pipe_alu=30, pipe_lsu=99))
    assert limit.summary == "solve<float> is at the limit of its FMA (single precision) pipe: 90.0 % of the peak."
    assert limit.headroom == pytest.approx(0.1)


def test_without_pipes_the_next_measurement_asks_for_them() -> None:
    limit = first(one(sm_throughput=90, memory_throughput=10))
    assert limit.next_measurement is not None
    assert "--section ComputeWorkloadAnalysis" in limit.next_measurement
    assert "-k solve " in limit.next_measurement


@pytest.mark.parametrize(("used", "double"), [(60, True), (59.9, False)])
def test_the_fp64_pipe_is_the_limit_if_it_is_the_busiest(used: float, double: bool) -> None:
    kernel = one(
        sm_throughput=85, memory_throughput=10, pipe_fp64=used, pipe_fma=5, peak_flops_fp32=64e12, peak_flops_fp64=1e12
    )
    assert (first(kernel).cause == "gpu-fp64-bound") is double


def test_full_rate_units_for_double_precision_speak_against_it() -> None:
    fast = first(
        one(
            sm_throughput=85, memory_throughput=10, pipe_fp64=85, pipe_fma=5, peak_flops_fp32=2e12, peak_flops_fp64=1e12
        )
    )
    assert fast.against == ("The device has full-rate units for double precision.",)


def test_the_roofline_tells_double_precision_without_pipes() -> None:
    kernel = one(sm_throughput=85, memory_throughput=10, flops_fp64=0.9e12, peak_flops_fp64=1e12)
    assert first(kernel).cause == "gpu-fp64-bound"


PRODUCT = {"sm_throughput": 85.0, "memory_throughput": 30.0, "pipe_fma": 85.0}


def test_a_matrix_product_in_half_precision_without_the_tensor_pipe_is_told_by_its_name_and_pipes() -> None:
    name, half = "void hgemm_tiled<64>(half*, half const*, half const*, int)", {"flops_fp16": 9e12, "flops_fp32": 1e9}
    told = first(one(name, **PRODUCT, **half, pipe_tensor=0.0))
    assert (told.cause, told.against) == ("gpu-tensor-cores-unused", ())
    assert first(one(name, **PRODUCT, **half, pipe_tensor=1.0)).cause == "gpu-compute-bound"
    assert first(one(name, **PRODUCT, **half)).cause == "gpu-compute-bound"
    assert first(one("void stencil(half*)", **PRODUCT, **half, pipe_tensor=0.0)).cause == "gpu-compute-bound"
    assert first(one(name, **PRODUCT, **half, pipe_tensor=0.0, flops_tensor=1e12)).cause == "gpu-compute-bound"


def test_tensor_cores_are_advice_beside_the_limit_of_a_product_in_single_precision() -> None:
    """They would round its operands, so that no fault is known (tests/data/gpu/planted, sgemm_tiled.cu)."""
    name = "void sgemm_tiled<64>(float*, float const*, float const*, int)"
    diagnosis = diagnosed(report(one(name, **PRODUCT, pipe_tensor=0.0, flops_fp32=9e12)))
    (limit,) = diagnosis.findings
    assert limit.cause == "gpu-compute-bound"
    assert "TF32" in limit.advice[0]
    assert "The busy time of the tensor pipe is 0 % of its cycles." in statements(diagnosis, limit.cause)
    (used,) = found(one(name, **PRODUCT, pipe_tensor=20.0))
    assert not any("TF32" in line for line in used.advice)


@pytest.mark.parametrize("name", ["convert_f16", "reconvolve_indices", "gemvish_no", "conveyor"])
def test_other_names_are_no_matrix_products(name: str) -> None:
    assert first(one(name, **PRODUCT, pipe_tensor=0.0, flops_fp16=9e12)).cause == "gpu-compute-bound"


@pytest.mark.parametrize(("threads", "diverges"), [(20, True), (20.1, False), (32, False)])
def test_divergence_counts_below_20_threads_of_32(threads: float, diverges: bool) -> None:
    kernel = one(sm_throughput=70, memory_throughput=10, pipe_alu=70, threads_per_instruction=threads)
    assert (first(kernel).cause == "gpu-divergence") is diverges


@pytest.mark.parametrize(("busy", "diverges"), [(60, True), (59.9, False)])
def test_masked_lanes_cost_nothing_where_the_pipes_have_room(busy: float, diverges: bool) -> None:
    kernel = with_stalls(
        one(sm_throughput=40, memory_throughput=10, issue_active=busy, threads_per_instruction=8), wait=20
    )
    assert ("gpu-divergence" in causes(kernel)) is diverges


def test_blocks_of_part_of_a_warp_do_not_diverge() -> None:
    kernel = one(sm_throughput=70, memory_throughput=10, pipe_alu=70, threads_per_instruction=16, threads_per_block=16)
    assert first(kernel).cause == "gpu-compute-bound"


# -- latency -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cycles", "cause"),
    [
        ({"long_scoreboard": 20.0}, "gpu-memory-latency"),
        ({"lg_throttle": 20.0}, "gpu-memory-latency"),
        ({"barrier": 20.0}, "gpu-barrier-stall"),
        ({"wait": 10.0, "short_scoreboard": 9.0}, "gpu-dependency-stall"),
        ({"no_instruction": 20.0}, "gpu-instruction-fetch"),
    ],
)  # fmt: skip
def test_what_warps_wait_for_most_is_the_cause(cycles: dict[str, float], cause: str) -> None:
    kernel = with_stalls(one(**LATENCY), **cycles)
    diagnosis = diagnosed(report(kernel))
    assert [each.cause for each in diagnosis.findings] == [cause]
    assert diagnosis.findings[0].headroom == pytest.approx(0.7)  # no more than the memory system has left


def test_a_barrier_wait_names_its_part_of_the_cycles() -> None:
    diagnosis = diagnosed(report(with_stalls(one(**LATENCY), barrier=18.4)))
    assert (
        "Waiting for other warps at a barrier has 92.0 % of the 20 cycles of a warp between two instructions."
        in statements(diagnosis, "gpu-barrier-stall")
    )


def test_the_time_in_which_a_warp_may_issue_is_no_waiting() -> None:
    kernel = with_stalls(one(**LATENCY), not_selected=100.0, wait=10.0)
    assert "gpu-dependency-stall" not in causes(kernel)


@pytest.mark.parametrize("reached", [60.0, 79.9])
def test_waiting_for_memory_is_no_latency_if_memory_is_used(reached: float) -> None:
    kernel = with_stalls(one(sm_throughput=20, memory_throughput=reached, dram_throughput=reached), long_scoreboard=20)
    assert first(kernel).cause == "gpu-memory-bandwidth"


def test_barriers_hold_up_even_a_kernel_that_uses_memory_for_two_thirds() -> None:
    kernel = with_stalls(one(sm_throughput=20, memory_throughput=66, dram_throughput=66), barrier=20)
    assert first(kernel).cause == "gpu-barrier-stall"


def test_spread_accesses_are_why_memory_is_slow() -> None:
    kernel = with_stalls(one(**LATENCY, excessive_sectors=0.8), long_scoreboard=20)
    assert causes(kernel) == ["gpu-uncoalesced-access"]


def test_a_little_spread_comes_after_the_latency() -> None:
    kernel = with_stalls(one(**LATENCY, excessive_sectors=0.31), long_scoreboard=20)
    assert causes(kernel) == ["gpu-memory-latency", "gpu-uncoalesced-access"]


LIMITS = {"limit_registers": 2.0, "limit_shared_memory": 8.0, "limit_warps": 8.0, "limit_blocks": 32.0}


def test_low_occupancy_and_what_its_few_warps_wait_for_are_one_finding() -> None:
    kernel = with_stalls(
        one(sm_throughput=30, memory_throughput=32, occupancy=25, achieved_occupancy=24, **LIMITS), long_scoreboard=20
    )
    diagnosis = diagnosed(report(kernel))
    (low,) = diagnosis.findings
    assert low.cause == "gpu-low-occupancy"
    assert low.summary.endswith("25.0 % of what fits, limited by registers.")
    assert any(
        said.startswith("Waiting for data from memory has") for said in statements(diagnosis, "gpu-low-occupancy")
    )
    # The limit is known, so nothing is said of shared memory or the size of blocks.
    assert [sentence for sentence in low.advice if "__shared__" in sentence or "cudaOccupancy" in sentence] == []


@pytest.mark.parametrize(("waves", "low"), [(0.9, False), (1.0, False), (1.1, True)])
def test_more_warps_could_only_come_if_the_grid_has_more_blocks(waves: float, low: bool) -> None:
    kernel = one(sm_throughput=50, memory_throughput=52, occupancy=25, waves=waves, blocks=3000, **LIMITS)
    assert ("gpu-low-occupancy" in causes(with_stalls(kernel, long_scoreboard=20))) is low


@pytest.mark.parametrize(("occupancy", "low"), [(50.0, True), (50.1, False)])
def test_occupancy_is_low_up_to_a_half(occupancy: float, low: bool) -> None:
    kernel = with_stalls(one(sm_throughput=30, memory_throughput=32, occupancy=occupancy, **LIMITS), long_scoreboard=20)
    assert ("gpu-low-occupancy" in causes(kernel)) is low


def test_all_equally_low_limits_are_named_with_their_remedies() -> None:
    limits = {**LIMITS, "limit_shared_memory": 2.0}
    low = first(with_stalls(one(sm_throughput=30, memory_throughput=32, occupancy=25, **limits), long_scoreboard=20))
    assert low.summary.endswith("limited by registers and shared memory.")
    assert "__launch_bounds__" in low.advice[0]
    assert "__shared__" in low.advice[1]


def test_blocks_of_one_warp_are_limited_by_their_number() -> None:
    limits = {"limit_registers": 40.0, "limit_shared_memory": 100.0, "limit_warps": 64.0, "limit_blocks": 32.0}
    kernel = one(sm_throughput=40, memory_throughput=42, occupancy=50, threads_per_block=32, **limits)
    low = first(with_stalls(kernel, long_scoreboard=20))
    assert low.cause == "gpu-low-occupancy"
    assert low.advice[0].startswith("Launch blocks of 128 threads")


def test_occupancy_is_no_matter_where_barriers_or_pipes_are_the_limit() -> None:
    low = {"occupancy": 25.0, **LIMITS}
    assert causes(with_stalls(one(**LATENCY, **low), barrier=20)) == ["gpu-barrier-stall"]
    assert causes(one(sm_throughput=90, memory_throughput=10, **low)) == ["gpu-compute-bound"]
    assert causes(one(sm_throughput=10, memory_throughput=90, dram_throughput=90, **low)) == ["gpu-memory-bandwidth"]


def test_without_stall_reasons_a_busier_memory_is_only_probable() -> None:
    diagnosis = diagnosed(report(one(sm_throughput=46, memory_throughput=46)))
    (latency,) = diagnosis.findings
    assert latency.cause == "gpu-memory-latency"
    assert "probably of memory" in latency.summary
    assert latency.against == ("What the warps wait for was not collected: it may be barriers or earlier results.",)
    assert latency.next_measurement is not None
    assert "--section WarpStateStats" in latency.next_measurement


def test_samples_of_warps_stand_in_for_stall_counters_and_name_the_line() -> None:
    samples = {
        ("solve.cu", 12): {"gpu.instructions": 700.0, "gpu.stall.any": 690.0, "gpu.stall.barrier": 650.0},
        ("solve.cu", 20): {"gpu.instructions": 300.0, "gpu.stall.any": 200.0, "gpu.stall.memory": 200.0},
    }
    diagnosis = diagnosed(report(replace(one(**LATENCY), samples=samples)))
    barrier = finding(diagnosis, "gpu-barrier-stall")
    assert barrier.where.short == "solve.cu:12"
    assert "solve.cu:12 has 100 % of the kernel's samples of warps that wait at a barrier." in statements(
        diagnosis, "gpu-barrier-stall"
    )
    few = {place: {name: value / 20 for name, value in values.items()} for place, values in samples.items()}
    assert causes(replace(one(sm_throughput=5, memory_throughput=5), samples=few)) == []


def test_the_hot_line_is_that_of_the_waiting_not_of_all_samples() -> None:
    samples = {
        ("solve.cu", 3): {"gpu.instructions": 900.0, "gpu.stall.any": 100.0},
        ("solve.cu", 4): {"gpu.instructions": 100.0, "gpu.stall.any": 90.0, "gpu.stall.memory": 60.0},
    }
    latency = first(replace(with_stalls(one(**LATENCY), long_scoreboard=20), samples=samples))
    assert latency.where.short == "solve.cu:4"


def test_a_starved_kernel_is_not_told_that_more_of_its_warps_should_fit() -> None:
    kernel = one(blocks=90, waves=0.9, sm_throughput=15, memory_throughput=20, occupancy=6.25, shared_memory_per_block=92e3,
                 limit_registers=2, limit_shared_memory=1, limit_warps=16, limit_blocks=32)  # fmt: skip
    (small,) = found(kernel)
    assert small.cause == "gpu-small-grid"
    assert "three in four" not in " ".join(small.against)


def test_schedulers_that_issue_most_of_the_time_need_no_more_warps() -> None:
    kernel = one(sm_throughput=50, memory_throughput=52, occupancy=25, issue_active=61, **LIMITS)
    assert "gpu-low-occupancy" not in causes(kernel)


def test_waiting_of_which_no_reason_stands_out_is_told_with_that_doubt() -> None:
    even = with_stalls(
        one(**LATENCY), wait=2.0, long_scoreboard=1.9, barrier=0.8, no_instruction=0.8, math_pipe_throttle=2
    )
    (latency,) = found(even)
    assert latency.cause == "gpu-dependency-stall"
    assert "No reason for waiting stands out." in latency.against


def test_pipes_alone_tell_a_compute_bound_kernel() -> None:
    assert causes(One(facts={"pipe.fma": 85.0, "issue-active": 70.0})) == ["gpu-compute-bound"]


@pytest.mark.parametrize(("pipe", "floating"), [("alu", False), ("fma", True)])
def test_who_is_limited_by_integers_is_not_told_to_compute_floats_faster(pipe: str, floating: bool) -> None:
    limit = first(one(sm_throughput=85, memory_throughput=10, **{f"pipe_{pipe}": 85.0}))
    assert any("fast_math" in each for each in limit.advice) is floating
    assert any("integer instructions" in each for each in limit.advice) is not floating
    assert causes(One(facts={"pipe.fma": 30.0})) == []


def test_without_lines_the_instruction_that_waits_is_named() -> None:
    kernel = replace(
        with_stalls(one(**LATENCY), long_scoreboard=20), instructions={"FADD R1, R2, R3": 90.0, "EXIT": 10.0}
    )
    diagnosis = diagnosed(report(kernel))
    said = "The instruction FADD R1, R2, R3 has 90.0 % of the kernel's samples of warps that wait for memory."
    assert said in statements(diagnosis, "gpu-memory-latency")
    assert diagnosis.findings[0].where.line is None


def test_spread_accesses_are_shown_at_the_line_that_spreads_most() -> None:
    samples = {
        ("solve.cu", 5): {"gpu.instructions": 900.0, "gpu.stall.memory": 900.0, "gpu.l2.sectors.excessive": 10.0},
        ("solve.cu", 6): {"gpu.instructions": 100.0, "gpu.stall.memory": 50.0, "gpu.l2.sectors.excessive": 990.0},
    }
    spread = first(replace(with_stalls(one(**LATENCY, excessive_sectors=0.8), long_scoreboard=20), samples=samples))
    assert (spread.cause, spread.where.short) == ("gpu-uncoalesced-access", "solve.cu:6")


def test_the_tools_own_rule_tells_the_waves_where_the_report_does_not() -> None:
    said = "This kernel grid is too small to fill the available resources on this device, resulting in only 0.7 full waves across all SMs."
    kernel = bare(blocks=224, sm_throughput=9, memory_throughput=20, occupancy=16.7, **LIMITS)
    profile = report(kernel)
    node = int(next(n for n in range(len(profile.tree)) if profile.tree.kind[n] == NodeKind.GPU_KERNEL))
    remark = Remark("Nsight Compute", "SOLBottleneck", "optimization", "Small Grid", said, node)
    (small,) = diagnosed(replace(profile, remarks=(remark,))).findings
    assert small.cause == "gpu-small-grid"
    assert "0.700 of a wave" in small.summary
    assert small.headroom == pytest.approx(0.3)
