"""Recipes for serial programs of C and C++, with the causes that they answer; they stand behind those of `table`."""

from __future__ import annotations

from chathpc.fix.recipes import (
    bisection,
    by_value,
    columns,
    containers,
    growing,
    hashed,
    objects,
    streams,
    swaps,
    texts,
)
from chathpc.fix.recipes.recipe import Recipe

_HOST = ("c", "c++")
_COMPUTE = ("hot-compute", "not-vectorised")

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "block-columns",
        "Takes 256 columns at once through the rows where one after the other was done, each with its own copy of what is carried down.",
        "No column uses anything of another one, and the rows are the same for all.",
        ("strided-access", "memory-bandwidth", "memory-latency", *_COMPUTE), _HOST, "exact", columns.blocked, 0.85,
    ),
    Recipe(
        "leave-out-flushes",
        "Leaves out flushes in loops and in functions that are called in loops.",
        "The program reads no file and nothing from a terminal, and nothing in it ends it without writing what is in the buffers.",
        ("io-small-requests", "io-bound"), _HOST, "exact", streams.unflushed, 0.85, everywhere=False,
    ),
    Recipe(
        "leave-buffer",
        "Leaves streams the buffer that they were told not to have.",
        "The program reads no file and nothing from a terminal, and nothing in it ends it without writing what is in the buffers.",
        ("io-small-requests", "io-bound"), _HOST, "exact", streams.buffered, 0.9, everywhere=False,
    ),
    Recipe(
        "open-once",
        "Opens a file once for all records instead of once a record.",
        "It is opened to append and closed by the same block, always the same one, and nobody else opens it.",
        ("io-small-requests", "io-bound", "io-metadata-bound"), _HOST, "exact", streams.opened_once, 0.95, everywhere=False,
    ),
    Recipe(
        "return-by-reference",
        "Returns members of a class, or items of them, by constant reference.",
        "The function does nothing else, and whoever calls it only looks, before anything can change.",
        ("redundant-copies", "allocation-churn", "page-faults", "quadratic-algorithm"), ("c++",), "exact", by_value.given_by_reference, 0.9,
    ),
    Recipe(
        "pass-by-pointer",
        "Hands large records over by their address that were passed by value.",
        "The function only reads the record and changes nothing but what is its own; it is called directly everywhere.",
        ("redundant-copies", "memory-bandwidth", "hot-compute"), ("c",), "exact", by_value.by_pointer, 0.8,
    ),
    Recipe(
        "exchange-arrays",
        "Exchanges two arrays at the end of a step instead of copying one to the other.",
        "Nobody else has them, and a step only writes the one that is copied; that it writes all that counts is left to the checks.",
        ("redundant-copies", "memory-bandwidth", "hot-compute"), _HOST, "exact", swaps.exchanged, 0.6,
    ),
    Recipe(
        "double-room",
        "Doubles the room of an array when it is used up instead of calling `realloc` for each item.",
        "The array begins with nothing, gets memory by this call alone, and the number of its items goes up and down by one.",
        ("allocation-churn", "page-faults", "redundant-copies", "quadratic-algorithm"), _HOST, "exact", growing.doubled, 0.8,
    ),
    Recipe(
        "object-on-stack",
        "Makes an object of the block of one that a block allocates and deletes.",
        "Nobody keeps a pointer to it, and the block is not left between.",
        ("allocation-churn", "page-faults"), ("c++",), "exact", objects.on_stack, 0.9,
    ),
    Recipe(
        "erase-once",
        "Moves the items of a vector that stay once, where each that goes was erased by itself.",
        "The loop does nothing else, and what decides about an item changes nothing.",
        ("quadratic-algorithm", "redundant-copies", "hot-compute", "memory-bandwidth"), ("c++",), "exact", objects.erased_once, 0.9,
    ),
    Recipe(
        "bisect-table",
        "Searches a table by bisection instead of from its beginning.",
        "The loop only compares items of one table with something that stays the same; that they are in order is left to the checks.",
        ("quadratic-algorithm", "hot-compute", "memory-latency", "strided-access"), _HOST, "exact", bisection.bisected, 0.6,
    ),
    Recipe(
        "unordered-container",
        "Makes a `std::map` or `std::set` a hash table.",
        "Nobody goes through its items or asks for their order, and keys are whole numbers or strings.",
        ("quadratic-algorithm", "hot-compute", "memory-latency", "allocation-churn"), ("c++",), "exact", hashed.unordered, 0.7,
    ),
    Recipe(
        "list-as-vector",
        "Makes a `std::list` a vector whose items are found by their place.",
        "Items are only added at its end, and nobody keeps one meanwhile.",
        ("quadratic-algorithm", "hot-compute", "memory-latency"), ("c++",), "exact", hashed.contiguous, 0.8,
    ),
    Recipe(
        "turn-around-once",
        "Appends to a vector and turns it around behind the loop instead of inserting each item at its front.",
        "A local vector that begins empty and is not looked at before the loop has ended.",
        ("quadratic-algorithm", "redundant-copies", "hot-compute", "memory-bandwidth"), ("c++",), "exact", containers.prepended, 0.95,
    ),
    Recipe(
        "ask-hash-table",
        "Asks a hash table whether a vector holds a key instead of `std::find`.",
        "A local vector of whole numbers or strings that only grows.",
        ("quadratic-algorithm", "hot-compute", "memory-bandwidth"), ("c++",), "exact", hashed.seen_before, 0.95,
    ),
    Recipe(
        "keep-end-of-text",
        "Copies what `strcat` appends in a loop to the text's end, which is kept, instead of looking for it each time.",
        "A local text, with which the loop does nothing else.",
        ("quadratic-algorithm", "redundant-copies", "hot-compute", "memory-bandwidth", "loop-invariant-work"),
        _HOST, "exact", texts.kept_ends, 0.95,
    ),
)  # fmt: skip
