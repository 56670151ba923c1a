"""How an export writes numbers: with the separators of the locale of the machine that wrote it.

`53,261,312.5` where English is set, `53.261.312,5` in most of Europe, spaces or apostrophes elsewhere; the file does not say which. A
single `117.344` may be either, so all numbers of a file decide together.
"""

from __future__ import annotations

import math
import re

#: What can only be a number with a decimal point, or only with a decimal comma.
_POINT = re.compile(
    r"-?(?:\d+\.(?:\d{1,2}|\d{4,})|0\.\d+|\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,})(?:[eE][+-]?\d+)?"
)
_COMMA = re.compile(
    r"-?(?:\d+,(?:\d{1,2}|\d{4,})|0,\d+|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,})(?:[eE][+-]?\d+)?"
)
#: After so many signs the matter is settled.
_ENOUGH = 1000
#: Separators of thousands that mean nothing else: spaces of all widths and apostrophes.
_SPACES = re.compile(r"(?<=\d)[\s'\u2019](?=\d)")


class Numerals:
    """Collects what the numbers of a file look like, and reads them."""

    def __init__(self) -> None:
        self._points = self._commas = 0

    def see(self, text: str) -> None:
        """Take a cell as evidence for one way of writing."""
        if self._points + self._commas >= _ENOUGH:
            return
        text = _plain(text)
        self._points += _POINT.fullmatch(text) is not None
        self._commas += _COMMA.fullmatch(text) is not None

    def number(self, text: str) -> float | None:
        """The number in a cell; None for `n/a`, empty cells and words. Values per instance in brackets are left out."""
        text = _plain(text)
        decimal, grouping = (",", ".") if self._commas > self._points else (".", ",")
        try:
            value = float(text.replace(grouping, "").replace(decimal, "."))
        except ValueError:
            return None
        return value if math.isfinite(value) else None


def _plain(text: str) -> str:
    return _SPACES.sub("", text.partition(" (")[0].strip())
