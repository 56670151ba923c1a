"""Plain tables: columns two spaces apart, numbers to the right."""

from __future__ import annotations

from collections.abc import Sequence, Set

from rich.cells import cell_len
from rich.text import Text

from chathpc.reports.style import Style

_GAP = 2
_NARROWEST = 8


def table_lines(
    header: Sequence[str], rows: Sequence[Sequence[str]], style: Style, *, right: str | Sequence[str] = ""
) -> list[Text]:
    """The table as lines of at most `style.width` columns; the widest columns are shortened to fit, numbers last.

    `right` names the columns that are aligned to the right, numbers: words, or titles that may have blanks.
    """
    named = right.split() if isinstance(right, str) else right
    cells = [[style.name(cell) for cell in row] for row in (header, *rows)]
    numbers = {at for at, title in enumerate(header) if title in named}
    widths = _widths(cells, style.width, numbers)
    lines = []
    for number, row in enumerate(cells):
        line = Text(style="bold" if number == 0 else "")
        for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
            short = style.shorten(cell, width)
            padding = " " * (width - cell_len(short))
            line.append(padding + short if at in numbers else short + padding)
            line.append(" " * _GAP)
        line.rstrip()
        lines.append(line)
    return lines


def _widths(cells: Sequence[Sequence[str]], width: int, numbers: Set[int]) -> list[int]:
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    texts = [at for at in range(len(widths)) if at not in numbers]
    for columns in (texts, range(len(widths))):
        while sum(widths) + _GAP * (len(widths) - 1) > width:
            widest = max(columns, key=lambda at: widths[at], default=0)
            if widths[widest] <= _NARROWEST:
                break
            widths[widest] -= 1
    return widths
