"""Recipes for the work, the memory, the containers and the files of C and C++, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes.recipe import C_FAMILY, COMPUTE, HOST, Recipe
from chathpc.fix.recipes.serial import (
    bisection,
    block_pool,
    containers,
    copies,
    interchange,
    invariants,
    kept_files,
    lookups,
    output,
    owned_arrays,
    pools,
    powers,
    recursion,
    structure_splitting,
    texts,
    value_tables,
    vectors,
)

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "hoist-invariant-call",
        "Computes a pure call, or the expression around it, once in front of the outermost loop in which it stays the same.",
        "The call changes nothing, nothing that it reads is written in the loop, and where it might fail the loop's first iteration makes it.",
        ("loop-invariant-work", "expensive-math", "quadratic-algorithm", *COMPUTE), C_FAMILY, "exact", invariants.hoisted, 0.9,
    ),
    Recipe(
        "tabulate-calls",
        "Computes a pure call of the counters of inner loops once for each of their values, into a table, before the loop that repeats it.",
        "Nothing else that it reads changes in the outer loop, and it may be computed where it was not.",
        ("loop-invariant-work", "expensive-math", *COMPUTE), HOST, "exact", value_tables.tabulated, 0.8,
    ),
    Recipe(
        "power-to-products",
        "Computes `pow` with a constant exponent by products and square roots.",
        "The exponent is a number, or a parameter that is the same number in all calls; other exponents than 2 need a declared tolerance.",
        ("expensive-math", "loop-invariant-work", *COMPUTE), C_FAMILY, "rounds differently", powers.simple_powers, 0.9,
    ),
    Recipe(
        "interchange-loops",
        "Puts the loops of a perfect nest into the order in which the innermost walks through memory step by step.",
        "Bounds that do not depend on each other, no calls with effects, no way out, and every dependence still runs forwards.",
        ("strided-access", "memory-bandwidth", "memory-latency", *COMPUTE), HOST, "reassociates floating point", interchange.interchanged, 0.9,
    ),
    Recipe(
        "tile-loops",
        "Goes through two loops in tiles where either order jumps through one of the arrays (transpositions).",
        "No two iterations touch the same memory, one of them writing.",
        ("strided-access", "memory-bandwidth", "memory-latency", *COMPUTE), HOST, "exact", interchange.tiled, 0.7,
    ),
    Recipe(
        "pass-by-reference",
        "Passes objects by constant reference that were passed by value.",
        "The function only reads the parameter and changes nothing but what is its own; it is called directly everywhere.",
        ("redundant-copies", "allocation-churn", "page-faults", "quadratic-algorithm"), ("c++",), "exact", copies.constant_references, 0.9,
    ),
    Recipe(
        "newline-instead-of-endl",
        "Ends lines with '\\n' instead of `std::endl`.",
        "The stream is not that of errors.",
        ("io-small-requests", "io-bound"), ("c++",), "exact", output.plain_line_ends, 0.95,
    ),
    Recipe(
        "buffer-writes",
        "Gathers small records in a buffer instead of one `write` each.",
        "The program has one file open at a time and uses its descriptor for nothing but writing and closing.",
        ("io-small-requests", "io-bound"), HOST, "exact", output.buffered_writes, 0.9, everywhere=False,
    ),
    Recipe(
        "keep-buffer",
        "Keeps the memory that a function, or a `std::unique_ptr` in it, allocates and frees in every call or iteration, or puts a small array on the stack.",
        "The pointer stays in the function, is freed in the block that allocates it on every way, and the function runs once at a time.",
        ("allocation-churn", "page-faults", "redundant-copies"), HOST, "exact", owned_arrays.kept_memory, 0.9,
    ),
    Recipe(
        "pool-records",
        "Takes records of one type from a pool that keeps freed ones.",
        "All such records are made one by one with `malloc(sizeof …)`, every `free` has a known type, and there are no threads.",
        ("allocation-churn", "page-faults"), ("c",), "exact", pools.pools, 0.9, everywhere=False,
    ),
    Recipe(
        "keep-vector",
        "Keeps the memory of a vector of numbers that a function, or a loop of threads, constructs each time.",
        "It is not returned, moved, swapped or handed on, and the function runs once at a time in each thread.",
        ("allocation-churn", "page-faults", "redundant-copies", "lock-contention"), ("c++",), "exact", vectors.kept_vectors, 0.7,
    ),
    Recipe(
        "reserve-vector",
        "Reserves the room of a vector before the counted loop that appends to it.",
        "The loop appends to a local vector at most once an iteration from 0 to a bound that it does not change.",
        ("allocation-churn", "page-faults", "redundant-copies"), ("c++",), "exact", vectors.reserved, 0.3,
    ),
    Recipe(
        "remember-results",
        "Keeps results of a recursive function in a table, with the arguments that they belong to.",
        "It changes nothing, takes whole numbers and pointers, and no threads run; where it reads memory, each call from outside begins anew.",
        ("redundant-recursion", "deep-recursion", "hot-compute"), HOST, "exact", recursion.remembered, 0.9,
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
        ("quadratic-algorithm", "redundant-copies", "hot-compute", "memory-bandwidth"), ("c++",), "exact", containers.double_ended, 0.95,
    ),
    Recipe(
        "open-once",
        "Opens a file once for all records instead of once a record, or once a question.",
        "It is opened to append, or to read, and closed by the same block; where else files are opened or removed, in the same source and not "
        "meanwhile, it is closed before.",
        ("io-small-requests", "io-bound", "io-metadata-bound"), HOST, "exact", kept_files.kept_open, 0.95, everywhere=False,
    ),
    Recipe(
        "bisect-table",
        "Searches a table by bisection instead of from its beginning.",
        "The loop only compares items of one table with something that stays the same; that they are in order is left to the checks.",
        ("quadratic-algorithm", "hot-compute", "memory-latency", "strided-access"), HOST, "exact", bisection.bisected, 0.6,
    ),
    Recipe(
        "keep-end-of-text",
        "Copies what `strcat` appends in a loop to the text's end, which is kept, instead of looking for it each time.",
        "A local text, with which the loop does nothing else.",
        ("quadratic-algorithm", "redundant-copies", "hot-compute", "memory-bandwidth", "loop-invariant-work"),
        HOST, "exact", texts.kept_ends, 0.95,
    ),
    Recipe(
        "split-structure",
        "Keeps the members together that hot loops use, and puts the others into a second record that the first one points to.",
        "What the loops use is at most half of the record. Records of C are made by allocations and arrays in the sources and never copied, "
        "those of C++ constructed and copied as values; none is handed to other libraries or taken for bytes.",
        ("strided-access", "memory-bandwidth", "memory-latency", *COMPUTE), HOST, "exact", structure_splitting.split, 0.7,
    ),
    Recipe(
        "pool-blocks",
        "Keeps freed blocks of memory of up to 504 bytes in lists by their sizes, from which new ones are taken.",
        "All of the program is in the sources and runs in one thread, and nothing but it gives or takes memory that is freed.",
        ("allocation-churn",), ("c",), "exact", block_pool.pooled, 0.8, everywhere=False,
    ),
)  # fmt: skip
