"""The pages of a run of the benchmark of changes: for a terminal, as Markdown, and as JSON (schema chathpc-bench-fix/1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict

from chathpc.bench.data import finite
from chathpc.bench.fixes.outcome import Outcome, to_data
from chathpc.bench.fixes.result import Result, Row, verdicts
from chathpc.bench.fixes.run import BUGGY, HUMAN
from chathpc.bench.fixes.task import Task
from chathpc.bench.lines import asked, cell
from chathpc.bench.text import WIDE
from chathpc.reports.markdown import prose, table
from chathpc.reports.page import Page
from chathpc.reports.style import Style

_SCHEMA = "chathpc-bench-fix/1"
#: What `expect` of a task says of its human version.
_EXPECTED = {"compiler": "the compiler does it at -O3", "scale": "faster only at larger scale"}


def lead(result: Result) -> str:
    """One sentence: what was run."""
    counted = sum(any(outcome.counted for outcome in row.outcomes.values()) for row in result.rows)
    left = len(result.rows) - counted
    healthy = sum(row.task.healthy for row in result.rows)
    text = f"{counted} tasks" + (f" ({healthy} healthy programs among them)" if healthy else "")
    text += f", at most {result.time_limit:g} s each, sandbox {result.sandbox}, chathpc {result.version}."
    return text + (f" {left} were excluded." if left else "")


def figure_rows(result: Result) -> list[tuple[str, ...]]:
    """A row for each figure: its name, its value with each strategy, what is asked, what it is."""
    found = []
    for first in result.figures[0].figures if result.figures else ():
        each = [part.get(first.key) for part in result.figures]
        found.append(
            (first.key, *map(cell, each), next((asked(one) for one in each if one and one.asked), ""), first.title)
        )
    return found


def task_header(result: Result) -> tuple[str, ...]:
    """The columns of `task_cells`."""
    return ("task", "fault", "original", *result.strategies, "best", "rounds", "tokens", "seconds", "candidates")


def task_cells(result: Result, row: Row) -> tuple[str, ...]:
    """A task: its fault, seconds of the original, what each strategy reached, the best, and what that took."""
    best = result.best(row)
    own = [row.outcomes[name] for name in result.strategies if name not in (HUMAN, BUGGY)] or list(
        row.outcomes.values()
    )
    seconds = next((each.original_seconds for each in row.outcomes.values() if each.original_seconds is not None), None)
    return (
        row.task.name,
        row.task.right[0],
        "" if seconds is None else f"{seconds:.2f} s",
        *(reached(row.task, row.outcomes[name], name) for name in result.strategies),
        best or "",
        str(sum(each.rounds for each in own)),
        str(sum(each.tokens for each in own)),
        f"{sum(each.seconds for each in own):.0f}",
        "; ".join(filter(None, map(verdicts, own))),
    )


def reached(task: Task, outcome: Outcome, strategy: str) -> str:
    """What came of it in some words: a speed-up with its interval, or why there is none."""
    if outcome.improved or outcome.ended == "improved-if":
        found = outcome.speedup
        text = "accepted" if found is None else f"{found.estimate:.2f}x ({found.low:.2f} to {found.high:.2f})"
        text += "" if outcome.improved else " if durability may be given up"
        return text + (" by flags" if outcome.flags_alone else "")
    if outcome.ended in ("skipped", "failed"):
        return f"{outcome.ended}: {outcome.reason}"
    if strategy == HUMAN and task.expect in _EXPECTED:
        return f"{outcome.ended} ({_EXPECTED[task.expect]})"
    return outcome.ended


def _text(result: Result, style: Style) -> str:
    """Figures of the strategies, and the tasks one below the other."""
    page = Page(style)
    page.paragraph(lead(result), indent=0)
    page.heading("Figures", "value, interval of 95 %, tasks behind it")
    header = ("figure", *result.strategies, "asked", "what it is")
    kept = None if style.width >= WIDE else -1
    page.table(header[:kept], [row[:kept] for row in figure_rows(result)])
    page.heading("Tasks", "speed-up against the original, interval of 95 %")
    columns = task_header(result)
    for row in result.rows:
        found = dict(zip(columns, task_cells(result, row), strict=True))
        page.item(f"{found.pop('task')}: {found.pop('fault')}")
        for name, value in found.items():
            if value not in ("", "0"):
                page.paragraph(value, label=name)
    return page.text()


def _markdown(result: Result, style: Style) -> str:
    """Figures of the strategies, and a table of the tasks."""
    figures = [(*map(prose, row),) for row in figure_rows(result)]
    tasks = [tuple(map(prose, task_cells(result, row))) for row in result.rows]
    blocks = [
        "# Changes that chathpc fix finds",
        prose(lead(result)),
        "## Figures",
        table(("figure", *result.strategies, "asked", "what it is"), figures),
        "## Tasks",
        table(task_header(result), tasks),
    ]
    return style.fit("\n\n".join(filter(None, blocks)) + "\n")


def _json(result: Result, style: Style) -> str:
    """The whole run as ASCII; what is not defined (no task for it) is null."""
    content = {
        "schema": _SCHEMA,
        "version": result.version,
        "sandbox": result.sandbox,
        "time_limit": result.time_limit,
        "strategies": [
            {"name": part.name, "figures": [asdict(figure) for figure in part.figures]} for part in result.figures
        ],
        "tasks": [
            {
                "name": row.task.name,
                "set": row.task.group,
                "title": row.task.title,
                "language": row.task.language,
                "model": row.task.model,
                "right": list(row.task.right),
                "expect": row.task.expect,
                "best": result.best(row),
                "outcomes": {name: to_data(outcome) for name, outcome in row.outcomes.items()},
            }
            for row in result.rows
        ],
    }
    return json.dumps(finite(content), indent=2) + "\n"


def renderers() -> Mapping[str, Callable[[Result, Style], str]]:
    """Every renderer; its arguments are the result and the style."""
    return {"text": _text, "markdown": _markdown, "json": _json}
