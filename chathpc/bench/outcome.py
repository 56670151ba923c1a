"""What chathpc said about a case, as far as it is scored: small, and told from one process to another as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import TypeAdapter

from chathpc.diagnosis.records import Finding, Place


@dataclass(frozen=True, slots=True)
class Answer:
    """A cause at a place. `weight` is the finding's cost × headroom, `confidence` a probability."""

    cause: str
    function: str | None = None
    kernel: str | None = None
    file: str | None = None
    line: int | None = None
    share: float = 0.0
    weight: float = 0.0
    confidence: float = 0.0

    @classmethod
    def at(cls, cause: str, place: Place, *, share: float = 0.0) -> Answer:
        """An answer without a finding behind it."""
        return cls(cause, place.function, place.kernel, place.file, place.line, share)

    @classmethod
    def of(cls, finding: Finding) -> Answer:
        """The scored part of a finding."""
        place = finding.where
        return cls(
            cause=finding.cause,
            function=place.function,
            kernel=place.kernel,
            file=place.file,
            line=place.line,
            share=finding.share,
            weight=finding.weight,
            confidence=finding.confidence,
        )


@dataclass(frozen=True, slots=True)
class Read:
    """What a model that reads suspects: hypotheses as answers, in the report's order, those that it prints, and its statements.

    `dropped` says of each statement that was dropped why. `tokens` of question and answer, 0 where they are not told; `tries` how often it
    was asked.
    """

    said: tuple[Answer, ...]
    shown: tuple[Answer, ...]
    statements: int
    dropped: tuple[str, ...]
    tokens: tuple[int, int]
    tries: int
    by: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to one case and its cost; `failure` is a sentence where there is none.

    `findings` are those that the report lists, in its order. `biggest` is what the floor of the biggest node says about the
    same profile. `seconds` is the wall time of reading and explaining, `peak` the largest resident memory in bytes of a process
    that does nothing else (0: unknown).
    """

    verdict: str = ""
    findings: tuple[Answer, ...] = ()
    biggest: tuple[Answer, ...] = ()
    format: str = ""
    seconds: float = 0.0
    peak: int = 0
    read: Read | None = None
    failure: str = ""


def to_data(outcome: Outcome) -> dict[str, Any]:
    """The outcome as values that JSON has."""
    return asdict(outcome)


def from_data(data: Mapping[str, Any]) -> Outcome:
    """The outcome that `to_data` wrote."""
    return TypeAdapter(Outcome).validate_python(data)
