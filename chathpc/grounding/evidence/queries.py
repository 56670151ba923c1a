"""What the check may ask the profile beyond the evidence: a few named questions that only read.

The check itself opens nothing. Whoever has the profile answers; without an answer a claim needs evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Measured:
    """The answer to a question: seconds without and with what a function calls, of `total` seconds."""

    exclusive: float
    inclusive: float
    total: float


@dataclass(frozen=True, slots=True)
class Spread:
    """Seconds over all ranks, threads or devices; those without a value count as zeros."""

    most: float
    least: float
    mean: float


class Queries(Protocol):
    """Questions to a profile. Each answers None, or nothing, where the profile does not know; names are unique or not answered for."""

    def time_of(self, name: str) -> Measured | None:
        """The time of the function or kernel `name`."""

    def time_of_line(self, place: str) -> Measured | None:
        """The time of a line, `heat.c:12`."""

    def count_of(self, name: str, what: str) -> float | None:
        """How many calls, samples or launches (`call`, `sample`, `launch`) the function or kernel `name` has."""

    def spread_over(self, kind: str) -> Spread | None:
        """The time of the `rank`s, `thread`s or `device`s."""

    def callers_of(self, name: str) -> frozenset[str]:
        """The functions that call `name`."""


class NoQueries:
    """Answers nothing: the evidence is all there is."""

    def time_of(self, name: str) -> Measured | None:
        """None."""
        return None

    def time_of_line(self, place: str) -> Measured | None:
        """None."""
        return None

    def count_of(self, name: str, what: str) -> float | None:
        """None."""
        return None

    def spread_over(self, kind: str) -> Spread | None:
        """None."""
        return None

    def callers_of(self, name: str) -> frozenset[str]:
        """Nobody."""
        return frozenset()
