"""Source text of a profile's places: where it may come from, how a file is found, and what is never opened.

A name in a profile is data: it chooses among files below known folders, and nothing else is opened. Absolute paths are compared by
their last parts like all others. What is opened is a regular file of a source language, of a bounded size, and lies inside its
folder when all links are followed.
"""

from __future__ import annotations

import os
import posixpath
import re
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from chathpc.errors import UsageError
from chathpc.profile.languages import is_fixed_form, kind_of
from chathpc.profile.text import clean

#: A source file that is larger is generated, and no excerpt of it helps anybody.
LARGEST_SOURCE = 8 << 20
#: Folders in which nobody keeps source that was written.
SKIPPED_FOLDERS = frozenset(
    ("node_modules", "__pycache__", "site-packages", "CMakeFiles", "build", "_build", "target", "venv")
)
#: What a folder holds that a profiler wrote: copies of source in it are another profile's.
_PROFILE_FILES = frozenset(("meta.db", "experiment.xml", "measure.json"))
#: Headers and libraries of the system are no file of a project, whatever its name.
_OF_SYSTEM = re.compile(r"(?:^|/)usr/(?:local/)?(?:include|lib\d*|libexec)/")
_FIRST_TAB = re.compile(r"^(?P<label>[ \d]{0,5})\t(?P<digit>[1-9]?)")
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW


def is_of_system(path: str) -> bool:
    """True for headers and libraries of the system."""
    return _OF_SYSTEM.search(path) is not None


class Provenance(StrEnum):
    """Why a source file may be read: it came with the profile, the user named its folder, or it was found by its name.

    What was only found is for the user's eyes: a hosted model is not shown it.
    """

    PROFILE = "profile"
    NAMED = "named"
    FOUND = "found"


@dataclass(frozen=True, slots=True)
class SourceExcerpt:
    """Lines of source text around a place: `lines[i]` is line number `first + i` of the file as the profile names it."""

    file: str
    first: int
    lines: tuple[str, ...]
    provenance: Provenance = Provenance.PROFILE


#: Finds source text: (file as recorded, line, lines of context on either side) → excerpt or None.
SourceReader = Callable[[str, int, int], SourceExcerpt | None]


def no_source(file: str, line: int, context: int) -> SourceExcerpt | None:
    """The reader of a profile that came without source text."""
    return None


@dataclass(frozen=True, slots=True)
class SourceOrigin:
    """Something that source text comes from: `text` gives that of a file by its recorded name, None for what it does not have."""

    provenance: Provenance
    text: Callable[[str], str | None]
    rivals: Callable[[str], list[str]] = lambda file: []  #: files of which nothing tells which is meant


@dataclass(frozen=True, slots=False, eq=False)
class SourceFiles:
    """A SourceReader of several origins, of which the first that has a file counts. A file is read once, when it is first sought."""

    origins: tuple[SourceOrigin, ...]
    _read: dict[str, tuple[Provenance, list[str]] | None] = field(default_factory=dict)

    def __call__(self, file: str, line: int, context: int) -> SourceExcerpt | None:
        """Lines `line - context` to `line + context` as far as the file has them; None without file or line."""
        if file not in self._read:
            self._read[file] = self._first(file)
        known = self._read[file]
        if known is None or not 0 < line <= len(known[1]):
            return None
        first = max(1, line - context)
        return SourceExcerpt(file, first, tuple(known[1][first - 1 : line + context]), known[0])

    def _first(self, file: str) -> tuple[Provenance, list[str]] | None:
        for origin in self.origins:
            text = origin.text(file)
            if text is not None:
                return origin.provenance, [clean(line) for line in lines_of_source(file, text)]
        return None

    def rivals(self, file: str) -> list[str]:
        """The paths of several files that a file may be, where nothing tells which of them; none where it was found."""
        return [] if self._read.get(file) else [path for origin in self.origins for path in origin.rivals(file)]

    @property
    def missing(self) -> tuple[str, ...]:
        """Source files of the program that were sought and not found, in the order in which they were sought."""
        return tuple(
            file
            for file, known in self._read.items()
            if known is None and kind_of(file) is not None and not is_of_system(file)
        )

    @property
    def found(self) -> Mapping[str, Provenance]:
        """Source files that were sought and found, and where they came from."""
        return {file: known[0] for file, known in self._read.items() if known is not None}


def files_of(reader: SourceReader) -> SourceFiles:
    """The reader as SourceFiles; what a reader of another kind knows counts as the profile's own."""
    if isinstance(reader, SourceFiles):
        return reader
    if reader is no_source:
        return SourceFiles(())

    def text(file: str) -> str | None:
        excerpt = reader(file, 1, LARGEST_SOURCE)
        return None if excerpt is None else "\n".join(excerpt.lines)

    return SourceFiles((SourceOrigin(Provenance.PROFILE, text),))


def joined(readers: Iterable[SourceReader]) -> SourceReader:
    """The readers of several views of one run as one; what was only found comes last."""
    origins = [origin for reader in readers for origin in files_of(reader).origins]
    ordered = sorted(origins, key=lambda origin: list(Provenance).index(origin.provenance))
    return SourceFiles(tuple(ordered)) if ordered else no_source


# -- origins ---------------------------------------------------------------------------------------------------


def held(texts: Mapping[str, str]) -> SourceReader:
    """Source text that a profile holds itself, by the name that it uses."""
    return SourceFiles((SourceOrigin(Provenance.PROFILE, texts.get),))


def copied(folder: Path, parent: str = "") -> SourceReader:
    """Source files that a profiler copied to `folder` by their whole path; a name may begin with `parent`, the folder's own name."""

    def text(file: str) -> str | None:
        path = posixpath.normpath(file.replace("\\", "/").lstrip("/"))
        inner = path.removeprefix(f"{parent}/") if parent else path
        found = (read_within(folder, each) for each in dict.fromkeys((inner, path)))
        return next((each for each in found if each is not None), None)

    return SourceFiles((SourceOrigin(Provenance.PROFILE, text),))


def beside(profile: Path) -> SourceReader:
    """Source files in the folder of `profile`, by the last part of their path: the profile's own where chathpc measure put them
    there, else what was found.
    """
    folder = profile.parent
    own = (folder / "measure.json").is_file()

    def text(file: str) -> str | None:
        return read_within(folder, posixpath.basename(file.replace("\\", "/")))

    return SourceFiles((SourceOrigin(Provenance.PROFILE if own else Provenance.FOUND, text),))


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a search for files may cost: entries of folders that are looked at, and seconds."""

    entries: int
    seconds: float


#: Below the working folder nobody asked for a search, so it must not be felt; below what was named it may be.
FOUND_BOUNDS, NAMED_BOUNDS = Bounds(20_000, 0.25), Bounds(500_000, 20.0)


def with_sources(reader: SourceReader, named: Sequence[Path] = (), *, below: Path | None = None) -> SourceReader:
    """`reader`, and what it does not have from the folders `named`, then from `below`, of which each file counts as only found.

    A file is sought when it is asked for, by the longest common end of its recorded path and a path below the folders; where
    several have the longest, none of them is taken but the one that a folder `named` has at just the recorded path. UsageError for
    something named that is no folder, and later for one with too many entries to be searched.
    """
    check_named(named)
    origins = list(files_of(reader).origins)
    if named:
        tree = _Tree(tuple(named), NAMED_BOUNDS)
        origins.append(SourceOrigin(Provenance.NAMED, tree.text, tree.rivals))
    if below is not None:
        origins.append(SourceOrigin(Provenance.FOUND, _Tree((below,), FOUND_BOUNDS).text))
    # The user's word comes before what merely lies about; the profile's own is what was measured.
    return joined([SourceFiles(tuple(origins))])


def check_named(named: Iterable[Path]) -> None:
    """UsageError for something named that is no folder: told before a large profile is read."""
    for root in named:
        if not root.is_dir():
            raise UsageError(f"{clean(str(root))} is not a folder.", hint="Give a folder with source to --source.")


def file_finder(named: Sequence[Path], below: Path) -> Callable[[str], Path | None]:
    """A function that tells where the file with a recorded name is, sought as `with_sources` does."""
    trees = (*([_Tree(tuple(named), NAMED_BOUNDS)] if named else []), _Tree((below,), FOUND_BOUNDS))

    def find(file: str) -> Path | None:
        found = next((at for tree in trees if (at := tree.find(file)) is not None), None)
        return None if found is None else found[0] / found[1]

    return find


def only_shown(reader: SourceReader) -> SourceReader:
    """`reader` without what was only found."""
    return joined([SourceFiles(tuple(o for o in files_of(reader).origins if o.provenance != Provenance.FOUND))])


# -- search ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=False, eq=False)
class _Tree:
    """The source files below folders, listed when the first is sought."""

    roots: tuple[Path, ...]
    bounds: Bounds

    @cached_property
    def by_name(self) -> dict[str, list[tuple[Path, str]]]:
        """Root and path below it of every source file, by its last part; empty if there is more than may be looked at.

        A part of the files would not do: whether exactly one matches could not be known.
        """
        found: dict[str, list[tuple[Path, str]]] = {}
        for root in self.roots:
            listed = source_files(root, self.bounds)
            if listed is None and self.bounds is NAMED_BOUNDS:
                raise UsageError(
                    f"{clean(str(root))} has too many files to search.", hint="Give --source the folder of the source."
                )
            for path in listed or ():
                found.setdefault(posixpath.basename(path), []).append((root, path))
        return found

    def text(self, file: str) -> str | None:
        found = self.find(file)
        return None if found is None else read_within(*found)

    def find(self, file: str) -> tuple[Path, str] | None:
        """The root and the path below it of a file by its recorded name; None without one, and where several could be it."""
        parts = recorded_parts(file)
        if not parts or kind_of(parts[-1]) is None or is_of_system(file):
            return None
        candidates = self.by_name.get(parts[-1], [])
        real = {(root, path): resolved for root, path in candidates if (resolved := _inside(root, path)) is not None}
        named = [path.split("/") for _, path in real]
        at = best_match(parts, named, [str(each) for each in real.values()])
        # Of a path that is all a profile recorded, the user's own folder has the file, not one inside it.
        if at is None and self.bounds is NAMED_BOUNDS and named.count(parts) == 1:
            at = named.index(parts)
        return None if at is None else list(real)[at]

    def rivals(self, file: str) -> list[str]:
        """The files of its name, by their paths below the folders, where there are several and none was taken."""
        parts = recorded_parts(file)
        known = [path for _, path in self.by_name.get(parts[-1], [])] if parts and not is_of_system(file) else []
        return known if len(known) > 1 else []


def recorded_parts(file: str) -> list[str]:
    """The parts of a path as a profile records it; only what stands behind the last `..` says where a file is."""
    parts = [part for part in posixpath.normpath(file.replace("\\", "/")).split("/") if part not in ("", ".")]
    while ".." in parts:
        parts = parts[parts.index("..") + 1 :]
    return parts


def best_match(parts: Sequence[str], candidates: Sequence[Sequence[str]], files: Sequence[str]) -> int | None:
    """Index of the candidate whose parts have the longest common end with `parts`; None if there is none, or if several have it
    that are not one file (`files` tells them apart).
    """
    lengths = [common_end(parts, candidate) for candidate in candidates]
    longest = max(lengths, default=0)
    best = [at for at, length in enumerate(lengths) if length == longest]
    return best[0] if longest and len({files[at] for at in best}) == 1 else None


def common_end(one: Sequence[str], other: Sequence[str]) -> int:
    """How many parts two paths have in common from the end."""
    count = 0
    for mine, others in zip(reversed(one), reversed(other), strict=False):
        if mine != others:
            break
        count += 1
    return count


def source_files(root: Path, bounds: Bounds, skip: Path | None = None) -> list[str] | None:
    """Paths below `root` of files and links with the ending of a source language; None if there is more than `bounds` allow.

    Hidden folders, those of builds and packages, those that profilers wrote, `skip`, and links to folders are not entered.
    """
    deadline = time.monotonic() + bounds.seconds
    found: list[str] = []
    seen = 0
    waiting = deque([""])
    while waiting:
        below = waiting.popleft()
        try:
            with os.scandir(root / below) as entries:
                inside = _listed(entries, below)
        except (OSError, ValueError):
            continue
        names, folders, files = inside
        seen += len(names)
        if seen > bounds.entries or time.monotonic() > deadline:
            return None
        if below and (names & _PROFILE_FILES or (skip is not None and root / below == skip)):
            continue
        waiting.extend(sorted(folders))
        found += sorted(files)
    return found


def _listed(entries: Iterator[os.DirEntry[str]], below: str) -> tuple[set[str], list[str], list[str]]:
    """Names in a folder, and the paths of its folders and source files that count."""
    names: set[str] = set()
    folders, files = [], []
    for entry in entries:
        names.add(entry.name)
        path = f"{below}/{entry.name}" if below else entry.name
        if entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith((".", "cmake-build-")) and entry.name not in SKIPPED_FOLDERS:
                folders.append(path)
        elif kind_of(entry.name) is not None and (entry.is_symlink() or entry.is_file(follow_symlinks=False)):
            files.append(path)
    return names, folders, files


# -- opening ---------------------------------------------------------------------------------------------------


def _inside(root: Path, path: str) -> Path | None:
    """The real path of a regular source file below `root`; None for what is none, or leads out of it."""
    try:
        real = (root / path).resolve(strict=True)
        good = real.is_relative_to(root.resolve()) and kind_of(real.name) is not None and real.is_file()
    except (OSError, ValueError, RuntimeError):  # missing, unreadable, a NUL in the name, a loop of links
        return None
    return real if good else None


def read_within(root: Path, path: str) -> str | None:
    """The text of a source file below `root`; None for what is missing, unreadable, too large, binary, no regular file or outside."""
    if kind_of(path) is None or (real := _inside(root, path)) is None:
        return None
    try:
        data = _bytes_of(root.resolve(), real)
    except (OSError, ValueError):
        return None
    if data is None or len(data) > LARGEST_SOURCE or b"\0" in data:
        return None
    return data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _bytes_of(root: Path, real: Path) -> bytes | None:
    """What a file without links in its path below `root` holds, at most a byte too much; None if it is no regular file.

    Each part is opened below the one before and no link is followed: what is put in place of a folder meanwhile leads nowhere.
    """
    *folders, name = real.relative_to(root).parts
    with ExitStack() as opened:
        at = os.open(root, _FLAGS | os.O_DIRECTORY)
        opened.callback(os.close, at)
        for folder in folders:
            at = os.open(folder, _FLAGS | os.O_DIRECTORY, dir_fd=at)
            opened.callback(os.close, at)
        if not stat.S_ISREG(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
            return None  # a device may act on being opened
        with os.fdopen(os.open(name, _FLAGS | os.O_NONBLOCK, dir_fd=at), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_SOURCE:
                return None
            return file.read(LARGEST_SOURCE + 1)


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
