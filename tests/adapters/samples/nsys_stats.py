"""Reports of nsys stats: alone, several in one file, and folders of them."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic import nsys_stats as written


def write_samples(folder: Path) -> list[Path]:
    """Six files and two folders."""
    texts = {
        "kernels.csv": written.KERNELS,
        "copies.csv": written.COPIES,
        "ranges.csv": written.RANGES,
        "operations.csv": written.OPERATIONS,
        "gpu_trace.csv": written.GPU_TRACE,
        "all.csv": f"Processing [x.sqlite] …\n\n{written.CALLS}\n\n ** NVTX (nvtx_sum):\n\n{written.RANGES}\n{written.SHAPES}",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    folders = {
        "sums": (written.KERNELS, written.SHAPES, written.COPIES, written.SIZES, written.CALLS),
        "traces": (written.GPU_TRACE, written.CALL_TRACE),
    }
    for name, reports in folders.items():
        (folder / name).mkdir()
        for number, text in enumerate(reports):
            (folder / name / f"report_{number}.csv").write_text(text)
    return [folder / name for name in (*texts, *folders)]
