"""Sentences in the words of the evidence that say something else: another way, another whole, another one, or what would be."""

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
            "freed-in-loop",
            "Allocate the work array once outside the loop.",
            "Allocate the work array once inside the loop.",
        ),
        (
            "freed-in-loop",
            "Allocate the work array once outside the loop.",
            "Move the allocation of the work array into the loop.",
        ),
        ("shared-memory-limit", "Use less shared memory for each block.", "Use more shared memory for each block."),
        ("warm-regions", "Move omp parallel out of the inner loop.", "Move omp parallel into the inner loop."),
        (
            "sync-writes",
            "Call fdatasync once at the end instead of after each record.",
            "Call fdatasync after each record instead of once at the end.",
        ),
        ("by-value", "Pass containers by const reference.", "Pass containers by value instead of by const reference."),
        (
            "mpi-allgather",
            "Send what the receiver needs instead of everything.",
            "Send everything instead of what the receiver needs.",
        ),
        # What the default local model made of the advice when it was asked to name the program's own functions.
        (
            "search-and-copies",
            "Look items up in a std::unordered_map instead of using std::find in a loop.",
            "Change the comparison in the loop to use std::find in a loop.",
        ),
        (
            "mpi-allgather",
            "Send halos with MPI_Sendrecv.",
            "Send halos with MPI_Allgather.",
        ),
        (
            "recursion",
            "Keep the results of best(p, i + 1, j + 1) in a table indexed by the arguments.",
            "Change the function call to best(p, i + 1, j + 1) to best(p, i + 1, j) and store the result in a table indexed by the arguments.",
        ),
        ("math-and-allocation", "Replace pow(x, 0.5) by sqrt(x).", "Replace sqrt(x) by pow(x, 0.5)."),
    ],
)
def test_advice_goes_the_way_of_the_finding(name: str, sound: str, false: str) -> None:
    assert (status(name, sound), status(name, false)) == ("supported", "struck")


@pytest.mark.parametrize(
    ("name", "sound", "false"),
    [
        (
            "gpu-overlap",
            "Copies to the device take 33.3 % of the window.",
            "Copies to the device make up 33.3 % of the total copy time.",
        ),
        (
            "freed-in-loop",
            "release causes 44.7 % of the time.",
            "release causes 44.7 % of the time that goes into allocating memory.",
        ),
        ("streams", "36.8 % of the time is in dot.", "Of the time that dot and triad take together, 36.8 % is in dot."),
        ("by-value", "8.70 % of the time is at census.cpp:29.", "8.70 % of the time of share is at census.cpp:29."),
        ("serial", "The threads wait 3.48 s of 8.11 s.", "The threads wait 3.48 s, 42.9 % of the mean of 4.05 s."),
        (
            "uneven-devices",
            "The 4 devices compute for 394 ms on average.",
            "The other 4 devices compute for 394 ms on average.",
        ),
        (
            "mpi-allgather",
            "MPI_Allgather takes 100 % of the MPI time.",
            "MPI_Allgather takes 100 % of the MPI time, and the rest of it is waiting.",
        ),
        ("no-overlap", "Copies take 51.9 % of the window.", "Copies are a 51.9 % overhead."),
        (
            "memory-stalls",
            "5.35 % of these stalls wait for room in a queue of memory instructions.",
            "5.35 % of these stalls wait for data that is under way.",
        ),
    ],
)
def test_a_part_is_of_its_own_whole(name: str, sound: str, false: str) -> None:
    assert (status(name, sound), status(name, false)) == ("supported", "struck")


@pytest.mark.parametrize(
    ("name", "sound", "false"),
    [
        (
            "heat-stencil",
            "The hottest line is stencil.c:35 with 5.19 s.",
            "The hottest line is stencil.c:30 with 5.19 s.",
        ),
        ("heat-stencil", "stencil.c:35 is the hottest line.", "stencil.c:30 is the hottest line."),
        ("heat-stencil", "5.19 s pass at stencil.c:35, in the loop at stencil.c:30.", "5.19 s pass at stencil.c:30."),
        ("math-and-allocation", "deposit allocates memory in a loop.", "kernel allocates memory in a loop."),
        (
            "invariant",
            "transport calls math functions with arguments that do not change.",
            "transport calls math functions with arguments that change.",
        ),
        ("gpu-literals", "The literal 1e-3 is a double.", "The literal 1e-3 is a float."),
        ("synchronised", "The device is idle after each wait.", "The device is idle before each wait."),
        ("strided", "accumulate steps through a.v by a.cols.", "accumulate steps through a.weights by a.cols."),
        ("shared-memory-limit", "Stall reason wait: 20.1 %.", "Stall reason wait: 35.0 %."),
        ("sync-writes", "File operations take 2.50 s.", "File operations take 2.45 s."),
        ("frame-edges", "99.5 % of the page faults happen in edges.", "99.5 % of the page faults happen in main."),
    ],
)
def test_what_holds_of_one_is_not_said_of_another(name: str, sound: str, false: str) -> None:
    assert (status(name, sound), status(name, false)) == ("supported", "struck")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("small-io", "On a faster file system the writing would be cheaper."),
        ("warm-regions", "With another compiler the waiting would be just as long."),
        ("unoptimised", "With -O2 the program would be limited by the memory bandwidth."),
        ("omp-critical", "A reduction clause would bring the same gain as omp atomic."),
        ("unoptimised-tiles", "With -O3 the compiler will also vectorise the loop."),
        ("gpu-overlap", "Three streams would be enough to hide the copies."),
        ("tallies", "The program is not vectorised, so it could be faster."),
    ],
)
def test_what_would_be_is_only_told_of_advice(name: str, sentence: str) -> None:
    assert status(name, sentence) == "struck"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("freed-in-loop", "Allocating the work array once before the loop would avoid the repeated allocations."),
        ("shared-memory-limit", "Reducing the shared memory per block would allow more blocks to run at once."),
        ("streams", "Storing float instead of double would halve the bytes."),
        ("unoptimised", "Rebuilding with -O2 would let the compiler inline these functions."),
    ],
)
def test_what_advice_does_is_kept(name: str, sentence: str) -> None:
    assert status(name, sentence) == "supported"


def test_the_place_behind_a_name_does_nothing_itself() -> None:
    for sentence in ("The function collect (jobs.c:53) waits in usleep.", "collect in jobs.c waits in usleep."):
        assert status("sleeping", sentence) == "supported"
        assert status("sleeping", sentence.replace("collect", "main")) == "struck"
        assert status("sleeping", sentence.replace("collect", "finish")) == "struck"


@pytest.mark.parametrize(
    ("name", "sound", "false"),
    [
        # The remedy is not there yet, and the problem is what makes the run slow.
        (
            "recursion",
            "Without this problem, the run could be up to {gain} times faster.",
            "Without this optimization, the run could be up to {gain} times faster.",
        ),
        (
            "recursion",
            "Without this issue, the run could be up to {gain} times faster.",
            "Without the suggested fix, the run could be up to {gain} times faster.",
        ),
        (
            "recursion",
            "The run could be up to {gain} times faster without this problem.",
            "The run could be up to {gain} times faster than without this problem.",
        ),
        # A clause of the catalogue without its negation.
        (
            "collective-wait",
            "One or few ranks come late: they do something first that the others do not do.",
            "One or few ranks come late: they do something first that the others do.",
        ),
        (
            "collective-wait",
            "One or few ranks come late: they do something first that the others do not.",
            "One or few ranks come late: they do something first that the others do do.",
        ),
        # What is inside of what.
        (
            "warm-regions",
            "Move omp parallel around the outer loop and keep omp for inside the parallel region.",
            "Move omp parallel around the outer loop and place it inside omp for.",
        ),
    ],
)
def test_what_small_models_turned_round(name: str, sound: str, false: str) -> None:
    bound = next(f.speedup_bound for f in diagnosis(name).findings)
    assert status(name, sound.format(gain=bound)) == "supported"
    assert status(name, false.format(gain=bound)) == "struck"


def test_a_place_is_no_function() -> None:
    finding = diagnosis("recursion").findings[0]
    assert status("recursion", f"The function {finding.where.function} calls itself.") == "supported"
    assert status("recursion", f"The function {finding.where.short} calls itself again and again.") == "struck"
