"""Recipes for OpenMP and threads of C and C++, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes.recipe import COMPUTE, HOST, Recipe
from chathpc.fix.recipes.threads import (
    openmp_loops,
    openmp_schedules,
    openmp_sums,
    openmp_waits,
    sharing,
)

RECIPES: tuple[Recipe, ...] = (
    *openmp_schedules.schedules("", HOST, "dynamic", "guided", "cyclic"),
    Recipe(
        "private-sums",
        "Lets each thread add to its own scalars and small arrays, which are combined at the end of the loop.",
        "The sections contain only such sums, and nothing else in the loop touches them.",
        ("omp-critical-contention", "lock-contention", "omp-barrier-wait", "omp-fine-grained-regions"), HOST, "reassociates floating point",
        openmp_sums.private_sums, 0.9,
    ),
    Recipe(
        "region-if-large",
        "Opens a parallel region only if there are enough iterations to pay for it.",
        "The number of iterations is known before the region, and nothing depends on the thread number.",
        ("omp-fine-grained-regions", "omp-barrier-wait", "oversubscription"), HOST, "reassociates floating point",
        openmp_loops.large_enough, 0.8,
    ),
    Recipe(
        "parallel-loop",
        "Parallelises an outermost serial loop in a program that uses OpenMP.",
        "Iterations are proved independent; scalars are private or reductions; it is not called from a parallel region.",
        ("omp-serial-fraction", *COMPUTE), HOST, "reassociates floating point", openmp_loops.parallel_loop, 0.8,
    ),
    Recipe(
        "share-single-work",
        "Shares a loop that was left to one thread (`single`, `master`) among all threads of the region.",
        "Its iterations are proved independent except for sums, and all threads reach it.",
        ("omp-serial-fraction", "omp-barrier-wait", "omp-load-imbalance", *COMPUTE), HOST, "reassociates floating point",
        openmp_waits.shared_work, 0.95,
    ),
    Recipe(
        "pad-elements",
        "Pads adjacent rows of different threads in a numeric array.",
        "The array is indexed by the thread, and its elements are only read and written.",
        ("omp-false-sharing", "lock-contention"), HOST, "exact", sharing.padded_elements, 0.75,
    ),
)  # fmt: skip
