"""What excludes a cause: the rows `refuted_by` of its catalogue entry, measured on a profile.

A cause whose whole cost lies in calls of one kind (MPI, allocation, files) cannot cost what these calls do not take; one that needs several
threads or ranks cannot be where there is one.
"""

from __future__ import annotations

from collections.abc import Mapping

from chathpc.diagnosis import lacks
from chathpc.diagnosis.catalogue import cause, ids
from chathpc.diagnosis.fact import Fact, Form, Kind, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.profile.activity import OPENMP, Activity

#: What is measured of calls: the noun that they are told by, what they do, and whether a clock that stands still in waiting sees them.
_CALLS: Mapping[str, tuple[str, tuple[Activity, ...], bool]] = {
    "allocation": ("Allocating and releasing memory", (Activity.ALLOCATION, Activity.PAGE_FAULT), True),
    "files": ("Input and output", (Activity.IO, Activity.BLOCKED), False),
    "mpi": ("MPI", (Activity.MPI, Activity.MPI_SETUP), False),
    "openmp": ("The OpenMP runtime", OPENMP, False),
}


def _threads(facts: Facts) -> Fact | None:
    count = facts.thread_count
    if not count or lacks.threads(facts) is not None:
        return None
    return Fact("", Kind.COUNT, "The program", float(count), "thread" if count == 1 else "threads", "locations")


def measured(facts: Facts, measure: str) -> Fact | None:
    """The fact that `measure` stands for; None where the profile cannot tell it."""
    if not facts.has_host_time:
        return None
    if measure == "threads":
        return _threads(facts)
    subject, activities, on_cpu = _CALLS[measure]
    time = facts.profile.time
    if time is None or not (on_cpu or facts.profile.sees_waiting):
        return None
    seconds = facts.spent(*activities)
    whole = Quantity(facts.total, str(time.unit))
    return Fact("", Kind.AMOUNT, subject, seconds, str(time.unit), time.source_name, whole=whole, form=Form.ONE)


def refuting(facts: Facts, id: str) -> tuple[Fact, ...]:
    """The facts of this profile that exclude the cause with that id; empty for one that the catalogue lacks."""
    if id not in ids():
        return ()
    found = []
    for row in cause(id).refuted_by:
        fact = measured(facts, row.measure)
        value = None if fact is None else fact.share if fact.share is not None else fact.value
        if fact is not None and value is not None and value < row.below:
            found.append(fact)
    return tuple(found)
