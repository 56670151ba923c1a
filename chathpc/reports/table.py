"""Plain tables: columns two spaces apart, numbers to the right."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from chathpc.reports.style import Style

_GAP = 2
_NARROWEST = 8


def table_lines(header: Sequence[str], rows: Sequence[Sequence[str]], style: Style, *, right: str = "") -> list[Text]:
    """The table as lines of at most `style.width` columns; the widest columns are shortened to fit.

    `right` names the columns that are aligned to the right.
    """
    cells = [[style.name(cell) for cell in row] for row in (header, *rows)]
    widths = _widths(cells, style.width)
    lines = []
    for number, row in enumerate(cells):
        line = Text(style="bold" if number == 0 else "")
        for title, cell, width in zip(header, row, widths, strict=True):
            short = style.shorten(cell, width)
            padding = " " * (width - cell_len(short))
            line.append(padding + short if title in right.split() else short + padding)
            line.append(" " * _GAP)
        line.rstrip()
        lines.append(line)
    return lines


def _widths(cells: Sequence[Sequence[str]], width: int) -> list[int]:
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    while sum(widths) + _GAP * (len(widths) - 1) > width and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths
