"""Which call launched which operation: by the number that the runtime gave both."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chathpc.adapters.traced.recording import Recording


def join(recording: Recording, calls: Iterable[tuple[object, int]], operations: Iterable[tuple[object, int]]) -> None:
    """Set the launch of `operations` that have none yet to the call of the same key.

    Both are pairs of (key, number of slice or operation). Keys are unique within a process only, and traces of several
    processes may be in one file: of several calls with one key the last that began before the operation is taken, or
    the first if all began later (clocks of host and device differ a little). O(n log n).
    """
    number: dict[object, int] = {}
    call_key, call = [], []
    for key, piece in calls:
        call_key.append(number.setdefault(key, len(number)))
        call.append(piece)
    op_key, op = [], []
    for key, piece in operations:
        found = number.get(key)
        if found is not None and recording.launch[piece] < 0:
            op_key.append(found)
            op.append(piece)
    if not call or not op:
        return
    start = np.array(recording.start, dtype=np.int64)[call]
    began = np.array(recording.op_start, dtype=np.int64)[op]
    moments, rank = np.unique(np.concatenate([start, began]), return_inverse=True)
    width = len(moments) + 1
    order = np.argsort(np.array(call_key, dtype=np.int64) * width + rank[: len(call)], kind="stable")
    sorted_key = np.array(call_key, dtype=np.int64)[order]
    sorted_at = sorted_key * width + rank[: len(call)][order]
    wanted = np.array(op_key, dtype=np.int64)
    at = np.searchsorted(sorted_at, wanted * width + rank[len(call) :], side="right") - 1
    first = np.searchsorted(sorted_key, wanted, side="left")
    chosen = order[np.maximum(at, first)]
    for piece, position in zip(op, chosen.tolist(), strict=True):
        recording.launch[piece] = call[position]
