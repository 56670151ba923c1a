"""Reading by one adapter, which must recognise the file first."""

from __future__ import annotations

from pathlib import Path

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import Glance
from chathpc.profile.metric import Aggregation
from chathpc.profile.profile import Profile
from tests.adapters.everything import touch_everything


def opened(adapter: Adapter, path: Path) -> Profile:
    """The profile at `path`, after checking that the adapter claims it, that its tree is sound and that its sums are."""
    assert adapter.recognises(Glance(path))
    profile = adapter.read(path)
    touch_everything(profile)
    for name, metric in profile.metrics.items():
        if metric.aggregation == Aggregation.SUM and metric.has_values:
            total = profile.total(name)
            assert abs(profile.exclusive(name).sum() - total) <= 1e-9 * abs(total)
    return profile
