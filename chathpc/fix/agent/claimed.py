"""What a model says that its change makes shorter, as a finding that the gates can hold it to."""

from __future__ import annotations

from itertools import chain

from chathpc.diagnosis.facts import plain_name
from chathpc.diagnosis.records import Diagnosis, Finding, Place
from chathpc.profile.profile import Profile

#: The cause of a claim that no rule made: time at a place.
_CAUSE = "hot-compute"


def claimed(profile: Profile, diagnosis: Diagnosis, *functions: str) -> Finding | None:
    """The diagnosis' finding in the first of `functions` that has one, else the time in and below the first that has some, else the first
    finding there is.

    Names are compared without arguments and scopes.
    """
    names = [name for name in map(_plain, functions) if name]
    same = [each for name in names for each in diagnosis.findings if _plain(each.where.function or "") == name]
    if same:
        return same[0]
    times = (found for found in (_time_in(profile, name) for name in names) if found is not None)
    return next(chain(times, diagnosis.findings), None)


def _time_in(profile: Profile, name: str) -> Finding | None:
    time = profile.time
    if time is None:
        return None
    table, total = profile.table("function", time.id), profile.total(time.id)
    found = [
        (float(seconds), str(function))
        for function, seconds in zip(table["name"].tolist(), table["inclusive"].tolist(), strict=True)
        if _plain(str(function)) == name
    ]
    if not found or not total:
        return None
    seconds, function = max(found)
    return Finding(
        cause=_CAUSE,
        title=f"Time in {function}",
        summary="",
        where=Place(function=function),
        seconds=seconds,
        share=min(seconds / total, 1.0),
        headroom=1.0,
        speedup_bound=None,
        confidence=0.0,
        confidence_reason="",
        evidence=(),
    )


def _plain(name: str) -> str:
    return plain_name(name).lower()
