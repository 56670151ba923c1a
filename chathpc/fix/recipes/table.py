"""All recipes, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes import copies, interchange, invariants, openmp_loops, openmp_sums, output, powers
from chathpc.fix.recipes.recipe import Recipe

_C = ("c", "c++", "cuda")
_HOST = ("c", "c++")
_COMPUTE = ("hot-compute", "not-vectorised")

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "hoist-invariant-call",
        "Computes a pure call, or the expression around it, once in front of the outermost loop in which it stays the same.",
        "The call changes nothing, nothing that it reads is written in the loop, and where it might fail the loop's first iteration makes it.",
        ("loop-invariant-work", "expensive-math", "quadratic-algorithm", *_COMPUTE), _C, "exact", invariants.hoisted, 0.9,
    ),
    Recipe(
        "power-to-products",
        "Computes `pow` with a constant exponent by products and square roots.",
        "The exponent is a number, or a parameter that is the same number in all calls; other exponents than 2 need a declared tolerance.",
        ("expensive-math", "loop-invariant-work", *_COMPUTE), _C, "rounds differently", powers.simple_powers, 0.9,
    ),
    Recipe(
        "call-once",
        "Makes a mathematical call once that stands several times in one block.",
        "Nothing that it reads is written between.",
        ("expensive-math", *_COMPUTE), _C, "exact", powers.repeated_calls, 0.5,
    ),
    Recipe(
        "multiply-by-reciprocal",
        "Multiplies by the reciprocal of a divisor that stays the same in the loop.",
        "Fractions, a divisor that nothing in the loop changes, and a declared tolerance.",
        ("expensive-math", *_COMPUTE), _C, "rounds differently", powers.reciprocals, 0.4,
    ),
    Recipe(
        "interchange-loops",
        "Puts the loops of a perfect nest into the order in which the innermost walks through memory step by step.",
        "Bounds that do not depend on each other, no calls with effects, no way out, and every dependence still runs forwards.",
        ("strided-access", "memory-bandwidth", "memory-latency", *_COMPUTE), _HOST, "reassociates floating point", interchange.interchanged, 0.9,
    ),
    Recipe(
        "accumulate-in-place",
        "Adds to the elements of a row in the inner loop instead of finishing one element after the other (matrix products).",
        "Every element gets the same terms in the same order, in the same precision, and no term reads the row.",
        ("strided-access", "memory-bandwidth", "memory-latency", *_COMPUTE), _HOST, "exact", interchange.accumulated, 0.9,
    ),
    Recipe(
        "tile-loops",
        "Goes through two loops in tiles where either order jumps through one of the arrays (transpositions).",
        "No two iterations touch the same memory, one of them writing.",
        ("strided-access", "memory-bandwidth", "memory-latency", *_COMPUTE), _HOST, "exact", interchange.tiled, 0.7,
    ),
    Recipe(
        "schedule-dynamic",
        "Hands out the iterations of an OpenMP loop in small pieces.",
        "No `nowait` or `ordered`, and nothing asks for the number of the thread.",
        ("omp-load-imbalance", "omp-barrier-wait"), _HOST, "reassociates floating point", openmp_loops.dynamic_schedule, 0.9,
    ),
    Recipe(
        "schedule-guided",
        "Hands out the iterations of an OpenMP loop in pieces that get smaller.",
        "No `nowait` or `ordered`, and nothing asks for the number of the thread.",
        ("omp-load-imbalance", "omp-barrier-wait"), _HOST, "reassociates floating point", openmp_loops.guided_schedule, 0.6,
    ),
    Recipe(
        "schedule-cyclic",
        "Deals out the iterations of an OpenMP loop in turn, eight at a time.",
        "No `nowait` or `ordered`, and nothing asks for the number of the thread.",
        ("omp-load-imbalance", "omp-barrier-wait"), _HOST, "reassociates floating point", openmp_loops.cyclic_schedule, 0.5,
    ),
    Recipe(
        "drop-sections",
        "Drops critical, atomic and ordered sections of a loop; sums of scalars become reductions.",
        "But for these sums iterations are proved independent.",
        ("omp-critical-contention", "lock-contention", "omp-serial-fraction", "omp-barrier-wait"), _HOST, "reassociates floating point",
        openmp_sums.without_sections, 0.9,
    ),
    Recipe(
        "private-sums",
        "Lets each thread add to scalars and small arrays of its own, which are added up at the end of the loop.",
        "The sections hold nothing but such sums, and nothing else in the loop touches them.",
        ("omp-critical-contention", "lock-contention", "omp-barrier-wait"), _HOST, "reassociates floating point",
        openmp_sums.private_sums, 0.9,
    ),
    Recipe(
        "collapse-loops",
        "Shares the iterations of two nested loops among threads (`collapse(2)`).",
        "The inner bounds do not depend on the outer loop, and no two iterations touch the same memory, one of them writing.",
        ("omp-load-imbalance", "omp-barrier-wait", "omp-serial-fraction"), _HOST, "exact", openmp_sums.collapsed, 0.6,
    ),
    Recipe(
        "region-if-large",
        "Opens a parallel region only where there are enough iterations to pay for it.",
        "The number of iterations is known before the region, and nothing asks for the number of the thread.",
        ("omp-fine-grained-regions", "omp-barrier-wait", "oversubscription", "hot-compute"), _HOST, "reassociates floating point",
        openmp_loops.large_enough, 0.8, everywhere=False,
    ),
    Recipe(
        "parallel-loop",
        "Shares an outermost serial loop among threads in a program that uses OpenMP.",
        "Iterations are proved independent; scalars are private or reductions; it is not called from a parallel region.",
        ("omp-serial-fraction", *_COMPUTE), _HOST, "reassociates floating point", openmp_loops.parallel_loop, 0.8,
    ),
    Recipe(
        "pass-by-reference",
        "Passes objects by constant reference that were passed by value.",
        "The function only reads the parameter and changes nothing but what is its own; it is called directly everywhere.",
        ("redundant-copies", "allocation-churn", "page-faults", "quadratic-algorithm"), ("c++",), "exact", copies.constant_references, 0.9,
    ),
    Recipe(
        "refer-instead-of-copy",
        "Visits the items of a container, and objects held by others, by constant reference.",
        "Neither the reference nor what it refers to is changed as long as it is used.",
        ("redundant-copies", "allocation-churn", "page-faults"), ("c++",), "exact", copies.loop_references, 0.9,
    ),
    Recipe(
        "newline-instead-of-endl",
        "Ends lines with '\\n' instead of `std::endl`.",
        "The stream is not that of errors.",
        ("io-small-requests", "io-bound"), ("c++",), "exact", output.plain_line_ends, 0.95,
    ),
    Recipe(
        "flush-at-the-end",
        "Leaves out `fflush` in loops.",
        "The same function closes the file behind the loop, and nobody asks for the descriptor, forces it to the disk or forks.",
        ("io-small-requests", "io-bound"), _HOST, "exact", output.fewer_flushes, 0.8, everywhere=False,
    ),
    Recipe(
        "buffer-writes",
        "Gathers small records in a buffer instead of one `write` each.",
        "The program has one file open at a time and uses its descriptor for nothing but writing and closing.",
        ("io-small-requests", "io-bound"), _HOST, "exact", output.buffered_writes, 0.9, everywhere=False,
    ),
    Recipe(
        "read-in-blocks",
        "Takes single bytes from blocks of 64 KiB instead of one `read` each.",
        "Nobody else uses the descriptor but for opening and closing.",
        ("io-small-requests", "io-bound"), _HOST, "exact", output.blockwise_reads, 0.9, everywhere=False,
    ),
)  # fmt: skip
