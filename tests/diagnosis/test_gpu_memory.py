"""Kernels that memory limits: its rate, and what makes them move or split too much."""

from __future__ import annotations

import pytest

from tests.diagnosis.kernels import LATENCY, causes, first, found, one, report, with_stalls
from tests.diagnosis.parts import diagnosed, finding, statements

# -- memory --------------------------------------------------------------------------------------------------


def test_device_memory_at_its_limit_has_no_headroom_and_is_healthy() -> None:
    kernel = one(
        sm_throughput=18,
        memory_throughput=96,
        dram_throughput=96,
        l2_throughput=30,
        dram_rate=960e9,
        peak_dram_rate=1e12,
    )
    diagnosis = diagnosed(report(kernel))
    (limit,) = diagnosis.findings
    assert (limit.cause, limit.headroom) == ("gpu-memory-bandwidth", 0)
    assert (
        limit.summary
        == "solve<float> is at the limit of device memory, 96.0 % of the peak: only moving fewer bytes makes it faster."
    )
    assert diagnosis.verdict == "healthy"
    assert (
        "Its rate of device memory is 960 GB a second, the peak 1.00 TB a second (0.960 times as much)."
        in statements(diagnosis, "gpu-memory-bandwidth")
    )


@pytest.mark.parametrize(("reached", "verdict"), [(87, "healthy"), (86, "bottleneck")])
def test_device_memory_can_win_what_it_lacks_to_the_rate_of_streams(reached: float, verdict: str) -> None:
    """Streams reach 91 % of the peak on an H100 (tests/data/gpu/planted); less than 5 % of the run is not worth a change."""
    diagnosis = diagnosed(report(one(sm_throughput=18, memory_throughput=reached, dram_throughput=reached)))
    assert diagnosis.verdict == verdict
    assert diagnosis.findings[0].headroom == pytest.approx(1 - reached / 91)


def test_of_several_kernels_at_a_limit_the_longest_says_why_a_run_is_healthy() -> None:
    stream = one("void stream()", 9.0, sm_throughput=18, memory_throughput=92, dram_throughput=92, l2_throughput=30)
    other = one("void other()", 1.0, sm_throughput=70, memory_throughput=20, pipe_fma=65)
    diagnosis = diagnosed(report(stream, other))
    assert diagnosis.verdict == "healthy"
    assert "stream is at the limit of device memory" in diagnosis.headline


@pytest.mark.parametrize(
    ("reached", "cause", "doubts"),
    [(80, "gpu-memory-bandwidth", 0), (79.9, "gpu-memory-bandwidth", 1), (60, "gpu-memory-bandwidth", 1)],
)
def test_from_60_percent_memory_is_near_and_from_80_at_its_limit(reached: float, cause: str, doubts: int) -> None:
    limit = first(one(sm_throughput=20, memory_throughput=reached, dram_throughput=reached, l2_throughput=20))
    assert (limit.cause, len(limit.against)) == (cause, doubts)
    assert ("at the limit" in limit.summary) is (doubts == 0)


def test_a_cache_at_its_limit_is_named_and_leaves_headroom() -> None:
    limit = first(one(sm_throughput=30, memory_throughput=90, dram_throughput=10, l2_throughput=90))
    assert limit.summary == "solve<float> is at the limit of the L2 cache, 90.0 % of the peak."
    assert limit.headroom == 0.3
    assert "float4" in limit.advice[0]


BUSY = {"sm_throughput": 20.0, "memory_throughput": 85.0, "dram_throughput": 70.0, "l2_throughput": 85.0}


@pytest.mark.parametrize(("sectors", "spread"), [(4, False), (8, False), (8.1, True), (32, True)])
def test_sectors_per_request_tell_uncoalesced_accesses(sectors: float, spread: bool) -> None:
    found_ = first(one(**BUSY, sectors_per_request_global_load=sectors))
    assert (found_.cause == "gpu-uncoalesced-access") is spread


def test_up_to_16_sectors_may_be_wide_elements() -> None:
    wide = first(one(**BUSY, sectors_per_request_global_load=16))
    certain = first(one(**BUSY, sectors_per_request_global_load=17))
    assert any("8 or 16 bytes" in text for text in wide.against)
    assert certain.against == ()
    assert wide.headroom < certain.headroom


@pytest.mark.parametrize(("excess", "spread"), [(0.0, False), (0.29, False), (0.3, True), (0.875, True)])
def test_excess_sectors_decide_whatever_the_sectors_per_request(excess: float, spread: bool) -> None:
    limit = first(one(**BUSY, sectors_per_request_global_load=16, excessive_sectors=excess))
    assert limit.cause == ("gpu-uncoalesced-access" if spread else "gpu-memory-bandwidth")
    if spread:
        assert limit.headroom == pytest.approx(excess * 0.85)


def test_spread_accesses_do_not_matter_to_a_kernel_that_computes() -> None:
    assert causes(one(sm_throughput=85, memory_throughput=20, excessive_sectors=0.8)) == ["gpu-compute-bound"]


@pytest.mark.parametrize(("use", "spread"), [(1.0, False), (0.71, False), (0.69, True), (0.25, True)])
def test_what_accesses_use_of_their_sectors_decides_for_elements_of_any_size(use: float, spread: bool) -> None:
    limit = first(one(**BUSY, sectors_per_request_global_load=16, sector_use_global_load=use))
    assert limit.cause == ("gpu-uncoalesced-access" if spread else "gpu-memory-bandwidth")
    if spread:
        assert limit.against == ()
        assert limit.headroom == pytest.approx((1 - use) * 0.85)


L1_FULL = {
    "sm_throughput": 7.0,
    "memory_throughput": 99.0,
    "l1_throughput": 99.5,
    "l1_data_pipe": 99.0,
    "dram_throughput": 0.1,
    "l2_throughput": 5.0,
}


@pytest.mark.parametrize(("shared", "told"), [(40.0, False), (70.0, True)])
def test_shared_memory_that_fills_the_l1_cache_is_told(shared: float, told: bool) -> None:
    """As of sums in the report of an H100: 67 % of the time with shared memory, of 75 % of the pipe."""
    facts = {
        "sm_throughput": 61.0,
        "memory_throughput": 85.0,
        "l1_throughput": 85.0,
        "l1_data_pipe": 85.0,
        "l2_throughput": 40.0,
        "dram_throughput": 40.0,
    }
    limit = first(one(**facts, l1_data_pipe_shared=shared))
    assert limit.cause == "gpu-memory-bandwidth"
    assert ("shared memory is what fills it" in limit.summary) is told
    assert ("__shfl_down_sync" in " ".join(limit.advice)) is told
    assert limit.title == ("Limited by the bandwidth of shared memory" if told else "Limited by the L1 cache")
    assert not any("L2 with cudaStream" in text for text in limit.advice)  # of no use inside a multiprocessor


def test_a_full_data_pipe_with_few_instructions_asks_for_the_memory_tables() -> None:
    limit = first(one(**L1_FULL))
    assert limit.cause == "gpu-uncoalesced-access"
    assert "or bank conflicts; memory tables would show which" in limit.summary
    assert len(limit.against) == 1
    assert limit.next_measurement is not None
    assert limit.next_measurement.startswith(
        "ncu --section MemoryWorkloadAnalysis_Tables --section SourceCounters -k solve -c 3 ./app ("
    )


def test_without_shared_memory_it_can_only_be_uncoalesced() -> None:
    limit = first(one(**L1_FULL, shared_memory_per_block=0))
    assert limit.summary.endswith("its accesses are uncoalesced.")
    assert str(limit.next_measurement).endswith("(sectors per request, by line)")
    assert limit.against == ()


def test_a_full_data_pipe_with_tables_is_decided_by_them() -> None:
    tables = {"bank_conflicts": 9e6, "shared_wavefronts": 1e7, "sectors_per_request_global_load": 4.0}
    assert first(one(**L1_FULL, **tables)).cause == "gpu-shared-bank-conflicts"
    clean = {**tables, "bank_conflicts": 0.0}
    assert first(one(**L1_FULL, **clean)).cause == "gpu-memory-bandwidth"


def test_many_narrow_loads_fill_the_l1_cache_without_being_split() -> None:
    limit = first(
        one(
            sm_throughput=91,
            memory_throughput=91,
            l1_throughput=93,
            l1_data_pipe=46,
            dram_throughput=1,
            l2_throughput=5,
        )
    )
    assert (limit.cause, limit.where.kernel) == ("gpu-memory-bandwidth", "void solve<float>(float*, int)")


@pytest.mark.parametrize(("part", "conflicts"), [(0.29, False), (0.3, True)])
def test_bank_conflicts_count_from_three_of_ten_wavefronts_on(part: float, conflicts: bool) -> None:
    kernel = with_stalls(
        one(**LATENCY, bank_conflicts=part * 1e6, shared_wavefronts=1e6), mio_throttle=10, short_scoreboard=10
    )
    assert ("gpu-shared-bank-conflicts" in causes(kernel)) is conflicts


def test_bank_conflicts_are_first_where_they_explain_most_of_the_waiting() -> None:
    kernel = with_stalls(
        one(**LATENCY, bank_conflicts=9e5, shared_wavefronts=1e6), mio_throttle=10, short_scoreboard=10
    )
    assert causes(kernel) == ["gpu-shared-bank-conflicts"]


def test_bank_conflicts_that_nobody_waits_for_are_no_finding() -> None:
    kernel = with_stalls(one(**LATENCY, bank_conflicts=9e5, shared_wavefronts=1e6), barrier=20)
    assert causes(kernel) == ["gpu-barrier-stall"]


def test_excess_wavefronts_stand_in_for_counted_conflicts() -> None:
    kernel = with_stalls(one(**LATENCY, excessive_wavefronts=0.9), mio_throttle=20)
    assert first(kernel).cause == "gpu-shared-bank-conflicts"


@pytest.mark.parametrize(("moved", "spills"), [(4.9e4, False), (5e4, True)])
def test_local_memory_counts_from_one_of_twenty_instructions_on(moved: float, spills: bool) -> None:
    kernel = one(**BUSY, local_loads=moved / 2, local_stores=moved / 2, instructions=1e6)
    assert (first(kernel).cause == "gpu-register-spill") is spills


def test_few_registers_speak_for_local_arrays() -> None:
    spill = first(one(**BUSY, local_loads=1e6, instructions=4e6))
    assert spill.against == ("It uses few registers: local arrays with computed indices lie in local memory, too.",)
    assert first(one(**{**BUSY, "registers": 255.0}, local_loads=1e6, instructions=4e6)).against == ()


@pytest.mark.parametrize(("updates", "contended"), [(1.9e4, False), (2e4, True)])
def test_atomic_updates_are_a_cause_where_memory_is_slow_and_device_memory_idle(
    updates: float, contended: bool
) -> None:
    kernel = with_stalls(one(**LATENCY, atomics=updates, instructions=1e6), lg_throttle=20)
    diagnosis = diagnosed(report(kernel))
    assert ("gpu-atomics-contention" in [each.cause for each in diagnosis.findings]) is contended
    if contended:
        atomics = finding(diagnosis, "gpu-atomics-contention")
        assert atomics.against == ("Counters do not show how many threads update one address.",)
        assert "Atomic updates of global memory have 2.00 % of its instructions." in statements(
            diagnosis, atomics.cause
        )


@pytest.mark.parametrize(("slice_", "cache", "queued"), [(20, 10, True), (19.9, 1, False), (40, 20.1, False)])
def test_a_slice_of_the_l2_cache_that_alone_is_busy_with_updates_tells_that_few_addresses_get_them(
    slice_: float, cache: float, queued: bool
) -> None:
    """A warp's 32 updates of one address are one instruction in many (tests/data/gpu/planted, plaq_action.cu)."""
    facts = {"sm_throughput": 1.0, "memory_throughput": cache, "dram_throughput": 0.3, "l2_throughput": cache}
    kernel = one(**facts, atomics=1e4, instructions=1e6, atomic_slice=slice_)
    told = [each for each in found(with_stalls(kernel, lg_throttle=20)) if each.cause == "gpu-atomics-contention"]
    assert bool(told) is queued
    if queued:
        assert told[0].against == ()
        assert "contend for a few addresses" in told[0].summary


def test_atomics_of_a_kernel_that_fills_device_memory_are_not_its_limit() -> None:
    kernel = one(sm_throughput=20, memory_throughput=85, dram_throughput=85, atomics=1e5, instructions=1e6)
    assert causes(kernel) == ["gpu-memory-bandwidth"]


def test_spread_accesses_that_hit_in_l1_are_doubted() -> None:
    assert any("L1 cache" in text for text in first(one(**BUSY, excessive_sectors=0.5, l1_hit_rate=90)).against)


def test_barriers_beside_a_busy_memory_are_named() -> None:
    kernel = with_stalls(one(sm_throughput=20, memory_throughput=66, dram_throughput=66), long_scoreboard=9, barrier=3)
    assert "Part of the waiting is for barriers." in first(kernel).against


def test_spills_of_a_kernel_that_computes_are_second_and_doubted() -> None:
    busy, spill = found(
        one(sm_throughput=75, pipe_alu=75, memory_throughput=20, registers=255, local_loads=2e5, instructions=1e6)
    )
    assert (busy.cause, spill.cause) == ("gpu-compute-bound", "gpu-register-spill")
    assert spill.against == ("The kernel neither waits for memory nor saturates it.",)


# -- host memory ---------------------------------------------------------------------------------------------

#: A kernel of 0.5 s that fetches 6 GB of what it asks for from host memory, nine tenths of its misses.
ZERO_COPY = {
    **LATENCY,
    "dram_throughput": 2.0,
    "memory_throughput": 12.0,
    "host_misses": 0.9,
    "host_sectors": 0.6,
    "host_bytes": 6e9,
}


def test_a_kernel_that_works_on_host_memory_is_told_so_with_its_bytes() -> None:
    diagnosis = diagnosed(report(with_stalls(one("gather", 0.5, **ZERO_COPY, pcie_rate=13e9), long_scoreboard=20)))
    latency = diagnosis.findings[0]
    assert (latency.cause, latency.title) == ("gpu-memory-latency", "Kernel works on host memory")
    assert latency.summary == "gather works on host memory: 90.0 % of its misses in the L2 cache cross PCIe or NVLink."
    said = statements(diagnosis, latency.cause)
    assert "What host memory serves is 90.0 % of its misses in the L2 cache." in said
    assert "What it has to fetch from host memory is 60.0 % of the sectors that it asks the L2 cache for." in said
    assert "The rate at which a launch fetches from host memory is 12.0 GB a second (6.00 GB in 500 ms)." in said
    assert "The traffic over PCIe meanwhile, the profiler's own included, is 13.0 GB a second." in said
    assert "cudaMemcpyAsync" in latency.advice[0]
    assert all("coalesced" not in advice for advice in latency.advice)


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({}, True),
        ({"host_misses": 0.39}, False),
        ({"host_misses": 0.4}, True),
        ({"host_sectors": 0.09}, False),
        ({"host_sectors": 0.1}, True),
        ({"dram_throughput": 60.0}, False),
    ],
)
def test_host_memory_is_told_where_it_has_much_of_the_misses_and_of_the_accesses(
    facts: dict[str, float], told: bool
) -> None:
    kernel = with_stalls(one(**{**ZERO_COPY, **facts}), long_scoreboard=20)
    assert ("Kernel works on host memory" in [each.title for each in found(kernel)]) is told


def test_host_memory_that_nobody_waits_for_is_no_finding() -> None:
    assert "Kernel works on host memory" not in [
        each.title for each in found(with_stalls(one(**ZERO_COPY), long_scoreboard=1, barrier=20))
    ]


@pytest.mark.parametrize(("rate", "told"), [(0.0012, False), (0.5, True)])
def test_without_sectors_and_stalls_the_rate_of_fills_decides(rate: float, told: bool) -> None:
    facts = {"sm_throughput": 2.0, "memory_throughput": 1.0, "dram_throughput": 0.1}
    kernel = one(**facts, host_misses=0.9, host_fill_throughput=rate)
    assert ("Kernel works on host memory" in [each.title for each in found(kernel)]) is told


def test_host_memory_stands_beside_a_small_grid_and_spread_accesses() -> None:
    kernel = with_stalls(one(**{**ZERO_COPY, "blocks": 50.0, "waves": 0.1, "occupancy": 25.0}), long_scoreboard=20)
    assert [each.cause for each in found(kernel)] == ["gpu-small-grid", "gpu-memory-latency"]
    spread = with_stalls(one(**ZERO_COPY, excessive_sectors=0.5), long_scoreboard=20)
    assert [each.cause for each in found(spread)] == ["gpu-memory-latency", "gpu-uncoalesced-access"]


def test_few_warps_and_host_memory_are_two_problems() -> None:
    titles = [each.title for each in found(with_stalls(one(**{**ZERO_COPY, "occupancy": 12.5}), long_scoreboard=20))]
    assert "Kernel works on host memory" in titles
