"""Recipes for lists, texts, work arrays, rows and files of Fortran, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes import (
    fortran_allocations,
    fortran_appends,
    fortran_dimensions,
    fortran_files,
    fortran_growth,
    fortran_strings,
)
from chathpc.fix.recipes.recipe import Recipe

_FORTRAN = ("fortran",)
_COMPUTE = ("hot-compute", "not-vectorised")

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "fortran-double-room",
        "Doubles the room of a list when it is full instead of making it one longer for each item.",
        "A count says how many items there are; nobody asks for the size of the list or uses it as a whole.",
        ("allocation-churn", "page-faults", "redundant-copies", "quadratic-algorithm"), _FORTRAN, "exact", fortran_growth.doubled, 0.95,
    ),
    Recipe(
        "fortran-append-in-room",
        "Appends to a list in room that doubles, and gives the list its size behind the loop.",
        "In the loop the list is only appended to, counted, and asked for elements; the loop has no other way out than its end.",
        ("allocation-churn", "page-faults", "redundant-copies", "quadratic-algorithm", "memory-bandwidth"), _FORTRAN, "exact", fortran_appends.appended, 0.95,
    ),
    Recipe(
        "fortran-append-text",
        "Writes what is added to a text behind its end instead of copying all of it.",
        "In the loop the text is only appended to; the loop has no other way out than its end.",
        ("allocation-churn", "redundant-copies", "quadratic-algorithm", "memory-bandwidth", *_COMPUTE), _FORTRAN, "exact", fortran_strings.appended, 0.9,
    ),
    Recipe(
        "fortran-allocate-once",
        "Allocates work arrays once before the loop instead of in every iteration.",
        "Their sizes stay the same in the loop, which has no other way out than its end, and nothing gives them another shape.",
        ("allocation-churn", "page-faults", "redundant-copies"), _FORTRAN, "exact", fortran_allocations.outside_loops, 0.9,
    ),
    Recipe(
        "fortran-keep-array",
        "Keeps work arrays of a procedure from call to call.",
        "Arrays of numbers that the procedure alone knows, without threads or recursion; where the size changes they are allocated anew.",
        ("allocation-churn", "page-faults", "redundant-copies"), _FORTRAN, "exact", fortran_allocations.between_calls, 0.8,
    ),
    Recipe(
        "fortran-swap-dimensions",
        "Stores an array of which loops hand over rows with its two dimensions the other way round.",
        "Everywhere in the program the array is used by elements and rows, or as a whole where the order does not matter; no columns are handed over.",
        ("redundant-copies", "strided-access", "allocation-churn", "memory-bandwidth", "memory-latency", *_COMPUTE), _FORTRAN, "reassociates floating point",
        fortran_dimensions.swapped, 0.6,
    ),
    Recipe(
        "fortran-flush-at-the-end",
        "Leaves out `flush` in loops.",
        "The loop opens and reads nothing, and the program ends in the usual way and starts no other.",
        ("io-small-requests", "io-bound"), _FORTRAN, "exact", fortran_files.without_flushes, 0.9, everywhere=False,
    ),
)  # fmt: skip
