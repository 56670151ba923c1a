"""Source text for profiles that carry none: files that lie beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

from chathpc.profile.profile import SourceExcerpt, SourceReader
from chathpc.profile.text import clean

#: A source file that is larger is generated, and no excerpt of it helps anybody.
LARGEST_SOURCE = 8 << 20
#: Endings of source files. What a profile calls a file and ends otherwise is not opened.
_ENDINGS = frozenset(
    {
        ".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".inl", ".ipp", ".tpp", ".cu", ".cuh", ".hip",
        ".f", ".for", ".f77", ".f90", ".f95", ".f03", ".f08", ".py", ".jl", ".rs",
    }
)  # fmt: skip


def beside(profile: Path) -> SourceReader:
    """Reads excerpts of source files in the folder of `profile` by the last part of their path; of no other folder, whatever a
    path or link says.
    """
    folder = profile.parent.resolve()

    def candidates(file: str) -> Iterable[Path]:
        name = PurePosixPath(file.replace("\\", "/")).name
        return (folder / name,) if PurePosixPath(name).suffix.lower() in _ENDINGS else ()

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
