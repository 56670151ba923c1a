"""When a measured time is too short for any conclusion."""

from __future__ import annotations

from chathpc.profile import numbers

#: Seconds. Starting a process takes about as long; what lasts less is not what a person waits for.
SHORTEST = 1e-3


def too_short(seconds: float) -> str:
    """A sentence for `Profile.insufficient` if a run of so many seconds says nothing, else the empty string."""
    if seconds >= SHORTEST:
        return ""
    return f"Only {numbers.seconds(seconds)} were measured, less than starting a process takes: too little to show what costs time."
