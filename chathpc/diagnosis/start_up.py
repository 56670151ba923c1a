"""Runs so short that they show only how MPI starts and ends, or nothing at all."""

from __future__ import annotations

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.rules.mpi import public_name
from chathpc.profile import numbers
from chathpc.profile.activity import BLOCKED, Activity

_LISTED = 3


def too_brief(facts: Facts) -> str:
    """That a run took less than a millisecond, as a sentence; empty for longer ones and for sampled profiles."""
    if not facts.profile.timed or not facts.in_seconds or facts.total <= 0:
        return ""
    duration = facts.total / max(facts.thread_count, 1)
    if duration >= common()["shortest_run_seconds"].value:
        return ""
    return (
        f"The run takes {numbers.seconds(duration)}: too short to conclude from, as measuring it costs a microsecond per "
        "region. Measure a larger case, or many repetitions."
    )


def only_start_up(facts: Facts) -> str:
    """That a run shorter than a second mostly started and ended MPI, as a sentence; empty where it did more. While a rank waits for the
    others to start it has no core: that time tells nothing of how much the rest is.
    """
    if not facts.in_seconds or facts.total <= 0:
        return ""
    duration = facts.total / max(facts.thread_count, 1)
    if duration >= common()["short_run_seconds"].value:
        return ""
    tree, spent, share = facts.profile.tree, facts.of(Activity.MPI_SETUP), facts.share(Activity.MPI_SETUP)
    waited = float(spent[tree.named(BLOCKED)].sum())
    running = facts.total - waited
    if running <= 0 or float(spent.sum()) - waited < common()["start_up_share"].value * running:
        return ""
    by_name: dict[str, float] = {}
    for node in np.flatnonzero(spent > 0).tolist():
        name = public_name(tree.function_name(node))
        by_name[name] = by_name.get(name, 0.0) + float(spent[node])
    largest = sorted(by_name.items(), key=lambda item: -item[1])[:_LISTED]
    listed = ", ".join(f"{name} {numbers.percent(time / facts.total)}" for name, time in largest)
    whose = f" in each of {facts.thread_count} threads or ranks" if facts.thread_count > 1 else ""
    return (
        f"The run takes {numbers.seconds(duration)}{whose}, and {numbers.percent(share)} of that is MPI start-up and shutdown "
        f"({listed}): too little of the program's own work to conclude from. Measure a longer run."
    )
