"""The labelled questions, and how many of them are matched to the right tool and arguments.

`python -m tests.chat.questions [-v] [FILE...]` prints for each file how many are right, not told, and wrong; with -v which. A file has
lists of questions by profile (omp, mpi, gpu): {ask, tool, arguments?, or?: {tool, arguments?}}; `tool: null` is no question to a profile,
`arguments` are those that matter, `after` is the question before it, where it goes on from there.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

import chathpc
from chathpc.chat.conversation import Conversation
from chathpc.chat.intents import Intent, match
from chathpc.chat.intents.entities import Named, words
from chathpc.chat.intents.match import LEAST, SURE, examples, fitting, nearest
from chathpc.chat.intents.nearest import Nearest
from chathpc.chat.session import Session
from chathpc.chat.tools import TOOLS, call
from chathpc.errors import UsageError
from tests.synthetic.hpctoolkit_v4 import write
from tests.synthetic.programs import gpu

FILE = Path(__file__).with_name("questions.yaml")
#: Asked once, then looked at; most questions of both are among the examples.
USED = Path(__file__).with_name("used_questions.yaml")
#: No examples, and nothing was tuned for one of them.
FRESH = Path(__file__).with_name("fresh_questions.yaml")
FILES = (FILE, USED, FRESH)
OUTCOMES = ("right", "cannot tell", "wrong")
EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Question:
    """A question to one of the profiles, with the answers that are right: tool (None: no tool) and arguments that matter."""

    profile: str
    ask: str
    answers: tuple[tuple[str | None, Mapping[str, Any]], ...]
    after: str = ""


@cache
def questions(file: Path = FILE) -> tuple[Question, ...]:
    """All labelled questions of a file."""
    data = yaml.safe_load(file.read_text("utf-8"))
    return tuple(
        Question(
            profile,
            entry["ask"],
            tuple((one["tool"], one.get("arguments", {})) for one in (entry, entry.get("or")) if one),
            entry.get("after", ""),
        )
        for profile, entries in data.items()
        for entry in entries
    )


@cache
def session(profile: str) -> Session:
    """The profile that questions are put to."""
    if profile == "gpu":
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), gpu())
            loaded = Session(chathpc.load(folder))
            loaded.prepare()
            return loaded
    return Session(chathpc.load(EXAMPLES / {"omp": "omp-triangle", "mpi": "mpi-imbalance"}[profile] / "database"))


def right(question: Question, intent: Intent) -> bool:
    """Whether `intent` is one of the right answers."""
    return any(_fits(tool, wanted, intent, session(question.profile)) for tool, wanted in question.answers)


def _fits(tool: str | None, wanted: Mapping[str, Any], intent: Intent, about: Session) -> bool:
    if tool is None or intent.tool != tool:
        return tool is None and not intent.tool
    for key, value in wanted.items():
        given = intent.arguments.get(key, TOOLS[tool].arguments.model_fields[key].default)
        given = given if isinstance(given, (str, int, float)) else "" if isinstance(value, str) else 0
        if key == "words" and value and given:
            if call(about, "catalogue", {key: given}).text != call(about, "catalogue", {key: value}).text:
                return False
        elif key in ("place", "name") and value and given:
            if _nodes(about, str(given)) != _nodes(about, value):
                return False
        elif (given.casefold() if isinstance(given, str) else given) != (
            value.casefold() if isinstance(value, str) else value
        ):
            return False
    return True


def _nodes(asked: Session, place: str) -> object:
    """The contexts of a place, or of MPI's profiling interface to it; the place itself where the profile has none."""
    for name in (place, f"P{place}", f"__GI___{place}"):  # aliases of MPI's and of the C library
        with suppress(UsageError):
            return list(asked.find(name).nodes)
    return place.casefold()


def asked(question: Question) -> Intent:
    """What a question is taken for, after the one before it."""
    about = session(question.profile)
    conversation = Conversation(about)
    if question.after:
        conversation.ask(question.after)
    return match(question.ask, about, conversation.last)


def outcome(question: Question, intent: Intent) -> str:
    """`right`, `cannot tell` or `wrong`. Of a question that nothing answers `cannot tell` is right."""
    return "right" if right(question, intent) else "wrong" if intent.tool else "cannot tell"


def rates(file: Path) -> tuple[Counter[str], list[tuple[Question, Intent]]]:
    """How many questions of a file had which outcome, and those that were not right."""
    found: Counter[str] = Counter()
    misses = []
    for question in questions(file):
        intent = asked(question)
        found[outcome(question, intent)] += 1
        if not right(question, intent):
            misses.append((question, intent))
    return found, misses


def _named(ask: str) -> Named:
    """An example as a question that names what its marks say."""
    function = ["f"] if "@function" in ask else []
    metric = "m" if "@metric" in ask else ""
    return Named(
        ask,
        functions=function,
        metric=metric,
        file="f.c" if "@file" in ask or "@line" in ask else "",
        line="@line" in ask,
    )


def left_out(every: int = 1) -> dict[str, float]:
    """Parts (0..1) of the examples whose nearest others ask the same of the same tool, is of no likeness, asks something else; of one
    in `every`.
    """
    known = examples()
    index = Nearest([one.ask for one in known], words().alike)
    same_text = [one.ask.replace("@problem", "@term") for one in known]
    found: Counter[str] = Counter()
    for at in range(0, len(known), every):
        example = known[at]
        likeness = index.likeness(example.ask) * fitting(_named(example.ask), example.ask, None)
        likeness[[other for other, text in enumerate(same_text) if text == same_text[at]]] = 0
        best, sure = nearest(likeness)
        same = (known[best].tool, known[best].arguments) == (example.tool, example.arguments)
        told = likeness[best] >= LEAST and sure >= SURE
        found["cannot tell" if not told else "right" if same else "wrong"] += 1
    return {name: count / found.total() for name, count in found.items()}


def main(files: list[Path]) -> None:
    """Print a line a file, and with `-v` what was not right."""
    verbose = "-v" in sys.argv
    if not files:
        parts = left_out()
        told = ", ".join(f"{name} {parts.get(name, 0):.1%}" for name in OUTCOMES)
        sys.stdout.write(f"examples, each left out ({len(examples())}): {told}\n")
    for file in files or FILES:
        found, misses = rates(file)
        total = sum(found.values())
        told = ", ".join(f"{name} {found[name] / total:.1%}" for name in OUTCOMES)
        sys.stdout.write(f"{file.name} ({total}): {told}\n")
        for one, got in misses if verbose else ():
            sys.stdout.write(
                f"  {one.profile}: {one.ask}\n     wanted {one.answers}\n     got {got.tool or 'nothing'} {dict(got.arguments)}\n"
            )


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:] if name != "-v"])
