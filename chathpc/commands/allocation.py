"""Memory that is freed and asked for again all the time: kept by the process instead of going back to the system."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

#: Bytes of a single file from which keeping memory pays; folders of databases are read in pieces anyway.
LARGE = 32 << 20

#: Parameters of mallopt (glibc, malloc.h): never map single blocks, never give the top back, ask for 64 MiB at a time.
_MMAP_MAX, _TRIM_THRESHOLD, _TOP_PAD = (-4, 0), (-1, 2**31 - 1), (-2, 64 << 20)


def keep_freed_memory(paths: Iterable[Path]) -> None:
    """Tell the C library to reuse large blocks if one of `paths` is a large file.

    To be called before numpy is imported, and only by a program of our own.
    Vectorised code makes and frees arrays of many megabytes. glibc maps each anew, and the kernel clears each page again:
    half of the processor time of reading a large export (measured: 7.4 of 15 s). Nothing happens with another C library.
    """
    if not any(_size(path) >= LARGE for path in paths):
        return
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    import ctypes

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return
    for parameter, value in (_MMAP_MAX, _TRIM_THRESHOLD, _TOP_PAD):
        mallopt(parameter, value)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except (OSError, ValueError):
        return 0
