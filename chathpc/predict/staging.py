"""Runs a program that was built, in a sandbox: it reads a tree that looks like its folder, and what it writes goes nowhere else."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from chathpc.predict.build import Built
from chathpc.sandbox import Completed, Limits, Request, Sandbox
from chathpc.sandbox.limits import ALL_ADDRESSES

#: Of a run: the largest file and all output (bytes), and files of a folder that are shown to it.
_LARGEST_FILE = 4 << 30
_LARGEST_OUTPUT = 64 << 20
_MOST_FILES = 10_000
_MOST_SHOWN = 1_000


def run(
    built: Built,
    arguments: Sequence[str],
    *,
    work: Path,
    sandbox: Sandbox,
    environment: Mapping[str, str],
    seconds: float,
    sources: Sequence[Path] = (),
) -> Completed:
    """Run the program below `work`, where a copy of its folder lies whose files are links: what it writes stays in `work`.

    It reads its own folder, and files outside that `arguments` or literals of `sources` name by a path that begins with "../".
    """
    outside = _outside(arguments, sources)
    folder = stage(built.folder, work / "stage", outside)
    shown = [path for path in built.folder.iterdir() if not path.name.startswith(".")][:_MOST_SHOWN]
    command = shlex.join([str(built.executable), *arguments])
    request = Request(
        command=("/bin/sh", "-c", f"cd {shlex.quote(str(folder))} && exec {command}"),
        folder=work,
        readable=tuple(dict.fromkeys(path.resolve() for path in (*shown, *_targets(built.folder, outside)))),
        environment={"LC_ALL": "C", "PATH": "/usr/local/bin:/usr/bin:/bin", **environment},
        limits=Limits(seconds=seconds, memory=ALL_ADDRESSES, file=_LARGEST_FILE, output=_LARGEST_OUTPUT),
    )
    return sandbox.run(request)


def _outside(arguments: Sequence[str], sources: Sequence[Path]) -> tuple[str, ...]:
    """Paths that lead out of the program's folder, as the command line names them and the text of sources and of headers beside them."""
    beside = {header for folder in {path.parent for path in sources} for header in folder.glob("*.[ch]*")}
    texts = (path.read_text("utf-8", errors="replace") for path in sorted({*sources, *beside}) if path.is_file())
    literals = [found for text in texts for found in re.findall(r'"(\.\./[^"\n%]+)"', text)]
    return tuple(name for name in dict.fromkeys((*arguments, *literals)) if name.startswith("../"))


def _targets(folder: Path, names: Sequence[str]) -> list[Path]:
    """What these names mean from `folder`, where it exists."""
    found = (Path(os.path.normpath(folder / name)) for name in names)
    return [path for path in found if path.exists()]


def stage(folder: Path, target: Path, outside: Sequence[str] = ()) -> Path:
    """A tree below `target` that looks like `folder` and what `outside` names from there: own folders, links to the files.

    Hidden files are left out.
    """
    folder = folder.resolve()
    shutil.rmtree(target, ignore_errors=True)
    (target / folder.relative_to("/")).mkdir(parents=True)
    for path in itertools.islice(_files(folder, target), _MOST_FILES):
        _linked(path, target / path.relative_to("/"))
    for named in _targets(folder, outside):
        for path in itertools.islice(_files(named, target), _MOST_FILES) if named.is_dir() else [named]:
            _linked(path, target / path.relative_to("/"))
    return target / folder.relative_to("/")


def _files(folder: Path, without: Path) -> Iterator[Path]:
    """All folders and files below, those that are not hidden, and not those in `without`, which may lie below too."""
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and Path(where, name) != without.resolve()
        )
        yield from (Path(where, name) for name in (*folders, *sorted(files)) if not name.startswith("."))


def _linked(path: Path, made: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        made.mkdir(parents=True, exist_ok=True)
    elif not os.path.lexists(made):
        made.parent.mkdir(parents=True, exist_ok=True)
        made.symlink_to(path.resolve())
