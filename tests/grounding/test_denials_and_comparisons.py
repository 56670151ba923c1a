"""Levels, superlatives of lines, comparisons and denials in wordings that no evidence has, each with a twin that must be struck."""

from __future__ import annotations

import pytest

from chathpc.grounding import check
from tests.grounding.measure import diagnosis


def status(name: str, sentence: str) -> str:
    (checked,) = check(sentence, diagnosis(name), form="prose").sentences
    return checked.status


@pytest.mark.parametrize(
    ("name", "sound", "false"),
    [
        (
            "xsbench",
            "The hottest line of grid_search is Simulation.c:391.",
            "The hottest line of grid_search is Simulation.c:307.",
        ),
        (
            "xsbench",
            "In grid_search, Simulation.c:391 is the hottest spot.",
            "In grid_search, Simulation.c:387 is the hottest spot.",
        ),
        (
            "xsbench",
            "The hottest line of grid_search, Simulation.c:391, lies in the loop at Simulation.c:387.",
            "The hottest line of grid_search, Simulation.c:387, lies in the loop at Simulation.c:391.",
        ),
        (
            "xsbench",
            "The hottest line of the whole program is Simulation.c:307.",
            "The hottest line of the whole program is Simulation.c:391.",
        ),
    ],
)
def test_the_hottest_line_is_that_of_its_function(name: str, sound: str, false: str) -> None:
    assert status(name, sound) == "supported"
    assert status(name, false) == "struck"


@pytest.mark.parametrize(
    ("name", "sound", "false"),
    [
        (
            "four-ranks",
            "In short, the work is shared unevenly among the ranks.",
            "In short, the load is balanced well.",
        ),
        ("xsbench", "The threads lose little time to synchronisation.", "The threads lose little time to memory."),
        (
            "tallies",
            "The OpenMP threads lose little to synchronisation.",
            "The OpenMP threads lose much to synchronisation.",
        ),
        (
            "cloverleaf",
            "The efficiency of 96.9 % leaves hardly anything to gain, so communication costs little.",
            "The efficiency of 86.9 % leaves hardly anything to gain, so communication costs little.",
        ),
        (
            "small-io",
            "What slows sink_put down is the size of its requests.",
            "What slows sink_put down is the latency of the network.",
        ),
        (
            "bank-conflicts",
            "xiximep is slowed by bank conflicts in shared memory.",
            "xiximep is slowed by the low occupancy of its warps.",
        ),
        (
            "late-sender",
            "eamForce takes 29.4 s, followed at a great distance by interpolate with 12.1 s.",
            "interpolate takes 12.1 s, followed at a great distance by eamForce with 29.4 s.",
        ),
    ],
)
def test_levels_are_those_of_the_evidence(name: str, sound: str, false: str) -> None:
    assert status(name, sound) == "supported"
    assert status(name, false) == "struck"


def test_efficiencies_that_are_low_lose_more_than_a_little() -> None:
    assert status("warm-regions", "The four OpenMP threads lose little time to synchronisation.") == "struck"
    assert status("warm-regions", "The threads lose little time.") == "struck"


@pytest.mark.parametrize(
    ("name", "sound", "false"),
    [
        # What a trusted text leaves out, and of what.
        (
            "late-sender",
            "The 108 s of library threads are not included in the 53.2 s.",
            "The 53.2 s of the program are not included in the 108 s of library threads.",
        ),
        (
            "late-sender",
            "The 108 s of library threads are not included in the 53.2 s.",
            "The 108 s of library threads are included in the 53.2 s.",
        ),
        (
            "late-sender",
            "The 108 s of library threads are no part of the 53.2 s.",
            "The 9.88 s in MPI are no part of the 53.2 s.",
        ),
        # What the diagnosis does not tell.
        (
            "uncoalesced",
            "The report names no source line for bafiwod.",
            "The report names no multiprocessor for bafiwod.",
        ),
        (
            "small-io",
            "The profile does not tell how many requests there are.",
            "The profile does not tell how long sink_put takes.",
        ),
        (
            "no-overlap",
            "A timeline cannot reveal whether a kernel needs the whole copy.",
            "A timeline cannot reveal how long the kernels compute.",
        ),
        # What something else has more of.
        ("late-sender", "MPI is not the largest item.", "eamForce is not the largest item."),
        # What efficiencies and shares of the opposite tell.
        (
            "xsbench",
            "Neither the load balance nor the synchronisation costs much.",
            "Neither the load balance nor the memory costs much.",
        ),
        ("sleeping", "The threads hardly compute at all.", "The threads hardly wait at all."),
        # What costs no time by a trusted text.
        ("leak", "It is not the leak that takes the time.", "It is not the computation that takes the time."),
        # What is so already.
        (
            "no-overlap",
            "Pinning the memory is no remedy, since it is pinned already.",
            "Blocks are no remedy, since they are pinned already.",
        ),
        # What a trusted text denies in other words.
        ("invariant", "Nothing in this call changes in the loop over k.", "Nothing in the loop over k calls pow."),
        (
            "memory-stalls",
            "Raise the number of warps in flight as long as registers don't spill.",
            "Do not raise the number of warps in flight.",
        ),
    ],
)
def test_only_what_is_not_so_is_denied(name: str, sound: str, false: str) -> None:
    assert status(name, sound) == "supported"
    assert status(name, false) == "struck"


def test_what_is_known_cannot_be_unsaid() -> None:
    assert status("xsbench", "The report names no source line for grid_search.") == "struck"
    assert status("xsbench", "The profile does not say how many threads there are.") == "struck"
    assert status("warm-regions", "Neither the load balance nor the synchronisation costs much.") == "struck"
    assert status("pageable-copies", "Pinning the host memory is no remedy here.") == "struck"


@pytest.mark.parametrize(
    ("name", "sound", "false"),
    [
        (
            "hpcg",
            "ComputeSPMV_ref.cpp:67 costs more than ComputeSYMGS_ref.cpp:74.",
            "ComputeSYMGS_ref.cpp:74 costs more than ComputeSPMV_ref.cpp:67.",
        ),
        (
            "xsbench",
            "The load balance costs more than synchronisation.",
            "Synchronisation costs more than the load balance.",
        ),
        (
            "bank-conflicts",
            "For ceneltav, 70.6 % of the peak lies below the 80 % from which a unit counts as at its limit.",
            "For ceneltav, 70.6 % of the peak lies above the 80 % from which a unit counts as at its limit.",
        ),
        (
            "uncoalesced",
            "For kroglafol, 74.2 % of the peak is still below the 80 % from which a unit counts as at its limit.",
            "For kroglafol, 74.2 % of the peak is still below the 90 % from which a unit counts as at its limit.",
        ),
    ],
)
def test_a_comparison_is_that_of_the_values_of_its_sides(name: str, sound: str, false: str) -> None:
    assert status(name, sound) == "supported"
    assert status(name, false) == "struck"


@pytest.mark.parametrize(
    ("name", "sound", "false"),
    [
        # The kernel behind `of` is where the warps are.
        (
            "uncoalesced",
            "The warps of kroglafol wait for a busy pipe in 5.42 % of the time.",
            "The warps of bafiwod wait for a busy pipe in 5.42 % of the time.",
        ),
        (
            "bank-conflicts",
            "Only about 4 % of the shared memory wavefronts of xiximep do not come from bank conflicts.",
            "Only about 4 % of the shared memory wavefronts of xiximep come from bank conflicts.",
        ),
        (
            "leak",
            "The program frees 1.89 GB, so most of the memory is given back.",
            "All of the memory that window_copy allocates is given back.",
        ),
        (
            "no-overlap",
            "Some 120 ms, or 48 % of the window, could overlap.",
            "Some 120 ms, or 48 % of the window, overlap.",
        ),
        (
            "gpu-overlap",
            "A caveat about overlapping: a timeline cannot show whether a kernel needs the whole copy before it.",
            "A caveat about overlapping: a timeline cannot show how many copies there are.",
        ),
    ],
)
def test_who_waits_what_could_be_and_what_does_not_come_from(name: str, sound: str, false: str) -> None:
    assert status(name, sound) == "supported"
    assert status(name, false) == "struck"
