"""Source text for profiles that carry none: files that lie beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

from chathpc.profile.languages import is_fixed_form, kind_of
from chathpc.profile.profile import SourceExcerpt, SourceReader
from chathpc.profile.text import clean

#: A source file that is larger is generated, and no excerpt of it helps anybody.
LARGEST_SOURCE = 8 << 20
_FIRST_TAB = re.compile(r"^(?P<label>[ \d]{0,5})\t(?P<digit>[1-9]?)")


def beside(profile: Path) -> SourceReader:
    """Reads excerpts of source files in the folder of `profile` by the last part of their path; of no other folder, whatever a
    path or link says.
    """
    folder = profile.parent.resolve()

    def candidates(file: str) -> Iterable[Path]:
        name = PurePosixPath(file.replace("\\", "/")).name
        return (folder / name,) if kind_of(name) is not None else ()  # what ends otherwise is not opened

    return excerpts(folder, candidates)


def excerpts(root: Path, candidates: Callable[[str], Iterable[Path]]) -> SourceReader:
    """Reads excerpts of the first of `candidates` that is a file below `root`, which is a real path."""
    cache: dict[str, list[str] | None] = {}

    def lines_of(file: str) -> list[str] | None:
        if file not in cache:
            cache[file] = None
            for candidate in candidates(file):
                try:
                    path = candidate.resolve()
                    if not path.is_relative_to(root) or not path.is_file() or path.stat().st_size > LARGEST_SOURCE:
                        continue
                    text = path.read_text("utf-8", errors="replace")
                except (OSError, ValueError, RuntimeError):  # missing, unreadable, a NUL in the name, a loop of links
                    continue
                cache[file] = [clean(line) for line in lines_of_source(file, text)]
                break
        return cache[file]

    def read(file: str, line: int, context: int) -> SourceExcerpt | None:
        lines = lines_of(file)
        if lines is None or not 0 < line <= len(lines):
            return None
        first = max(1, line - context)
        return SourceExcerpt(file, first, tuple(lines[first - 1 : line + context]))

    return read


def lines_of_source(file: str, text: str) -> list[str]:
    """The lines of a source text with tabs as blanks. In fixed-form Fortran a tab among the first six columns leads to the
    seventh, or to the sixth before a digit, which then marks a continuation (GNU Fortran manual, "Fixed and free form").
    """
    lines = text.split("\n")
    if is_fixed_form(file):
        lines = [_FIRST_TAB.sub(_to_statement, line) for line in lines]
    return [line.expandtabs(4) for line in lines]


def _to_statement(found: re.Match[str]) -> str:
    return found["label"].ljust(5 if found["digit"] else 6) + found["digit"]
