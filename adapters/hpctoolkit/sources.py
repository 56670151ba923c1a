"""Source text that hpcprof copied into the database (src/)."""

from __future__ import annotations

from pathlib import Path

from chathpc.adapters.sources import excerpts
from chathpc.profile.profile import SourceReader


def source_reader(database: Path) -> SourceReader:
    """Reads excerpts of files below `database`/src; nothing outside that folder is ever opened, whatever a path or
    link says.
    """
    root = (database / "src").resolve()
    return excerpts(root, lambda file: (database / file, root / file.lstrip("/")))
