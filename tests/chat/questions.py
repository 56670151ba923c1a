"""The labelled questions, and how many of them are matched to the right tool and arguments.

`python -m tests.chat.questions` prints the rates of both halves, and the misses of the half that is not held out.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

import chathpc
from chathpc.chat.intents import Intent, match
from chathpc.chat.session import Session
from chathpc.errors import UsageError
from tests.synthetic.hpctoolkit_v4 import write
from tests.synthetic.programs import gpu

FILE = Path(__file__).with_name("questions.yaml")
#: Asked once, then looked at.
USED = Path(__file__).with_name("used_questions.yaml")
#: Asked after the last change to the rules.
FRESH = Path(__file__).with_name("fresh_questions.yaml")
EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Question:
    """A question to one of the profiles, with the answers that are right: tool (None: no tool) and arguments that matter."""

    profile: str
    ask: str
    answers: tuple[tuple[str | None, Mapping[str, Any]], ...]

    @property
    def held_out(self) -> bool:
        """Whether the matcher is written without a look at it: by a hash of its text."""
        return hashlib.sha256(self.ask.encode()).digest()[-1] % 2 == 1


@cache
def questions(file: Path = FILE) -> tuple[Question, ...]:
    """All labelled questions of a file."""
    data = yaml.safe_load(file.read_text("utf-8"))
    return tuple(
        Question(profile, entry["ask"], tuple((one["tool"], one.get("arguments", {})) for one in (entry, *([entry["or"]] if "or" in entry else []))))
        for profile, entries in data.items()
        for entry in entries
    )  # fmt: skip


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


def _fits(tool: str | None, wanted: Mapping[str, Any], intent: Intent, asked: Session) -> bool:
    if tool is None or intent.tool != tool:
        return tool is None and not intent.tool
    for key, value in wanted.items():
        given = intent.arguments.get(key, "" if isinstance(value, str) else 0)
        if key in ("place", "name") and value and given:
            if _nodes(asked, str(given)) != _nodes(asked, value):
                return False
        elif (given.casefold() if isinstance(given, str) else given) != (
            value.casefold() if isinstance(value, str) else value
        ):
            return False
    return True


def _nodes(asked: Session, place: str) -> object:
    """The contexts of a place; the place itself where the profile has none."""
    try:
        return list(asked.find(place).nodes)
    except UsageError:
        return place.casefold()


def rates() -> tuple[float, float, list[tuple[Question, Intent]]]:
    """Part of the questions (0..1) that are matched, seen and held out, and the misses among those seen."""
    hits: dict[bool, list[bool]] = {False: [], True: []}
    misses = []
    for question in questions():
        intent = match(question.ask, session(question.profile))
        hit = right(question, intent)
        hits[question.held_out].append(hit)
        if not hit and not question.held_out:
            misses.append((question, intent))
    return sum(hits[False]) / len(hits[False]), sum(hits[True]) / len(hits[True]), misses


def rate(file: Path) -> float:
    """Part of the questions (0..1) of a file that are matched."""
    asked = questions(file)
    return sum(right(one, match(one.ask, session(one.profile))) for one in asked) / len(asked)


if __name__ == "__main__":
    seen, held, wrong = rates()
    halves = [sum(one.held_out == half for one in questions()) for half in (False, True)]
    sys.stdout.write(f"seen {seen:.1%} of {halves[0]}, held out {held:.1%} of {halves[1]}, ")
    sys.stdout.write(
        f"used {rate(USED):.1%} of {len(questions(USED))}, fresh {rate(FRESH):.1%} of {len(questions(FRESH))}\n"
    )
    for one, got in wrong:
        sys.stdout.write(f"  {one.profile}: {one.ask}\n     wanted {one.answers}\n     got {got}\n")
