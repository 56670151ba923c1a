"""Values of places with what libraries do for them told as the program's calls."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from chathpc.profile.classification import classify
from chathpc.profile.profile import Profile
from chathpc.profile.tree import CallTree, FloatArray, IntArray


@lru_cache(maxsize=2)
def call_of(tree: CallTree) -> IntArray:
    """The call of a library that each node is part of, −1 in the program's code."""
    return classify(tree).call


def call_values(profile: Profile, metric: str, nodes: IntArray) -> FloatArray:
    """Values by location of nodes themselves; a call of a library has those of all that the library does for it, which have none: the many
    ways through a library to one call of the system tell a reader nothing.
    """
    call = call_of(profile.tree)
    standing = np.where(call >= 0, call, np.arange(len(call), dtype=np.int32))
    column = np.full(len(standing), -1, dtype=np.int32)
    column[nodes] = np.arange(len(nodes), dtype=np.int32)
    members = np.flatnonzero(column[standing] >= 0).astype(np.int32)
    found = np.zeros((len(profile.where), len(nodes)))
    # Calls may have many more nodes below them than were asked for: at once no more are read than that.
    for part in np.array_split(members, -(-len(members) // len(nodes))) if len(members) else ():
        values = profile.values.per_location(metric, part, inclusive=False)
        order = np.argsort(column[standing[part]], kind="stable")
        columns, begins = np.unique(column[standing[part]][order], return_index=True)
        found[:, columns] += np.add.reduceat(values[:, order], begins, axis=1)
    return found
