"""What a model has shown that it can do (`chathpc models test`), kept for the choice of the prompt form."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from chathpc.llm.backend import Form
from chathpc.llm.places import cache_folder

#: Results of another test are not comparable; raise this number when the test changes.
TEST_VERSION = 2

#: Share of a model's sentences that must hold for its words to be worth the wait. Our choice: with fewer, most reports have the
#: catalogue's words in the end.
LEAST_KEPT = 0.6
#: Fewer answers than this say nothing.
LEAST_ANSWERS = 2
#: Seconds that a reader waits until a prompt is read: half of the time that an explanation may take by default.
LONGEST_READ = 30.0
#: Tokens without which no prompt has its most important facts.
LEAST_PROMPT = 800


@dataclass(frozen=True, slots=True)
class Trial:
    """Answers in one form: how many there are, how many came in time and in the form asked for, how many say enough that the
    evidence supports, and of all their sentences how many it supports.
    """

    answers: int = 0
    formed: int = 0
    sufficient: int = 0
    sentences: int = 0
    kept: int = 0

    @property
    def grounding_rate(self) -> float | None:
        """Share of the sentences that hold; None without any."""
        return self.kept / self.sentences if self.sentences else None

    @property
    def passed(self) -> bool:
        """All answers in form and in time, most of them enough for a report, and enough of their sentences true."""
        rate = self.grounding_rate
        return (
            self.answers >= LEAST_ANSWERS
            and self.formed == self.answers
            and 2 * self.sufficient > self.answers
            and rate is not None
            and rate >= LEAST_KEPT
        )


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
    prose: Trial = field(default_factory=Trial)
    structured: Trial = field(default_factory=Trial)

    @property
    def forms(self) -> tuple[Form, ...]:
        """The prompt forms that the model is fit for, best first."""
        tried: tuple[tuple[Form, Trial], ...] = (("structured", self.structured), ("prose", self.prose))
        return tuple(form for form, trial in tried if trial.passed)

    @property
    def prompt_tokens(self) -> int | None:
        """The longest prompt that it reads in LONGEST_READ seconds, tokens; None if its speed is not known."""
        return None if self.read_speed is None else max(LEAST_PROMPT, int(self.read_speed * LONGEST_READ))


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
        prose, structured = Trial(**kept.pop("prose")), Trial(**kept.pop("structured"))
        return Fitness(**kept, prose=prose, structured=structured)
    except (OSError, ValueError, LookupError, TypeError):
        return None


def remember(identity: str, fitness: Fitness, environ: Mapping[str, str] | None = None) -> Path | None:
    """Keep a result; returns the file, or None where there is no place for it."""
    path = _path(identity, environ)
    if path is None:
        return None
    content = {"test": TEST_VERSION, "identity": identity, "fitness": asdict(fitness), "fit_for": fitness.forms}
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
