"""Collapsed stacks: one line a call path, `main;solve;exp 1200`; seconds become microseconds, as flame graph tools count."""

from __future__ import annotations

from chathpc.export.stacks import metric_to_export, stacks, whole_number_scale
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean

#: The format separates frames by semicolons and knows no way to write one in a name.
_SEMICOLON = {ord(";"): ":"}


def export(profile: Profile, metric: str | None) -> str:
    """The call paths of `profile` weighted by `metric` (default: the time); UsageError for one that does not add up.

    Weights are whole numbers: microseconds for times, else the metric's unit. What was cut off is carried to the next
    line, so that the sum is that of the profile to one unit.
    """
    chosen = metric_to_export(profile, metric)
    tree = profile.tree
    scale = whole_number_scale(chosen.unit)
    lines: dict[str, int] = {}
    carried = 0.0
    for frames, value in stacks(profile, chosen):
        exact = value * scale + carried
        weight = round(exact)
        carried = exact - weight
        if weight > 0:
            path = ";".join(clean(tree.label(step)).translate(_SEMICOLON) or "?" for step in frames)
            lines[path] = lines.get(path, 0) + weight
    return "".join(f"{path} {weight}\n" for path, weight in lines.items())
