"""Finds the labelled profiles in folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from chathpc.bench.case import Case, Split
from chathpc.bench.fixes.task import Task
from chathpc.bench.truth import is_labelled, read_label
from chathpc.errors import UsageError
from chathpc.profile.text import clean

Named = TypeVar("Named", Case, Task)
#: Labels lie at most this deep below a folder that is given: sets of sets, not a walk over a file system.
DEEPEST = 3
#: So many folders are looked at; a home directory given by mistake must not take minutes.
MOST_FOLDERS = 20_000


@dataclass(frozen=True, slots=True)
class Found:
    """The cases, sorted by set and name, and folders with a label that is no case, each with the reason."""

    cases: tuple[Case, ...]
    left_out: tuple[tuple[str, str], ...]


def find_cases(folders: Sequence[Path], split: Split | None = None) -> Found:
    """The labelled profiles in `folders`, each of which is one set named by its last part; `split` keeps one half.

    UsageError for a folder that is missing or has no label; AdapterError for a label that breaks the schema.
    """
    cases: list[Case] = []
    left_out: list[tuple[str, str]] = []
    hint = "A label is a truth.json next to the profile: docs/labelled-profiles.md."
    for place, group in places(folders, is_labelled, "labelled profile", hint):
        found = read_label(place, group)
        if not found:
            left_out.append((place.name, "a series of runs, which no single profile answers"))
        cases += found
    kept = [case for case in distinct(cases) if split in (None, case.split)]
    return Found(tuple(kept), tuple(left_out))


def places(folders: Sequence[Path], wanted: Callable[[Path], bool], what: str, hint: str) -> Iterator[tuple[Path, str]]:
    """Each folder that is `wanted` in those that are given, with the name of its set. UsageError for one that is missing or has no `what`."""
    for folder, group in zip(folders, set_names(folders, f"{what}s".split()[-1]), strict=True):
        if not folder.is_dir():
            raise UsageError(f"There is no folder {clean(str(folder))}.", hint=f"Name a folder with {what}s in it.")
        found = below(folder, wanted)
        if not found:
            raise UsageError(f"No {what} in {clean(str(folder))}.", hint=hint)
        yield from ((place, group) for place in found)


def set_names(folders: Sequence[Path], nameless: str) -> list[str]:
    """The last part of each path, `nameless` where it has none; a number behind those that would be the same."""
    seen: Counter[str] = Counter()
    names = []
    for folder in folders:
        name = clean(folder.resolve().name) or nameless
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return names


def below(folder: Path, wanted: Callable[[Path], bool]) -> list[Path]:
    """Folders that are `wanted`, at or below `folder`, sorted; what lies below one belongs to it. UsageError if there are too many."""
    found, level, looked = [], [folder], 0
    for _ in range(DEEPEST + 1):
        deeper: list[Path] = []
        for place in level:
            looked += 1
            if looked > MOST_FOLDERS:
                raise UsageError(
                    f"{clean(str(folder))} has too many folders.", hint="Name the folder that holds the cases."
                )
            if wanted(place):
                found.append(place)
            else:
                deeper += sorted(each for each in place.iterdir() if each.is_dir() and not each.is_symlink())
        level = deeper
    return sorted(found)


def distinct(cases: Sequence[Named]) -> list[Named]:
    """Cases or tasks whose names are met twice get the name of their set before them."""
    names = Counter(case.name for case in cases)
    return [case if names[case.name] == 1 else replace(case, name=f"{case.group}/{case.name}") for case in cases]
