"""A writer of what perf stat prints with -x and with -j."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter; `value` None is `<not supported>`. `derived` is a value and its unit."""

    event: str
    value: float | None
    unit: str = ""
    counted: float = 100.0
    derived: tuple[float, str] | None = None


HEAT = (
    Counter("task-clock", 2000.5, "msec", derived=(0.5, "CPUs utilized")),
    Counter("cycles", 4e9, derived=(2.0, "GHz")),
    Counter("instructions:u", 6e9, counted=49.5, derived=(1.5, "insn per cycle")),
    Counter("cache-references", 1e8),
    Counter("cache-misses", 2.5e7),
    Counter("L1-dcache-load-misses", None),
    Counter("page-faults", 2123.0),
)


def columns(
    counters: Sequence[Counter], separator: str = ",", *, prefix: Sequence[str] = (), deviation: bool = False
) -> str:
    """The text of -x."""
    rows = ["# started on Sat Nov 21 07:20:36 2026", ""]
    for one in counters:
        value = "<not supported>" if one.value is None else f"{one.value:.2f}" if one.unit else f"{one.value:.0f}"
        derived = ["", ""] if one.derived is None else [f"{one.derived[0]:.3f}", one.derived[1]]
        extra = ["0.35%"] if deviation else []
        cells = [*prefix, value, one.unit, one.event, *extra, "2000500000", f"{one.counted:.2f}", *derived]
        rows.append(separator.join(cells))
    return "\n".join(rows) + "\n"


def lines(counters: Sequence[Counter]) -> str:
    """The text of -j."""
    rows = []
    for one in counters:
        facts = {
            "counter-value": "<not supported>" if one.value is None else f"{one.value:.6f}", "unit": one.unit,
            "event": one.event, "event-runtime": 2000500000, "pcnt-running": one.counted,
            "metric-value": one.derived[0] if one.derived else 0.0, "metric-unit": one.derived[1] if one.derived else "",
        }  # fmt: skip
        rows.append(json.dumps(facts))
    return "\n".join(rows) + "\n"
