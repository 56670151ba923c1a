"""The source of a program as a question shows it, from a folder that the user names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chathpc.errors import UsageError
from chathpc.profile.text import clean

SUFFIXES = frozenset({".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".inl"})
#: 8,000 tokens, the longest program of the paper, at 3.75 characters a token of C++.
MOST_CHARACTERS = 30_000
#: A file beyond that is data.
_LARGEST = 4_000_000
_MAIN = re.compile(r"\bmain\s*\(")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a program; `cut` is the number of lines that are left out at its end."""

    name: str
    text: str
    cut: int = 0

    def lines(self, *, numbered: bool = False) -> list[str]:
        """Its lines below its name, as written, or with their numbers."""
        told = f", without its last {self.cut} lines" if self.cut else ""
        body = self.text.splitlines()
        if numbered:
            body = [f"{number}: {line}" for number, line in enumerate(body, 1)]
        return [f"// file: {self.name}{told}", *body]


def read_source(folder: Path, function: str, most: int = MOST_CHARACTERS) -> tuple[SourceFile, ...]:
    """The program in `folder`: the file with `function` first, then that with main, then the others, at most `most` characters together.

    Links out of the folder are not followed. UsageError where it has no source.
    """
    named = re.compile(rf"\b{re.escape(function)}\b")
    found: list[tuple[tuple[bool, bool, str], str]] = []
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if path.suffix.lower() not in SUFFIXES or not path.resolve().is_relative_to(folder.resolve()):
            continue
        if not path.is_file() or path.stat().st_size > _LARGEST:
            continue
        text = path.read_text("utf-8", "replace")
        rank = named.search(text) is None, _MAIN.search(text) is None, path.relative_to(folder).as_posix()
        found.append((rank, text))
    if not found:
        raise UsageError(
            f"{clean(str(folder))} has no C, C++ or CUDA source.", hint="--sources DIR holds one folder a program."
        )
    return tuple(_fitting([(rank[2], text) for rank, text in sorted(found)], most))


def _fitting(files: Sequence[tuple[str, str]], most: int) -> list[SourceFile]:
    kept: list[SourceFile] = []
    for name, text in files:
        if most <= 0:
            break
        if len(text) <= most:
            kept.append(SourceFile(name, text))
        else:
            whole = text[:most].rpartition("\n")[0]
            kept.append(SourceFile(name, whole, len(text.splitlines()) - len(whole.splitlines())))
        most -= len(text)
    return kept
