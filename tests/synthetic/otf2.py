"""Writes small OTF2 traces through the package otf2, for tests: deterministic, ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TICKS = 1_000_000

#: (microseconds, what, name or bytes): enter, leave, send, recv, collective.
Events = Sequence[tuple[int, str, Any]]


def write_otf2(folder: Path, ranks: Mapping[int, Events], *, device: Sequence[int] = (), secret: str = "") -> Path:
    """A trace with one location for each rank; `device` are those that are accelerator streams."""
    import otf2
    from otf2.enums import CollectiveOp, LocationType, Paradigm, RegionRole

    with otf2.writer.open(str(folder), timer_resolution=TICKS) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node(secret or "node", "node")
        regions: dict[str, Any] = {}
        groups, writers = [], []
        for rank in ranks:
            groups.append(definitions.location_group(f"MPI Rank {rank}", system_tree_parent=node))
            kind = LocationType.ACCELERATOR_STREAM if rank in device else LocationType.CPU_THREAD
            writers.append(trace.event_writer("Master thread", group=groups[-1], type=kind))
        members = (
            definitions.comm(
                "world",
                group=definitions.group(
                    "all", members=[], group_type=otf2.enums.GroupType.COMM_SELF, paradigm=Paradigm.MPI
                ),
            )
            if any(what in ("send", "recv", "collective") for events in ranks.values() for _, what, _ in events)
            else None
        )
        for writer, events in zip(writers, ranks.values(), strict=True):
            for at, what, given in events:
                if what in ("enter", "leave"):
                    if given not in regions:
                        mpi = given.startswith("MPI_")
                        regions[given] = definitions.region(
                            given, source_file="MPI" if mpi else "src/heat.c", begin_line_number=0 if mpi else 7,
                            paradigm=Paradigm.MPI if mpi else Paradigm.COMPILER, region_role=RegionRole.FUNCTION,
                        )  # fmt: skip
                    getattr(writer, what)(at, regions[given])
                elif what == "send":
                    writer.mpi_send(at, 0, members, 0, given)
                elif what == "recv":
                    writer.mpi_recv(at, 0, members, 0, given)
                else:
                    writer.mpi_collective_end(at, CollectiveOp.ALLREDUCE, members, 0, given, given)
    return folder
