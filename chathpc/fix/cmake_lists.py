"""What the CMakeLists.txt of a folder say: languages, programs, kind of build. Their text is read; cmake is never started."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from chathpc.measure.files import text_of

NAME = "CMakeLists.txt"
_DEEPEST = 4
_CALL = re.compile(r"^[ \t]*(\w+)[ \t]*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.MULTILINE)
_CACHED = re.compile(r"^CMAKE_BUILD_TYPE:\w+=(\w+)", re.MULTILINE)
_LANGUAGES = {"C": "C", "CXX": "CXX", "FORTRAN": "Fortran", "CUDA": "CUDA"}
#: CMake's own flags of each kind of build (Modules/Compiler/GNU.cmake), with -g, without which a profile has no lines.
FLAGS = {
    "release": "-O3 -DNDEBUG -g",
    "relwithdebinfo": "-O2 -g -DNDEBUG",
    "debug": "-O0 -g",
    "minsizerel": "-Os -DNDEBUG -g",
}


@dataclass(frozen=True, slots=True)
class CMake:
    """Languages as CMake calls them, programs as paths below the folder of the build, and the kind of build, if one is set."""

    languages: tuple[str, ...]
    programs: tuple[str, ...]
    build_type: str
    openmp: bool
    mpi: bool


def cmake(root: Path) -> CMake:
    """What `root`/CMakeLists.txt and those of its sub-folders say. Raises nothing."""
    calls = _calls(root, "", 0)
    languages: list[str] = []
    programs: list[str] = []
    kinds = [
        match[1] for file in sorted(root.glob("build*/CMakeCache.txt"))[:4] if (match := _CACHED.search(text_of(file)))
    ]
    packages = set()
    for folder, name, words in calls:
        if name == "project":
            named = words[words.index("LANGUAGES") + 1 :] if "LANGUAGES" in words else words[1:]
            languages += [_LANGUAGES[word.upper()] for word in named if word.upper() in _LANGUAGES] or ["C", "CXX"]
        elif name == "enable_language" and words and words[0].upper() in _LANGUAGES:
            languages.append(_LANGUAGES[words[0].upper()])
        elif name == "add_executable" and words and re.fullmatch(r"[\w.+-]+", words[0]):
            programs.append(f"{folder}{words[0]}")
        elif name == "set" and len(words) > 1 and words[0] == "CMAKE_BUILD_TYPE":
            kinds.append(words[1].strip('"'))
        elif name == "find_package" and words:
            packages.add(words[0].upper())
    return CMake(
        tuple(dict.fromkeys(languages)) or ("C", "CXX"),
        tuple(dict.fromkeys(programs)),
        kinds[0] if kinds else "",
        "OPENMP" in packages,
        "MPI" in packages,
    )


def _calls(root: Path, folder: str, depth: int) -> list[tuple[str, str, list[str]]]:
    """(folder below the root with /, command in lower case, its words) of every call, those of sub-folders included."""
    text = re.sub(r"#[^\n]*", "", text_of(root / folder / NAME))
    found = []
    for name, inside in _CALL.findall(text):
        words = inside.split()
        found.append((folder, name.lower(), words))
        if name.lower() == "add_subdirectory" and depth < _DEEPEST and words and _below(words[0]):
            found += _calls(root, f"{folder}{words[0].strip('/')}/", depth + 1)
    return found[:10_000]


def _below(folder: str) -> bool:
    return re.fullmatch(r"[\w-][\w./-]*", folder) is not None and ".." not in folder.split("/")
