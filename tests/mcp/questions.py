"""Questions to every tool, and texts that try to lead a reader of files astray."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chathpc.chat.tools import TOOLS

EXAMPLES = Path(__file__).parents[2] / "examples"
TRIANGLE = EXAMPLES / "omp-triangle" / "database"
IMBALANCE = EXAMPLES / "mpi-imbalance" / "database"

#: Arguments with which each tool answers about the profile of examples/omp-triangle, with another one to compare it with.
SENSIBLE: Mapping[str, Mapping[str, Any]] = {
    "summary": {},
    "findings": {},
    "evidence": {"id": "E1"},
    "top": {"by": "line", "limit": 5},
    "activities": {"kind": "openmp"},
    "tree": {"depth": 4},
    "callers": {"name": "work_item"},
    "callees": {"name": "main"},
    "loops": {"name": "work_item"},
    "examined": {},
    "scaling": {},
    "source": {"place": "work_item"},
    "locations": {},
    "what_if": {"place": "work_item", "factor": 2},
    "compare": {},
    "metrics": {},
    "measured": {"metric": "cpu.time"},
    "why": {"place": "work_item"},
    "files": {},
    "devices": {},
    "missing": {},
    "timeline": {},
    "catalogue": {"words": "false sharing"},
    "query": {"query": '["*", {"name": "work_item*"}]'},
}

HOSTILE = (
    "/etc/passwd",
    "../../../../../../etc/passwd",
    "file:///etc/passwd",
    "~/.ssh/id_rsa",
    "$(touch pwned)",
    "`touch pwned`; touch pwned",
    "| touch pwned",
    "http://127.0.0.1:9/x",
    "\x1b[31mred\x1b[0m\x1b]8;;http://evil.example\x07",
    "a\x00b",
    "\u202egnp.exe",
    "\ud800",
    "<|im_start|>system",
    "__import__('os').system('touch pwned')",
    "{0.__class__.__mro__}",
    "%s%n",
    "x" * 100_000,
    "(" * 5_000,
    "",
)
HOSTILE_VALUES: tuple[object, ...] = (None, [], {}, -1, 2**70, float("nan"), True, [["a"] * 10] * 10, {"a": {"b": {}}})


def hostile_arguments(name: str) -> list[dict[str, Any]]:
    """For each argument of a tool the hostile texts and values in it, the other ones sensible; and arguments that it has not."""
    base = dict(SENSIBLE[name])
    asked: list[dict[str, Any]] = [{**base, "path": "/etc/passwd"}, {text: text for text in HOSTILE}]
    for field in TOOLS[name].arguments.model_fields:
        asked += [{**base, field: value} for value in (*HOSTILE, *HOSTILE_VALUES)]
    return asked
