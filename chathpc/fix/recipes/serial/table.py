"""Recipes for the work, the memory, the containers and the files of C and C++, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes.recipe import C_FAMILY, COMPUTE, HOST, Recipe
from chathpc.fix.recipes.serial import buffers, containers, copies, interchange, invariants, output, powers, texts

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "hoist-invariant-call",
        "Computes a pure call, or the expression around it, once before the outermost loop in which it is invariant.",
        "The call has no side effects, nothing that it reads is written in the loop, and if it can fail, the loop's first iteration makes it.",
        ("loop-invariant-work", "expensive-math", "quadratic-algorithm", *COMPUTE), C_FAMILY, "exact", invariants.hoisted, 0.9,
    ),
    Recipe(
        "power-to-products",
        "Replaces `pow` with a constant exponent by products and square roots.",
        "The exponent is a number, or a parameter that is the same number in all calls; exponents other than 2 need a declared tolerance.",
        ("expensive-math", "loop-invariant-work", *COMPUTE), C_FAMILY, "rounds differently", powers.simple_powers, 0.9,
    ),
    Recipe(
        "interchange-loops",
        "Interchanges the loops of a perfect nest so that the innermost has unit stride.",
        "Independent bounds, no calls with side effects, no early exit, and every dependence still runs forwards.",
        ("strided-access", "memory-bandwidth", "memory-latency", *COMPUTE), HOST, "reassociates floating point", interchange.interchanged, 0.9,
    ),
    Recipe(
        "pass-by-reference",
        "Passes objects by const reference instead of by value.",
        "The function only reads the parameter and changes only its own data; all its calls are direct.",
        ("redundant-copies", "allocation-churn", "page-faults", "quadratic-algorithm"), ("c++",), "exact", copies.constant_references, 0.9,
    ),
    Recipe(
        "newline-instead-of-endl",
        "Ends lines with '\\n' instead of `std::endl`.",
        "The stream is not the error stream.",
        ("io-small-requests", "io-bound"), ("c++",), "exact", output.plain_line_ends, 0.95,
    ),
    Recipe(
        "buffer-writes",
        "Collects small records in a buffer instead of calling `write` for each.",
        "The program has one file open at a time and uses its descriptor only for writing and closing.",
        ("io-small-requests", "io-bound"), HOST, "exact", output.buffered_writes, 0.9, everywhere=False,
    ),
    Recipe(
        "keep-buffer",
        "Reuses the memory that a function allocates and frees in every call or iteration.",
        "The pointer stays in the function, every path frees it in the block that allocates it, and the function is never reentered.",
        ("allocation-churn", "page-faults", "redundant-copies"), HOST, "exact", buffers.kept_buffers, 0.9,
    ),
    Recipe(
        "double-ended-queue",
        "Replaces a vector whose front items are removed by a double-ended queue.",
        "A queue supports all operations on it.",
        ("quadratic-algorithm", "redundant-copies", "hot-compute", "memory-bandwidth"), ("c++",), "exact", containers.double_ended, 0.95,
    ),
    Recipe(
        "keep-end-of-text",
        "Copies what `strcat` appends in a loop to the string's tracked end instead of searching for it each time.",
        "A local string, with which the loop does nothing else.",
        ("quadratic-algorithm", "redundant-copies", "hot-compute", "memory-bandwidth", "loop-invariant-work"),
        HOST, "exact", texts.kept_ends, 0.95,
    ),
)  # fmt: skip
