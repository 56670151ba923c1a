"""Recipes for the work, the memory, the containers and the files of C and C++, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes.recipe import C_FAMILY, COMPUTE, HOST, Recipe
from chathpc.fix.recipes.serial import (
    containers,
    copies,
    interchange,
    invariants,
    output,
    owned_arrays,
    powers,
    texts,
)

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "hoist-invariant-call",
        "Computes a pure call, or the expression around it, once in front of the outermost loop in which it stays the same.",
        "The call changes nothing, nothing that it reads is written in the loop, and where it might fail the loop's first iteration makes it.",
        ("loop-invariant-work", "expensive-math", "quadratic-algorithm", *COMPUTE), C_FAMILY, "exact", invariants.hoisted, 0.9,
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
        "Keeps the memory that a function, or a `std::unique_ptr` in it, allocates and frees in every call or iteration.",
        "The pointer stays in the function, is freed in the block that allocates it on every way, and the function runs once at a time.",
        ("allocation-churn", "page-faults", "redundant-copies"), HOST, "exact", owned_arrays.kept_memory, 0.9,
    ),
    Recipe(
        "double-ended-queue",
        "Makes a vector from whose front items are taken a double-ended queue.",
        "All that is done with it a queue can do as well.",
        ("quadratic-algorithm", "redundant-copies", "hot-compute", "memory-bandwidth"), ("c++",), "exact", containers.double_ended, 0.95,
    ),
    Recipe(
        "keep-end-of-text",
        "Copies what `strcat` appends in a loop to the text's end, which is kept, instead of looking for it each time.",
        "A local text, with which the loop does nothing else.",
        ("quadratic-algorithm", "redundant-copies", "hot-compute", "memory-bandwidth", "loop-invariant-work"),
        HOST, "exact", texts.kept_ends, 0.95,
    ),
)  # fmt: skip
