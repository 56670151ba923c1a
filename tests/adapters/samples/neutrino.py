"""Small Neutrino traces of both layouts."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic.neutrino import small


def write_samples(folder: Path) -> list[Path]:
    return [small(folder / "newer"), small(folder / "older", older=True)]
