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
