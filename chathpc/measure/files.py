"""Small files: writing into the folder of a result, which the measured program could write into, too (no link that it left is followed),
and reading what a machine or a project says of itself.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path


def remove(path: Path) -> None:
    """Remove a file, a link (not what it points to) or a folder with all that is in it, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def put(path: Path, data: bytes) -> None:
    """Write a new file in place of whatever has its name."""
    remove(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    with open(descriptor, "wb") as stream:
        stream.write(data)


def fresh_folder(path: Path) -> Path:
    """Make an empty folder in place of whatever has its name."""
    remove(path)
    path.mkdir()
    return path


def text_of(file: Path, most: int = 1 << 20) -> str:
    """The first `most` bytes of a file as text; empty if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return stream.read(most).decode("utf-8", "replace")
    except OSError:
        return ""
