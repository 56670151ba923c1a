"""speedscope files of both kinds."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic.speedscope import HEAT, evented, sampled, write


def write_samples(folder: Path) -> list[Path]:
    """Three files."""
    frames: dict[str, int] = {}
    contents = {
        "evented.json": [evented(HEAT, frames)],
        "sampled.json": [sampled(HEAT, frames)],
        "both.json": [evented(HEAT, frames), sampled(HEAT * 3, frames, "none")],
    }
    for name, profiles in contents.items():
        (folder / name).write_text(write(profiles, frames))
    return [folder / name for name in contents]
