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
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
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

    Headers that it includes and has not itself are taken from the CUDA program of the same name beside it. Links out of the folder are
    not followed. UsageError where it has no source.
    """
    found = {path.relative_to(folder).as_posix(): _text(path) for path in _files(folder)}
    if not found:
        raise UsageError(
            f"{clean(str(folder))} has no C, C++ or CUDA source.", hint="--sources DIR holds one folder a program."
        )
    twin = folder.with_name(f"{folder.name.rpartition('-')[0]}-cuda")
    if twin != folder:
        headers = {path.relative_to(twin).as_posix(): path for path in _files(twin)}
        have = {Path(name).name for name in found}
        included = {name for text in found.values() for name in _INCLUDE.findall(text)}
        for name in sorted(included & set(headers)):
            if Path(name).name not in have:
                found[f"../{twin.name}/{name}"] = _text(headers[name])
    named = re.compile(rf"\b{re.escape(function)}\b")
    order = sorted(
        found,
        key=lambda name: (not named.search(found[name]), not _MAIN.search(found[name]), name.startswith("../"), name),
    )
    return tuple(_fitting([(name, found[name]) for name in order], most))


def _files(folder: Path) -> list[Path]:
    inside = folder.resolve()
    paths = sorted(folder.rglob("*")) if folder.is_dir() else []
    return [
        path
        for path in paths
        if path.suffix.lower() in SUFFIXES
        and path.resolve().is_relative_to(inside)
        and path.is_file()
        and path.stat().st_size <= _LARGEST
    ]


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace")


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
