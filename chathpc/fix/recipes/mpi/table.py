"""Recipes for the work, the order and the messages of MPI programs, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes.mpi import (
    messages,
    order,
    shared_work,
    shares,
)
from chathpc.fix.recipes.recipe import HOST, Recipe

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "one-message",
        "Exchanges all elements in one message instead of one message for each.",
        "Elements lie side by side, partners stay the same, and all loops of the program that exchange single elements can change.",
        ("mpi-small-messages", "mpi-communication-bound", "mpi-late-sender", "mpi-collective-wait"), HOST, "exact", messages.batched, 0.9,
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
        "drop-barriers",
        "Leaves out barriers that are passed again and again.",
        "Messages come from known senders, and there are no files, windows or lines of several processes that a barrier might order.",
        ("mpi-collective-wait", "mpi-late-sender", "mpi-communication-bound", "mpi-load-imbalance"), HOST, "exact", order.without_barriers, 0.4,
        everywhere=False,
    ),
    Recipe(
        "share-work",
        "Lets every process compute its share of an array that one process computed for all.",
        "The array is broadcast directly behind the loop, elements do not depend on each other, and all that they are made from is the same in all processes.",
        ("mpi-collective-wait", "mpi-load-imbalance", "mpi-late-sender", "mpi-communication-bound"), ("c",), "exact", shared_work.shared, 0.8,
    ),
)  # fmt: skip
