"""Samples of perf script in several layouts, small."""

from __future__ import annotations

import gzip
from pathlib import Path

from tests.synthetic.perf_script import SCHEDULER, Fields, Frame, Sample, heat, write


def write_samples(folder: Path) -> list[Path]:
    """Files of every layout, one of them gzip, one with several events."""
    mixed = [
        Sample(sample.frames, event=event, period=period)
        for sample in heat(24)
        for event, period in (("cycles:u", 70_000), ("cache-misses", 100))
    ]
    inlined = [Sample((Frame("square", "inlined"), *sample.frames)) for sample in heat(24)]
    texts = {
        "default.txt": write(heat(60), header=True),
        "full.txt": write(heat(60), Fields(pid=True, cpu=True)),
        "lines.txt": write(inlined, Fields(lines=True)),
        "flat.txt": write(heat(60), Fields(one_line=True)),
        "events.txt": write(mixed),
        "scheduler.txt": SCHEDULER,
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "packed.txt.gz").write_bytes(gzip.compress(write(heat(60), Fields(period=False)).encode(), mtime=0))
    return [folder / name for name in (*texts, "packed.txt.gz")]
