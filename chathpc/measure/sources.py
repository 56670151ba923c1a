"""The sources that a profile names and how the program was compiled, put beside it, so that its report has them wherever it is read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

from chathpc.measure.files import put
from chathpc.profile.languages import kind_of
from chathpc.profile.source_text import LARGEST_SOURCE, Bounds, best_match, is_of_system, recorded_parts, source_files

#: What of the folder is visited, files that are copied, and their bytes.
_BOUNDS, _MOST_FILES, _MOST_BYTES = Bounds(50_000, 5.0), 500, 64 << 20
#: A source line of perf script (`  heat.c:12` below a frame), or a file of speedscope's frames.
_NAMED = re.compile(
    rb'^  (?:[^\n:]{0,4000}/)?([^\n:/]{1,255}):\d{1,9}\b|"file": "(?:[^\n"]{0,4000}/)?([^\n"/]{1,255})"', re.MULTILINE
)
#: A path has more parts where it is none of the system's (`/bin/sh`).
_SYSTEM = 2
_STEP = 16 << 20
#: Folders of debug information that are looked into.
_MOST_FOLDERS = 5_000
#: readelf may take so long (seconds); so many compiled files are told of.
_READING, _MOST_UNITS = 20.0, 5_000
#: A compiled file of readelf's: what compiled it, with its options where the compiler records them, and its name.
_UNIT = re.compile(r"^ .*(DW_AT_producer *:.*)\n(?:(?! <0>).*\n)*?.*(DW_AT_name *:.*)$", re.MULTILINE)


def copy_sources(text: Path, roots: Sequence[Path], target: Path, paths: Sequence[str] = ()) -> int:
    """Copy to `target` the source files whose name is in the text of perf script or of speedscope; how many.

    They lie below `roots`, or where the program's debug information has them by its `paths`. Of two different files of a name that may
    tell which was compiled; else both are left out.
    """
    named = _named(text)
    found: dict[str, list[Path]] = {}
    below = (file for root in roots for file in _files(root, target))
    for file in dict.fromkeys(file.resolve() for file in chain(below, _compiled_from(paths))):
        if file.name in named:
            found.setdefault(file.name, []).append(file)
    copied = size = 0
    for _, files in sorted(found.items()):
        chosen = files[0] if len(files) == 1 else _compiled(files, paths)
        with suppress(OSError):
            if chosen is None or (length := chosen.stat().st_size) > LARGEST_SOURCE or size + length > _MOST_BYTES:
                continue
            put(target / chosen.name, chosen.read_bytes())
            copied, size = copied + 1, size + length
        if copied >= _MOST_FILES:
            break
    return copied


def put_producers(program: Path, target: Path) -> None:
    """Write to `target` what the debug information of a program tells of its compilation; nothing if there is none, or no readelf."""
    readelf = shutil.which("readelf")
    if readelf is None:
        return
    asked = [readelf, "--debug-dump=info", "--dwarf-depth=1", str(program)]
    with suppress(OSError, subprocess.TimeoutExpired):
        said = subprocess.run(
            asked, capture_output=True, timeout=_READING, env={"LC_ALL": "C"}, stdin=subprocess.DEVNULL, check=False
        ).stdout
        units = dict.fromkeys(_UNIT.findall(said.decode("utf-8", "replace")))
        if units:
            put(target, "".join(f"{line}\n" for unit in list(units)[:_MOST_UNITS] for line in unit).encode())


def folders_of(program: Sequence[str], file: Path, folder: Path) -> list[Path]:
    """Where the sources of a program that is run in `folder` may lie besides: in the folders of its own file and of its script."""
    own = [file.resolve(), *((folder / word).resolve() for word in program if word.endswith(".py"))]
    beside = [each.parent for each in own if not each.is_relative_to(folder) and not is_of_system(f"{each}")]
    return [each for each in dict.fromkeys(beside) if len(each.parts) > _SYSTEM and each.name != "bin"]


def _compiled_from(paths: Sequence[str]) -> Iterator[Path]:
    """Files in the folders that debug information names: of sources with a whole path, or relative to where the compiler ran."""
    whole = [each for each in paths if each.startswith("/")]
    relative = [each for each in paths if not each.startswith("/")]
    inner = dict.fromkeys(chain(relative, map(os.path.dirname, relative)))
    named = chain(whole, map(os.path.dirname, whole), (os.path.join(at, each) for at in whole for each in inner))
    folders = dict.fromkeys(map(os.path.normpath, islice(named, _MOST_FOLDERS)))
    for folder in map(Path, folders):
        if len(folder.parts) > _SYSTEM and not is_of_system(f"{folder}/") and folder.is_dir():
            with suppress(OSError):
                yield from (each for each in folder.iterdir() if each.is_file() and not each.is_symlink())


def _compiled(files: Sequence[Path], paths: Sequence[str]) -> Path | None:
    """The one of several files of a name that a program was compiled of, as its debug information names sources and folders."""
    named = [each for each in paths if each.rsplit("/", 1)[-1] == files[0].name] or [files[0].name]
    whole = {os.path.normpath(os.path.join(at, each)) for at in paths if at.startswith("/") for each in named}
    exact = [file for file in files if str(file) in whole]
    if exact:
        return exact[0] if len(exact) == 1 else None
    known = [str(file) for file in files]
    best = {best_match(recorded_parts(each), [file.parts for file in files], known) for each in named}
    at = best.pop() if len(best) == 1 else None
    return None if at is None else files[at]


def _named(text: Path) -> set[str]:
    names: set[bytes] = set()
    with text.open("rb") as stream:
        rest = b""
        while block := stream.read(_STEP):
            head, _, rest = (rest + block).rpartition(b"\n")
            names.update(one or other for one, other in _NAMED.findall(head))
    return {os.fsdecode(name) for name in names if kind_of(os.fsdecode(name)) is not None}


def _files(root: Path, target: Path) -> Iterable[Path]:
    """Source files below `root` but not in the folder that `target` lies in; links are not followed."""
    listed = source_files(root, _BOUNDS, skip=target.parent) or ()
    return (root / path for path in listed if not (root / path).is_symlink())
