"""Collapsed stacks: plain, with comments, UTF-16, gzip."""

from __future__ import annotations

import gzip
from pathlib import Path

from tests.synthetic.collapsed import HEAT, write


def write_samples(folder: Path) -> list[Path]:
    """Four files of the same stacks."""
    text = write(HEAT * 3)
    contents = {
        "plain.txt": text.encode(),
        "notes.txt": b"# why\n// where\n" + text.encode() + b"main (heat.py:40);solve (heat.py:12) 7\n",
        "wide.txt": text.encode("utf-16"),
        "packed.gz": gzip.compress(text.encode(), mtime=0),
    }
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in contents]
