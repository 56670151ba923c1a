"""Source text that hpcprof copied into the database (src/)."""

from __future__ import annotations

from pathlib import Path

from chathpc.profile.profile import SourceExcerpt, SourceReader
from chathpc.profile.text import clean

#: A source file that is larger is generated, and no excerpt of it helps anybody.
LARGEST_SOURCE = 8 << 20


def source_reader(database: Path) -> SourceReader:
    """Reads excerpts of files below `database`/src; nothing outside that folder is ever opened, whatever a path or
    link says.
    """
    root = (database / "src").resolve()
    cache: dict[str, list[str] | None] = {}

    def lines_of(file: str) -> list[str] | None:
        if file not in cache:
            cache[file] = None
            for candidate in (database / file, root / file.lstrip("/")):
                try:
                    path = candidate.resolve()
                    if not path.is_relative_to(root) or not path.is_file() or path.stat().st_size > LARGEST_SOURCE:
                        continue
                    text = path.read_text("utf-8", errors="replace")
                except (OSError, ValueError, RuntimeError):  # missing, unreadable, a NUL in the name, a loop of links
                    continue
                cache[file] = [clean(line.expandtabs(4)) for line in text.split("\n")]
                break
        return cache[file]

    def read(file: str, line: int, context: int) -> SourceExcerpt | None:
        lines = lines_of(file)
        if lines is None or not 0 < line <= len(lines):
            return None
        first = max(1, line - context)
        return SourceExcerpt(file, first, tuple(lines[first - 1 : line + context]))

    return read
