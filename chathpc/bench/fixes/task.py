"""A task: a program that can be made faster, what an expert made of it, and how to tell (docs/labelled-tasks.md)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chathpc import validation
from chathpc.bench.case import HEALTHY
from chathpc.errors import AdapterError, ChathpcError
from chathpc.profile.text import clean

#: Names of the folders and patches of a task, the usual one first: tasks of others may call them otherwise.
ORIGINAL = ("original", "program", "baseline", "before")
HUMAN = ("human", "expert", "fixed", "optimised", "optimized", "after")
BUGGY = ("buggy", "wrong")
#: Names of the label, the usual one first; JSON is YAML.
LABELS = ("task.yaml", "task.yml", "task.json", "truth.json")
SCHEMA_HINT = "The form of a task is described in docs/labelled-tasks.md."
#: Labels are written by people; more than this (bytes) is none.
_LARGEST = 1 << 18

Expect = Literal["faster", "improved-if", "compiler", "scale", "healthy", "unmeasured"]
Word = Annotated[str, Field(min_length=1, max_length=80)]
Sentence = Annotated[str, Field(min_length=1, max_length=2000)]


class TaskLabel(BaseModel):
    """`task.yaml`. Every key has a default, and others are left alone: a task may say more than is used."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    title: Sentence | None = None
    language: Word = ""
    model: Word = ""
    cause: Word = "unknown"
    acceptable: list[Word] = []
    needs: list[Word] = []
    flags: Sentence | None = None
    expect: Expect = "faster"
    healthy: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """One task. `original` is the folder of the program; `human` and `buggy`, if there are, make another version of it: each is a unified
    diff (a file) or a folder with the files that differ.

    `right` are causes of the catalogue that the human version mends, the first one the label's. `flags` are the compiler's flags of
    the human version where they differ. `expect` says what is known of the human version with -O3 on two cores: faster, faster
    with less durability (improved-if), or that the compiler does it alone there, or that it is faster only at larger scale; healthy programs have none.
    """

    name: str
    group: str
    folder: Path
    original: Path
    human: Path | None
    buggy: Path | None
    title: str
    language: str
    model: str
    right: tuple[str, ...]
    needs: tuple[str, ...] = ()
    flags: str | None = None
    expect: Expect = "faster"

    @property
    def healthy(self) -> bool:
        """Nothing is to be improved."""
        return self.right[0] == HEALTHY


def is_task(folder: Path) -> bool:
    """Whether a folder has the form of a task: an original, and a label or a human version."""
    return _first(folder, ORIGINAL) is not None and (_label(folder) is not None or _version(folder, HUMAN) is not None)


def read_task(folder: Path, group: str) -> Task:
    """The task in `folder`. AdapterError for a label that breaks the schema."""
    file = _label(folder)
    label = TaskLabel() if file is None else _read(file)
    original, human = _first(folder, ORIGINAL), _version(folder, HUMAN)
    if original is None:
        raise AdapterError("no folder with the original program", path=folder, hint=SCHEMA_HINT)
    healthy = label.healthy or label.cause == HEALTHY or label.expect == HEALTHY
    return Task(
        name=folder.name,
        group=group,
        folder=folder,
        original=original,
        human=human,
        buggy=_version(folder, BUGGY),
        title=clean(label.title or folder.name),
        language=clean(label.language),
        model=clean(label.model),
        right=(HEALTHY,) if healthy else tuple(dict.fromkeys((label.cause, *label.acceptable))),
        needs=tuple(label.needs),
        flags=label.flags,
        expect="healthy" if healthy else label.expect,
    )


def _first(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_dir()), None)


def _version(folder: Path, names: tuple[str, ...]) -> Path | None:
    patches = (folder / f"{name}.patch" for name in names)
    return next((patch for patch in patches if patch.is_file()), None) or _first(folder, names)


def _label(folder: Path) -> Path | None:
    return next((folder / name for name in LABELS if (folder / name).is_file()), None)


def _read(file: Path) -> TaskLabel:
    from chathpc.diagnosis.catalogue.fields import check_plain, parse

    with file.open("rb") as stream:
        data = stream.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise AdapterError(f"larger than {_LARGEST:,} bytes", path=file, hint=SCHEMA_HINT)
    try:
        check_plain(data, file)
        content = parse(data, file)
        return TaskLabel.model_validate(content)
    except ValidationError as error:
        raise AdapterError(validation.words(error), path=file, hint=SCHEMA_HINT) from None
    except ChathpcError as error:
        raise AdapterError(clean(error.message), path=file, hint=SCHEMA_HINT) from None
