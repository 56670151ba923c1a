"""Run as a process of its own (see chathpc.adapters.native): read a trace with the package otf2 and write its sums as JSON.

The OTF2 library is native code, and a damaged trace may crash it: here it takes only this process with it.

    {"resolution": ticks a second, "locations": [[rank, thread, kind], …], "nodes": [[parent, name, file, line, paradigm], …],
     "cells": [[node, location, ticks, visits], …], "messages": [[node, location, sent, received, count], …],
     "open": regions without end, "lost": ends without beginning}
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

#: Call paths; beyond this the trace is no profile of functions.
MOST_NODES = 2_000_000


class Sums:
    """What the events so far add up to."""

    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []
        self.index: dict[tuple[int, int], int] = {}
        self.cells: dict[tuple[int, int], list[int]] = {}
        self.messages: dict[tuple[int, int], list[int]] = {}
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


def main() -> None:
    """Answer one request: one JSON value on standard output, `{"error": "…"}` if the trace cannot be read."""
    request = json.loads(sys.stdin.buffer.read())
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what native code prints is no answer
    sys.path[:] = request["import_path"]
    try:
        answer = summed(request["path"])
    except Exception as error:  # noqa: BLE001  whatever the package raises is the answer
        answer = {"error": f"{type(error).__name__}: {error}"[:300]}
    out.write(json.dumps(answer) + "\n")
    out.flush()


def summed(path: str) -> dict[str, Any]:
    """The sums of the trace at `path`."""
    import otf2
    from otf2 import events

    sums = Sums()
    with otf2.reader.open(path) as trace:
        locations = list(trace.definitions.locations)
        number = {id(location): index for index, location in enumerate(locations)}
        stacks: list[list[int]] = [[] for _ in locations]
        last = [0] * len(locations)
        sends, receives = (events.MpiSend, events.MpiIsend), (events.MpiRecv, events.MpiIrecv)
        for location, event in trace.events:
            at = number[id(location)]
            stack = stacks[at]
            if isinstance(event, (events.Enter, events.Leave)):
                if stack:
                    sums.cell(stack[-1], at)[0] += max(event.time - last[at], 0)
                last[at] = event.time
                if isinstance(event, events.Enter):
                    stack.append(sums.node(stack[-1] if stack else -1, event.region))
                    sums.cell(stack[-1], at)[1] += 1
                elif stack:
                    stack.pop()
                else:
                    sums.lost += 1
            elif not stack:
                continue
            elif isinstance(event, sends):
                sums.message(stack[-1], at, int(event.msg_length), 0, 1)
            elif isinstance(event, receives):
                sums.message(stack[-1], at, 0, int(event.msg_length), 0)
            elif isinstance(event, events.MpiCollectiveEnd):
                sums.message(stack[-1], at, int(event.size_sent), int(event.size_received), 1)
        places = [_place(location) for location in locations]
        resolution = int(trace.timer_resolution)
    return {
        "resolution": resolution,
        "locations": places,
        "nodes": sums.nodes,
        "cells": [[*key, *value] for key, value in sums.cells.items()],
        "messages": [[*key, *value] for key, value in sums.messages.items()],
        "open": sum(len(stack) for stack in stacks),
        "lost": sums.lost,
    }


def _place(location: Any) -> list[Any]:
    """Rank (of a group called `MPI Rank 3`, else the group's number), name of the location, its kind."""
    group = location.group
    digits = str(group.name).rsplit(" ", 1)[-1] if group is not None else ""
    rank = int(digits) if digits.isdigit() and len(digits) < 10 else -1
    return [rank, id(group), str(location.type).rsplit(".", 1)[-1]]


if __name__ == "__main__":
    main()
