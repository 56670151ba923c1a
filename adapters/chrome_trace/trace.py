"""A Chrome trace as a Profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chathpc.adapters.chrome_trace.events import Events
from chathpc.adapters.chrome_trace.scan import Scanner
from chathpc.adapters.content import read_text
from chathpc.adapters.traced.assemble import Assembled, assemble
from chathpc.adapters.traced.counters import put_counters
from chathpc.adapters.traced.words import device_caveats
from chathpc.profile.profile import Profile, Source, no_timeline
from chathpc.profile.remark import Device
from chathpc.profile.text import clean

GPU_ACTIVITY = "torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])"


def read(path: Path) -> Profile:
    """Read a trace, plain or compressed, of the PyTorch profiler or of anything else.

    Memory: two and a half times the unpacked size; measured: 162 MB with 860,000 events in 412 MiB and 10 s. AdapterError
    for what is no trace or damaged.
    """
    scanner = Scanner(read_text(path), path)
    events = Events(path)
    for event in scanner.events():
        events.add(event)
    return profile_of(events, scanner.header, cut=scanner.cut)


def profile_of(
    events: Events, header: Mapping[str, Any], *, cut: bool, tool: str = "", caveats: Sequence[str] = ()
) -> Profile:
    """The profile of all events, which `tool` wrote if it is not one of those that write JSON."""
    recording = events.finish()
    path = recording.path
    parts = assemble(recording, _ranks(header))
    put_counters(recording, parts)
    kineto = not tool and (events.kineto or "deviceProperties" in header)
    nothing = not len(recording.start) and not len(recording.op_start)
    return Profile(
        format=tool or ("PyTorch profiler (Kineto)" if kineto else "Chrome trace"),
        title=_title(events, kineto=kineto),
        tree=parts.tree,
        metrics=parts.metrics,
        values=parts.values,
        where=parts.where,
        sources=(Source(path, tool or ("PyTorch profiler" if kineto else "Chrome trace")),),
        caveats=(*_caveats(events, parts, kineto=kineto, cut=cut), *caveats),
        not_collected=_not_collected(parts, kineto=kineto),
        run=_run(header),
        timed=True,
        insufficient="The trace contains no event with a duration." if nothing else "",
        devices=parts.used(_devices(header)),
        read_timeline=no_timeline if recording.counters else lambda: parts.timeline,
    )


def _title(events: Events, *, kineto: bool) -> str:
    recording = events.recording
    names = [recording.processes[number] for number in sorted({thread.process for thread in recording.threads})]
    names = [name for name in names if not name.startswith("process ")]
    return names[0] if len(names) == 1 else "PyTorch program" if kineto else "trace"


def _caveats(events: Events, parts: Assembled, *, kineto: bool, cut: bool) -> list[str]:
    found = device_caveats(events.recording, parts)
    if kineto and not parts.has_device:
        found.append("Nothing ran on a GPU while this was recorded, or the GPU was not recorded.")
    if recording_counters := events.recording.counters:
        found.append(
            f"Kernels were repeated to read {len(recording_counters):,} counters: their times do not represent the program."
        )
    if events.python:
        found.append("Python's call stacks were recorded, which slows down every Python call on the host.")
    if cut:
        found.append("The trace ends in the middle of an event.")
    found += [f"{count:,} events {what} are excluded." for what, count in sorted(events.dropped.items())]
    return found


def _not_collected(parts: Assembled, *, kineto: bool) -> dict[str, str]:
    if not kineto:
        return {}
    if not parts.has_device:
        return {"GPU activity": GPU_ACTIVITY}
    if "gpu.time" not in parts.metrics:
        return {"times of kernels": GPU_ACTIVITY}
    return {"counters of kernels": "ncu --set full ./app (AMD: rocprof-compute profile)"}


def _run(header: Mapping[str, Any]) -> dict[str, str]:
    """The rank; nothing else of the metadata is taken in, which may hold names of users and hosts."""
    distributed = header.get("distributedInfo")
    if not isinstance(distributed, dict):
        return {}
    rank, size = _small(distributed.get("rank")), _small(distributed.get("world_size"))
    if rank is None:
        return {}
    return {"rank": f"{rank} of {size}" if size is not None else str(rank)}


def _ranks(header: Mapping[str, Any]) -> dict[int, int]:
    distributed = header.get("distributedInfo")
    rank = _small(distributed.get("rank")) if isinstance(distributed, dict) else None
    return {} if rank is None else {0: rank}


def _small(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31 else None


def _devices(header: Mapping[str, Any]) -> dict[int, Device]:
    """The GPUs as the trace describes them."""
    described = header.get("deviceProperties")
    found: dict[int, Device] = {}
    for entry in described if isinstance(described, list) else []:
        if not isinstance(entry, dict):
            continue
        number, name = _small(entry.get("id")), entry.get("name")
        if number is None or not isinstance(name, str):
            continue
        major, minor = _small(entry.get("computeMajor")), _small(entry.get("computeMinor"))
        memory = entry.get("totalGlobalMem")
        found[number] = Device(
            clean(name[:200]),
            multiprocessors=_small(entry.get("numSms")),
            memory=memory if isinstance(memory, int) and 0 < memory < 1 << 60 else None,
            capability="" if major is None or minor is None else f"{major}.{minor}",
        )
    return found
