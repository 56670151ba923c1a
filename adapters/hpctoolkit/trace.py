"""trace.db: what each location did over time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.hpctoolkit import structures as st
from chathpc.adapters.hpctoolkit.binary import DatabaseFile
from chathpc.adapters.hpctoolkit.profiles import ContextNodes
from chathpc.profile.timeline import Lane, Timeline


def count_elements(file: DatabaseFile) -> int:
    """Number of elements of all traces, from their headers alone; hpcrun writes one for each sample."""
    head = file.header(0, st.TRACES)
    rows = file.array(int(head["pTraces"]), st.TRACE, int(head["nTraces"]), int(head["szTrace"]))
    begin, end = rows["pStart"], rows["pEnd"]
    if bool((end < begin).any()) or bool((end > len(file.data)).any()):
        raise file.damaged("a trace ends before it begins or after the file", file.sections[0][0])
    return int((end - begin).sum()) // st.TRACE_ELEMENT.itemsize


def wall_seconds(file: DatabaseFile) -> float | None:
    """Seconds between the first and the last element of all traces; None without any."""
    head = file.header(0, st.TRACES)
    nanoseconds = int(head["maxTimestamp"]) - int(head["minTimestamp"])
    return nanoseconds * 1e-9 if nanoseconds > 0 else None


def read_timeline(file: DatabaseFile, nodes_of: ContextNodes, row_of_profile: NDArray[np.int64]) -> Timeline:
    """All traces; lanes of unknown profiles are left out. AdapterError where a trace lies outside the file."""
    head = file.header(0, st.TRACES)
    rows = file.array(int(head["pTraces"]), st.TRACE, int(head["nTraces"]), int(head["szTrace"]))
    lanes = []
    budget = len(file.data)
    for row in rows:
        begin, end = int(row["pStart"]), int(row["pEnd"])
        size = st.TRACE_ELEMENT.itemsize
        if end < begin or (end - begin) % size:
            raise file.damaged("a trace ends before it begins or inside an element", begin)
        budget -= end - begin
        if budget < 0:
            raise file.damaged("traces overlap", begin)
        elements = file.array(begin, st.TRACE_ELEMENT, (end - begin) // size)
        profile = int(row["profIndex"])
        location = int(row_of_profile[profile]) if profile < len(row_of_profile) else -1
        if location < 0:
            continue
        start = elements["timestamp"].astype(np.uint64)
        if bool(np.any(start[1:] < start[:-1])):
            raise file.damaged("the elements of a trace are not in order of time", begin)
        lanes.append(Lane(location, start, nodes_of(elements["ctxId"])))
    return Timeline(int(head["minTimestamp"]), int(head["maxTimestamp"]), tuple(lanes))
