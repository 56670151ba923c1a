"""A run of the benchmark of changes as JSON, schema chathpc-bench-fix/1."""

from __future__ import annotations

import json
from dataclasses import asdict

from chathpc.bench.data import finite
from chathpc.bench.fixes.outcome import to_data
from chathpc.bench.fixes.result import Result
from chathpc.reports.style import Style

SCHEMA = "chathpc-bench-fix/1"


def render(result: Result, style: Style) -> str:
    """The whole run as ASCII; what is not defined (no task for it) is null."""
    content = {
        "schema": SCHEMA,
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
