"""Numbers below each other: one unit for the whole column, the points in line."""

from __future__ import annotations

import math
from collections.abc import Iterable

from chathpc.profile import numbers

#: What one of the units that chathpc.profile.numbers writes is worth: prefixes, and the hour.
_WORTH = (*(10.0**exponent for exponent in range(-12, 19, 3)), 3600.0)


def column(values: Iterable[float], top: float, unit: str) -> list[str]:
    """Each of `values` in the unit and with the decimals of `top`, the largest: `9.01 s`, `0.13 s`, not `130 ms`."""
    head, _, suffix = numbers.quantity(top, unit).partition(" ")
    try:
        shown = float(head.replace(",", ""))
    except ValueError:
        return [numbers.quantity(value, unit) for value in values]
    if shown == 0 or top == 0:
        return [numbers.quantity(value, unit) for value in values]
    worth = min(_WORTH, key=lambda candidate: abs(math.log(top / shown / candidate)))
    decimals = len(head.partition(".")[2])
    return [f"{value / worth:,.{decimals}f} {suffix}".rstrip() for value in values]
