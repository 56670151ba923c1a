"""Records in the tree of a build: compilers write them beside the objects, which build systems keep some folders deep."""

from __future__ import annotations

import os
from pathlib import Path

from chathpc.adapters.compiler_records import ENDINGS

#: Folders below the given one. CMake keeps objects of `src/solver/a.c` in CMakeFiles/app.dir/src/solver.
DEEPEST = 12
#: Files that are read, and entries of folders that are looked at, in all.
MOST_FILES, MOST_ENTRIES = 5_000, 200_000


def record_files(folder: Path, *, most: int = MOST_FILES, entries: int = MOST_ENTRIES) -> list[Path]:
    """Files of compilers' records in a folder and those in it, by name, those of upper folders first; links to folders are not
    followed, and what cannot be read is left out.
    """
    found: list[Path] = []
    level, looked = [folder], 0
    for _ in range(DEEPEST + 1):
        below: list[Path] = []
        for each in level:
            try:
                with os.scandir(each) as inside:
                    for entry in inside:
                        looked += 1
                        if looked > entries:
                            return sorted_by_depth(found)[:most]
                        if entry.name.endswith(ENDINGS) and entry.is_file():
                            found.append(each / entry.name)
                        elif entry.is_dir(follow_symlinks=False):
                            below.append(each / entry.name)
            except OSError:
                continue
        if not below or len(found) >= most:
            break
        level = sorted(below)
    return sorted_by_depth(found)[:most]


def sorted_by_depth(files: list[Path]) -> list[Path]:
    """By depth, then by name: the same files in the same order, whatever order the disk has."""
    return sorted(files, key=lambda file: (len(file.parts), file))
