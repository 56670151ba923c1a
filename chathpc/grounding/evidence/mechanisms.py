"""What the catalogue says happens under a cause, which nobody measured for the profile at hand."""

from __future__ import annotations

from dataclasses import dataclass

from chathpc.diagnosis import catalogue
from chathpc.grounding.evidence.stated import Reader
from chathpc.grounding.language.quantities import NONE, Keys
from chathpc.grounding.language.tokens import word_stems

#: Where a mechanism may be told to happen beside what was measured.
_STRUCTURE: Keys = frozenset({"in:loop", "in:iteration", "in:memory", "in:thread", "in:rank"})


@dataclass(frozen=True, slots=True)
class Mechanism:
    """What the catalogue says happens under a cause, and why: where that is, and in which words."""

    keys: Keys
    stems: frozenset[str]


def mechanism(cause: str, reader: Reader) -> Mechanism:
    """The mechanism of a cause of the catalogue; empty for one that is not there."""
    if cause not in catalogue.ids():
        return Mechanism(NONE, frozenset())
    entry = catalogue.cause(cause)
    text = " ".join((entry.title, entry.what, entry.why))
    keys = frozenset(key for s in reader.read(text).segments for key in s.keys if key in _STRUCTURE)
    return Mechanism(keys, word_stems(" ".join((text, entry.gain, *entry.keywords))))
