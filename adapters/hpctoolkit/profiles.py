"""Values by location: profile.db, cct.db and trace.db."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.hpctoolkit import structures as st
from chathpc.adapters.hpctoolkit.binary import DatabaseFile
from chathpc.profile.location import Locations
from chathpc.profile.timeline import Lane, Timeline
from chathpc.profile.tree import FloatArray, Int64Array

#: No count, time or size comes near it; sums of larger values could overflow.
LARGEST_VALUE = 1e200

#: Fewer values are added up sooner than threads begin; each thread needs room for the values of a location.
_WORTH_THREADS, _MOST_THREADS = 1_000_000, 4

#: Kind names of identifier tuples → part of a location.
_PARTS = {
    "NODE": "node",
    "RANK": "rank",
    "THREAD": "thread",
    "CORE": "core",
    "GPUCONTEXT": "gpu_context",
    "GPUSTREAM": "stream",
}


class ContextNodes:
    """Node of the tree for each context id; −1 for ids that are not in the tree (elided instructions)."""

    def __init__(self, context_ids: Int64Array) -> None:
        """`context_ids[node]`; ValueError if an id stands twice."""
        n = len(context_ids)
        largest = int(context_ids.max()) if n else 0
        self._sorted: Int64Array | None = None
        nodes = np.arange(n, dtype=np.int32)
        if largest <= 16 * n + 65536:
            self._table = np.full(largest + 2, -1, dtype=np.int32)
            self._table[context_ids] = nodes
            unique = bool(np.array_equal(self._table[context_ids], nodes))
        else:  # ids are scattered: a table indexed by id would be far larger than the file
            order = np.argsort(context_ids, kind="stable")
            self._sorted = context_ids[order]
            self._table = nodes[order]
            unique = bool(np.all(np.diff(self._sorted) > 0))
        if not unique:
            raise ValueError("a context id occurs twice in the tree")

    def __call__(self, ids: NDArray[np.uint32]) -> NDArray[np.int32]:
        """The nodes of `ids`."""
        if self._sorted is None:
            return self._table[np.minimum(ids, len(self._table) - 1)]
        at = np.minimum(np.searchsorted(self._sorted, ids), len(self._sorted) - 1)
        return np.where(self._sorted[at] == ids, self._table[at], np.int32(-1))


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The values of one profile: value i is of metric `metric[i]`, at context `context[j]` for start[j] ≤ i <
    start[j+1].
    """

    file: DatabaseFile
    metric: NDArray[np.uint16]
    value: FloatArray
    context: NDArray[np.uint32]
    start: Int64Array  #: one longer than `context`

    def check(self, values: FloatArray) -> None:
        """AdapterError unless the values that are about to be used are numbers of a size that can be added up."""
        if not bool((np.abs(values) < LARGEST_VALUE).all()):  # false for NaN too
            raise self.file.damaged("a metric value is not a number or too large to be one")

    def at_nodes(self, nodes_of: ContextNodes) -> NDArray[np.int32]:
        """The node of each value; −1 where its context is not in the tree."""
        return np.repeat(nodes_of(self.context), np.diff(self.start))

    def of_context(self, context: int) -> tuple[NDArray[np.uint16], FloatArray]:
        """Metrics and values at one context; the contexts are sorted."""
        at = int(np.searchsorted(self.context, context))
        if at == len(self.context) or int(self.context[at]) != context:
            return self.metric[:0], self.value[:0]
        piece = slice(int(self.start[at]), int(self.start[at + 1]))
        return self.metric[piece], self.value[piece]


class ProfileDatabase:
    """profile.db, opened: `rows` are the {PI} structures; `locations[i]` is the row number of the i-th location, and `location_of`
    the location of each row, −1 for summaries.
    """

    def __init__(self, file: DatabaseFile) -> None:
        self.file = file
        head = file.header(0, st.PROFILES)
        self.rows = file.array(int(head["pProfiles"]), st.PROFILE, int(head["nProfiles"]), int(head["szProfile"]))
        self.is_summary = (self.rows["flags"] & st.IS_SUMMARY) != 0
        self.locations = np.flatnonzero(~self.is_summary)
        self.location_of = np.full(len(self.rows), -1, dtype=np.int64)
        self.location_of[self.locations] = np.arange(len(self.locations))

    @cached_property
    def is_large(self) -> bool:
        """Whether reading all values takes a while."""
        return int(self.rows["nValues"].sum()) >= _WORTH_THREADS

    @property
    def summary(self) -> int | None:
        """Row number of the canonical summary profile, which stands first."""
        return 0 if len(self.rows) and bool(self.is_summary[0]) else None

    def block(self, row: int) -> Block:
        """The values of one profile; AdapterError if its parts contradict each other."""
        profile = self.rows[row]
        values = self.file.array(int(profile["pValues"]), st.METRIC_VALUE, int(profile["nValues"]))
        indices = self.file.array(int(profile["pCtxIndices"]), st.CONTEXT_INDEX, int(profile["nCtxs"]))
        count = len(values)
        start = np.empty(len(indices) + 1, dtype=np.int64)
        first = indices["startIndex"]
        if len(first) and (int(first.max()) > count or bool(np.any(first[1:] < first[:-1]))):
            raise self.file.damaged("the index of a profile's values is not ascending", int(profile["pCtxIndices"]))
        start[:-1] = first
        start[-1] = count
        if len(first) and int(first[0]) != 0:
            raise self.file.damaged("the first values of a profile belong to no context", int(profile["pCtxIndices"]))
        context = indices["ctxId"]
        if bool(np.any(context[1:] <= context[:-1])):
            raise self.file.damaged("the contexts of a profile are not ascending", int(profile["pCtxIndices"]))
        if not len(first):
            values = values[:0]
            start[-1] = 0
        return Block(self.file, values["metricId"], values["value"], context, start)

    def summary_block(self) -> Block | None:
        """The values of the canonical summary, copied out of the file and checked; None where it has none.

        Meant for a thread of its own while meta.db is read: it neither needs nor changes anything else.
        """
        row = self.summary
        if row is None or int(self.rows[row]["nValues"]) == 0:
            return None
        block = self.block(row)
        values = np.ascontiguousarray(block.value)
        block.check(values)
        return Block(self.file, np.ascontiguousarray(block.metric), values, block.context, block.start)

    def blocks(self) -> Iterator[tuple[int, Block]]:
        """(location, block) for every location, one at a time."""
        for location, row in enumerate(self.locations.tolist()):
            yield location, self.block(row)

    def each(self, do: Callable[[int, Block], None]) -> None:
        """`do` with (location, block) for every location, on the cores that there are: numpy lets go of the interpreter in between."""
        width = min(len(os.sched_getaffinity(0)), _MOST_THREADS, len(self.locations)) if self.is_large else 1

        def some(first: int) -> None:
            for location in range(first, len(self.locations), width):
                do(location, self.block(int(self.locations[location])))

        if width <= 1:
            some(0)
            return
        with ThreadPoolExecutor(width) as pool:
            for done in [pool.submit(some, first) for first in range(width)]:
                done.result()

    def _tuples(self) -> Iterator[tuple[Int64Array, NDArray[np.void]]]:
        """Locations whose identifier tuples are equally long, and these (locations × identifiers)."""
        places = self.rows["pIdTuple"][self.locations].astype(np.int64)
        located = np.flatnonzero(places)
        lengths = self.file.gathered(places[located], st.ID_TUPLE, 1)["nIds"][:, 0]
        for length in np.unique(lengths[lengths > 0]).tolist():
            chosen = located[lengths == length]
            yield chosen, self.file.gathered(places[chosen] + st.ID_TUPLE.itemsize, st.IDENTIFIER, length)

    def identifiers(self, kinds: tuple[str, ...]) -> Locations:
        """The identifier tuples as columns; compute nodes are numbered in the order of their host ids."""
        count = len(self.locations)
        columns = {part: np.full(count, -1, dtype=np.int64) for part in _PARTS.values()}
        hosts = np.zeros(count, dtype=np.uint64)
        for locations, ids in self._tuples():
            for one in ids.T:
                for kind in np.unique(one["kind"]).tolist():
                    part = _PARTS.get(kinds[kind]) if kind < len(kinds) else None
                    if part is None:
                        continue
                    of_kind = one["kind"] == kind
                    found, at = one[of_kind], locations[of_kind]
                    physical = (found["flags"] & st.IS_PHYSICAL) != 0
                    columns[part][at] = found["logicalId"]
                    if part == "node":
                        hosts[at] = np.where(physical, found["physicalId"], found["logicalId"])
                    elif part == "core":
                        columns[part][at[physical]] = np.minimum(found["physicalId"][physical], 2**31)
        known = columns["node"] >= 0
        columns["node"][known] = np.unique(hosts[known], return_inverse=True)[1]
        return Locations.of(count, **columns)


# -- cct.db: the values of one context over all locations, without reading anything else ------------------------


class ContextDatabase:
    """cct.db, opened, beside the profile.db of the database."""

    def __init__(self, file: DatabaseFile, profiles: ProfileDatabase) -> None:
        self.file = file
        head = file.header(0, st.CONTEXTS)
        self.rows = file.array(int(head["pCtxs"]), st.CONTEXT, int(head["nCtxs"]), int(head["szCtx"]))
        self.location_of = profiles.location_of
        self.locations = len(profiles.locations)

    def values(self, context: int, metric: int) -> NDArray[np.float64]:
        """Value of metric id `metric` at a context for each location; 0 where a location has none."""
        result = np.zeros(self.locations)
        if not 0 <= context < len(self.rows):
            return result
        row = self.rows[context]
        count = int(row["nValues"])
        indices = self.file.array(int(row["pMetricIndices"]), st.METRIC_INDEX, int(row["nMetrics"]))
        at = int(np.searchsorted(indices["metricId"], metric))
        if at == len(indices) or int(indices["metricId"][at]) != metric:
            return result
        begin = int(indices["startIndex"][at])
        end = int(indices["startIndex"][at + 1]) if at + 1 < len(indices) else count
        if not begin <= end <= count:
            raise self.file.damaged("the index of a context's values is not ascending", int(row["pMetricIndices"]))
        pairs = self.file.array(int(row["pValues"]) + begin * st.PROFILE_VALUE.itemsize, st.PROFILE_VALUE, end - begin)
        profile = pairs["profIndex"]
        if len(profile) and int(profile.max()) >= len(self.location_of):
            raise self.file.damaged("a value belongs to a profile that does not exist", int(row["pValues"]))
        location = self.location_of[profile]
        known = location >= 0
        result[location[known]] = pairs["value"][known]
        return result


# -- trace.db: what each location did over time ------------------------------------------------------------------


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


def read_timeline(file: DatabaseFile, nodes_of: ContextNodes, location_of: Int64Array) -> Timeline:
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
        location = int(location_of[profile]) if profile < len(location_of) else -1
        if location < 0:
            continue
        start = elements["timestamp"].astype(np.uint64)
        if bool(np.any(start[1:] < start[:-1])):
            raise file.damaged("the elements of a trace are not in order of time", begin)
        lanes.append(Lane(location, start, nodes_of(elements["ctxId"])))
    return Timeline(int(head["minTimestamp"]), int(head["maxTimestamp"]), tuple(lanes))
