"""Chrome traces: PyTorch's of one process, and plain arrays with nested events of two."""

from __future__ import annotations

import json
from pathlib import Path

from tests.synthetic.chrome_trace import Trace, nested, training


def write_samples(folder: Path) -> list[Path]:
    """Six traces."""
    replayed = Trace()
    replayed.call("cudaLaunchKernel", 10, 5)
    replayed.complete("cuda_profiler_range", "gemm", 20, 5, process=0, thread=0, **{"smsp__inst.sum": 4, "x.pct": 5.0})
    arrows = Trace()
    arrows.call("cudaLaunchKernel", 10, 5, correlation=4)
    arrows.complete("kernel", "gemm", 20, 5, process=0, thread=7, device=0, stream=7)
    arrows.arrow(9, (arrows.process, arrows.process, 10), (0, 7, 20))
    plain = [
        {"ph": "X", "pid": process, "tid": thread, "name": name, "ts": start, "dur": 5}
        for process in (1, "two")
        for thread in (1, 2)
        for name, start in (("read", 0), ("write", 7.25))
    ]
    files = {
        "cut.json": nested(20, ends=False)[:-1],
        "nested.json": nested(30),
        "plain.json": json.dumps({"traceEvents": plain, "displayTimeUnit": "ns"}),
        "replayed.json": replayed.text(),
        "arrows.json": arrows.text(),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    paths = [folder / name for name in files]
    return [*paths, training(rank=3).write(folder / "training.json"), training().write(folder / "training.json.gz")]
