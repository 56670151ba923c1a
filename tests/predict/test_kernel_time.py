from dataclasses import replace

import pytest

from chathpc.predict.counts import Counts, Launch, Range
from chathpc.predict.devices import device
from chathpc.predict.kernel_time import limits, occupancy, predict_time
from chathpc.predict.warp_chain import Chain

RTX = device("rtx3080")


def launch(blocks: int, threads: int, registers: int = 32, shared: int = 0) -> Launch:
    return Launch("kernel", (blocks, 1, 1), (threads, 1, 1), shared, registers)


def exactly(value: float) -> Range:
    return Range(value, value, value)


def copying(blocks: int, threads: int = 256) -> Counts:
    """Reads and writes one number of four bytes a thread, as a compiler's 20 instructions do it."""
    warps = blocks * threads / 32
    return Counts(
        operations={"integer": exactly(10 * blocks * threads)},
        issued={"integer": 10 * warps, "control": 2 * warps, "other": 6 * warps, "memory": 2 * warps},
        requests={"global load": warps, "global store": warps},
        requested={"global load": 128 * warps, "global store": 128 * warps},
        sectors={"global load": 4 * warps, "global store": 4 * warps},
        footprint_read=128 * warps, footprint_written=128 * warps,
        dram_read=exactly(128 * warps), dram_written=exactly(max(128 * warps - RTX.l2, 0)), longest=20, emulated=1, warps=warps,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks", "limiter"),
    [  # by hand from the CUDA programming guide: compute capability 8.6 holds 48 warps, 16 blocks, 65,536 registers, 100 KiB
        (256, 32, 0, 6, "warps"),
        (64, 32, 0, 16, "blocks"),
        (256, 64, 0, 4, "registers"),
        (256, 65, 0, 3, "registers"),
        (256, 32, 48 * 1024, 2, "shared memory"),
        (1024, 32, 0, 1, "warps"),
        (1024, 255, 0, 1, "registers"),
    ],
)
def test_occupancy_is_that_of_the_programming_guide(
    threads: int, registers: int, shared: int, blocks: int, limiter: str
) -> None:
    found = occupancy(launch(10_000, threads, registers, shared), RTX)
    assert (found.blocks, found.limiter) == (blocks, limiter)
    assert found.waves == pytest.approx(10_000 / (68 * blocks))


def test_a_small_grid_is_what_limits_occupancy() -> None:
    # 272 blocks of eight warps on 68 multiprocessors are four each, of the six that fit: 32 of 48 warps.
    found = occupancy(launch(272, 256), RTX)
    assert (found.blocks, found.warps, found.limiter) == (4, 32, "grid")
    assert (found.share, found.waves) == pytest.approx((2 / 3, 2 / 3))
    assert (occupancy(launch(10, 256), RTX).blocks, occupancy(launch(1, 1024), RTX).limiter) == (1, "warps")


def test_copying_takes_as_long_as_its_bytes_need() -> None:
    # 65,536 blocks of 256 threads: 64 MiB read and 64 MiB written at 760.3 GB/s are 0.176 ms; measured of such kernels: 0.18 ms.
    found = predict_time(copying(65_536), launch(65_536, 256), RTX)
    assert found.limiter == "memory"
    assert found.seconds.value == pytest.approx(1.85e-4, rel=0.1)
    assert found.seconds.low < found.seconds.value < found.seconds.high


def test_a_kernel_of_one_block_takes_what_its_launch_and_one_warp_take() -> None:
    found = predict_time(copying(1), launch(1, 256), RTX, Chain(8 * 80.0, {"global": 8.0}))
    assert found.limiter == "latency"
    assert 1e-6 < found.seconds.value < 5e-6


def test_double_precision_takes_64_times_as_long_as_single_on_a_graphics_card() -> None:
    warps = 65_536 * 8
    single = replace(copying(65_536), issued={"fp32": 1000.0 * warps})
    double = replace(copying(65_536), issued={"fp64": 1000.0 * warps})
    parts = [limits(each, launch(65_536, 256), RTX) for each in (single, double)]
    assert parts[1]["fp64"] / parts[0]["fp32"] == pytest.approx(64, rel=0.3)


def test_waits_that_the_machine_code_tells_make_a_lone_warp_slow() -> None:
    quick, slow = (
        limits(copying(1), launch(1, 256), RTX, Chain(8 * 80.0, {"global": 8.0 * waits}))["latency"]
        for waits in (1, 100)
    )
    assert slow > 20 * quick


def test_atomic_operations_at_one_address_come_one_after_another() -> None:
    spread, meeting = (
        limits(replace(copying(65_536), passes={"global atomic": 4e6}, most_atomics=most), launch(65_536, 256), RTX)
        for most in (1.0, 4e6)
    )
    # 40 slices of L2 do the first, one of them the second.
    assert meeting["atomic"] == pytest.approx(40 * spread["atomic"])
    assert meeting["atomic"] > 4e6 / RTX.clock


def test_shared_memory_and_l1_do_one_pass_a_cycle() -> None:
    counts = replace(copying(68_000), passes={"shared load": 7e8, "global load": 3e8, "global atomic": 5.0})
    assert limits(counts, launch(68_000, 256), RTX)["l1"] == pytest.approx(1e9 / (68 * RTX.clock), rel=0.3)


@pytest.mark.parametrize(("name", "times"), [("rtx3080", 2.0), ("h100", 1.0)])
def test_sixteen_units_need_two_cycles_for_the_addresses_of_a_warp(name: str, times: float) -> None:
    # LD/ST of a multiprocessor in the diagrams of NVIDIA's whitepapers: four in each partition of GA102, eight of GH100.
    wide, narrow = (
        replace(copying(132 * 68), passes={"shared load": 1e9}, instructions={"shared load": requests})
        for requests in (2.5e8, 1e9)
    )
    parts = [limits(each, launch(132 * 68, 256), device(name))["l1"] for each in (wide, narrow)]
    assert parts[1] == pytest.approx(times * parts[0])


def test_own_memory_of_threads_that_a_cache_cannot_hold_comes_from_behind_it() -> None:
    h100 = device("h100")
    counts = replace(copying(65_536), sectors={"local load": 5e8, "local store": 5e8})
    # 2,048 threads on each of 132 multiprocessors: 69, 35 or 17 MB of their own, and a cache of 52 MB; 524, 262 or 131 kB on each, and L1 of 262 kB.
    large, middle, small = (limits(counts, replace(launch(65_536, 256), local=each), h100) for each in (256, 128, 64))
    assert large["memory"] == pytest.approx(32e9 / h100.bandwidth, rel=0.1)
    assert middle["memory"] == small["memory"] < large["memory"] / 100
    assert large["l2"] == middle["l2"] == pytest.approx(32e9 / (h100.l2_rate * h100.clock), rel=0.2)
    assert small["l2"] < middle["l2"] / 10


def test_half_a_device_takes_longer() -> None:
    half = replace(RTX, units=34, bandwidth=RTX.bandwidth / 2, l2_rate=RTX.l2_rate / 2)
    whole = predict_time(copying(65_536), launch(65_536, 256), RTX).seconds.value
    assert predict_time(copying(65_536), launch(65_536, 256), half).seconds.value == pytest.approx(2 * whole, rel=0.05)


@pytest.mark.parametrize(("kind", "operations"), [("fp64", 1.0737e9), ("fp32", 1e12), ("integer", 1e12)])
def test_no_bound_of_a_time_beats_the_devices_peak(kind: str, operations: float) -> None:
    a100 = device("a100")
    work = replace(copying(4096), operations={kind: Range(operations, 0.95 * operations, 1.05 * operations)})
    found = predict_time(work, launch(4096, 256), a100)
    # NVIDIA A100 datasheet: 9.7 TFLOPS of double and 19.5 of single precision, at the boost clock; as many integers are multiplied and added.
    peak = {"fp64": 9.7e12, "fp32": 19.5e12, "integer": 19.5e12}[kind]
    least = 0.95 * operations / peak
    assert found.seconds.low >= min(0.99 * least, found.seconds.value)
    assert found.seconds.low <= found.seconds.value <= found.seconds.high


def test_no_bound_of_a_time_beats_a_pass_a_cycle() -> None:
    # 131,072 warps read a column of shared memory in 32 passes each; 108 multiprocessors at 1.41 GHz do one a cycle.
    a100 = device("a100")
    found = predict_time(replace(copying(16_384), passes={"shared load": 131_072.0 * 32}), launch(4096, 1024), a100)
    assert 27.5e-6 <= found.seconds.low <= found.seconds.value
