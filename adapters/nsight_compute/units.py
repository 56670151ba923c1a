"""Units as Nsight Compute writes them, in reports and with its prefixes in exports, turned into seconds, bytes and hertz."""

from __future__ import annotations

import math

_PREFIXES = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
#: Units that are written with a prefix → how they are written.
_SCALED = ("second", "byte", "hz", "s", "inst", "sector", "warp", "thread", "cycle", "block", "request")
#: A value beyond this is damage: no counter of a GPU comes near it.
_LARGEST = 1e30


def factor(unit: str) -> float:
    """What a value in `unit` is multiplied with to be in SI units; 1 for a unit that carries no prefix.

    `usecond` and `us` → 1e-6, `Mbyte` → 1e6, `Gbyte/s` → 1e9, `cycle/nsecond` → 1e9, `Kbyte/block` → 1e3, `%` → 1.
    Prefixes count in powers of 1,000, bytes too.
    """
    above, _, below = unit.strip().partition("/")
    return _one(above) / (_one(below) or 1.0)


def _one(unit: str) -> float:
    word = unit.strip()
    for base in _SCALED:
        lowered = word.lower()
        if lowered.endswith(base):
            prefix = word[: len(word) - len(base)]
            if prefix in _PREFIXES:
                return _PREFIXES[prefix]
    return 1.0


def normal(value: float, unit: str) -> float | None:
    """`value` in SI units; None if it is not a number, or none that a counter could have."""
    scaled = value * factor(unit)
    return scaled if math.isfinite(scaled) and abs(scaled) <= _LARGEST else None
