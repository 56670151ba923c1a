"""Which files of a project may be changed: patterns of paths, and the files that they choose."""

from __future__ import annotations

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from chathpc.errors import UsageError

#: Files and folders that a search for editable files visits; a project is smaller, a home folder is not.
MOST_ENTRIES = 200_000


def problem(pattern: str) -> str:
    """Why `pattern` is no pattern of files below a folder; "" if it is one."""
    parts = pattern.split("/")
    if pattern.startswith(("/", "~")):
        return "it must be relative to the project's folder"
    if ".." in parts:
        return "it leaves the project's folder"
    if "\\" in pattern or "\0" in pattern:
        return "it has a character that is not allowed; folders are separated by /"
    if not all(parts) or "." in parts:
        return "it has an empty part or a part that is only a dot"
    if any("**" in part and part != "**" for part in parts):
        return "** stands for whole folders and must be a part of its own: src/**/*.c"
    if any(_open_bracket(part) for part in parts):
        return "it has an unclosed ["
    return ""


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether `path`, relative to the project's folder and with /, matches one of `patterns`.

    As in .gitignore a pattern without / is about names at any depth, one with / about the whole path; * and ? stay within one
    name, ** stands for any number of folders. Upper and lower case differ. Takes time proportional to parts × parts.
    """
    parts = tuple(path.split("/"))
    return any(
        _matches(parts, tuple((pattern if "/" in pattern else f"**/{pattern}").split("/"))) for pattern in patterns
    )


def chosen(root: Path, edit: Iterable[str], protect: Iterable[str]) -> tuple[str, ...]:
    """The files below `root` that match `edit` and not `protect`, as sorted relative paths.

    Links are not followed and never chosen: what they point to may lie elsewhere. UsageError for a folder of more than
    200,000 entries.
    """
    wanted, kept, found, seen = tuple(edit), tuple(protect), [], 0
    for folder, folders, files in os.walk(root):
        seen += len(folders) + len(files)
        if seen > MOST_ENTRIES:
            raise UsageError(
                f"{root}: holds more than {MOST_ENTRIES:,} files and folders.", hint="Name a project's own folder."
            )
        above = Path(folder).relative_to(root).as_posix()
        below = "" if above == "." else f"{above}/"
        folders[:] = [name for name in folders if name != ".git"]
        for name in files:
            path = below + name
            if matches(path, wanted) and not matches(path, kept) and not os.path.islink(os.path.join(folder, name)):
                found.append(path)
    return tuple(sorted(found))


def _matches(path: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Steps through the path with all positions in the pattern that are possible at once: no pattern takes exponential time."""
    at = _skipped({0}, pattern)
    for part in path:
        after = {place for place in at if place < len(pattern) and pattern[place] == "**"}
        after |= {
            place + 1
            for place in at
            if place < len(pattern) and (pattern[place] == "**" or fnmatchcase(part, pattern[place]))
        }
        at = _skipped(after, pattern)
    return len(pattern) in at


def _skipped(places: set[int], pattern: tuple[str, ...]) -> set[int]:
    """The places, and those after a ** that stands for no folder; the last ** is what lies in a folder, and stands for one part at least."""
    for place in sorted(places):
        while place < len(pattern) - 1 and pattern[place] == "**":
            place += 1
            places.add(place)
    return places


def _open_bracket(part: str) -> bool:
    start = part.find("[")
    while start >= 0:
        end = part.find("]", start + 2 + part.startswith("!", start + 1))
        if end < 0:
            return True
        start = part.find("[", end + 1)
    return False
