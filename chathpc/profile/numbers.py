"""How numbers are written for people: three significant digits, SI prefixes, one space before the unit.

Evidence, renderers and tables take their numbers from here, so that the same value reads the same everywhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

UNKNOWN = "not measured"

#: Smallest value that is still written with the prefix, largest first.
_TIME = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"))
_LARGE = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"))
#: How the plural of a word ends.
_SEVERAL = re.compile(r"(?<=ss)es$|(?<=[sc]h)es$|(?<=[^s])s$")
#: Above this many seconds hours are easier to grasp; the hour is accepted for use with the SI (BIPM brochure, table 8).
_HOURS_FROM = 10_000.0
#: Below this share the digits say nothing: a profile of 1,000 samples has a resolution of 0.1 %.
_SMALLEST_SHARE = 0.001


def rounded(value: float, digits: int = 3) -> float:
    """`value` rounded to `digits` significant digits."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))


def number(value: float, digits: int = 3) -> str:
    """`9.01`, `45.2`, `352`, `1,230`, `0.0123`; thousands are grouped."""
    value = rounded(value, digits)
    if not math.isfinite(value):
        return UNKNOWN
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:,.{max(0, decimals)}f}"


def seconds(value: float) -> str:
    """A duration given in seconds: `9.01 s`, `45.2 ms`, `310 µs`, `2.78 h`."""
    if not math.isfinite(value):
        return UNKNOWN
    if value == 0:
        return "0 s"
    shown = rounded(value)
    if abs(shown) >= _HOURS_FROM:
        return f"{number(value / 3600)} h"  # rounded once: hours have other digits
    for limit, unit in _TIME:
        if abs(shown) >= limit:
            return f"{number(shown / limit)} {unit}"
    return f"{value:.2e} s"


def size(value: float) -> str:
    """An amount of data given in bytes, in powers of 1,000: `512 B`, `1.34 GB`."""
    value = rounded(value)
    for limit, prefix in (*_LARGE, (1e3, "k")):
        if math.isfinite(value) and abs(value) >= limit:
            return f"{number(value / limit)} {prefix}B"
    return UNKNOWN if not math.isfinite(value) else f"{number(value)} B"


def count(value: float) -> str:
    """A count: exact below a million (`45,000`), then `12.3 M`."""
    if not math.isfinite(value):
        return UNKNOWN
    if float(value).is_integer() and abs(value) < 1e6:
        return f"{int(value):,}"
    value = rounded(value)
    for limit, prefix in _LARGE:
        if abs(value) >= limit:
            return f"{number(value / limit)} {prefix}"
    return number(value)


def percent(share: float) -> str:
    """A part of the whole (0..1) for running text: `35.2 %`, `100 %`, `<0.1 %`."""
    if not math.isfinite(share):
        return UNKNOWN
    if 0 < share < _SMALLEST_SHARE:
        return "<0.1 %"
    return f"{number(share * 100)} %"


def percent_cell(share: float) -> str:
    """A part of the whole (0..1) for a column: one decimal always, so that the points stand below each other."""
    return f"{share * 100:.1f} %" if math.isfinite(share) else UNKNOWN


def speedup(bound: float) -> str:
    """A factor: `1.35x`; a cost that is the whole run has no finite bound."""
    return f"{number(bound)}x" if math.isfinite(bound) else "any factor"


def quantity(value: float, unit: str) -> str:
    """`value` in a metric's unit (chathpc.profile.metric.Unit) or in any other: `9.01 s`, `1.2 GB`, `45,000 samples`."""
    if unit == "s":
        return seconds(value)
    if unit in ("bytes", "B"):
        return size(value)
    if unit == "percent":
        return percent(value / 100)
    if unit == "ratio":
        return number(value)
    text = count(value)
    if unit in ("", "count") or text == UNKNOWN:
        return text
    return f"{text} {_SEVERAL.sub('', unit) if text == '1' else unit}"


def ranged(value: float, low: float, high: float, write: Callable[[float], str]) -> str:
    """A value with its bounds, or alone if they are written alike; the lower one alone if nothing bounds it above."""
    if math.isinf(high):
        return f"at least {write(low)}"
    main, least, most = write(value), write(low), write(high)
    return main if least == main == most else f"{main} ({least} to {most})"


def money(amount: float, currency: str) -> str:
    """An amount to three significant digits, and at least to the cent: `0.0123 USD`, `1.25 EUR`."""
    digits = 2
    while digits < 8 and 0 < amount < 10.0 ** (2 - digits):
        digits += 1
    return f"{amount:.{digits}f} {currency}"
