"""Plain tables: columns two spaces apart, numbers to the right and below each other in one unit."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence, Set

from rich.cells import cell_len
from rich.text import Text

from chathpc.profile import numbers
from chathpc.profile.names import shorten_apart
from chathpc.reports.blocks import columns
from chathpc.reports.style import Style

#: What one of the units that chathpc.profile.numbers writes is worth: prefixes, and the hour.
_WORTH = (*(10.0**exponent for exponent in range(-12, 19, 3)), 3600.0)
_GAP = 2
_PATH = re.compile(r"\w*/[^/\s]")
_NARROWEST = 8
#: What is no significant digit of a number.
_NO_DIGIT = re.compile(r"^[^1-9]+|\D")


def table_lines(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    style: Style,
    *,
    right: str | Sequence[str] = "",
    whole: str | Sequence[str] = "",
) -> list[Text]:
    """The table as lines of at most `style.width` columns; the widest columns are shortened to fit, numbers and those of `whole` last.

    `right` names the columns that are aligned to the right, numbers: words, or titles that may have blanks.
    """
    cells = [[style.name(cell) for cell in row] for row in (header, *rows)]
    figures = columns(header, right)
    widths = _widths(cells, style.width, figures | columns(header, whole))
    told = [_shortened(cells, width, style) for cells, width in zip(zip(*cells, strict=True), widths, strict=True)]
    lines = []
    for number, row in enumerate(zip(*told, strict=True)):
        line = Text(style="bold" if number == 0 else "")
        for at, (short, width) in enumerate(zip(row, widths, strict=True)):
            padding = " " * (width - cell_len(short))
            line.append(padding + short if at in figures else short + padding)
            line.append(" " * _GAP)
        line.rstrip()
        lines.append(line)
    return lines


def shortened(text: str, width: int, style: Style) -> str:
    """A name or a path that is safe to print, in at most `width` columns."""
    return style.shorten_path(text, width) if _PATH.match(text) else style.shorten(text, width)


def _shortened(cells: Sequence[str], width: int, style: Style) -> list[str]:
    """The cells of a column; of names that would be alike what differs is told."""
    apart = shorten_apart(cells, width, ellipsis=style.fit("…"))
    pairs = zip(cells, apart, strict=True)
    return [shortened(cell if _PATH.match(cell) else short, width, style) for cell, short in pairs]


def _widths(cells: Sequence[Sequence[str]], width: int, whole: Set[int]) -> list[int]:
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    texts = [at for at in range(len(widths)) if at not in whole]
    for ones in (texts, range(len(widths))):
        while sum(widths) + _GAP * (len(widths) - 1) > width:
            widest = max(ones, key=lambda at: widths[at], default=0)
            if widths[widest] <= _NARROWEST:
                break
            widths[widest] -= 1
    return widths


def column(values: Iterable[float], top: float, unit: str, *, digits: int = 1) -> list[str]:
    """Each of `values` in the unit and with the decimals of `top`, the largest: `9.01 s`, `0.13 s`, not `130 ms`.

    What would have fewer significant digits than `digits` there, so that it could read as nothing, has a unit of its own: `400 µs`.
    """
    head, _, suffix = numbers.quantity(top, unit).partition(" ")
    try:
        shown = float(head.replace(",", ""))
    except ValueError:
        return [numbers.quantity(value, unit) for value in values]
    if shown == 0 or top == 0:
        return [numbers.quantity(value, unit) for value in values]
    worth = min(_WORTH, key=lambda candidate: abs(math.log(top / shown / candidate)))
    decimals = len(head.partition(".")[2])
    cells = []
    for value in values:
        text = f"{value / worth:,.{decimals}f}"
        told = len(_NO_DIGIT.sub("", text)) >= digits
        cells.append(f"{text} {suffix}".rstrip() if told else numbers.quantity(value, unit))
    return cells
