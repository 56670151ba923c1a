"""How long an answer takes: `python -m tests.bench.chat [CONTEXTS] [LOCATIONS]` prints a table for a synthetic database.

Each question is asked three times of one session, about another function each time; the table has the first time, which may include
what is imported or computed once, and the slowest of the others. Loading and `prepare` are told apart.
"""

from __future__ import annotations

import sys
import time

import chathpc
from chathpc.chat.conversation import Conversation
from chathpc.chat.session import Session
from tests.bench import databases

#: Seconds that an answer without a model may take on a million contexts.
TARGET = 0.3
QUESTIONS = (
    "why is it slow?", "which functions take most of the time?", "hottest lines", "which loops dominate?", "time by module",
    "/tree", "call tree below {name}", "who calls {name}?", "what does {name} call?", "source of {name}", "is {name} balanced over the ranks?",
    "which ranks are slow?", "what if {name} were twice as fast?", "who calls {slip}?", "what is false sharing?", "which metrics are there?",
    "what was not measured?", "show the timeline", '/query ["*", {{"name": "{name}"}}]', "sing a song",
)  # fmt: skip


def main(contexts: int = 1_000_000, locations: int = 16) -> None:
    """Measure and print."""
    began = time.perf_counter()
    profile = chathpc.load(databases.database(contexts, locations))
    loaded = time.perf_counter()
    session = Session(profile)
    session.prepare()
    prepared = time.perf_counter()
    sys.stdout.write(
        f"{contexts:,} contexts, {locations} locations: load {loaded - began:.2f} s, prepare {prepared - loaded:.2f} s\n\n"
    )
    sys.stdout.write("| question | first, ms | later, ms |\n|---|---|---|\n")
    conversation = Conversation(session)
    slowest = 0.0
    for question in QUESTIONS:
        taken = []
        for name in session.index.names[:3]:
            text = question.format(name=name, slip=name[:-1] + "_x")
            before = time.perf_counter()
            conversation.ask(text)
            taken.append(time.perf_counter() - before)
        slowest = max(slowest, *taken[1:])
        sys.stdout.write(f"| {question} | {taken[0] * 1e3:.1f} | {max(taken[1:]) * 1e3:.1f} |\n")
    verdict = "met" if slowest <= TARGET else "missed"
    sys.stdout.write(f"\nslowest later answer {slowest * 1e3:.0f} ms, target {TARGET * 1e3:.0f} ms: {verdict}\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
