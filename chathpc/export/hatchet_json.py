"""The JSON of hatchet's GraphFrame: `hatchet.GraphFrame.from_json(text)` gives it back, with every metric of the profile."""

from __future__ import annotations

from chathpc.errors import UsageError
from chathpc.profile.hatchet_bridge import INCLUSIVE
from chathpc.profile.profile import Profile

#: hatchet's own default metric.
_DEFAULT = "time"


def export(profile: Profile, metric: str | None) -> str:
    """All nodes with all metrics, as hatchet writes a GraphFrame; `metric`, or the time, is its default metric."""
    if not len(profile.tree):
        raise UsageError("This profile has no call tree.", hint="Export it as csv.")
    frame = profile.graphframe()
    default = frame.default_metric if metric is None else profile.metric(metric).id
    # The file does not say which metric is the default one: whoever reads it takes this column.
    known = [suffix for suffix in ("", INCLUSIVE) if default + suffix in frame.dataframe]
    frame.dataframe = frame.dataframe.assign(**{_DEFAULT + each: frame.dataframe[default + each] for each in known})
    # Our own metadata holds records that JSON does not know; a reader of another tool has no use for them.
    frame.metadata = {"title": profile.title, "format": profile.format}
    text: str = frame.to_json()
    return text + "\n"
