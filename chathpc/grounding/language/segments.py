"""A sentence taken apart: its clauses, and the subjects and names in them with their places."""

from __future__ import annotations

from dataclasses import dataclass

from chathpc.grounding.language.quantities import NONE, Keys, Quantity
from chathpc.grounding.language.tokens import Token


@dataclass(frozen=True, slots=True)
class Mark:
    """A subject or name at a position of the sentence's words."""

    position: int
    keys: Keys
    names: Keys = NONE


@dataclass(frozen=True, slots=True)
class Segment:
    """A clause: its words `tokens[first:last]`, what it is about, its numbers, and the word that joins it to the one before."""

    first: int
    last: int
    joint: str
    marks: tuple[Mark, ...]
    quantities: tuple[Quantity, ...]

    @property
    def keys(self) -> Keys:
        """What the clause is about."""
        return frozenset(key for mark in self.marks for key in mark.keys)

    @property
    def names(self) -> Keys:
        """Names from the program in the clause."""
        return frozenset(name for mark in self.marks for name in mark.names)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence taken apart; `tokens` are its words, numbers and separators."""

    tokens: tuple[Token, ...]
    segments: tuple[Segment, ...]
    lines: tuple[int, ...]

    @property
    def stems(self) -> tuple[str, ...]:
        """The stem of each token; empty for numbers and separators."""
        return tuple(token.stem for token in self.tokens)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The numbers of all clauses."""
        return tuple(quantity for segment in self.segments for quantity in segment.quantities)

    @property
    def names(self) -> Keys:
        """Names and files from the program."""
        return frozenset(token.text for token in self.tokens if token.kind in ("code", "file"))

    def segment_at(self, position: int) -> Segment | None:
        """The clause in which a token stands; None for a separator between clauses."""
        return next((s for s in self.segments if s.first <= position < s.last), None)


def group(keys: Keys, name: str) -> Keys:
    """The keys of one group."""
    return frozenset(key for key in keys if key.startswith(name + ":"))
