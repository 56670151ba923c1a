"""speedscope's file format (https://www.speedscope.app/file-format-schema.json): one sampled profile for each metric that adds up."""

from __future__ import annotations

import json
from typing import Any

from chathpc import __version__
from chathpc.export.stacks import metric_to_export, stacks
from chathpc.profile.metric import Aggregation, Metric, Unit
from chathpc.profile.profile import Profile

_UNITS = {Unit.SECONDS: "seconds", Unit.BYTES: "bytes"}


def export(profile: Profile, metric: str | None) -> str:
    """The call paths of `profile` weighted by `metric`, or by each metric that adds up, the time first."""
    first = metric_to_export(profile, metric)
    others = [
        one
        for one in profile.metrics.values()
        if metric is None and one.id != first.id and one.aggregation == Aggregation.SUM and one.has_values
    ]
    frames: dict[tuple[str, str | None, int], int] = {}
    profiles = [_sampled(profile, one, frames) for one in (first, *(one for one in others if not one.hidden))]
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": f"chathpc {__version__}",
        "name": profile.title,
        "activeProfileIndex": 0,
        "shared": {
            "frames": [
                {"name": name, **({"file": file} if file else {}), **({"line": line} if line else {})}
                for name, file, line in frames
            ]
        },
        "profiles": profiles,
    }
    return json.dumps(document) + "\n"


def _sampled(profile: Profile, metric: Metric, frames: dict[tuple[str, str | None, int], int]) -> dict[str, Any]:
    tree = profile.tree
    number: dict[int, int] = {}
    samples, weights = [], []
    for path, value in stacks(profile, metric):
        for step in path:
            if step not in number:
                key = (tree.label(step), tree.file_name(step), int(tree.line[step]))
                number[step] = frames.setdefault(key, len(frames))
        samples.append([number[step] for step in path])
        weights.append(value)
    return {
        "type": "sampled",
        "name": f"{metric.id} ({metric.tool or metric.source_name})",
        "unit": _UNITS.get(metric.unit, "none"),
        "startValue": 0,
        "endValue": sum(weights),
        "samples": samples,
        "weights": weights,
    }
