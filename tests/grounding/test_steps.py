"""Numbers that follow from others of their sentence, and what numbers are of where a sentence has several; each with its false twins."""

from __future__ import annotations

import pytest

from chathpc.grounding import check
from tests.grounding.measure import diagnosis


def status(name: str, sentence: str) -> str:
    (checked,) = check(sentence, diagnosis(name), form="prose").sentences
    return checked.status


@pytest.mark.parametrize(
    ("name", "sentence", "right"),
    [
        # Thread 3 works 1.47 s, the idlest 0.34 s; threads wait 3.17 s of 9.01 s.
        (
            "omp",
            "The busiest thread works 1.47 s and the idlest 0.34 s, so the busiest has about four times as much to do.",
            True,
        ),
        (
            "omp",
            "The busiest thread works 1.47 s and the idlest 0.34 s, so the idlest has about four times as much to do.",
            False,
        ),
        (
            "omp",
            "The busiest thread works 1.47 s and the idlest 0.34 s, so the busiest has about six times as much to do.",
            False,
        ),
        ("omp", "Threads wait 3.17 s of 9.01 s in the OpenMP runtime, roughly a third.", True),
        ("omp", "Threads wait 3.17 s of 9.01 s in the OpenMP runtime, roughly a quarter.", False),
        ("omp", "More than a third of the time (35.2 %) the threads wait in the OpenMP runtime.", True),
        ("omp", "More than a half of the time (35.2 %) the threads wait in the OpenMP runtime.", False),
        # pow 3.96 s (33 %), sqrt 1.38 s (11.5 %), of 12 s
        ("host", "pow takes 3.96 s, nearly three times as long as sqrt with 1.38 s.", True),
        ("host", "pow takes 2.9 times as long as sqrt (3.96 s versus 1.38 s).", True),
        ("host", "sqrt takes 2.9 times as long as pow (3.96 s versus 1.38 s).", False),
        ("host", "sqrt takes 2.9 times as long as pow (1.38 s versus 3.96 s).", False),
        ("host", "pow takes 3.9 times as long as sqrt (3.96 s versus 1.38 s).", False),
        ("host", "Between them, pow and sqrt take 5.34 s, so about 44.5 % of the 12 s.", True),
        ("host", "Between them, pow and sqrt take 6.34 s, so about 44.5 % of the 12 s.", False),
        ("host", "pow has 33 % and sqrt has 11.5 %, which together makes 44.5 %.", True),
        ("host", "pow has 33 % and sqrt has 11.5 %, which together makes 54.5 %.", False),
        ("host", "pow has 11.5 % and sqrt has 33 %, which together makes 44.5 %.", False),
        # eamForce 29.4 s and interpolate 12.1 s of 53.2 s; eam.c:363 5.02 s
        ("late-sender", "The line eam.c:363 alone makes up about 17 % of the 29.4 s in eamForce.", True),
        ("late-sender", "The line eam.c:363 alone makes up about 27 % of the 29.4 s in eamForce.", False),
        ("late-sender", "The line eam.c:531 alone makes up about 17 % of the 29.4 s in eamForce.", False),
        ("late-sender", "More than half of the 53.2 s goes into eamForce.", True),
        ("late-sender", "More than half of the 53.2 s goes into interpolate.", False),
        # 34.7 % and 19.2 %
        ("xsbench", "Simulation.c:307 with 34.7 % and Simulation.c:391 with 19.2 % are the hottest lines.", True),
        ("xsbench", "Simulation.c:307 with 19.2 % and Simulation.c:391 with 34.7 % are the hottest lines.", False),
        # 98.3 % × … of the 80 %: 27.1 %
        (
            "source-term-of-four",
            "The parallel efficiency is 27.1 %, so it misses the 80 % that POP asks for by about 53 percentage points.",
            True,
        ),
        (
            "source-term-of-four",
            "The parallel efficiency is 27.1 %, so it misses the 80 % that POP asks for by about 43 percentage points.",
            False,
        ),
        # 34 blocks of 256 threads
        ("gpu-small-grid", "34 blocks of 256 threads are 8,704 threads in nelmosil.", True),
        ("gpu-small-grid", "34 blocks of 256 threads are 8,074 threads in nelmosil.", False),
        # write 2.11 s of 2.25 s in file operations
        ("small-io", "In file operations, write takes 2.11 s of 2.25 s.", True),
        ("small-io", "In file operations, read takes 2.11 s of 2.25 s.", False),
        # locks 85.0 %, accumulate 9.94 % of the critical path
        (
            "omp-critical",
            "Locks have 85.0 % of the critical path, and accumulate has a mere 9.94 % of this path.",
            True,
        ),
        (
            "omp-critical",
            "Locks have 85.0 % of the critical path, and accumulate has a mere 19.94 % of this path.",
            False,
        ),
        # 151 MB of 2.05 GB are never freed, most of it allocated in window_copy
        ("leak", "Most of the 2.05 GB that the program allocates is never freed.", False),
        ("leak", "Most of the 151 MB that are never freed were allocated in window_copy.", True),
        ("leak", "Most of the 151 MB that are never freed were allocated in spectrum.", False),
        # The device is idle for 81.0 µs of 746 ms; copies 405 ms, kernels 341 ms.
        ("gpu-overlap", "For just 81 µs of the 746 ms the device has neither a kernel nor a copy.", True),
        ("gpu-overlap", "For just 405 ms of the 746 ms the device has neither a kernel nor a copy.", False),
        ("gpu-overlap", "The 405 ms of copies and the 341 ms of kernels add up to the 746 ms of the window.", True),
        ("gpu-overlap", "The 341 ms of copies and the 405 ms of kernels add up to the 746 ms of the window.", False),
    ],
)
def test_a_number_follows_from_others_of_its_sentence(name: str, sentence: str, right: bool) -> None:
    assert (status(name, sentence) == "supported") is right


@pytest.mark.parametrize(
    ("name", "sentence", "right"),
    [
        # Copying takes 2.72 s (77.2 %) of 3.53 s; survey calls for 2.71 s of it (76.9 %).
        ("by-value", "survey copies memory for 2.71 s of 3.53 s (76.9 %).", True),
        ("by-value", "survey takes 2.71 s of 3.53 s.", True),
        ("by-value", "survey copies memory for 2.72 s.", False),
        ("by-value", "survey copies memory in a loop, which takes 2.71 s of 3.53 s (76.9 %).", True),
        ("by-value", "survey copies memory in a loop, which takes 2.72 s of 3.53 s (77.2 %).", False),
        ("by-value", "Copying memory takes 2.72 s of 3.53 s (77.2 %), and survey calls for 2.71 s of it.", True),
        ("by-value", "survey copies memory for 0.49 s of 3.53 s.", False),
        # Threads wait 3.48 s of 8.11 s; 3.43 s of the serial time are update_source's.
        ("serial", "Threads wait 3.48 s of 8.11 s because update_source runs on one thread.", True),
        ("serial", "update_source runs on one thread while the other waits for 3.48 s out of 8.11 s.", False),
    ],
)
def test_what_all_places_take_together_is_not_told_of_the_largest(name: str, sentence: str, right: bool) -> None:
    assert (status(name, sentence) == "supported") == right
