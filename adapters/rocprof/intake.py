"""What all forms of rocprof have in common: calls, kernels and copies of processes, joined by correlation."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from chathpc.adapters.traced.launches import join
from chathpc.adapters.traced.operations import copy_lane, kernel_lane
from chathpc.adapters.traced.recording import Facts, Recording, Role, nanoseconds
from chathpc.profile.timeline import LaneKind
from chathpc.profile.tree import NodeKind

_SUFFIX = re.compile(r"(?: \[clone \.kd\]|\.kd)$")
_RUNTIME = re.compile(r"(?:__)?hip[A-Z]|hsa_|nccl[A-Z]|roc[A-Z]|amd_", re.A)
#: Whole numbers beyond this are no times, sizes or identifiers.
INTEGER = 1 << 62


class Intake:
    """A recording with the keys that join its parts: process, correlation, dispatch."""

    def __init__(self, path: Path) -> None:
        self.recording = Recording(path)
        self.dropped = 0
        self.dispatches: dict[tuple[object, int], int] = {}
        self._calls: list[tuple[object, int]] = []
        self._operations: list[tuple[object, int]] = []
        self._by_key: dict[object, int] = {}

    def call(
        self,
        process: object,
        thread: object,
        name: str,
        start: int,
        end: int,
        correlation: int | None,
        domain: str = "",
    ) -> int | None:
        """Add a call or range of a host thread; None if its times are impossible."""
        if not nanoseconds(start, end):
            self.dropped += 1
            return None
        recording, role, kind = self.recording, Role.API, NodeKind.FUNCTION
        if "MARKER" in domain.upper() or (not domain and not _RUNTIME.match(name)):
            role, kind = Role.RANGE, NodeKind.REGION
        row = recording.thread_of(thread, recording.process_of(process, f"process {process}"), f"thread {thread}")
        number = recording.slice(row, start, end, recording.frame_of(kind, name), role)
        if correlation is not None and role == Role.API:
            self._calls.append(((process, correlation), number))
        return number

    def kernel(
        self, process: object, device: int, queue: int, name: str, start: int, end: int, *,
        correlation: int | None = None, dispatch: int | None = None, facts: Facts | None = None,
    ) -> int | None:  # fmt: skip
        """Add a kernel; None if its times are impossible."""
        if not nanoseconds(start, end):
            self.dropped += 1
            return None
        name = kernel_name(name)
        number = self.recording.kernel(
            self.recording.stream_of(device, queue), start, end, name, kernel_lane(name), facts
        )
        if correlation is not None:
            self._operations.append(((process, correlation), number))
        if dispatch is not None:
            self.dispatches[process, dispatch] = number
        return number

    def counted(self, process: object, device: int, name: str, dispatch: int, facts: Facts | None) -> int:
        """Number of a kernel by its dispatch; it is added without times if it is new."""
        found = self.dispatches.get((process, dispatch))
        if found is None:
            stream = self.recording.stream_of(device, -1)
            found = self.recording.kernel(stream, 0, 0, kernel_name(name), None, facts)
            self.dispatches[process, dispatch] = found
        return found

    def copy(
        self, process: object, device: int, queue: int, name: str, start: int, end: int, *, correlation: int | None = None,
        size: int = -1, pageable: int = -1, lane: LaneKind | None = None,
    ) -> None:  # fmt: skip
        """Add a copy or a fill of memory; copies from host to host are no work of a device and are left out."""
        if not nanoseconds(start, end):
            self.dropped += 1
            return
        if re.search(r"HOST[_ ]?TO[_ ]?HOST|HtoH", name, re.I):
            return
        if re.search(r"fill|memset", name, re.I):
            lane = LaneKind.MEMSET
        stream = self.recording.stream_of(device, queue)
        lane = lane or copy_lane(name)
        number = self.recording.transfer(stream, start, end, name, lane, size, pageable)
        if correlation is not None:
            self._operations.append(((process, correlation), number))

    def finish(self) -> Recording:
        """The recording, its kernels joined to the calls that launched them."""
        join(self.recording, self._calls, self._operations)
        return self.recording

    def slice_of(self, key: tuple[object, int]) -> int | None:
        """The call with a key (process, correlation), if there is one."""
        if len(self._by_key) < len(self._calls):
            self._by_key = dict(self._calls)
        return self._by_key.get(key)


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


def integer(value: object) -> int | None:
    """A whole number as it stands in a file (a number, or text of one); None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if -INTEGER < value < INTEGER else None
    if isinstance(value, float):
        return int(value) if -9e18 < value < 9e18 and value == int(value) and abs(value) < INTEGER else None
    if isinstance(value, str) and 0 < len(value) < 24:
        try:
            number = int(value, 16 if value.startswith("0x") else 10)
        except ValueError:
            return None
        return number if -INTEGER < number < INTEGER else None
    return None
