"""The time of the largest functions at each rank and thread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chathpc.profile.profile import Profile
from chathpc.view.records import DrawnThreads
from chathpc.view.tables import Tables, rounded

#: Functions, and values in all: more locations leave room for fewer functions.
MOST_PLACES, MOST_VALUES = 24, 50_000
#: Locations of a page; of more, each n-th is shown.
MOST_LOCATIONS = 10_000


def threads_of(profile: Profile, functions: Sequence[int], tables: Tables) -> DrawnThreads | None:
    """The host time of the functions that the nodes `functions` are of, with what they call; None for a single location."""
    time, where, threads = profile.time, profile.where, profile.threads
    threads = threads[~where.is_shared[threads]]
    if time is None or len(threads) < 2:
        return None
    threads = threads[np.lexsort((where.thread[threads], where.rank[threads], where.node[threads]))]
    step = -(-len(threads) // MOST_LOCATIONS)
    shown = threads[::step]
    tree = profile.tree
    label, texts = tree.function_labels
    most = max(1, min(MOST_PLACES, MOST_VALUES // len(shown) - 1))
    chosen = list(dict.fromkeys(int(label[node]) for node in functions))[:most]
    # A node counts for each function that it lies in: nodes that lie in the same ones are one group.
    inside = np.zeros(len(tree), dtype=np.int64)
    for bit, number in enumerate(chosen):
        inside |= tree.inside(np.flatnonzero(label == number).astype(np.int32)).astype(np.int64) << bit
    sets, group = np.unique(inside, return_inverse=True)
    matrix = profile.values.grouped(time.id, group.reshape(-1).astype(np.int32), len(sets))[shown]
    member = (sets[:, None] >> np.arange(len(chosen))) & 1
    inclusive = matrix @ member.astype(np.float64)
    return DrawnThreads(
        metric=time.id,
        rank=where.rank[shown].tolist(),
        thread=where.thread[shown].tolist(),
        places=[-1, *(tables.names.add(texts[each]) for each in chosen)],
        values=[rounded(matrix.sum(axis=1)), *(rounded(column) for column in inclusive.T)],
        left_out=len(threads) - len(shown),
    )
