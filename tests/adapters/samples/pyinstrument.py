"""pyinstrument's JSON, old and new."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic.pyinstrument import HEAT, renderer, session


def write_samples(folder: Path) -> list[Path]:
    """Two files."""
    (folder / "old.json").write_text(renderer(HEAT))
    (folder / "new.json").write_text(session(HEAT))
    return [folder / "old.json", folder / "new.json"]
