"""Many small MPI messages: where calls and bytes were counted, time per call and bytes per call tell latency from volume."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.draft import Draft, fact
from chathpc.diagnosis.fact import Kind, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.profile import numbers
from chathpc.profile.activity import Activity

#: Metrics that count bytes of messages; a message is counted where it is sent.
_BYTES = ("mpi.message.bytes", "mpi.sent.bytes")
_CALLS = "calls.count"


def small_messages(facts: Facts) -> Iterable[Draft]:
    """Time in MPI that is the latency of very many calls with few bytes each."""
    entry = cause("mpi-small-messages")
    traced = facts.messages
    spent = facts.spent(Activity.MPI)
    if traced is not None and traced.is_whole:  # then waiting for late ranks is known, and is no latency
        spent = float(traced.at_node.sum())
    metrics = facts.profile.metrics
    sent = next((name for name in _BYTES if name in metrics and metrics[name].has_values), None)
    if facts.total == 0 or _CALLS not in metrics or not facts.in_seconds:
        return
    share = spent / facts.total
    activities = facts.activities
    called = activities.of(Activity.MPI) & (activities.call == np.arange(len(activities.call)))
    calls = float(facts.profile.exclusive(_CALLS).dense(len(called))[called].sum())
    if not facts.above(share, entry.threshold("min_share")) or calls < entry.threshold("min_calls"):
        return
    each, size = spent / calls, None if sent is None else facts.profile.total(sent) / calls
    if each > entry.threshold("max_seconds_per_call") or (size is not None and size > entry.threshold("max_bytes")):
        return
    hot = facts.hot_place(facts.of(Activity.MPI))
    if hot is None:
        return
    where = hot.place.function or "the program"
    yield Draft(
        cause=entry.id,
        where=hot.place,
        summary=f"{numbers.percent(share)} of the time is in {numbers.count(calls)} MPI calls of {numbers.seconds(each)}"
        + (f" and {numbers.size(size)}" if size is not None else "")
        + f" each, most of it called from {where}: latency, not volume.",
        cost=spent,
        share=share,
        threshold=entry.threshold("min_share"),
        evidence=(
            fact(
                facts,
                Kind.MEAN,
                each,
                subject="an MPI call",
                unit="s",
                whole=Quantity(calls, "calls"),
                how="time in MPI calls / number of calls",
            ),
            *(
                ()
                if size is None
                else (
                    fact(
                        facts,
                        Kind.MEAN,
                        size,
                        subject="the data sent in an MPI call",
                        unit="bytes",
                        whole=Quantity(calls, "calls"),
                        metric=sent,
                        how="bytes sent / number of MPI calls",
                    ),
                )
            ),
        ),
        signs=1 if size is None else 2,
        against=("How much data they move was not measured.",) if size is None else (),
        replaces=("mpi-collective-wait", "mpi-late-sender", "mpi-communication-bound"),
    )


RULES = (small_messages,)
