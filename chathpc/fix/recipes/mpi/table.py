"""Recipes for the work, the order and the messages of MPI programs, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes.mpi import messages, order
from chathpc.fix.recipes.recipe import HOST, Recipe

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "one-message",
        "Exchanges all elements in one message instead of one message for each.",
        "Elements are contiguous, partners stay the same, and all loops of the program that exchange single elements can change.",
        ("mpi-small-messages", "mpi-communication-bound", "mpi-late-sender", "mpi-collective-wait"), HOST, "exact", messages.batched, 0.9,
    ),
    Recipe(
        "send-early",
        "Sends before work that does not involve the message.",
        "The work does not change what is sent, and contains no messages, input or output.",
        ("mpi-late-sender", "mpi-collective-wait", "mpi-communication-bound", "mpi-load-imbalance"), HOST, "exact", order.sent_early, 0.9,
    ),
    Recipe(
        "drop-barriers",
        "Drops barriers that are passed repeatedly.",
        "Messages come from known senders, and there are no files, windows or output of several processes that a barrier might order.",
        ("mpi-collective-wait", "mpi-late-sender", "mpi-communication-bound", "mpi-load-imbalance"), HOST, "exact", order.without_barriers, 0.4,
        everywhere=False,
    ),
)  # fmt: skip
