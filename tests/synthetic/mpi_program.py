"""What MPI programs do when, by a simulation of our own: each rank is a list of steps, and waits as MPI makes it wait.

Times are whole ticks. A message arrives `latency` + bytes × `per_byte` ticks after it was sent; sending takes `overhead` ticks of the
sender, or with `rendezvous` lasts until the receiver has come as well and the message has arrived.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: What a rank does: ("compute", function, ticks), ("call", name of a call of MPI without partners, ticks), ("send", to, bytes),
#: ("recv", from, bytes), ("isend", to, bytes), ("irecv", from, bytes), ("waitall",), ("collective", operation, root or None, bytes),
#: ("enter", function), ("leave", function).
Step = tuple[Any, ...]
Event = tuple[int, str, Any]
#: Says when what is waited for has happened; None as long as it has not.
Condition = Callable[[], int | None]

_NAMES = {
    "ALLREDUCE": "MPI_Allreduce", "BARRIER": "MPI_Barrier", "BCAST": "MPI_Bcast", "REDUCE": "MPI_Reduce",
    "ALLTOALL": "MPI_Alltoall", "SCATTER": "MPI_Scatter", "GATHER": "MPI_Gather",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Network:
    """What communication costs, in ticks; `transfer` is what a collective takes from when it can go on."""

    latency: int = 0
    per_byte: float = 0.0
    overhead: int = 0
    transfer: int = 0
    rendezvous: bool = False

    def travel(self, size: int) -> int:
        """Ticks from the sender to the receiver."""
        return self.latency + round(size * self.per_byte)


IDEAL = Network()


@dataclass(slots=True)
class _World:
    """When each send and each receive was posted, by (from, to); who came to each collective when."""

    ranks: tuple[int, ...]
    network: Network
    sent: dict[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    posted: dict[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    came: dict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    def arrived(self, way: tuple[int, int], number: int, size: int) -> Condition:
        """When a message is there and its receiver as well."""
        return lambda: self._both(way, number, size) if len(self.sent[way]) > number else None

    def taken(self, way: tuple[int, int], number: int, size: int) -> Condition:
        """When a message has been received; needs both."""
        return lambda: self._both(way, number, size) if len(self.posted[way]) > number else None

    def _both(self, way: tuple[int, int], number: int, size: int) -> int:
        sent, posted = self.sent[way][number], self.posted[way][number]
        begins = max(sent, posted) if self.network.rendezvous else sent
        return max(begins + self.network.travel(size), posted)

    def met(self, number: int, operation: str, root: int | None, rank: int) -> Condition:
        """When a collective lets a rank go on."""

        def when() -> int | None:
            came = self.came[number]
            if operation in ("BCAST", "SCATTER"):
                needed = {rank, root}
            elif operation in ("REDUCE", "GATHER") and rank != root:
                needed = {rank}
            else:
                needed = set(self.ranks)
            return max(came[each] for each in needed if each is not None) if needed <= set(came) else None

        return when


def simulate(
    programs: Mapping[int, Sequence[Step]], network: Network = IDEAL, *, begin: Mapping[int, int] | None = None
) -> dict[int, list[Event]]:
    """The events of each rank (see tests.synthetic.otf2), inside a function main; ValueError for programs that wait for ever."""
    world = _World(tuple(programs), network)
    events: dict[int, list[Event]] = {rank: [] for rank in programs}
    going = {
        rank: _rank(rank, steps, world, events[rank], (begin or {}).get(rank, 0)) for rank, steps in programs.items()
    }
    waiting = {rank: next(one, None) for rank, one in going.items()}
    while any(condition is not None for condition in waiting.values()):
        moved = False
        for rank, condition in waiting.items():
            when = None if condition is None else condition()
            if when is not None:
                moved = True
                try:
                    waiting[rank] = going[rank].send(when)
                except StopIteration:
                    waiting[rank] = None
        if not moved:
            raise ValueError("the program waits for ever")
    return events


def _rank(
    rank: int, steps: Sequence[Step], world: _World, events: list[Event], now: int
) -> Generator[Condition, int, None]:
    network, pending, requests, collectives = world.network, [], 0, 0
    events.append((now, "enter", "main"))
    for kind, *given in steps:
        if kind in ("compute", "call"):
            events += [(now, "enter", given[0]), (now + given[1], "leave", given[0])]
            now += given[1]
        elif kind in ("enter", "leave"):
            events.append((now, kind, given[0]))
        elif kind in ("send", "isend"):
            other, size = given
            way = rank, other
            number = len(world.sent[way])
            world.sent[way].append(now)
            name = "MPI_Send" if kind == "send" else "MPI_Isend"
            events.append((now, "enter", name))
            if kind == "send":
                events.append((now, "send", (other, size)))
                if network.rendezvous:
                    now = max(now, (yield world.taken(way, number, size)))
            else:
                requests += 1
                events.append((now, "isend", (other, size, 0, requests)))
                pending.append((requests, "isent", way, number, size))
            now += network.overhead
            events.append((now, "leave", name))
        elif kind in ("recv", "irecv"):
            other, size = given
            way = other, rank
            number = len(world.posted[way])
            world.posted[way].append(now)
            name = "MPI_Recv" if kind == "recv" else "MPI_Irecv"
            events.append((now, "enter", name))
            if kind == "recv":
                now = max(now, (yield world.arrived(way, number, size)))
                events.append((now, "recv", (other, size)))
            else:
                requests += 1
                events.append((now, "posted", requests))
                pending.append((requests, "irecv", way, number, size))
            events.append((now, "leave", name))
        elif kind == "waitall":
            events.append((now, "enter", "MPI_Waitall"))
            for _, what, way, number, size in pending:
                if what == "irecv":
                    now = max(now, (yield world.arrived(way, number, size)))
                elif network.rendezvous:
                    now = max(now, (yield world.taken(way, number, size)))
            for request, what, way, _, size in pending:
                events.append((now, what, (way[0], size, 0, request) if what == "irecv" else request))
            pending = []
            events.append((now, "leave", "MPI_Waitall"))
        else:
            operation, root, size = given
            events.append((now, "enter", _NAMES[operation]))
            world.came[collectives][rank] = now
            now = max(now, (yield world.met(collectives, operation, root, rank))) + network.transfer
            collectives += 1
            events += [(now, "collective", (operation, root, size)), (now, "leave", _NAMES[operation])]
    events.append((now, "leave", "main"))
