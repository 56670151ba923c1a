"""How long an answer takes: `python -m tests.bench.chat [CONTEXTS] [LOCATIONS]` prints a table for a synthetic database.

Each line is put three times to one session, about another function each time, and answered as in a pipe, rendering included. The
table has the first time, which may include what is imported or computed once, and the slowest of the others. Loading and `prepare` are
told apart.
"""

from __future__ import annotations

import sys
import time

import chathpc
from chathpc.chat.conversation import Conversation
from chathpc.chat.opening import read
from chathpc.chat.repl import Repl
from chathpc.chat.session import Session
from chathpc.chat.slash import COMMANDS
from chathpc.reports.style import Style
from tests.bench import databases

#: Seconds that an answer without a model may take on a million contexts.
TARGET = 0.3
#: Each slash command that a tool answers, at least once; first, since whoever pipes a script in feels the first time.
LINES = (
    '/query ["*", {{"name": "{name}"}}]', "/summary", "/findings", "/findings 1", "/evidence", "/evidence E1", "/top", "/top line 100",
    "/top loop", "/top module", "/top kernel", "/activities", "/activities waiting", "/findings false sharing",
    "/tree", "/tree {name} depth=20 limit=100", "/tree by=line", "/callers {name}", "/callees {name}",
    "/source {name}", "/loops {name}", "/examined", "/scaling", '/locations who="rank 1"', "/locations",
    "/locations {name}", "/whatif {name} 2x", "/diff", "/timeline", "/metrics", "/missing",
    "/catalogue false sharing", '/query ["+", {{"line": "> 3"}}, "*"]',
)  # fmt: skip
QUESTIONS = (
    "why is it slow?", "which functions take most of the time?", "hottest lines", "which loops dominate?", "time by module",
    "call tree below {name}", "who calls {name}?", "what does {name} call?", "source of {name}", "is {name} balanced over the ranks?",
    "which ranks are slow?", "what if {name} were twice as fast?", "who calls {slip}?", "what is false sharing?",
    "how much time is spent in MPI?", "is it memory bound?", "which metrics are there?",
    "what was not measured?", "show the timeline", "hotest functoins", "sing a song", "why is rank 1 slower?",
    "what about rank 0", "how long did it run",
    "who calls {name}?", "and the lines of it", "will it scale?", "what is occupency", "show line 12", "who calls it",
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
    missing = {f"/{one.name}" for one in COMMANDS.values() if one.tool} - {line.split()[0] for line in LINES}
    if missing:
        raise SystemExit(f"not measured: {', '.join(sorted(missing))}")
    sys.stdout.write("| line | first, ms | later, ms |\n|---|---|---|\n")
    nothing = lambda *words: None  # noqa: E731
    repl = Repl(Conversation(session), Style(), write=nothing, complain=nothing, load=read, choose=nothing)
    slowest = 0.0
    for line in (*LINES, *QUESTIONS):
        taken = []
        for name in session.index.names[:3]:
            text = line.format(name=name, slip=name[:-1] + "_x")
            before = time.perf_counter()
            repl.answer(text)
            taken.append(time.perf_counter() - before)
        slowest = max(slowest, *taken)
        sys.stdout.write(
            f"| {line.replace('{{', '{').replace('}}', '}')} | {taken[0] * 1e3:.1f} | {max(taken[1:]) * 1e3:.1f} |\n"
        )
    verdict = "met" if slowest <= TARGET else "missed"
    sys.stdout.write(f"\nslowest answer {slowest * 1e3:.0f} ms, target {TARGET * 1e3:.0f} ms: {verdict}\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
