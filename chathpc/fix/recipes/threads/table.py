"""Recipes for OpenMP and threads of C and C++, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes.recipe import COMPUTE, HOST, Recipe
from chathpc.fix.recipes.threads import (
    atomic_mutexes,
    atomic_updates,
    gathering,
    openmp_collapse,
    openmp_loops,
    openmp_schedules,
    openmp_sums,
    openmp_waits,
    own_elements,
    polling,
    region_elements,
    retrying,
    sharing,
    waiting,
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
        "collapse-loops",
        "Shares the iterations of two nested loops among threads (`collapse(2)`).",
        "The inner bounds do not depend on the outer loop, and no two iterations touch the same memory, one of them writing.",
        ("omp-load-imbalance", "omp-barrier-wait", "omp-serial-fraction"), HOST, "exact", openmp_collapse.collapsed, 0.6,
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
        "wait-on-condition",
        "Waits on a condition variable instead of sleeping and looking again.",
        "The record of the mutex has one condition variable, and whoever sets the flag broadcasts it under the mutex; in C one is made where there is none.",
        ("blocking-wait", "lock-contention"), HOST, "exact", waiting.condition_variables, 0.95,
    ),
    Recipe(
        "pad-records",
        "Puts room between the records of different threads that lie side by side in an array.",
        "The array is indexed by the thread, and nobody stores or sends such records as bytes.",
        ("omp-false-sharing", "lock-contention", "hot-compute", "omp-critical-contention"), HOST, "exact", sharing.padded, 0.8,
    ),
    Recipe(
        "lock-once",
        "Gathers sums in variables of the thread's own and takes the lock once behind the loop.",
        "The lock guards nothing but sums of numbers and of elements of small arrays or vectors, which the loop does not look at otherwise.",
        ("lock-contention", "blocking-wait", "omp-critical-contention", "hot-compute"), HOST, "reassociates floating point", gathering.locked_once, 0.9,
    ),
    Recipe(
        "schedule-static",
        "Deals out the iterations of an OpenMP loop beforehand where they were handed out one by one.",
        "By its text every iteration does the same work; no `ordered`, and nothing asks for the number of the thread.",
        ("omp-fine-grained-regions", "omp-barrier-wait", "omp-critical-contention", "lock-contention", "omp-false-sharing"), HOST,
        "reassociates floating point", openmp_schedules.static_schedule, 0.9,
    ),
    Recipe(
        "schedule-larger-pieces",
        "Hands out the iterations of an OpenMP loop 64 at a time where they were handed out one by one.",
        "There may be more than 4,096 of them; no `ordered`, and nothing asks for the number of the thread.",
        ("omp-fine-grained-regions", "omp-barrier-wait", "omp-critical-contention", "lock-contention"), HOST, "reassociates floating point",
        openmp_schedules.larger_pieces, 0.7,
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
        "Puts room between the numbers of different threads that lie side by side in an array.",
        "The array is indexed by the thread, and nothing is done with it but reading and writing its elements.",
        ("omp-false-sharing", "lock-contention"), HOST, "exact", sharing.padded_elements, 0.75,
    ),
    Recipe(
        "keep-in-variable",
        "Keeps an element or a member that a loop adds to in a variable of the thread's own as long as the loop runs.",
        "The loop always means the same element, and nothing else in it may be that memory.",
        ("omp-false-sharing", "hot-compute", "lock-contention"), HOST, "exact", own_elements.kept_in_variables, 0.85,
    ),
    Recipe(
        "atomic-instead-of-critical",
        "Updates elements of arrays by atomic operations instead of in critical sections or under a lock of OpenMP.",
        "All sections of the name, or under the lock, hold nothing but updates of numbers, which nothing else in the parallel region touches.",
        ("omp-critical-contention", "lock-contention", "omp-barrier-wait", "omp-serial-fraction", "blocking-wait"), HOST,
        "reassociates floating point", atomic_updates.atomic_elements, 0.8,
    ),
    Recipe(
        "atomic-instead-of-mutex",
        "Updates whole numbers by atomic operations instead of under a mutex.",
        "The mutex protects nothing but updates of whole numbers, none of which reads what another one writes, and looks at single ones.",
        ("lock-contention", "blocking-wait", "omp-critical-contention", "hot-compute"), HOST, "exact", atomic_mutexes.atomic_whole_numbers, 0.8,
    ),
    Recipe(
        "keep-in-region",
        "Keeps the elements that threads update in a `parallel for` in variables of their own, in a region around the shared loop.",
        "The number of the thread chooses nothing else, and the loop does not touch these arrays in any other way.",
        ("omp-false-sharing", "hot-compute", "omp-barrier-wait", "lock-contention"), HOST, "exact", region_elements.kept_in_region, 0.9,
    ),
    Recipe(
        "wake-waiting-threads",
        "Waits on a new condition variable, which is notified wherever an atomic variable is set, instead of sleeping and looking again.",
        "The variable is only read and set, by statements of their own, and nothing else in the condition changes while the thread waits.",
        ("blocking-wait", "lock-contention"), HOST, "exact", polling.woken, 0.9,
    ),
    Recipe(
        "wait-instead-of-retry",
        "Lets a function wait on a new condition variable that was called again and again, with sleeps between, until it could do its work.",
        "It is only called so, looks at members that are changed under its mutex, and whoever changes them under it now tells.",
        ("blocking-wait", "lock-contention"), ("c",), "exact", retrying.waiting_inside, 0.9,
    ),
)  # fmt: skip
