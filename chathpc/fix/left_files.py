"""The files that a run leaves, and whether a change leaves the same."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chathpc.fix.outputs import compare_bytes
from chathpc.fix.project import Check
from chathpc.fix.workspace import entries
from chathpc.profile.text import clean

#: What profilers and crashes leave.
_NOTHING = re.compile(r"(?:^|/)(?:core(?:\.\d+)?|gmon\.out|vgcore\.\d+|__pycache__/.*)\Z")
#: Contents of a run that are kept to be compared number by number (bytes); of more the hash must be the same.
_KEPT = 32 << 20
_CHUNK = 1 << 20

#: Files and links below a folder: size, times of content and of everything, mode.
State = Mapping[str, tuple[int, int, int, int]]


@dataclass(frozen=True, slots=True)
class LeftFile:
    """A file or link that is new or changed after a run, or one that the run removed (kind `gone`).

    `digest` is the SHA-256 of its content, or a link's target; `content` that of a small file.
    """

    kind: Literal["file", "link", "gone"]
    mode: int = 0
    size: int = 0
    digest: str = ""
    content: bytes | None = None


def state(root: Path) -> State:
    """What tells whether a file is touched, for all below `root`."""
    return {
        path: (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode) for path, status in entries(root)
    }


def left_files(root: Path, before: State) -> dict[str, LeftFile]:
    """What a run left below `root`, by path: all that is otherwise than `before`."""
    after = state(root)
    found = {path: LeftFile("gone") for path in before if path not in after}
    room = _KEPT
    for path, known in after.items():
        if before.get(path) == known or _NOTHING.search(path):
            continue
        mode = known[-1]
        if stat.S_ISLNK(mode):
            found[path] = LeftFile("link", 0, 0, os.readlink(root / path))
            continue
        size = known[0]
        content, digest = _read(root / path, keep=size <= room)
        room -= 0 if content is None else size
        found[path] = LeftFile("file", stat.S_IMODE(mode), size, digest, content)
    return dict(sorted(found.items()))


def _read(path: Path, *, keep: bool) -> tuple[bytes | None, str]:
    """Content and hash; a file that may not be read has neither."""
    try:
        if keep:
            content = path.read_bytes()
            return content, hashlib.sha256(content).hexdigest()
        with path.open("rb") as stream:
            return None, hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None, ""


def unsteady(first: Mapping[str, LeftFile], second: Mapping[str, LeftFile]) -> frozenset[str]:
    """Names of files on which two runs of one program do not agree, with `#` for numbers: process ids and times are among them."""
    return frozenset(masked(path) for path in {*first, *second} if not _same(first.get(path), second.get(path)))


def _same(first: LeftFile | None, second: LeftFile | None) -> bool:
    if first is None or second is None:
        return first is second
    return (first.kind, first.mode, first.digest) == (second.kind, second.mode, second.digest)


def masked(path: str) -> str:
    """A path with `#` for its numbers."""
    return re.sub(r"\d+", "#", path)


def missing_or_other(
    original: Mapping[str, LeftFile],
    changed: Mapping[str, LeftFile],
    check: Check,
    unexamined: Collection[str],
) -> str:
    """What is wrong with the files that a change leaves, empty if nothing is; declared outputs are compared elsewhere.

    Text is compared as outputs are: within tolerance, without the lines that are left out. Whatever `unexamined` names (with `#` for
    numbers) is not looked at.
    """
    more = []
    for path in sorted({*original, *changed}):
        if masked(path) in unexamined or path in check.outputs:
            continue
        mine, theirs = original.get(path), changed.get(path)
        if mine is None:
            more.append(path)
            continue
        fault = _fault(path, mine, theirs, check)
        if fault:
            return fault
    if not more:
        return ""
    gone = [path for path in more if changed[path].kind == "gone"]
    if gone:
        return f"it removes {', '.join(map(clean, gone[:3]))}"
    return f"it leaves files that the original does not: {', '.join(map(clean, more[:3]))}"


def _fault(path: str, mine: LeftFile, theirs: LeftFile | None, check: Check) -> str:
    name = clean(path)
    if mine.kind == "gone":
        return "" if theirs is not None and theirs.kind == "gone" else f"it does not remove {name}"
    if theirs is None or theirs.kind == "gone":
        return f"it does not leave {name}"
    if theirs.kind != mine.kind:
        return f"{name} is a {theirs.kind} instead of a {mine.kind}"
    if theirs.mode != mine.mode:
        return f"{name} has the mode {theirs.mode:o} instead of {mine.mode:o}"
    if theirs.digest == mine.digest:
        return ""
    if mine.kind == "link":
        return f"{name} links to {clean(theirs.digest)} instead of {clean(mine.digest)}"
    if mine.content is None or theirs.content is None:
        return f"{name} has different contents"
    found = compare_bytes(name, mine.content, theirs.content, check)
    return "" if found.same else found.statement
