"""A run of the benchmark of changes as a page of Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.bench.fixes import cells
from chathpc.bench.fixes.result import Result
from chathpc.reports.markdown import prose
from chathpc.reports.style import Style


def render(result: Result, style: Style) -> str:
    """Figures of the strategies, and a table of the tasks."""
    figures = [(*map(prose, row),) for row in cells.figure_rows(result)]
    tasks = [tuple(map(prose, cells.task_cells(result, row))) for row in result.rows]
    blocks = [
        "# Changes that chathpc fix finds",
        prose(cells.lead(result)),
        "## Figures",
        _table(("figure", *result.strategies, "asked", "what it is"), figures),
        "## Tasks",
        _table(cells.task_header(result), tasks),
    ]
    return style.fit("\n\n".join(blocks) + "\n")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    found = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(text.replace('|', chr(92) + '|') for text in row)} |" for row in found)
