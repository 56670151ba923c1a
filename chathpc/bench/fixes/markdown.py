"""A run of the benchmark of changes as a page of Markdown."""

from __future__ import annotations

from chathpc.bench.fixes import cells
from chathpc.bench.fixes.result import Result
from chathpc.reports.markdown import prose, table
from chathpc.reports.style import Style


def render(result: Result, style: Style) -> str:
    """Figures of the strategies, and a table of the tasks."""
    figures = [(*map(prose, row),) for row in cells.figure_rows(result)]
    tasks = [tuple(map(prose, cells.task_cells(result, row))) for row in result.rows]
    blocks = [
        "# Changes that chathpc fix finds",
        prose(cells.lead(result)),
        "## Figures",
        table(("figure", *result.strategies, "asked", "what it is"), figures),
        "## Tasks",
        table(cells.task_header(result), tasks),
    ]
    return style.fit("\n\n".join(filter(None, blocks)) + "\n")
