"""Counters of perf stat in three layouts."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic.perf_stat import HEAT, columns, lines


def write_samples(folder: Path) -> list[Path]:
    """Three files."""
    texts = {
        "commas.csv": columns(HEAT),
        "processors.txt": columns(HEAT, ";", prefix=["CPU0"]),
        "lines.json": lines(HEAT),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / name for name in texts]
