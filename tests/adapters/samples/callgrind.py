"""Callgrind files in several styles."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic.callgrind import HEAT, Style, write


def write_samples(folder: Path) -> list[Path]:
    """Four files of one program."""
    styles = {
        "plain": Style(False, False),
        "short": Style(),
        "addresses": Style(addresses=True),
        "more": Style(True, True, False, 2, True),
    }
    for name, style in styles.items():
        (folder / f"callgrind.out.{name}").write_text(write(HEAT, ("Ir", "Dr"), style))
    return [folder / f"callgrind.out.{name}" for name in styles]
