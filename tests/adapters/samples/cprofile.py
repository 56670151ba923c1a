"""Statistics of cProfile in several versions of the format."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic.cprofile import HEAT, write


def write_samples(folder: Path) -> list[Path]:
    """Three files."""
    contents = {
        "new.pstats": write(HEAT),
        "old.pstats": write(HEAT, 2),
        "plain.pstats": write(HEAT, 4, references=False),
    }
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in contents]
