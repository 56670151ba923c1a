"""Recipes for the work, the order and the messages of MPI programs, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes.mpi import (
    collectives,
    fortran_messages,
    fortran_shares,
    invariants,
    messages,
    order,
    shared_work,
    shares,
    vector_reductions,
)
from chathpc.fix.recipes.recipe import FORTRAN, HOST, Recipe

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "one-message",
        "Exchanges all elements in one message instead of one message for each.",
        "Elements lie side by side, partners stay the same, and all loops of the program that exchange single elements can change.",
        ("mpi-small-messages", "mpi-communication-bound", "mpi-late-sender", "mpi-collective-wait"), HOST, "exact", messages.batched, 0.9,
    ),
    Recipe(
        "reduce-vector",
        "Reduces a vector once instead of a number in each iteration.",
        "What follows the reduction is not used by later iterations.",
        ("mpi-communication-bound", "mpi-small-messages", "mpi-collective-wait"), ("c",), "exact", vector_reductions.vector_reduction, 0.9,
    ),
    Recipe(
        "deal-in-turn",
        "Deals iterations out to processes in turn instead of in blocks.",
        "The bounds, tried out for many numbers of processes, make blocks of all iterations, of which only sums over all are used.",
        ("mpi-load-imbalance", "mpi-collective-wait", "mpi-late-sender", "mpi-communication-bound"), HOST, "reassociates floating point",
        shares.in_turn, 0.9,
    ),
    Recipe(
        "send-early",
        "Sends before work that has nothing to do with what is sent.",
        "The work changes nothing of what is sent, and has no messages, input or output in it.",
        ("mpi-late-sender", "mpi-collective-wait", "mpi-communication-bound", "mpi-load-imbalance"), HOST, "exact", order.sent_early, 0.9,
    ),
    Recipe(
        "receive-late",
        "Receives behind work that has nothing to do with what is received.",
        "The work neither uses nor changes what is received, and has no messages, input or output in it.",
        ("mpi-late-sender", "mpi-collective-wait", "mpi-communication-bound"), HOST, "exact", order.received_late, 0.5,
    ),
    Recipe(
        "all-at-once",
        "Lets all processes do work that they did one after the other.",
        "The loop over processes holds nothing but the work of the one whose turn it is, without messages, input or output, and a barrier.",
        ("mpi-collective-wait", "mpi-load-imbalance", "mpi-late-sender", "mpi-communication-bound"), HOST, "exact", order.without_turns, 0.95,
    ),
    Recipe(
        "drop-barriers",
        "Leaves out barriers that are passed again and again.",
        "Messages come from known senders, and there are no files, windows or lines of several processes that a barrier might order.",
        ("mpi-collective-wait", "mpi-late-sender", "mpi-communication-bound", "mpi-load-imbalance"), HOST, "exact", order.without_barriers, 0.4,
        everywhere=False,
    ),
    Recipe(
        "merge-collectives",
        "Makes one collective call for several numbers instead of one for each.",
        "The calls follow each other, are of one kind, type and root, none uses what another gives, and all processes come by together.",
        ("mpi-collective-wait", "mpi-small-messages", "mpi-communication-bound", "mpi-late-sender"), (*HOST, *FORTRAN), "exact", collectives.merged, 0.7,
        everywhere=False,
    ),
    Recipe(
        "result-for-all",
        "Calls `MPI_Allreduce` or `MPI_Allgather` instead of bringing a result to one process and from there to all.",
        "The broadcast follows directly, is of just the result, and all processes come by together.",
        ("mpi-collective-wait", "mpi-small-messages", "mpi-communication-bound", "mpi-late-sender"), (*HOST, *FORTRAN), "reassociates floating point",
        collectives.for_all, 0.7, everywhere=False,
    ),
    Recipe(
        "share-work",
        "Lets every process compute its share of an array that one process computed for all.",
        "The array is broadcast directly behind the loop, elements do not depend on each other, and all that they are made from is the same in all processes.",
        ("mpi-collective-wait", "mpi-load-imbalance", "mpi-late-sender", "mpi-communication-bound"), ("c",), "exact", shared_work.shared, 0.8,
    ),
    Recipe(
        "fortran-one-message",
        "Exchanges all numbers in one message instead of one message for each.",
        "Partners stay the same, the rest of the loop only computes, and all loops of the program that exchange single numbers can change.",
        ("mpi-small-messages", "mpi-communication-bound", "mpi-late-sender", "mpi-collective-wait"), FORTRAN, "exact", fortran_messages.batched, 0.9,
    ),
    Recipe(
        "fortran-deal-in-turn",
        "Deals iterations out to processes in turn instead of in blocks.",
        "The bounds, tried out for many numbers of processes, make blocks of all iterations, of which only sums over all are used.",
        ("mpi-load-imbalance", "mpi-collective-wait", "mpi-late-sender", "mpi-communication-bound"), FORTRAN, "reassociates floating point",
        fortran_shares.in_turn, 0.9,
    ),
    Recipe(
        "fortran-drop-barriers",
        "Leaves out barriers that are passed again and again.",
        "Messages come from known senders, and there are no files, windows or lines of several processes that a barrier might order.",
        ("mpi-collective-wait", "mpi-late-sender", "mpi-communication-bound", "mpi-load-imbalance"), FORTRAN, "exact",
        fortran_shares.without_barriers, 0.4, everywhere=False,
    ),
    Recipe(
        "collective-once",
        "Makes a collective call once before the loop in which its result stays the same.",
        "Nothing else in the loop changes what it uses or brings, nothing before it looks at that, and all processes come by together.",
        ("mpi-collective-wait", "mpi-communication-bound", "mpi-small-messages", "mpi-late-sender"), ("c",), "exact", invariants.made_once, 0.8,
        everywhere=False,
    ),
)  # fmt: skip
