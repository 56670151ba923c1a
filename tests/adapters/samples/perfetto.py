"""Perfetto traces: of a program's threads, of AMD's profiler, with all packets in one, and on clocks of their own."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic.perfetto import BOOT, OWN, Trace, heat, rocprof


def write_samples(folder: Path) -> list[Path]:
    """Four files."""
    own = Trace()
    own.defaults(track=9, clock=OWN)
    own.thread(9, 5, 5, "main")
    own.clocks([(BOOT, 7_000_000, 1, False), (OWN, 0, 1000, True)])
    for _ in range(20):
        own.begin(10, "read")
        own.end(5)
    contents = {
        "heat.pftrace": heat().bytes(),
        "gemm.pftrace": rocprof().bytes(),
        "packed.pftrace": heat(30).compressed(),
        "clocks.pftrace": own.bytes(),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in contents]
