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


class Queries(Protocol):
    """Questions to a profile."""

    def time_of(self, name: str) -> Measured | None:
        """The time of the function or kernel `name`; None if there is none of that name, or it has no time."""


class NoQueries:
    """Answers nothing: the evidence is all there is."""

    def time_of(self, name: str) -> Measured | None:
        """None."""
        return None
