"""A profile with less in it than was measured: without source, without counters, without the values of single threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from chathpc.profile.location import Locations
from chathpc.profile.profile import Profile, no_timeline
from chathpc.profile.source_text import no_source
from chathpc.profile.values import MemoryValues


def without_source(profile: Profile) -> Profile:
    """The profile as if nobody had kept the program's source."""
    return replace(profile, read_source=no_source)


def without_counters(profile: Profile) -> Profile:
    """The profile with its time alone."""
    time = profile.time
    if time is None:
        return profile
    return replace(profile, metrics={time.id: time})


def without_threads(profile: Profile) -> Profile:
    """The profile as a tool writes it that adds all threads and ranks up, and keeps no timeline."""
    measured = [key for key, metric in profile.metrics.items() if metric.has_values]
    values = MemoryValues(
        tree=profile.tree,
        exclusives={key: profile.values.exclusive(key) for key in measured},
        inclusives={key: profile.values.inclusive(key) for key in measured},
    )
    return replace(profile, values=values, where=Locations.single(), read_timeline=no_timeline)


def with_nothing(profile: Profile) -> Profile:
    """Without any of these."""
    return without_source(without_counters(without_threads(profile)))


#: What is taken away → the profile without it.
POORER: Mapping[str, Callable[[Profile], Profile]] = {
    "source": without_source,
    "counters": without_counters,
    "threads": without_threads,
    "all of these": with_nothing,
}
