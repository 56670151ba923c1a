"""A recording of rocprof as a Profile, with the words that go with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from chathpc.adapters.rocprof.amd_counters import put_facts
from chathpc.adapters.rocprof.intake import Intake
from chathpc.adapters.rocprof.system import System
from chathpc.adapters.traced.assemble import assemble
from chathpc.adapters.traced.counters import put_counters
from chathpc.adapters.traced.words import device_caveats
from chathpc.profile.profile import Profile, Source, no_timeline
from chathpc.profile.remark import Device

SYSTEM_TRACE = "rocprofv3 --sys-trace -- ./app"
COUNTERS = "rocprof-compute profile -n name -- ./app"


def profile_of(
    path: Path,
    intake: Intake,
    *,
    format: str,
    tool: str,
    version: str = "",
    devices: Mapping[int, Device] | None = None,
    caveats: Iterable[str] = (),
    system: System | None = None,
) -> Profile:
    """The Profile of all that `intake` took in."""
    recording = intake.finish()
    parts = assemble(recording)
    if recording.counters:
        put_facts(recording, parts, system or System())
        put_counters(recording, parts)
    words = [*device_caveats(recording, parts), *caveats]
    if recording.counters:
        words.append("Counters were collected: this serialises kernels, so gaps between them are meaningless.")
    if intake.dropped:
        words.append(f"{intake.dropped:,} events with impossible times are excluded.")
    missing: dict[str, str] = {}
    if parts.has_device and not len(recording.start):
        words.append(
            "No calls of the host were recorded, so who launched the kernels and what the host did is unknown."
        )
        missing["calls of the host"] = SYSTEM_TRACE
    if not parts.has_device:
        words.append("Nothing ran on a GPU while this was recorded, or the GPU was not recorded.")
        missing["GPU activity"] = SYSTEM_TRACE
    elif not recording.counters:
        missing["counters of kernels"] = COUNTERS
    return Profile(
        format=format,
        title="HIP program",
        tree=parts.tree,
        metrics=parts.metrics,
        values=parts.values,
        where=parts.where,
        sources=(Source(path, tool, version),),
        caveats=tuple(words),
        not_collected=missing,
        timed=True,
        insufficient="" if parts.metrics else "The file contains no call and no operation.",
        devices=parts.used(devices or {}),
        hardware={"GPU": system.model} if system is not None and system.model else {},
        read_timeline=no_timeline if recording.counters else lambda: parts.timeline,
    )
