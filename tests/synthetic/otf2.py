"""Writes small OTF2 traces through the package otf2, for tests: deterministic, ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TICKS = 1_000_000
#: Where in an anchor file the number of the trace stands.
_TRACE_ID = slice(53, 61)

#: (microseconds, what, of what): enter and leave a region by name; send and recv (other rank, bytes, tag); isend and irecv the
#: same with a request at the end, isent and posted its request; collective (operation, root or None, bytes).
Events = Sequence[tuple[int, str, Any]]


def write_otf2(
    folder: Path,
    ranks: Mapping[int, Events],
    *,
    device: Sequence[int] = (),
    secret: str = "",
    lines: Mapping[str, tuple[str, int]] | None = None,
    ticks: int = TICKS,
    process: Mapping[int, int] | None = None,
) -> Path:
    """A trace with one location for each rank; `device` are those that are accelerator streams. `lines` says where functions begin;
    times are in ticks, `ticks` a second. `process` gives the rank of locations that are further threads of one.
    """
    import otf2
    from otf2.enums import GroupType, LocationType, Paradigm, RegionRole

    with otf2.writer.open(str(folder), timer_resolution=ticks) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node(secret or "node", "node")
        regions: dict[str, Any] = {}
        groups: dict[int, Any] = {}
        locations, writers = [], []
        for rank in ranks:
            number = (process or {}).get(rank, rank)
            if number not in groups:
                groups[number] = definitions.location_group(f"MPI Rank {number}", system_tree_parent=node)
            kind = LocationType.ACCELERATOR_STREAM if rank in device else LocationType.CPU_THREAD
            name = "Master thread" if number == rank else f"OMP thread {rank}"
            locations.append(definitions.location(name, group=groups[number], type=kind))
            writers.append(trace.event_writer_from_location(locations[-1]))
        world = _world(definitions, locations, GroupType, Paradigm)
        for writer, events in zip(writers, ranks.values(), strict=True):
            for at, what, given in events:
                if what in ("enter", "leave"):
                    if given not in regions:
                        mpi = given.startswith("MPI_")
                        file, line = ("MPI", 0) if mpi else (lines or {}).get(given, ("src/heat.c", 7))
                        paradigm = Paradigm.OPENMP if given.startswith("!$omp") else Paradigm.COMPILER
                        regions[given] = definitions.region(
                            given, source_file=file, begin_line_number=line,
                            paradigm=Paradigm.MPI if mpi else paradigm, region_role=RegionRole.FUNCTION,
                        )  # fmt: skip
                    getattr(writer, what)(at, regions[given])
                else:
                    _communicate(writer, at, what, given, world)
        trace._realtime_timestamp = 0  # else the time of writing would be in the trace
    anchor = folder / "traces.otf2"
    data = bytearray(anchor.read_bytes())
    data[_TRACE_ID] = bytes(8)  # a number that is new each time
    anchor.write_bytes(data)
    return folder


def _world(definitions: Any, locations: Sequence[Any], kinds: Any, paradigms: Any) -> Any:
    definitions.group("", members=locations, group_type=kinds.COMM_LOCATIONS, paradigm=paradigms.MPI)
    every = list(range(len(locations)))
    group = definitions.group("", members=every, group_type=kinds.COMM_GROUP, paradigm=paradigms.MPI)
    return definitions.comm("MPI_COMM_WORLD", group=group)


def _communicate(writer: Any, at: int, what: str, given: Any, world: Any) -> None:
    from otf2.enums import CollectiveOp

    if what in ("send", "recv"):
        other, size, *tag = given
        getattr(writer, f"mpi_{what}")(at, other, world, tag[0] if tag else 0, size)
    elif what in ("isend", "irecv"):
        other, size, tag, request = given
        getattr(writer, f"mpi_{what}")(at, other, world, tag, size, request)
    elif what == "isent":
        writer.mpi_isend_complete(at, given)
    elif what == "posted":
        writer.mpi_irecv_request(at, given)
    elif what == "begun":
        writer.non_blocking_collective_request(at, given)
    else:
        name, root, size, *request = given
        values = (at, getattr(CollectiveOp, name), world, 2**32 - 1 if root is None else root, size, size)
        if request:
            writer.non_blocking_collective_complete(*values, *request)
        else:
            writer.mpi_collective_end(*values)
