"""All recipes, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes import (
    allocation,
    block_size,
    copies,
    fortran,
    interchange,
    invariants,
    lookups,
    messages,
    openmp_loops,
    openmp_sums,
    output,
    powers,
    recursion,
    sharing,
    waiting,
)
from chathpc.fix.recipes.recipe import Recipe

_C = ("c", "c++", "cuda")
_HOST = ("c", "c++")
_FORTRAN = ("fortran",)
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
        ("expensive-math",), _C, "rounds differently", powers.reciprocals, 0.4, everywhere=False,
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
        ("omp-fine-grained-regions", "omp-barrier-wait", "oversubscription"), _HOST, "reassociates floating point",
        openmp_loops.large_enough, 0.8,
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
    Recipe(
        "fortran-interchange-loops",
        "Puts the loops of a perfect nest into the order in which the innermost runs over the first index.",
        "No pointers or targets, bounds that do not depend on each other, no calls with effects, and every dependence still runs forwards.",
        ("strided-access", "memory-bandwidth", "memory-latency", *_COMPUTE), _FORTRAN, "reassociates floating point", fortran.interchanged, 0.9,
    ),
    Recipe(
        "fortran-power-to-products",
        "Computes powers with a constant fraction as exponent by products and square roots.",
        "The exponent is a number, or an `intent(in)` argument that is the same number in all calls; a declared tolerance.",
        ("expensive-math", "loop-invariant-work", *_COMPUTE), _FORTRAN, "rounds differently", fortran.simple_powers, 0.9,
    ),
    Recipe(
        "fortran-hoist-invariant",
        "Computes a power, an intrinsic or a pure function once in front of the outermost loop in which it stays the same.",
        "Nothing in the loop changes what it reads, and it changes nothing itself.",
        ("loop-invariant-work", "expensive-math", *_COMPUTE), _FORTRAN, "exact", fortran.hoisted, 0.9,
    ),
    Recipe(
        "fortran-schedule-dynamic",
        "Hands out the iterations of an OpenMP loop in small pieces.",
        "No `nowait` or `ordered`, and nothing asks for the number of the thread.",
        ("omp-load-imbalance", "omp-barrier-wait"), _FORTRAN, "reassociates floating point", fortran.dynamic_schedule, 0.9,
    ),
    Recipe(
        "fortran-schedule-guided",
        "Hands out the iterations of an OpenMP loop in pieces that get smaller.",
        "No `nowait` or `ordered`, and nothing asks for the number of the thread.",
        ("omp-load-imbalance", "omp-barrier-wait"), _FORTRAN, "reassociates floating point", fortran.guided_schedule, 0.6,
    ),
    Recipe(
        "fortran-reduction",
        "Sums scalars and small arrays by a reduction instead of in a critical section.",
        "The sections hold nothing but such sums, and nothing else in the loop touches them.",
        ("omp-critical-contention", "lock-contention", "omp-barrier-wait"), _FORTRAN, "reassociates floating point", fortran.without_sections, 0.9,
    ),
    Recipe(
        "fortran-parallel-loop",
        "Shares an outermost serial loop among threads in a program that uses OpenMP.",
        "Iterations are proved independent; scalars are private or reductions.",
        ("omp-serial-fraction", *_COMPUTE), _FORTRAN, "reassociates floating point", fortran.parallel_loop, 0.8,
    ),
    Recipe(
        "fortran-open-once",
        "Opens a file once for all records instead of once a record.",
        "Every iteration opens it to append, writes to it and closes it, and its name stays the same.",
        ("io-small-requests", "io-bound", "io-metadata-bound"), _FORTRAN, "exact", fortran.opened_once, 0.95,
    ),
    Recipe(
        "keep-buffer",
        "Keeps the memory that a function allocates and frees in every call or iteration, or puts a small array on the stack.",
        "The pointer stays in the function, is freed in the block that allocates it on every way, and the function runs once at a time.",
        ("allocation-churn", "page-faults", "redundant-copies"), _HOST, "exact", allocation.kept_buffers, 0.9,
    ),
    Recipe(
        "pool-records",
        "Takes records of one type from a pool that keeps freed ones.",
        "All such records are made one by one with `malloc(sizeof …)`, every `free` has a known type, and there are no threads.",
        ("allocation-churn", "page-faults"), ("c",), "exact", allocation.pools, 0.9, everywhere=False,
    ),
    Recipe(
        "hoist-vector",
        "Constructs a vector of numbers before the loop that constructed it in every iteration.",
        "It is not returned, moved, swapped or handed on.",
        ("allocation-churn", "page-faults", "redundant-copies"), ("c++",), "exact", allocation.hoisted_vectors, 0.8,
    ),
    Recipe(
        "reserve-vector",
        "Reserves the room of a vector before the counted loop that appends to it.",
        "The loop appends to a local vector at most once an iteration from 0 to a bound that it does not change.",
        ("allocation-churn", "page-faults", "redundant-copies"), ("c++",), "exact", allocation.reserved, 0.3,
    ),
    Recipe(
        "remember-results",
        "Keeps results of a recursive function in a table, with the arguments that they belong to.",
        "It changes nothing, takes whole numbers and pointers, and no threads run; where it reads memory, each call from outside begins anew.",
        ("redundant-recursion", "deep-recursion", "hot-compute"), _HOST, "exact", recursion.remembered, 0.9,
    ),
    Recipe(
        "wait-on-condition",
        "Waits on a condition variable instead of sleeping and looking again.",
        "The record of the mutex has one condition variable, and whoever sets the flag broadcasts it under the mutex.",
        ("blocking-wait", "lock-contention"), _HOST, "exact", waiting.condition_variables, 0.95,
    ),
    Recipe(
        "look-up-in-table",
        "Looks an item of a vector up in a hash table beside it instead of searching from the beginning.",
        "The vector is a member that only grows, keys are whole numbers or strings that nobody changes, and the search ends with a return.",
        ("quadratic-algorithm", "hot-compute"), ("c++",), "exact", lookups.indexed, 0.95,
    ),
    Recipe(
        "double-ended-queue",
        "Makes a vector from whose front items are taken a double-ended queue.",
        "All that is done with it a queue can do as well.",
        ("quadratic-algorithm", "redundant-copies", "hot-compute", "memory-bandwidth"), ("c++",), "exact", lookups.double_ended, 0.95,
    ),
    Recipe(
        "append-in-place",
        "Appends to a string in place instead of making a new one from the old one and what is added.",
        "A local string, which is no part of what is added.",
        ("allocation-churn", "redundant-copies", "quadratic-algorithm", "page-faults", "memory-bandwidth", "hot-compute"),
        ("c++",), "exact", lookups.appended, 0.95,
    ),
    Recipe(
        "running-power",
        "Multiplies a power on from one iteration to the next instead of calling `pow` with the loop's counter.",
        "The base stays the same, the counter goes up by one from 0 or 1, and a declared tolerance.",
        ("expensive-math", "hot-compute"), _HOST, "rounds differently", lookups.running_powers, 0.9,
    ),
    Recipe(
        "one-message",
        "Exchanges all elements in one message instead of one message for each.",
        "Elements lie side by side, partners stay the same, and all loops of the program that exchange single elements can change.",
        ("mpi-small-messages", "mpi-communication-bound", "mpi-late-sender", "mpi-collective-wait"), _HOST, "exact", messages.batched, 0.9,
    ),
    Recipe(
        "reduce-vector",
        "Reduces a vector once instead of a number in each iteration.",
        "What follows the reduction is not used by later iterations.",
        ("mpi-communication-bound", "mpi-small-messages", "mpi-collective-wait"), ("c",), "exact", messages.vector_reduction, 0.9,
    ),
    Recipe(
        "pad-records",
        "Puts room between the records of different threads that lie side by side in an array.",
        "The array is indexed by the thread, and nobody stores or sends such records as bytes.",
        ("omp-false-sharing", "lock-contention", "hot-compute", "omp-critical-contention"), _HOST, "exact", sharing.padded, 0.8,
    ),
    Recipe(
        "count-privately",
        "Counts in a variable of the thread's own and adds it to the atomic one once behind the loop.",
        "Relaxed additions whose result is not used, to something that the loop does not look at.",
        ("omp-false-sharing", "lock-contention", "hot-compute", "omp-critical-contention"), ("c++",), "exact", sharing.own_counts, 0.9,
    ),
    Recipe(
        "lock-once",
        "Gathers whole-number sums in variables of the thread's own and takes the lock once behind the loop.",
        "The lock holds to the end of the iteration and guards nothing but sums, which the loop does not look at otherwise.",
        ("lock-contention", "blocking-wait", "omp-critical-contention", "hot-compute"), ("c++",), "exact", sharing.locked_once, 0.9,
    ),
    *block_size.RECIPES,
)  # fmt: skip
