"""A labelled profile: what was recorded, and what a right diagnosis of it says."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

HEALTHY = "healthy"
HOT_SPOT = "hot-spot"
SUSPECTED = "suspected"
INSUFFICIENT = "insufficient-data"
#: What may stand for a cause in a label besides the ids of the catalogue.
VERDICTS = frozenset({HEALTHY, INSUFFICIENT})


class Label(StrEnum):
    """Where the truth comes from."""

    PLANTED = "planted"  #: the program was written with this fault, or without any
    EXPERT = "expert"  #: what an expert concluded from the profile and from runs beside it
    TWIN = "twin"  #: a planted program after its fault was removed: known is only what is no longer there


class Split(StrEnum):
    """Whether a case could be looked at while rules were written."""

    SEEN = "seen"
    HELD_OUT = "held-out"


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the source: a function or kernel, and the lines `first`..`last` of a file, as far as they are known."""

    function: str | None = None
    file: str | None = None
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One profile with its label.

    `paths` are views of one run. `right` are the answers that count as right: causes of the catalogue, `healthy` or
    `insufficient-data`. `second` is the smaller fault of a program that has two. `wrong` are causes that are clearly not
    there. `spots` are the places that may be named, empty where the label has none. A fault that is not `visible` cannot be
    told from this profile by anybody.
    """

    name: str
    group: str  #: the set of cases that it belongs to
    paths: tuple[Path, ...]
    label: Label
    cause: str
    right: frozenset[str]
    family: str  #: of the catalogue
    origin: str  #: how the case came about, as the label says it; else its set
    split: Split
    second: str | None = None
    wrong: frozenset[str] = frozenset()
    spots: tuple[Spot, ...] = ()
    healthy: bool = False
    visible: bool = True
    format: str = field(default="")  #: as the label says it; the reader's name for it otherwise

    @property
    def has_fault(self) -> bool:
        """True if there is a cause to be found: it is there, and the profile can show it."""
        return self.label != Label.TWIN and self.visible and not self.healthy and self.cause not in VERDICTS


def split_of(name: str) -> Split:
    """The half that a case belongs to whose label does not say so: by the parity of the first byte of the SHA-256 sum of its
    name (UTF-8), so that nobody chooses and every machine agrees; even is seen.
    """
    even = hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()[0] % 2 == 0
    return Split.SEEN if even else Split.HELD_OUT
