"""Other wordings of what follows from a diagnosis, and false twins of them: numbers in words, parts, what is left, denials, what would be."""

from __future__ import annotations

import pytest

from tests.grounding.test_mechanisms import status


@pytest.mark.parametrize(
    ("name", "sound", "false"),
    [
        # 9.14 s of 9.50 s in diffuse: 0.36 s are left.
        ("heat-stencil", "Only 0.36 s are spent outside diffuse.", "Only 0.76 s are spent outside diffuse."),
        # 3.21 s of 4.12 s: 22 % and 0.91 s are left; release has 1.84 s of the 3.21 s.
        (
            "freed-in-loop",
            "Roughly 22 % of the run is anything but memory management.",
            "Roughly 78 % of the run is anything but memory management.",
        ),
        ("freed-in-loop", "Other places than release cost 1.37 s.", "Other places than release cost 2.37 s."),
        # 2.83 s and 913 ms
        (
            "cell-forces",
            "The gap between both ranks in forces is almost 2 seconds.",
            "The gap between both ranks in forces is almost 3 seconds.",
        ),
        # 5.23 s and 3.40 s
        (
            "cloverleaf",
            "advec_cell_kernel needs 1.83 s less than advec_mom_kernel.",
            "advec_mom_kernel needs 1.83 s less than advec_cell_kernel.",
        ),
        # the device is idle for 201 ms of 277 ms, in 134 gaps
        ("gpu-allocation", "The device is busy for only 76 ms.", "The device is busy for only 136 ms."),
        ("gpu-allocation", "Each gap lasts 1.5 ms on average.", "Each gap lasts 15 ms on average."),
        # 1.28 s in 91 gaps
        ("host-bound", "The gaps last 14 ms on average.", "The gaps last 44 ms on average."),
        # 1.62 s and 633 ms
        (
            "math-and-allocation",
            "Math costs two and a half times as much as memory management.",
            "Math costs four and a half times as much as memory management.",
        ),
        # 22.8 ms and 2.54 ms: the last part of a qualified name is a name.
        ("gpu-tail", "zorcedim runs nine times as long as jerinor.", "jerinor runs nine times as long as zorcedim."),
        # 64.0 % and 35.8 %
        (
            "rank-chain",
            "MPI_Recv has 64 % of the MPI time and MPI_Barrier most of the rest.",
            "MPI_Barrier has 64 % of the MPI time and MPI_Recv most of the rest.",
        ),
    ],
)
def test_numbers_that_follow_are_recomputed_in_any_wording(name: str, sound: str, false: str) -> None:
    assert (status(name, sound), status(name, false) != "supported") == ("supported", True)


@pytest.mark.parametrize(
    ("name", "sound", "false"),
    [
        ("log-records", "Nine tenths of the run are spent in file operations.", "Six tenths of the run are spent in file operations."),
        ("quadratic", "Five sixths of the time are spent in that search.", "Two sixths of the time are spent in that search."),
        ("log-records", "35.6 MB per second were moved.", "80.0 MB per second were moved."),
        ("gpu-pageable", "Of the 71 transfers, 47 use pageable memory.", "Of the 71 transfers, 17 use pageable memory."),
        ("frame-edges", "At 500 ns a fault that is 1.11 s.", "At 500 µs a fault that is 1.11 s."),
        ("tiny-regions", "Less than a percent of the time is work.", "More than a percent of the time is work."),
        ("chain", "Nearly half of the ranks' time is spent in MPI calls.", "Nearly a quarter of the ranks' time is spent in MPI calls."),
    ],
)  # fmt: skip
def test_numbers_in_words_parts_and_rates_are_read(name: str, sound: str, false: str) -> None:
    assert (status(name, sound), status(name, false) != "supported") == ("supported", True)


@pytest.mark.parametrize(
    ("name", "sound", "false"),
    [
        # rank 1 spends 1.21 s in validate, the other one 0 s
        (
            "collective-wait",
            "In validate rank 1 spends 1.21 s, the other rank nothing.",
            "In validate rank 0 spends 1.21 s, the other rank nothing.",
        ),
        ("host-bound", "No single gap is longer than 30.2 ms.", "No single gap is longer than 14.2 ms."),
        (
            "chain",
            "Hardly any time, 20.1 ms, goes into moving data.",
            "Hardly any time goes into MPI.",
        ),
        ("cloverleaf", "Load balance is not the problem.", "The network is not the problem."),
        ("by-value", "Over three quarters of the run is nothing but copying memory.", "Copying memory costs nothing."),
        (
            "late-sender",
            "The ranks are not waiting because of uneven work.",
            "The ranks are not waiting because of late messages.",
        ),
    ],
)
def test_only_what_is_not_so_is_denied(name: str, sound: str, false: str) -> None:
    assert (status(name, sound), status(name, false) != "supported") == ("supported", True)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("cell-forces", "With four ranks the imbalance would be smaller."),
        ("gpu-tail", "The kernel would be faster on a device with more multiprocessors."),
        ("gpu-tail", "The multiprocessors of zorcedim are near their peak."),
        ("gpu-tail", "The last wave is completely filled."),
        ("column-walk", "The loop over i would step to neighbours."),
        ("gpu-allocation", "The memory is allocated once before the loop."),
        ("recursion", "Each call of best has new arguments."),
        ("four-ranks", "Rank 3 is done before the others."),
        ("synchronised", "The device waits until the host is done."),
        ("cell-forces", "Rank 0 waits in forces for rank 1."),
        ("late-sender", "The ranks wait although eamForce is negligible compared with interpolate."),
        ("tiny-kernels", "The run could be at least 1.94x as fast."),
        ("chain", "The run could become 1.64x slower at most if nobody waited for a late sender."),
        ("rank-chain", "The ranks compute about equally, with the idlest having 1.27 times the mean."),
        ("gpu-literals", "Double precision is faster than single precision on this device."),
        ("unoptimised-tiles", "The program was built with -O0 -D_GLIBCXX_DEBUG."),
        ("small-io", "write calls sink_put for 2.15 s."),
        ("small-io", "sink_put moves data in small pieces because write takes 80.0 MB."),
        ("invariant", "Compute the value of pow once after the loop."),
        ("uncoalesced", "The multiprocessors are busier than the memory system in bafiwod."),
        ("omp", "Most threads hold a lock."),
    ],
)
def test_what_only_would_be_or_is_the_other_way_round_is_struck(name: str, sentence: str) -> None:
    assert status(name, sentence) != "supported"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("cell-forces", "Rank 0 waits in MPI_Allreduce for rank 1."),
        ("mpi", "The ranks spend 441 s in MPI, mostly in MPI_Allreduce."),
        ("host-bound", "Three quarters of the time the device waits for the host."),
        ("omp-critical", "accumulate computes between 415 ms and 553 ms per thread."),
        ("gpu-divergence", "glaglagen ran for 22.4 ms in three launches, some 7.5 ms each."),
        ("tiny-kernels", "The gaps are over twice as long as the kernels, so the device mostly idles."),
    ],
)
def test_the_same_in_the_right_words_is_kept(name: str, sentence: str) -> None:
    assert status(name, sentence) == "supported"
