"""A writer of Perfetto traces, by an encoder of our own from the numbers in Perfetto's .proto files."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.synthetic.pprof import data, number

BOOT, OWN = 6, 64


def text(field: int, content: str) -> bytes:
    return data(field, content.encode())


@dataclass
class Trace:
    """A trace of one writer; times in nanoseconds."""

    packets: list[bytes] = field(default_factory=list)
    sequence: int = 1
    names: dict[str, int] = field(default_factory=dict)

    def packet(self, body: bytes) -> None:
        self.packets.append(body + number(10, self.sequence))

    def thread(self, track: int, process: int, thread: int, name: str = "", *, above: int = 0) -> None:
        inner = number(1, process) + number(2, thread) + text(5, name)
        self.packet(data(60, number(1, track) + number(5, above) + data(4, inner)))

    def process(self, track: int, process: int, name: str) -> None:
        self.packet(
            data(60, number(1, track) + data(3, number(1, process) + text(6, name) + text(2, "secret --token")))
        )

    def track(self, track: int, name: str, above: int = 0) -> None:
        self.packet(data(60, number(1, track) + number(5, above) + text(2, name)))

    def begin(self, at: int, name: str, track: int = 0, category: str = "", **facts: int | str) -> None:
        arguments = b"".join(
            data(4, text(10, key) + (text(6, value) if isinstance(value, str) else number(3, value)))
            for key, value in facts.items()
        )
        body = number(9, 1) + (number(11, track) if track else b"") + text(23, name)
        self.packet(number(8, at) + data(11, body + (text(22, category) if category else b"") + arguments))

    def end(self, at: int, track: int = 0) -> None:
        self.packet(number(8, at) + data(11, number(9, 2) + (number(11, track) if track else b"")))

    def slice(self, start: int, end: int, name: str, track: int = 0, category: str = "", **facts: int | str) -> None:
        self.begin(start, name, track, category, **facts)
        self.end(end, track)

    def defaults(self, track: int = 0, clock: int = 0) -> None:
        """What holds for all packets of this writer that do not say otherwise."""
        self.packet(data(59, (number(58, clock) if clock else b"") + data(11, number(11, track))) + number(13, 1))

    def clocks(self, readings: Iterable[tuple[int, int, int, bool]]) -> None:
        """One moment on several clocks: (clock, its time, its unit in nanoseconds, whether its times are steps)."""
        self.packet(
            data(
                6,
                b"".join(
                    data(1, number(1, clock) + number(2, at) + number(3, steps) + number(4, unit))
                    for clock, at, unit, steps in readings
                ),
            )
        )

    def bytes(self) -> bytes:
        return b"".join(data(1, packet) for packet in self.packets)

    def compressed(self) -> bytes:
        """The same, all packets in one."""
        return data(1, number(10, self.sequence) + data(50, zlib.compress(self.bytes())))


def heat(steps: int = 10) -> Trace:
    """A program on two threads: `main` runs 100 us a step, of which `solve` has 60; a helper waits 40 us a step."""
    trace = Trace()
    trace.process(1, 77, "heat")
    trace.thread(2, 77, 77, "heat", above=1)
    trace.thread(3, 77, 78, "helper", above=1)
    for step in range(steps):
        at = 1_000_000_000 + step * 100_000
        trace.begin(at, "main", 2)
        trace.slice(at + 10_000, at + 70_000, "solve", 2)
        trace.end(at + 100_000, 2)
        trace.slice(at, at + 40_000, "wait", 3)
    return trace


def rocprof(kernels: int = 10) -> Trace:
    """As rocprofv3 writes it: launches of 5 us on a thread, each with a kernel of 50 us on agent 4; a copy of 4 MiB in 200 us on its own queue."""
    trace = Trace()
    trace.process(1, 77, "gemm")
    trace.thread(2, 77, 77, above=1)
    trace.track(5, "COMPUTE AGENT [4] QUEUE [0] (GPU)")
    trace.track(6, "COPY to AGENT [4] THREAD [77]")
    trace.slice(0, 250_000, "hipMemcpy", 2, "hip_api", corr_id=1000)
    trace.slice(10_000, 210_000, "MEMORY_COPY_HOST_TO_DEVICE", 6, "memory_copy", corr_id=1000, bytes=4 << 20)
    for step in range(kernels):
        at = 300_000 + step * 60_000
        trace.slice(at, at + 5_000, "hipLaunchKernel", 2, "hip_api", corr_id=step + 1)
        trace.slice(at + 8_000, at + 58_000, "gemm(float*, int)", 5, "kernel_dispatch", corr_id=step + 1, agent=4)
    return trace
