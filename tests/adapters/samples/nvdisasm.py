"""Disassemblies: nvdisasm with and without encodings, cuobjdump."""

from __future__ import annotations

import shutil
from pathlib import Path

CODE = Path(__file__).parents[2] / "diagnosis" / "sass" / "code"


def write_samples(folder: Path) -> list[Path]:
    """Four files, each with the same kernels for another architecture."""
    return [Path(shutil.copy(file, folder)) for file in sorted(CODE.glob("*.sass"))]
