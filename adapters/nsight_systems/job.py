"""The profile of one export, or of several of one job."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from chathpc.adapters.nsight_systems import words
from chathpc.adapters.nsight_systems.assembly import Assembly
from chathpc.adapters.nsight_systems.export import Read, read_export
from chathpc.profile.profile import PROCESSES, Profile, Source

#: Exports that begin further apart than this, in nanoseconds, are not of one run.
ONE_RUN = 24 * 3600 * 10**9
NO_CLOCK = "The exports do not record when their sessions began: their times cannot be compared, and all are assumed to begin together."
APART = "The sessions of the exports began more than a day apart: they are unlikely to be from one run, and are not compared in time."


def read_job(exports: Sequence[Path], *, title: str = "", more: Sequence[str] = ()) -> Profile:
    """The profile of some exports; `more` are further caveats. AdapterError for damage."""
    assembly = Assembly()
    done: list[Read] = []
    edges: list[tuple[int, int]] = []
    for path in exports:
        first = len(assembly.lanes)
        done.append(read_export(path, assembly, several=len(exports) > 1))
        edges.append((first, len(assembly.lanes)))
    if len(done) > 1:
        _align(assembly, done, edges)
    version = next((read.version for read in done if read.version), "")
    programs = tuple(dict.fromkeys(name for read in done for name in read.programs))
    tree, final, values, metrics = assembly.finish()
    begin, end = assembly.recorded()
    short = ".".join(version.split(".")[:2])
    return Profile(
        format=f"Nsight Systems {short}".rstrip(),
        title=title or ", ".join(programs[:3]) or exports[0].stem,
        tree=tree,
        metrics=metrics,
        values=values,
        where=assembly.where(),
        sources=tuple(Source(read.path, "Nsight Systems", read.version) for read in done),
        caveats=(*more, *words.caveats(assembly)),
        not_collected=words.not_collected(assembly, version),
        run={"recorded": f"{(end - begin) * 1e-9:.6g} s", PROCESSES: str(len(assembly.processes))},
        hardware={f"GPU {ordinal}": device.name for ordinal, device in sorted(assembly.devices.items())},
        timed=True,
        insufficient=words.insufficient(assembly),
        devices=dict(sorted(assembly.devices.items())),
        read_timeline=assembly.timeline(final),
    )


def _align(assembly: Assembly, done: Sequence[Read], edges: Sequence[tuple[int, int]]) -> None:
    """Bring the lanes of all exports to one clock: that of the first."""
    epochs = [read.epoch for read in done]
    known = [epoch for epoch in epochs if epoch is not None]
    if len(known) == len(epochs) and max(known) - min(known) <= ONE_RUN:
        shifts = [epoch - known[0] for epoch in known]
    else:
        assembly.note(NO_CLOCK if len(known) < len(epochs) else APART)
        begins = [_begin(assembly, first, last) for first, last in edges]
        shifts = [begins[0] - begin for begin in begins]
    for shift, (first, last) in zip(shifts, edges, strict=True):
        for lane in assembly.lanes[first:last]:
            np.add(lane.start, shift, out=lane.start)
            np.add(lane.end, shift, out=lane.end)


def _begin(assembly: Assembly, first: int, last: int) -> int:
    return min((int(lane.start[0]) for lane in assembly.lanes[first:last] if len(lane.start)), default=0)
