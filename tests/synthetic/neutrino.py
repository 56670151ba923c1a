"""Neutrino traces for tests: the writer of the worked example, and small traces with everything that the layout has."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "neutrino-attention"


def example_module(name: str) -> ModuleType:
    """A module of the worked example, imported from its file."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLE / f"{name}.py")
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


writer = example_module("neutrino_trace")


def accesses(rows: int, records: list[list[tuple[int, int]]]) -> np.ndarray:
    """Records of the map DMAT: for each thread its (clock, address) pairs, the rest zero."""
    most = max((len(one) for one in records), default=1) or 1
    table = np.zeros((rows, most), dtype=writer.DMAT.record)
    for row, pairs in enumerate(records):
        if pairs:
            table[row, : len(pairs)] = pairs
    return table


def schedule(spans: list[tuple[int, int, int]]) -> np.ndarray:
    """Records of the map block_sched: (start, elapsed, multiprocessor) of each warp."""
    return np.array(spans, dtype=writer.BLOCK_SCHED.record).reshape(-1, 1)


def small(folder: Path, *, older: bool = False, kernel: str = "_Z5saxpyifPfS_") -> Path:
    """Two blocks of 32 threads, launched twice; thread 0 of each block touches three pages."""
    touched = accesses(64, [[(1, 4096), (5, 4100), (90, 8192)], *[[] for _ in range(31)], [(1, 12288)]])
    spans = schedule([(1000, 300, 0), (1000, 100, 1)])
    moved = np.zeros((64, 1), dtype=writer.GMEM_BYTES.record)
    moved["sync_bytes"] = 16
    moved["async_bytes"][:4] = 32
    launches = [
        writer.Launch(kernel, (2, 1, 1), (32, 1, 1), [touched, spans, moved], milliseconds=0.5),
        writer.Launch(kernel, (2, 1, 1), (32, 1, 1), [touched, spans, moved], milliseconds=0.25),
    ]
    return writer.write_trace(folder, [writer.DMAT, writer.BLOCK_SCHED, writer.GMEM_BYTES], launches, older=older)
