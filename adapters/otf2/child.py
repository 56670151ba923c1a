"""Run as a process of its own (see chathpc.adapters.native): read a trace with the package otf2 and write its sums and what happened
when as JSON.

The OTF2 library is native code, and a damaged trace may crash it: here it takes only this process with it. The first line has the
sums, the others the columns of the timeline, each a part of one, as numbers in base64 (see COLUMNS):

    {"resolution": ticks a second, "locations": [[rank, group, kind], …], "nodes": [[parent, name, file, line, paradigm], …],
     "cells": [[node, location, ticks, visits], …], "messages": [[node, location, sent, received, count], …],
     "open": regions without end, "lost": ends without beginning, "processes": [of each location, …], "operations": [names],
     "last": ticks that the timeline holds, "is_whole": true if that is all, "skipped": messages without a partner's name}
    {"column": "entry.time", "data": "…"}
"""

from __future__ import annotations

import base64
import json
import os
import sys
from array import array
from collections.abc import Callable, Iterator
from typing import Any

#: Call paths; beyond this the trace is no profile of functions.
MOST_NODES = 2_000_000
#: Enter and leave events that are kept; the timeline ends there, the sums go on.
MOST_ENTRIES = 4_000_000
#: Largest number that is handed over; what is larger is damage.
_LARGEST = 2**62
#: Values in one line of the answer.
_CHUNK = 1 << 16

#: Columns → type of their values, as in the module array.
COLUMNS = {
    "entry.location": "i", "entry.time": "q", "entry.node": "i",
    "call.location": "i", "call.start": "q", "call.end": "q", "call.node": "i",
    "send.from": "i", "send.to": "i", "send.comm": "q", "send.tag": "q", "send.bytes": "q", "send.order": "q",
    "send.call": "q", "send.done": "q",
    "receive.from": "i", "receive.to": "i", "receive.comm": "q", "receive.tag": "q", "receive.bytes": "q",
    "receive.order": "q", "receive.call": "q", "receive.done": "q",
    "part.location": "i", "part.comm": "q", "part.order": "q", "part.operation": "i", "part.root": "i",
    "part.call": "q", "part.done": "q",
}  # fmt: skip


class Sums:
    """What the events so far add up to."""

    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []
        self.index: dict[tuple[int, int], int] = {}
        self.cells: dict[tuple[int, int], list[int]] = {}
        self.messages: dict[tuple[int, int], list[int]] = {}
        self.is_mpi: list[bool] = []
        self.lost = 0

    def node(self, parent: int, region: Any) -> int:
        """Number of the call path of `region` below `parent`."""
        key = parent, id(region)
        found = self.index.get(key)
        if found is None:
            if len(self.nodes) >= MOST_NODES:
                raise ValueError("too many call paths")
            found = self.index[key] = len(self.nodes)
            paradigm = str(getattr(region, "paradigm", "")).rsplit(".", 1)[-1]
            name = str(region.name).lower()  # what MPI does with files is input and output
            is_mpi = paradigm == "MPI" or name.startswith(("mpi_", "pmpi_"))
            self.is_mpi.append(is_mpi and not name.startswith(("mpi_file_", "pmpi_file_")))
            line = getattr(region, "begin_line_number", 0) or 0
            self.nodes.append([parent, str(region.name), str(region.source_file or ""), int(line), paradigm])
        return found

    def cell(self, node: int, location: int) -> list[int]:
        """Ticks and visits of a call path at a location."""
        return self.cells.setdefault((node, location), [0, 0])

    def message(self, node: int, location: int, sent: int, received: int, count: int) -> None:
        """Add bytes and a number of messages to a call path at a location."""
        entry = self.messages.setdefault((node, location), [0, 0, 0])
        for index, value in enumerate((sent, received, count)):
            entry[index] += value


class Recorder:
    """The columns so far. Locations and processes (location groups) go by their number."""

    def __init__(self, locations: list[Any]) -> None:
        self.columns = {name: array(kind) for name, kind in COLUMNS.items()}
        self.groups: dict[int, int] = {}
        self.process = [self.groups.setdefault(id(each.group), len(self.groups)) for each in locations]
        self.by_location = {id(each): number for number, each in enumerate(locations)}
        self.open = [-1] * len(locations)  # the call of MPI that a location is in
        self.depth = [0] * len(locations)
        self.requests: dict[tuple[int, str, int], tuple[int, int]] = {}
        self.operations: dict[str, int] = {}
        self.members: dict[int, list[int]] = {}
        self.comms: dict[int, int] = {}
        self.order = 0
        self.origin: int | None = None
        self.last = 0
        self.skipped = 0

    @property
    def is_full(self) -> bool:
        """True from when on nothing is kept."""
        return len(self.columns["entry.time"]) >= MOST_ENTRIES

    def _add(self, table: str, **values: int) -> int:
        for name, value in values.items():
            self.columns[f"{table}.{name.rstrip('_')}"].append(value)
        return len(self.columns[f"{table}.{next(iter(values)).rstrip('_')}"]) - 1

    def time(self, ticks: int) -> int:
        """Ticks since the first event; events that come before it belong to it."""
        if self.origin is None:
            self.origin = ticks
        return min(max(ticks - self.origin, 0), _LARGEST)

    # -- regions -------------------------------------------------------------------------------------------------

    def entry(self, at: int, ticks: int, node: int) -> None:
        """From now on location `at` is at a node (−1: outside all regions)."""
        self.last = self.time(ticks)
        columns = self.columns
        columns["entry.location"].append(at)
        columns["entry.time"].append(self.last)
        columns["entry.node"].append(node)

    def enter_call(self, at: int, ticks: int, node: int, depth: int) -> None:
        """A call of MPI begins, unless it is made by one."""
        if self.open[at] < 0:
            self.open[at] = self._add("call", location=at, start=self.time(ticks), end=-1, node=node)
            self.depth[at] = depth

    def leave(self, at: int, ticks: int, depth: int) -> None:
        """A region ends that stood at a depth: a call of MPI if it began there."""
        if self.open[at] >= 0 and self.depth[at] == depth:
            self.columns["call.end"][self.open[at]] = self.time(ticks)
            self.open[at] = -1

    # -- messages ------------------------------------------------------------------------------------------------

    def posted(self, at: int, what: str, request: int) -> None:
        """A request is made that another event will say more of."""
        self.order += 1
        self.requests[at, what, request] = self.open[at], self.order

    def send(self, at: int, event: Any, request: int | None = None) -> None:
        """A message is sent; with a request it is complete later."""
        to = self._peer(event.communicator, event.receiver, at)
        self.order += 1
        if to < 0 or self.open[at] < 0:
            self.skipped += 1
            return
        row = self._add(
            "send", from_=self.process[at], to=to, comm=self._comm(event.communicator), tag=_small(event.msg_tag),
            bytes=_small(event.msg_length), order=self.order, call=self.open[at],
            done=self.open[at] if request is None else -1,
        )  # fmt: skip
        if request is not None:
            self.requests[at, "send", request] = row, 0

    def send_done(self, at: int, request: int) -> None:
        """A send is complete."""
        row, _ = self.requests.pop((at, "send", request), (-1, 0))
        if row >= 0:
            self.columns["send.done"][row] = self.open[at]

    def receive(self, at: int, event: Any, request: int | None = None) -> None:
        """A message is received; with a request its receive was posted before."""
        sender = self._peer(event.communicator, event.sender, at)
        self.order += 1
        call, order = self.open[at], self.order
        if request is not None:
            call, order = self.requests.pop((at, "receive", request), (call, order))
        if sender < 0 or self.open[at] < 0:
            self.skipped += 1
            return
        self._add(
            "receive", from_=sender, to=self.process[at], comm=self._comm(event.communicator), tag=_small(event.msg_tag),
            bytes=_small(event.msg_length), order=order, call=call, done=self.open[at],
        )  # fmt: skip

    def collective(self, at: int, event: Any, request: int | None = None) -> None:
        """A collective is complete; with a request it was begun before."""
        self.order += 1
        call, order = self.open[at], self.order
        if request is not None:
            call, order = self.requests.pop((at, "collective", request), (call, order))
        if self.open[at] < 0 or len(self._group(event.communicator)) < 2:
            return
        name = str(event.collective_op).rsplit(".", 1)[-1]
        self._add(
            "part", location=at, comm=self._comm(event.communicator), order=order,
            operation=self.operations.setdefault(name, len(self.operations)),
            root=self._peer(event.communicator, event.root, at), call=call, done=self.open[at],
        )  # fmt: skip

    # -- communicators -------------------------------------------------------------------------------------------

    def _comm(self, comm: Any) -> int:
        return self.comms.setdefault(id(comm), len(self.comms))

    def _group(self, comm: Any) -> list[int]:
        """The processes of a communicator, by rank; none where the trace does not tell."""
        found = self.members.get(id(comm))
        if found is None:
            members = getattr(getattr(comm, "group", None), "members", None) or ()
            numbers = [self.by_location.get(id(each), -1) for each in members]
            found = self.members[id(comm)] = [self.process[number] if number >= 0 else -1 for number in numbers]
        return found

    def _peer(self, comm: Any, rank: Any, at: int) -> int:
        """The process with a rank in a communicator; −1 where the trace does not tell (between groups, undefined)."""
        members = self._group(comm)
        if not members and str(getattr(getattr(comm, "group", None), "group_type", "")).endswith("COMM_SELF"):
            return self.process[at]
        return members[rank] if isinstance(rank, int) and 0 <= rank < len(members) else -1

    # -- answer --------------------------------------------------------------------------------------------------

    def lines(self) -> Iterator[str]:
        """The columns as lines of JSON: a part of a column each, its values in base64."""
        for name, values in self.columns.items():
            for first in range(0, len(values), _CHUNK):
                data = base64.b64encode(values[first : first + _CHUNK].tobytes()).decode()
                yield json.dumps({"column": name, "data": data})


def _small(number: Any) -> int:
    """A size or tag that fits a column."""
    return min(max(int(number), 0), _LARGEST)


def main() -> None:
    """Answer one request: the sums on a line of standard output, then the columns; `{"error": "…"}` if the trace cannot be read."""
    request = json.loads(sys.stdin.buffer.read())
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what native code prints is no answer
    sys.path[:] = request["import_path"]
    recorder = None
    try:
        answer, recorder = summed(request["path"])
    except Exception as error:  # noqa: BLE001  whatever the package raises is the answer
        answer = {"error": f"{type(error).__name__}: {error}"[:300]}
    out.write(json.dumps(answer) + "\n")
    for line in recorder.lines() if recorder is not None else ():
        out.write(line + "\n")
    out.flush()


def summed(path: str) -> tuple[dict[str, Any], Recorder]:
    """The sums of the trace at `path`, and what happened when."""
    import otf2
    from otf2 import events

    sums = Sums()
    with otf2.reader.open(path) as trace:
        locations = list(trace.definitions.locations)
        number = {id(location): index for index, location in enumerate(locations)}
        recorder = Recorder(locations)
        note = _notes(events, recorder)
        stacks: list[list[int]] = [[] for _ in locations]
        last = [0] * len(locations)
        sends, receives = (events.MpiSend, events.MpiIsend), (events.MpiRecv, events.MpiIrecv)
        is_whole = True
        for location, event in trace.events:
            at = number[id(location)]
            stack = stacks[at]
            kind = type(event)
            if kind is events.Enter or kind is events.Leave:
                is_whole = is_whole and not recorder.is_full
                if stack:
                    sums.cell(stack[-1], at)[0] += max(event.time - last[at], 0)
                last[at] = event.time
                if kind is events.Enter:
                    stack.append(sums.node(stack[-1] if stack else -1, event.region))
                    sums.cell(stack[-1], at)[1] += 1
                    if is_whole and sums.is_mpi[stack[-1]]:
                        recorder.enter_call(at, event.time, stack[-1], len(stack))
                elif stack:
                    if is_whole:
                        recorder.leave(at, event.time, len(stack))
                    stack.pop()
                else:
                    sums.lost += 1
                if is_whole:
                    recorder.entry(at, event.time, stack[-1] if stack else -1)
                continue
            if is_whole and kind in note:
                note[kind](at, event)
            if not stack:
                continue
            if kind in sends:
                sums.message(stack[-1], at, int(event.msg_length), 0, 1)
            elif kind in receives:
                sums.message(stack[-1], at, 0, int(event.msg_length), 0)
            elif kind is events.MpiCollectiveEnd:
                sums.message(stack[-1], at, int(event.size_sent), int(event.size_received), 1)
        places = [_place(location) for location in locations]
        resolution = int(trace.timer_resolution)
    answer = {
        "resolution": resolution,
        "locations": places,
        "nodes": sums.nodes,
        "cells": [[*key, *value] for key, value in sums.cells.items()],
        "messages": [[*key, *value] for key, value in sums.messages.items()],
        "open": sum(len(stack) for stack in stacks),
        "lost": sums.lost,
        "processes": recorder.process,
        "operations": list(recorder.operations),
        "last": recorder.last,
        "is_whole": is_whole,
        "skipped": recorder.skipped,
    }
    return answer, recorder


def _notes(events: Any, recorder: Recorder) -> dict[Any, Callable[[int, Any], None]]:
    """What the recorder does with each kind of event of MPI."""
    return {
        events.MpiSend: recorder.send,
        events.MpiIsend: lambda at, event: recorder.send(at, event, event.request_id),
        events.MpiIsendComplete: lambda at, event: recorder.send_done(at, event.request_id),
        events.MpiRecv: recorder.receive,
        events.MpiIrecvRequest: lambda at, event: recorder.posted(at, "receive", event.request_id),
        events.MpiIrecv: lambda at, event: recorder.receive(at, event, event.request_id),
        events.MpiCollectiveEnd: recorder.collective,
        events.NonBlockingCollectiveRequest: lambda at, event: recorder.posted(at, "collective", event.request_id),
        events.NonBlockingCollectiveComplete: lambda at, event: recorder.collective(at, event, event.request_id),
    }


def _place(location: Any) -> list[Any]:
    """Rank (of a group called `MPI Rank 3`, else the group's number), name of the location, its kind."""
    group = location.group
    digits = str(group.name).rsplit(" ", 1)[-1] if group is not None else ""
    rank = int(digits) if digits.isdigit() and len(digits) < 10 else -1
    return [rank, id(group), str(location.type).rsplit(".", 1)[-1]]


if __name__ == "__main__":
    main()
