"""A writer of speedscope's file format: stacks with weights as samples, or one after the other as events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

Stack = tuple[tuple[str, ...], float]

HEAT: tuple[Stack, ...] = (
    (("main",), 20),
    (("main", "solve"), 300),
    (("main", "solve", "exp"), 120),
    (("main", "solve", "solve"), 40),
    (("main", "init"), 60),
)


def sampled(stacks: Sequence[Stack], frames: dict[str, int], unit: str = "milliseconds") -> dict[str, Any]:
    """A sampled profile."""
    return {
        "type": "sampled", "name": "thread", "unit": unit, "startValue": 0, "endValue": sum(w for _, w in stacks),
        "samples": [[frames.setdefault(name, len(frames)) for name in names] for names, _ in stacks],
        "weights": [weight for _, weight in stacks],
    }  # fmt: skip


def evented(stacks: Sequence[Stack], frames: dict[str, int], unit: str = "milliseconds") -> dict[str, Any]:
    """An evented profile: each stack in turn, with what two in a row share left open."""
    events, now, present = [], 0.0, list[int]()
    for names, weight in [*stacks, ((), 0.0)]:
        wanted = [frames.setdefault(name, len(frames)) for name in names]
        shared = 0
        while shared < min(len(wanted), len(present)) and wanted[shared] == present[shared]:
            shared += 1
        events += [{"type": "C", "frame": frame, "at": now} for frame in reversed(present[shared:])]
        events += [{"type": "O", "frame": frame, "at": now} for frame in wanted[shared:]]
        present, now = wanted, now + weight
    return {"type": "evented", "name": "thread", "unit": unit, "startValue": 0, "endValue": now, "events": events}


def write(profiles: Sequence[dict[str, Any]], frames: dict[str, int], **facts: Any) -> str:
    """The text of a file; `frames` is what the profiles filled."""
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json", "version": "0.0.1", "exporter": "heat@1.2",
        "shared": {"frames": [{"name": name, "file": f"{name}.py", "line": 3} for name in frames]},
        "profiles": list(profiles), "activeProfileIndex": 0, "name": "heat", **facts,
    }  # fmt: skip
    return json.dumps(document)
