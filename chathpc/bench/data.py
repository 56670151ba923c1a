"""A run of the benchmark as JSON, schema chathpc-bench-diagnosis/1."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import isfinite
from typing import Any

from chathpc.bench import lines
from chathpc.bench.outcome import to_data
from chathpc.bench.result import Result, shown
from chathpc.bench.score import Score
from chathpc.reports.style import Style

SCHEMA = "chathpc-bench-diagnosis/1"


def render(result: Result, style: Style, show: str) -> str:
    """The whole run as ASCII; what is not defined (no case for it) is null."""
    content = {
        "schema": SCHEMA,
        "version": result.version,
        "llm": result.llm,
        "split": result.split,
        "sets": [asdict(part) for part in result.parts],
        "halves": [asdict(half) for half in result.halves],
        "all": asdict(result.whole),
        "tables": {key: [asdict(row) for row in rows] for key, rows in result.tables},
        "cases": [_case(score) for score in shown(result.scores, show)],
        "left_out": [{"name": name, "why": why} for name, why in result.left_out],
    }
    return json.dumps(finite(content), indent=2) + "\n"


def _case(score: Score) -> dict[str, Any]:
    case = score.case
    return {
        "name": case.name,
        "set": case.group,
        "label": case.label.value,
        "split": case.split.value,
        "cause": case.cause,
        "right": sorted(case.right),
        "healthy": case.healthy,
        "visible": case.visible,
        "rank": score.rank,
        "function_right": score.function,
        "line_right": score.line,
        "wrong": lines.faults(score),
        "outcome": to_data(score.outcome),
    }


def finite(value: Any) -> Any:
    """`value` with null for numbers that JSON has not."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value
