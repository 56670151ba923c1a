"""Waits for threads and processes whose work the profile does not have: cProfile sees one thread, which waits for those that it started."""

from __future__ import annotations

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.facts import Facts
from chathpc.profile import numbers
from chathpc.profile.activity import Activity
from chathpc.profile.classification import python_waits
from chathpc.profile.tree import FloatArray

#: With what the stack of a thread or process that Python started begins.
_STARTED = "_bootstrap"


def unseen_work(facts: Facts) -> FloatArray:
    """Time of each node that waits, in functions of Python's library, for others of which the profile has none."""
    tree, where = facts.profile.tree, facts.profile.where
    waits = np.isin(python_waits(tree), (Activity.JOIN, Activity.BLOCKED))
    started = any(name.rpartition(".")[2] == _STARTED for name in tree.names)
    if not waits.any() or started or int((~where.is_gpu).sum()) > 1:
        return np.zeros(len(tree))
    return np.where(tree.nearest(waits) >= 0, facts.time, 0.0)


def elsewhere(facts: Facts) -> str:
    """That most of the time the program waits for such others, as a sentence; empty where it does not."""
    if facts.total <= 0:
        return ""
    weight = unseen_work(facts)
    share, hot = float(weight.sum()) / facts.total, facts.hot_place(weight)
    if hot is None or not facts.above(share, common()["most"].value):
        return ""
    return (
        f"For {numbers.percent(share)} of the time the program waits, most in {hot.place.function}, for other threads or processes, which this profile "
        "does not have. What these do must be measured."
    )
