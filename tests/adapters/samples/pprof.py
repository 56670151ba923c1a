"""pprof in every form."""

from __future__ import annotations

import gzip
from pathlib import Path

from tests.synthetic.pprof import HOT, MAPS, SAMPLES, TYPES, gperftools, heap, message


def write_samples(folder: Path) -> list[Path]:
    """Six files."""
    proto = message(TYPES, SAMPLES * 5, HOT)
    contention = (
        "--- contentionz 1 ---\nformat = java\nresolution = microseconds\nsampling period = 100\n 14 1 @ 0x1 0x2\n"
    )
    contents = {
        "plain.pb": proto,
        "unpacked.pb": message(TYPES, SAMPLES, HOT, packed=False),
        "cpu.pb.gz": gzip.compress(proto, mtime=0),
        "words.prof": gperftools([(30, (0x402000, 0x401000)), (50, (0x401000,))] * 9, maps=MAPS),
        "heap.txt": heap([((2, 2048, 5, 5120), (0x402000, 0x401000))] * 5).encode() + MAPS.encode(),
        "locks.txt": contention.encode() + b" 0x1 a.Lock.take (Lock.java:7)\n",
    }
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in contents]
