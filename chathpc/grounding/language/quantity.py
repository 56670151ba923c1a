"""A number of a sentence as a record, and what it may be about."""

from __future__ import annotations

from dataclasses import dataclass

Keys = frozenset[str]
NONE: Keys = frozenset()
TOTAL: Keys = frozenset({"who:total"})
#: The base of a share `of it`, where nothing in the sentence says of what.
IT: Keys = frozenset({"it"})
#: The base of a share `of the rest`: what the share before it leaves.
REST_OF_IT: Keys = frozenset({"rest"})
#: The base of a share of another share: `a third of the 80 %`.
OF_NUMBER: Keys = frozenset({"number"})
DETERMINERS = frozenset({"the", "a", "an", "its", "their", "this", "that", "all", "our", "your"})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a sentence, in SI units (shares in percent). `text[start:end]` of the sentence is the number with its unit.

    `interval` is what a value must lie in for the number to be a right rounding of it. `own` are the subjects of its clause, `inherited` those that
    earlier clauses leave standing. `base` is what a share is a part of, `agent` who of host and device waits or works for it.
    """

    value: float
    interval: tuple[float, float]
    dimension: str
    start: int
    end: int
    noun: str | None = None
    exactness: str = "exact"
    nearly: bool = False
    in_words: bool = False
    own: Keys = NONE
    names: Keys = NONE
    inherited: Keys = NONE
    inherited_names: Keys = NONE
    base: Keys | None = None
    is_base: bool = False
    is_each: bool = False
    per: str | None = None
    agent: str | None = None

    @property
    def keys(self) -> Keys:
        """All subjects, also those of earlier clauses."""
        return self.own | self.inherited
