"""What all forms of rocprof have in common: calls, kernels and copies of processes, joined by correlation, as a Profile."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from chathpc.adapters.rocprof.amd_counters import put_facts
from chathpc.adapters.rocprof.system import System
from chathpc.adapters.traced.assemble import Assembled
from chathpc.adapters.traced.operations import copy_lane, kernel_lane
from chathpc.adapters.traced.recording import Facts, Recording, Role, nanoseconds
from chathpc.profile.profile import Profile, Source, no_timeline
from chathpc.profile.remark import Device
from chathpc.profile.timeline import LaneKind
from chathpc.profile.tree import NodeKind

SYSTEM_TRACE = "rocprofv3 --sys-trace -- ./app"
COUNTERS = "rocprof-compute profile -n name -- ./app"
SERIALISED = "Counters were collected: this serialises kernels, so gaps between them are meaningless."
_SUFFIX = re.compile(r"(?: \[clone \.kd\]|\.kd)$")
_RUNTIME = re.compile(r"(?:__)?hip[A-Z]|hsa_|nccl[A-Z]|roc[A-Z]|amd_", re.A)


class Intake:
    """A recording with the keys that join its parts: process, correlation, dispatch. None stands for what is not told.

    What has impossible times or none is counted in `dropped`, not taken.
    """

    def __init__(self, path: Path) -> None:
        self.recording = Recording(path)
        self.dropped = 0
        self.dispatches: dict[tuple[object, int], int] = {}
        self._calls: list[tuple[object, int]] = []
        self._operations: list[tuple[object, int]] = []
        self._by_key: dict[object, int] = {}

    def _times(self, start: int | None, end: int | None) -> tuple[int, int] | None:
        if start is not None and end is not None and nanoseconds(start, end):
            return start, end
        self.dropped += 1
        return None

    def call(
        self, process: object, thread: object, name: str, start: int | None, end: int | None, correlation: int | None,
        domain: str = "API",
    ) -> int | None:  # fmt: skip
        """Add a call or range of a host thread; its number, None if it was dropped."""
        if (times := self._times(start, end)) is None:
            return None
        recording, role, kind = self.recording, Role.API, NodeKind.FUNCTION
        if "MARKER" in domain.upper() or (not domain and not _RUNTIME.match(name)):
            role, kind = Role.RANGE, NodeKind.REGION
        row = recording.thread_of(thread, recording.process_of(process, f"process {process}"), f"thread {thread}")
        number = recording.slice(row, *times, recording.frame_of(kind, name), role)
        if correlation is not None and role == Role.API:
            self._calls.append(((process, correlation), number))
        return number

    def kernel(
        self, process: object, device: int | None, queue: int | None, name: str, start: int | None, end: int | None, *,
        correlation: int | None = None, dispatch: int | None = None, facts: Facts | None = None,
    ) -> int | None:  # fmt: skip
        """Add a kernel; its number, None if it was dropped."""
        if (times := self._times(start, end)) is None:
            return None
        name = kernel_name(name)
        stream = self.recording.stream_of(device, queue)
        number = self.recording.kernel(stream, *times, name, kernel_lane(name), facts)
        if correlation is not None:
            self._operations.append(((process, correlation), number))
        if dispatch is not None:
            self.dispatches[process, dispatch] = number
        return number

    def counted(self, process: object, device: int | None, name: str, dispatch: int, facts: Facts | None = None) -> int:
        """Number of a kernel by its dispatch; it is added without times if it is new."""
        found = self.dispatches.get((process, dispatch))
        if found is None:
            stream = self.recording.stream_of(device, None)
            found = self.recording.kernel(stream, 0, 0, kernel_name(name), None, facts)
            self.dispatches[process, dispatch] = found
        return found

    def copy(
        self, process: object, device: int | None, queue: int | None, name: str, start: int | None, end: int | None, *,
        correlation: int | None = None, size: int | None = None,
    ) -> None:  # fmt: skip
        """Add a copy or a fill of memory; copies from host to host are no work of a device and are left out."""
        times = self._times(start, end)
        if times is None or re.search(r"HOST[_ ]?TO[_ ]?HOST|HtoH", name, re.I):
            return
        lane = LaneKind.MEMSET if re.search(r"fill|memset", name, re.I) else copy_lane(name)
        number = self.recording.transfer(self.recording.stream_of(device, queue), *times, name, lane, size)
        if correlation is not None:
            self._operations.append(((process, correlation), number))

    def allocation(self, process: object, correlation: int | None, size: int | None) -> bool:
        """Add bytes that a call allocated; False if there is no such call."""
        if len(self._by_key) < len(self._calls):
            self._by_key = dict(self._calls)
        call = None if correlation is None else self._by_key.get((process, correlation))
        if call is not None and size is not None and size > 0:
            self.recording.allocate(call, size)
        return call is not None

    def profile(
        self, *, format: str, tool: str, version: str = "", devices: Mapping[int, Device] | None = None,
        caveats: Iterable[str] = (), system: System | None = None,
    ) -> Profile:  # fmt: skip
        """The Profile of all that was taken in, kernels joined to the calls that launched them."""
        recording = self.recording
        recording.join(self._calls, self._operations)
        parts = Assembled(recording)
        if recording.counters:
            put_facts(parts, system or System())
            parts.put_counters()
        words = [*parts.caveats(), *caveats]
        if recording.counters:
            words.append(SERIALISED)
        if self.dropped:
            words.append(f"{self.dropped:,} events with impossible times are excluded.")
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
            sources=(Source(recording.path, tool, version),),
            caveats=tuple(words),
            not_collected=missing,
            timed=True,
            insufficient="" if parts.metrics else "The file contains no call and no operation.",
            devices=parts.used(devices or {}),
            hardware={"GPU": system.model} if system is not None and system.model else {},
            read_timeline=no_timeline if recording.counters else lambda: parts.timeline,
        )


@lru_cache(maxsize=1 << 14)
def kernel_name(name: str) -> str:
    """A kernel's name without what the compiler and the driver add to it."""
    return _SUFFIX.sub("", name.strip().strip('"')) or "[unnamed kernel]"


def facts_of(grid: list[int | None], group: list[int | None], registers: list[int | None], shared: int | None) -> Facts:
    """Launch facts from the grid in work items, the size of a work group, the vector registers and the bytes of LDS."""
    blocks, threads = -1.0, -1.0
    if all(part is not None and 0 < part < 1 << 32 for part in group):
        threads = 1.0
        for size in group:
            threads *= size or 1
        if len(grid) == len(group) and all(part is not None and 0 < part < 1 << 48 for part in grid):
            blocks = 1.0
            for items, size in zip(grid, group, strict=True):
                blocks *= -(-(items or 1) // (size or 1))
    known = [part for part in registers if part is not None and 0 <= part < 1 << 20]
    local = -1.0 if shared is None or not 0 <= shared < 1 << 40 else float(shared)
    return Facts(blocks, threads, float(sum(known)) if known else -1.0, local)
