"""A run of the benchmark of changes for a terminal."""

from __future__ import annotations

from chathpc.bench.fixes import cells
from chathpc.bench.fixes.result import Result
from chathpc.bench.text import WIDE
from chathpc.reports.page import Page
from chathpc.reports.style import Style
from chathpc.reports.table import table_lines


def render(result: Result, style: Style) -> str:
    """Figures of the strategies, and the tasks one below the other."""
    page = Page(style)
    page.paragraph(cells.lead(result), indent=0)
    page.heading("Figures", "value, interval of 95 %, tasks behind it")
    header = ("figure", *result.strategies, "asked", "what it is")
    kept = None if style.width >= WIDE else -1
    for line in table_lines(header[:kept], [row[:kept] for row in cells.figure_rows(result)], page.style):
        page.row(line)
    page.heading("Tasks", "speed-up against the original, interval of 95 %")
    columns = cells.task_header(result)
    for row in result.rows:
        found = dict(zip(columns, cells.task_cells(result, row), strict=True))
        page.item(f"{found.pop('task')}: {found.pop('fault')}")
        for name, value in found.items():
            if value not in ("", "0"):
                page.paragraph(value, label=name)
    return page.text()
