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
    Recipe(
        "schedule-dynamic",
        "Hands out the iterations of an OpenMP loop in small pieces.",
        "No `nowait` or `ordered`, and nothing asks for the number of the thread.",
        ("omp-load-imbalance", "omp-barrier-wait"), HOST, "reassociates floating point", openmp_schedules.dynamic_schedule, 0.9,
    ),
    Recipe(
        "schedule-guided",
        "Hands out the iterations of an OpenMP loop in pieces that get smaller.",
        "No `nowait` or `ordered`, and nothing asks for the number of the thread.",
        ("omp-load-imbalance", "omp-barrier-wait"), HOST, "reassociates floating point", openmp_schedules.guided_schedule, 0.6,
    ),
    Recipe(
        "schedule-cyclic",
        "Deals out the iterations of an OpenMP loop in turn, eight at a time.",
        "No `nowait` or `ordered`, and nothing asks for the number of the thread.",
        ("omp-load-imbalance", "omp-barrier-wait"), HOST, "reassociates floating point", openmp_schedules.cyclic_schedule, 0.5,
    ),
    Recipe(
        "private-sums",
        "Lets each thread add to scalars and small arrays of its own, which are added up at the end of the loop.",
        "The sections hold nothing but such sums, and nothing else in the loop touches them.",
        ("omp-critical-contention", "lock-contention", "omp-barrier-wait", "omp-fine-grained-regions"), HOST, "reassociates floating point",
        openmp_sums.private_sums, 0.9,
    ),
    Recipe(
        "region-if-large",
        "Opens a parallel region only where there are enough iterations to pay for it.",
        "The number of iterations is known before the region, and nothing asks for the number of the thread.",
        ("omp-fine-grained-regions", "omp-barrier-wait", "oversubscription"), HOST, "reassociates floating point",
        openmp_loops.large_enough, 0.8,
    ),
    Recipe(
        "parallel-loop",
        "Shares an outermost serial loop among threads in a program that uses OpenMP.",
        "Iterations are proved independent; scalars are private or reductions; it is not called from a parallel region.",
        ("omp-serial-fraction", *COMPUTE), HOST, "reassociates floating point", openmp_loops.parallel_loop, 0.8,
    ),
    Recipe(
        "share-single-work",
        "Shares a loop among the threads of a region that was left to one of them (`single`, `master`).",
        "Its iterations are proved independent but for sums, and all threads come by it.",
        ("omp-serial-fraction", "omp-barrier-wait", "omp-load-imbalance", *COMPUTE), HOST, "reassociates floating point",
        openmp_waits.shared_work, 0.95,
    ),
    Recipe(
        "pad-elements",
        "Puts room between the rows of different threads that lie side by side in an array of numbers.",
        "The array is indexed by the thread, and nothing is done with it but reading and writing its elements.",
        ("omp-false-sharing", "lock-contention"), HOST, "exact", sharing.padded_elements, 0.75,
    ),
)  # fmt: skip
