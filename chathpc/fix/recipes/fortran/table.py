"""Recipes for free-form Fortran, also with OpenMP, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes.fortran import allocations, invariants, powers, sums
from chathpc.fix.recipes.recipe import COMPUTE, FORTRAN, Recipe
from chathpc.fix.recipes.serial import interchange
from chathpc.fix.recipes.threads import openmp_loops, openmp_schedules

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "fortran-interchange-loops",
        "Interchanges the loops of a perfect nest so that the innermost runs over the first index.",
        "No pointers or targets, independent bounds, no calls with side effects, and every dependence still runs forwards.",
        ("strided-access", "memory-bandwidth", "memory-latency", *COMPUTE), FORTRAN, "reassociates floating point", interchange.interchanged, 0.9,
    ),
    Recipe(
        "fortran-power-to-products",
        "Replaces powers with a constant fractional exponent by products and square roots.",
        "The exponent is a number, or an `intent(in)` argument that is the same number in all calls; a declared tolerance.",
        ("expensive-math", "loop-invariant-work", *COMPUTE), FORTRAN, "rounds differently", powers.simple_powers, 0.9,
    ),
    Recipe(
        "fortran-hoist-invariant",
        "Computes a power, an intrinsic or a pure function once before the outermost loop in which it is invariant.",
        "Nothing in the loop changes what it reads, and it has no side effects.",
        ("loop-invariant-work", "expensive-math", *COMPUTE), FORTRAN, "exact", invariants.hoisted, 0.9,
    ),
    *openmp_schedules.schedules("fortran-", FORTRAN, "dynamic", "guided"),
    Recipe(
        "fortran-reduction",
        "Sums scalars and small arrays by a reduction instead of in a critical section.",
        "The sections contain only such sums, and nothing else in the loop touches them.",
        ("omp-critical-contention", "lock-contention", "omp-barrier-wait", "omp-fine-grained-regions"), FORTRAN,
        "reassociates floating point", sums.without_sections, 0.9,
    ),
    Recipe(
        "fortran-region-if-large",
        "Opens a parallel region only if there are enough iterations to pay for it.",
        "The number of iterations is known before the region, and nothing depends on the thread number.",
        ("omp-fine-grained-regions", "oversubscription"), FORTRAN, "reassociates floating point", openmp_loops.large_enough, 0.8,
        everywhere=False,
    ),
    Recipe(
        "fortran-keep-array",
        "Keeps work arrays of a procedure between calls.",
        "Numeric arrays local to the procedure, without threads or recursion; they are reallocated where the size changes.",
        ("allocation-churn", "page-faults", "redundant-copies"), FORTRAN, "exact", allocations.between_calls, 0.8,
    ),
)  # fmt: skip
