"""Recipes for free-form Fortran, also with OpenMP, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes.fortran import (
    allocations,
    appends,
    assumed_shapes,
    atomic_updates,
    dimensions,
    files,
    interchange,
    invariants,
    openmp,
    powers,
    small_regions,
    sums,
    value_tables,
)
from chathpc.fix.recipes.recipe import COMPUTE, FORTRAN, Recipe

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "fortran-interchange-loops",
        "Puts the loops of a perfect nest into the order in which the innermost runs over the first index.",
        "No pointers or targets, bounds that do not depend on each other, no calls with effects, and every dependence still runs forwards.",
        ("strided-access", "memory-bandwidth", "memory-latency", *COMPUTE), FORTRAN, "reassociates floating point", interchange.interchanged, 0.9,
    ),
    Recipe(
        "fortran-power-to-products",
        "Computes powers with a constant fraction as exponent by products and square roots.",
        "The exponent is a number, or an `intent(in)` argument that is the same number in all calls; a declared tolerance.",
        ("expensive-math", "loop-invariant-work", *COMPUTE), FORTRAN, "rounds differently", powers.simple_powers, 0.9,
    ),
    Recipe(
        "fortran-hoist-invariant",
        "Computes a power, an intrinsic or a pure function once in front of the outermost loop in which it stays the same.",
        "Nothing in the loop changes what it reads, and it changes nothing itself.",
        ("loop-invariant-work", "expensive-math", *COMPUTE), FORTRAN, "exact", invariants.hoisted, 0.9,
    ),
    Recipe(
        "fortran-tabulate-calls",
        "Computes a power or function of the counters of inner loops once for each of their values, into a table, before the loop that repeats it.",
        "Nothing else that it reads changes in the outer loop, and it may be computed where it was not.",
        ("loop-invariant-work", "expensive-math", *COMPUTE), FORTRAN, "exact", value_tables.tabulated, 0.8,
    ),
    Recipe(
        "fortran-schedule-dynamic",
        "Hands out the iterations of an OpenMP loop in small pieces.",
        "No `nowait` or `ordered`, and nothing asks for the number of the thread.",
        ("omp-load-imbalance", "omp-barrier-wait"), FORTRAN, "reassociates floating point", openmp.dynamic_schedule, 0.9,
    ),
    Recipe(
        "fortran-schedule-guided",
        "Hands out the iterations of an OpenMP loop in pieces that get smaller.",
        "No `nowait` or `ordered`, and nothing asks for the number of the thread.",
        ("omp-load-imbalance", "omp-barrier-wait"), FORTRAN, "reassociates floating point", openmp.guided_schedule, 0.6,
    ),
    Recipe(
        "fortran-reduction",
        "Sums scalars and small arrays by a reduction instead of in a critical section.",
        "The sections hold nothing but such sums, and nothing else in the loop touches them.",
        ("omp-critical-contention", "lock-contention", "omp-barrier-wait", "omp-fine-grained-regions"), FORTRAN,
        "reassociates floating point", sums.without_sections, 0.9,
    ),
    Recipe(
        "fortran-parallel-loop",
        "Shares an outermost serial loop among threads in a program that uses OpenMP.",
        "Iterations are proved independent; scalars are private or reductions.",
        ("omp-serial-fraction", *COMPUTE), FORTRAN, "reassociates floating point", openmp.parallel_loop, 0.8,
    ),
    Recipe(
        "fortran-open-once",
        "Opens a file once for all records instead of once a record.",
        "Every iteration, or call of a subroutine, opens it to append, writes to it and closes it; its name stays the same; all who open it are known.",
        ("io-small-requests", "io-bound", "io-metadata-bound"), FORTRAN, "exact", files.opened_once, 0.95,
    ),
    Recipe(
        "fortran-collapse-loops",
        "Shares the iterations of two nested loops among threads (`collapse(2)`).",
        "The inner bounds do not depend on the outer loop, and no two iterations touch the same memory, one of them writing.",
        ("omp-load-imbalance", "omp-barrier-wait", "omp-serial-fraction"), FORTRAN, "reassociates floating point",
        openmp.collapsed, 0.6,
    ),
    Recipe(
        "fortran-region-if-large",
        "Opens a parallel region only where there are enough iterations to pay for it.",
        "The number of iterations is known before the region, and nothing asks for the number of the thread.",
        ("omp-fine-grained-regions", "oversubscription"), FORTRAN, "reassociates floating point", small_regions.large_enough, 0.8,
        everywhere=False,
    ),
    Recipe(
        "fortran-append-in-room",
        "Appends to a list in room that doubles, and gives the list its size behind the loop.",
        "In the loop the list is only appended to, counted, and asked for elements; the loop has no other way out than its end.",
        ("allocation-churn", "page-faults", "redundant-copies", "quadratic-algorithm", "memory-bandwidth"), FORTRAN, "exact", appends.appended, 0.95,
    ),
    Recipe(
        "fortran-keep-array",
        "Keeps work arrays of a procedure from call to call.",
        "Arrays of numbers that the procedure alone knows, without threads or recursion; where the size changes they are allocated anew.",
        ("allocation-churn", "page-faults", "redundant-copies"), FORTRAN, "exact", allocations.between_calls, 0.8,
    ),
    Recipe(
        "fortran-swap-dimensions",
        "Stores an array of which loops hand over rows with its two dimensions the other way round.",
        "Everywhere in the program the array is used by elements and rows, or as a whole where the order does not matter; no columns are handed over.",
        ("redundant-copies", "strided-access", "allocation-churn", "memory-bandwidth", "memory-latency", *COMPUTE), FORTRAN, "reassociates floating point",
        dimensions.swapped, 0.6,
    ),
    Recipe(
        "fortran-flush-at-the-end",
        "Leaves out `flush` in loops.",
        "The loop opens and reads nothing, and the program ends in the usual way and starts no other.",
        ("io-small-requests", "io-bound"), FORTRAN, "exact", files.without_flushes, 0.9, everywhere=False,
    ),
    Recipe(
        "assumed-shape-dummies",
        "Lets a procedure take array sections as they lie (`x(:)`) where the compiler copies them for each call (`x(n)`).",
        "Every call is known and hands over an array or section of as many dimensions; where the end of the array matters, its size is shown to be the same.",
        ("redundant-copies", "allocation-churn", "page-faults", "memory-bandwidth", "loop-invariant-work", *COMPUTE), FORTRAN, "exact",
        assumed_shapes.taking_any_shape, 0.9,
    ),
    Recipe(
        "fortran-atomic-instead-of-critical",
        "Updates elements of arrays by atomic operations instead of in critical sections.",
        "The sections of that name hold nothing but updates of numbers, which nothing else in the parallel region reads or writes.",
        ("omp-critical-contention", "lock-contention", "omp-barrier-wait", "omp-serial-fraction", "blocking-wait"), FORTRAN,
        "reassociates floating point", atomic_updates.atomic_elements, 0.8,
    ),
)  # fmt: skip
