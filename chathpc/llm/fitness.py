"""What a model has shown that it can do (`chathpc models test`): what it is asked, and whether `auto` uses it, depends on that."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from chathpc.llm.backend import Form
from chathpc.llm.places import cache_folder

#: Results of another test are not comparable; raise this number when the test changes.
TEST_VERSION = 3

#: Part of the faulty pieces of source whose cause and line must be right, and of the healthy ones that may be blamed at most. Our choice:
#: two readings of three are then worth a trial (issue 22, point 5).
LEAST_RIGHT, MOST_BLAMED = 0.7, 0.2
#: Part of the facts that must be whole in a retelling. Our choice: with less, most reports have the catalogue's words in the end.
LEAST_RETOLD = 0.75
#: Fewer answers of a kind than this say nothing of how a model reads.
LEAST_ASKED = 8
#: Seconds that a reader waits until a prompt is read: half of the time that an explanation may take by default.
LONGEST_READ = 30.0
#: Tokens without which no prompt has its most important facts.
LEAST_PROMPT = 800
#: Tokens without which a question has no source to read.
LEAST_QUESTION = 4000

#: What a model is good for, best first: it reads source, it puts facts into prose, or neither.
Ability = Literal["reads", "retells", "none"]


@dataclass(frozen=True, slots=True)
class Reads:
    """Pieces of source: in how many of the faulty that were `asked` cause and line were `right`, how many of the healthy
    `twins` that were asked it `blamed`, and how many answers to either were `late`, which counts as neither.
    """

    right: int = 0
    asked: int = 0
    blamed: int = 0
    twins: int = 0
    late: int = 0

    @property
    def enough(self) -> bool:
        """Whether enough was asked to judge by."""
        return min(self.asked, self.twins) >= LEAST_ASKED

    @property
    def passed(self) -> bool:
        """Whether it reads."""
        return self.enough and self.right >= LEAST_RIGHT * self.asked and self.blamed <= MOST_BLAMED * self.twins

    def settled(self, faulty: int, healthy: int) -> bool:
        """Whether so many further pieces can no longer change the outcome."""
        asked, twins = self.asked + faulty, self.twins + healthy
        best = Reads(self.right + faulty, asked, self.blamed, twins)
        worst = Reads(self.right, asked, self.blamed + healthy, twins)
        return best.passed == worst.passed


@dataclass(frozen=True, slots=True)
class Retells:
    """Facts: how many of those that were `asked` were told whole, in a sentence of their own."""

    told: int = 0
    asked: int = 0

    @property
    def passed(self) -> bool:
        """Whether it retells."""
        return self.asked > 0 and self.told >= LEAST_RETOLD * self.asked


@dataclass(frozen=True, slots=True)
class Fitness:
    """The result of a test.

    `tokens_per_second` is the median speed of generation, `first_token` the median seconds until it began (loading excluded),
    `read_speed` the median speed at which prompts are read, in tokens a second; null if nothing came. `seconds` is what the test
    took.
    """

    model: str
    tokens_per_second: float | None
    first_token: float | None
    read_speed: float | None
    seconds: float
    reads: Reads = field(default_factory=Reads)
    retells: Retells = field(default_factory=Retells)

    @property
    def ability(self) -> Ability:
        """The most that the model has shown."""
        return "reads" if self.reads.passed else "retells" if self.retells.passed else "none"

    @property
    def forms(self) -> tuple[Form, ...]:
        """The prompt forms that the model is fit for, best first."""
        tried: tuple[tuple[Form, bool], ...] = (("structured", self.reads.passed), ("prose", self.retells.passed))
        return tuple(form for form, passed in tried if passed)

    @property
    def prompt_tokens(self) -> int | None:
        """The longest prompt that it reads in LONGEST_READ seconds, tokens; None if its speed is not known."""
        least = LEAST_QUESTION if self.reads.passed else LEAST_PROMPT
        return None if self.read_speed is None else max(least, int(self.read_speed * LONGEST_READ))


def remembered(identity: str, environ: Mapping[str, str] | None = None) -> Fitness | None:
    """The last result for the model `identity`, or None."""
    path = _path(identity, environ)
    if path is None:
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["test"] != TEST_VERSION or content["identity"] != identity:
            return None
        kept = dict(content["fitness"])
        reads, retells = Reads(**kept.pop("reads")), Retells(**kept.pop("retells"))
        return Fitness(**kept, reads=reads, retells=retells)
    except (OSError, ValueError, LookupError, TypeError):
        return None


def remember(identity: str, fitness: Fitness, environ: Mapping[str, str] | None = None) -> Path | None:
    """Keep a result; returns the file, or None where there is no place for it."""
    path = _path(identity, environ)
    if path is None:
        return None
    content = {"test": TEST_VERSION, "identity": identity, "fitness": asdict(fitness), "ability": fitness.ability}
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        unfinished.replace(path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
        return None
    return path


def _path(identity: str, environ: Mapping[str, str] | None) -> Path | None:
    base = cache_folder(os.environ if environ is None else environ)
    name = hashlib.sha256(identity.encode()).hexdigest()[:16]
    return None if base is None else base / "fitness" / f"{name}.json"
