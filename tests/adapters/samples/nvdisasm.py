"""Disassemblies: nvdisasm with and without encodings, cuobjdump."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

CODE = Path(__file__).parents[2] / "diagnosis" / "sass" / "code"


def write_samples(folder: Path) -> list[Path]:
    """Four files, each with the same kernels for another architecture, one of them also compressed, and one instruction alone."""
    found = [Path(shutil.copy(file, folder)) for file in sorted(CODE.glob("*.sass"))]
    packed, short = folder / "sm_75.sass.gz", folder / "short.sass"
    packed.write_bytes(gzip.compress((CODE / "sm_75.sass").read_bytes(), mtime=0))
    short.write_text("\t.target\tsm_80\n\t.section\t.text.f\n.text.f:\n        /*0000*/                   EXIT ;\n")
    return [*found, packed, short]
