"""A run of the benchmark for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.bench import lines
from chathpc.bench.result import Result, shown
from chathpc.reports.page import Page
from chathpc.reports.style import Style

HEADER = ("figure", "measured", "asked", "what it is")
#: With fewer columns what a figure is does not fit beside it; docs/accuracy.md tells it.
WIDE = 110


def render(result: Result, style: Style, show: str) -> str:
    """Figures, reliability, tables and cases as a page of text."""
    page = Page(style)
    page.paragraph(lines.lead(result), indent=0)
    for sentence in lines.left_out(result):
        page.paragraph(sentence, indent=0, style="dim")
    sets = lines.columns(result)
    for part in sets:
        page.heading(f"Figures of {part.name}", "value, interval of 95 %, cases behind it")
        found = [(key, title, part.get(key)) for key, title in lines.figure_keys(result)]
        rows = [(key, lines.cell(figure), lines.asked(figure), title) for key, title, figure in found]
        rows = [row for row in rows if row[1] != lines.NOTHING]
        wide = style.width >= WIDE
        _table(page, HEADER if wide else HEADER[:-1], [row if wide else row[:-1] for row in rows])
    page.heading("Confidence of the claims", "how often claims of that confidence are right")
    _table(page, lines.BIN_HEADER, [lines.bin_cells(row) for row in result.whole.reliability])
    for key, rows_of in result.tables:
        page.heading(lines.TABLES[key])
        _table(page, lines.ROW_HEADER, [lines.row_cells(row) for row in rows_of])
    cases = shown(result.scores, show)
    if show != "none":
        page.heading("Cases" if show == "all" else "Cases that are not right", f"{len(cases)} of {len(result.scores)}")
    for score in cases:
        name, expected, told, wrong = lines.case_cells(score)
        page.item(name)
        page.paragraph(expected, label="expected")
        page.paragraph(told, label="told")
        page.paragraph(wrong, label="wrong")
    return page.text()


def _table(page: Page, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if not rows:
        page.paragraph("No case.")
        return
    page.table(header, rows)
