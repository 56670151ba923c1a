"""The JSON of hatchet's GraphFrame: `hatchet.GraphFrame.from_json(text)` gives it back, with every metric of the profile."""

from __future__ import annotations

from chathpc.errors import UsageError
from chathpc.profile.profile import Profile


def export(profile: Profile, metric: str | None) -> str:
    """All nodes with all metrics, as hatchet writes a GraphFrame; `metric` becomes its default metric."""
    if not len(profile.tree):
        raise UsageError("This profile has no call tree.", hint="Export it as csv.")
    frame = profile.graphframe()
    if metric is not None:
        frame.default_metric = profile.metric(metric).id
    # Our own metadata holds records that JSON does not know; a reader of another tool has no use for them.
    frame.metadata = {"title": profile.title, "format": profile.format}
    text: str = frame.to_json()
    return text + "\n"
