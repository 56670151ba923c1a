"""How fast a local model words: `python -m tests.bench.local_model [DATABASE] [--engine NAME]` prints a table for each engine.

An explanation and a chat of four turns, with prompts, checks and limits as users have them. For each: tokens of the prompt, how many of them
were read anew (the rest the engine still knows from the prompt before), tokens written, seconds to the first token and to the end, and how many
sentences passed the check. Times mean something on an idle machine only; tokens do not depend on it. Without a database it takes the
one in examples/, and the default model that `chathpc models pull` fetches. About a minute an engine on two cores.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic

import chathpc
from chathpc.chat.conversation import Conversation
from chathpc.chat.session import Session
from chathpc.llm.backend import Completion, Form, OnToken, Request
from chathpc.llm.engine import installed_engines
from chathpc.llm.local import LocalBackend
from chathpc.llm.weights import installed_file, known_weights, models_folder
from chathpc.prompts.build import build_prose
from chathpc.reading.retelling import narrate, retelling
from chathpc.report import StatementRecord

EXAMPLE = Path(__file__).parents[2] / "examples" / "omp-triangle" / "database"
QUESTIONS = ("why is it slow?", "which lines are hottest?", "who calls {name}?", "what if {name} were twice as fast?")
#: Seconds: the first token of a turn of a chat after the first one, and a whole explanation.
FIRST_TOKEN, EXPLANATION = 10.0, 60.0
#: Nothing is cut off on a machine that has other work.
PATIENCE = 900.0


@dataclass(slots=True)
class Timed:
    """A back end that notes what each request took."""

    inner: LocalBackend
    rows: list[tuple[Completion, float]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Of the model."""
        return self.inner.name

    @property
    def label(self) -> str:
        """Of the model."""
        return self.inner.label

    @property
    def form(self) -> Form:
        """Of the model."""
        return self.inner.form

    def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
        """Complete, and note the time of the first token."""
        began, first = monotonic(), [0.0]

        def token(piece: str) -> None:
            first[0] = first[0] or monotonic() - began
            if on_token is not None:
                on_token(piece)

        completion = self.inner.complete(request, on_token=token)
        self.rows.append((completion, first[0]))
        return completion

    def close(self) -> None:
        """Free the model."""
        self.inner.close()


def measured(profile: chathpc.Profile, model: Path, engine: str) -> Iterator[str]:
    """Lines of the table of one engine."""
    session = Session(profile)
    backend = Timed(LocalBackend(model, engine=engine))
    began = monotonic()
    backend.inner.complete(Request("Say yes.", "Yes?", max_tokens=1, deadline=PATIENCE))
    yield f"\n{backend.label}: loaded, and a word said, in {monotonic() - began:.1f} s\n"
    yield "| what | prompt | read anew | written | first token, s | whole, s | sentences kept | target | met |"
    yield "|---|---|---|---|---|---|---|---|---|"
    facts = narrate(session.diagnosis)
    prompt = build_prose([fact.text for fact in facts if fact.offered])
    answer = backend.complete(replace(prompt, deadline=PATIENCE))
    kept = printed(retelling(answer.text, facts, "model"), "model")
    yield row("explanation", backend, kept, f"whole ≤ {EXPLANATION:g} s", answer.seconds <= EXPLANATION)
    conversation = Conversation(session, backend, deadline=PATIENCE)
    for turn, question in enumerate(QUESTIONS, 1):
        asked, before = question.format(name=session.index.names[0]), len(backend.rows)
        told = conversation.ask(asked)
        if len(backend.rows) == before:
            yield f"| {asked} | no model was asked: {told.note} | | | | | | | |"
            continue
        kept = printed(told.statements, backend.label)
        later = turn > 1
        met = backend.rows[-1][1] <= FIRST_TOKEN
        yield row(asked, backend, kept, f"first ≤ {FIRST_TOKEN:g} s" if later else "", met if later else None)
    backend.close()


def printed(said: Sequence[StatementRecord], by: str) -> str:
    """How many of a model's sentences are printed."""
    own = [each for each in said if each.by == by]
    return f"{sum(each.dropped_because is None for each in own)} of {len(own)}"


def row(what: str, backend: Timed, kept: str, target: str, met: bool | None) -> str:
    """The last request as a line of the table."""
    completion, first = backend.rows[-1]
    anew = None if completion.prompt_tokens is None else completion.prompt_tokens - (completion.cached_tokens or 0)
    verdict = "" if met is None else "yes" if met else "NO"
    cells = [
        what,
        completion.prompt_tokens,
        anew,
        completion.completion_tokens,
        f"{first:.1f}",
        f"{completion.seconds:.1f}",
    ]
    return f"| {' | '.join(map(str, [*cells, kept, target, verdict]))} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.local_model", description=__doc__)
    parser.add_argument("database", nargs="?", type=Path, default=EXAMPLE)
    parser.add_argument("--engine", choices=installed_engines(), action="append")
    parser.add_argument("--model", type=Path, help="a GGUF file instead of the default model")
    options = parser.parse_args()
    folder = models_folder(None, os.environ)
    model = options.model or next((file for one in known_weights() if (file := installed_file(one, folder))), None)
    if model is None:
        raise SystemExit("There is no local model: chathpc models pull")
    profile = chathpc.load(options.database)
    sys.stdout.write(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}, {model.name}\n")
    for engine in options.engine or installed_engines():
        for line in measured(profile, model, engine):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
