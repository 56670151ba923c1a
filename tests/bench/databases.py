"""The synthetic databases of the benchmark, written once into a cache below the system's temporary folder."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

SEED = 20_26
#: Goes up when the writer changes what it writes, so that old files are not taken for new ones.
VERSION = 2


def cache() -> Path:
    """The cache folder, made for this user alone; SystemExit if somebody else's folder has its name."""
    path = Path(tempfile.gettempdir()) / f"chathpc-bench-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    if path.is_symlink() or path.stat().st_uid != os.getuid():
        sys.exit(f"{path} belongs to somebody else. Set TMPDIR to a folder of your own.")
    return path


def database(contexts: int, locations: int) -> Path:
    """A database of `contexts` contexts and `locations` ranks; written if the cache does not have it."""
    path = cache() / f"{VERSION}-{contexts}x{locations}"
    if not path.exists():
        from tests.synthetic.hpctoolkit_v4 import write_large

        unfinished = Path(tempfile.mkdtemp(dir=cache()))
        write_large(unfinished, contexts, locations, SEED)
        _settle(unfinished, path)
    return path


def smallest() -> Path:
    """The database of a program of 18 contexts and two threads."""
    path = cache() / f"{VERSION}-smallest"
    if not path.exists():
        from tests.synthetic.hpctoolkit_v4 import write
        from tests.synthetic.programs import small

        unfinished = Path(tempfile.mkdtemp(dir=cache()))
        write(unfinished, small())
        _settle(unfinished, path)
    return path


def _settle(unfinished: Path, path: Path) -> None:
    """Put a finished database in its place; another benchmark may have been first."""
    try:
        unfinished.rename(path)
    except OSError:
        shutil.rmtree(unfinished)
