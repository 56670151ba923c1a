"""What repairs of each cause gave where they were measured: no promise, but what others got."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import quantiles

from chathpc.packaged import table

#: Speed-ups of whole runs by cause, written by `python -m tests.bench.gains`.
FILE = Path(__file__).parent / "measured_gains.yaml"
#: From so many cases on the middle half of them is told, else all: quartiles divide them into four.
_QUARTERS = 4
#: One case shows no range.
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class TypicalGain:
    """Speed-ups of whole runs that `cases` measured repairs gave: `low` to `high` is the middle half of them (all, where they are few)."""

    low: float
    high: float
    cases: int


def typical_gain(cause: str, bound: float | None = None) -> TypicalGain | None:
    """What measured repairs of a cause gave; None where fewer than two were measured that this run allows: more than its `bound` was won
    where the place had more of the run.
    """
    found = sorted(each for each in _measured().get(cause, ()) if bound is None or each <= bound)
    if len(found) < _FEWEST:
        return None
    low, high = (
        (found[0], found[-1]) if len(found) < _QUARTERS else quantiles(found, n=_QUARTERS, method="inclusive")[::2]
    )
    return TypicalGain(low, high, len(found))


@cache
def _measured() -> Mapping[str, tuple[float, ...]]:
    data = table("chathpc.diagnosis", FILE.name)
    return {cause: tuple(float(one["speedup"]) for one in cases) for cause, cases in data.items()}
