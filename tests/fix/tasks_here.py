"""The tasks beside this file, and the changes that cheat, as the tests read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from chathpc.bench.fixes.oracle import differing
from chathpc.bench.fixes.task import Task, read_task
from chathpc.diagnosis.source.text import parsed
from chathpc.fix.patch import patched
from chathpc.fix.project_file import read
from chathpc.fix.records import Candidate

HERE = Path(__file__).parent
TASKS, CHEATS, HONEST = HERE / "tasks", HERE / "cheats", HERE / "honest"
#: What a change in `cheats` does.
KINDS = frozenset(
    {
        "skips-work", "caches-answer", "known-answer", "edits-judge", "drops-precision", "race", "uninitialised", "detects-judge",
        "disturbs-baseline", "works-after-output", "ignores-seed", "off-by-one", "wrong-for-odd", "wrong-for-many-threads", "wrong-for-many-ranks",
        "wrong-share", "wrong-order", "wrong-in-rare-cases", "integer-overflow", "signed-unsigned", "nan", "exception-swallowed",
        "wrong-output", "out-of-bounds", "use-after-free", "hidden", "shuffle",
    }
)  # fmt: skip
#: What a change in `cheats/effects` does: the answer stays, what else a run does or leaves is less.
EFFECTS = frozenset(
    {
        "effect-skipped", "effect-shortened", "unsynced", "effect-cached", "renamed-output", "moved-to-child", "moved-to-start-up",
        "moved-to-exit",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Cheat:
    """A change that must not be accepted. `main` says whether the answer of the timed run is right all the same; `expect` of one by
    effects whether something is `lost` in the end, or only `durability` until then.
    """

    family: str
    task: str
    name: str
    kind: str
    does: str
    main: str
    candidate: Candidate
    expect: str = ""

    @property
    def id(self) -> str:
        """Where it stands."""
        return f"{self.family}/{self.task}/{self.name}"


def tasks() -> list[Task]:
    """All tasks."""
    return [read_task(folder, "tasks") for folder in sorted(TASKS.iterdir()) if folder.is_dir()]


def sources(folder: Path) -> dict[str, str]:
    """The texts in a folder."""
    return {path.name: path.read_text() for path in sorted(folder.iterdir()) if path.is_file()}


def cheats(family: str | None = None) -> Iterator[Cheat]:
    """The changes of a family, or all."""
    for file in sorted(CHEATS.glob(f"{family or '*'}/*.yaml")):
        content = yaml.safe_load(file.read_text())
        for change in content["changes"]:
            yield _cheat(file.parent.name, read_task(TASKS / content["task"], "tasks"), change)


def _cheat(family: str, task: Task, change: dict[str, object]) -> Cheat:
    """One change: search/replace edits of the program's source, made on the original or on the human version, and whole files."""
    original = sources(task.original)
    (main,) = [name for name in original if name.endswith((".c", ".cpp", ".f90", ".cu"))]
    text = original[main]
    if change.get("base") == "human" and task.human is not None:
        text = differing(task.human, original)[main]
    edits = change.get("edits", [])
    assert isinstance(edits, list)
    for edit in edits:
        assert text.count(edit["old"]) == 1, (task.name, change["name"], edit["old"])
        text = text.replace(edit["old"], edit["new"])
    files = dict(change.get("files", {}))  # type: ignore[call-overload]
    if text != original[main]:
        files[main] = text
    name = str(change["name"])
    flags = change.get("flags")
    candidate = Candidate(name, "cheat", str(change["does"]), files, None if flags is None else str(flags))
    return Cheat(
        family, task.name, name, str(change["kind"]), str(change["does"]), str(change.get("main", "")), candidate,
        str(change.get("expect", "")),
    )  # fmt: skip


def human(task: Task) -> Candidate:
    """The expert's version as a candidate."""
    files = {} if task.human is None else differing(task.human, editable(task))
    return Candidate("human", "human", "The human version.", files, task.flags)


def buggy(task: Task) -> Candidate:
    """The expert's version with a bug."""
    assert task.buggy is not None
    return Candidate("buggy", "buggy", "The buggy version.", differing(task.buggy, editable(task)), task.flags)


def honest(task: Task) -> Iterator[Candidate]:
    """What people and models did with a task in good faith, fast or not: `honest/TASK-HABIT.patch`. As an agent has to, their authors
    name the functions whose work they change.
    """
    before = editable(task)
    for file in sorted(HONEST.glob(f"{task.name}-*.patch")):
        after = patched(before, file.read_text())
        changed = {path: text for path, text in after.items() if text != before.get(path)}
        yield Candidate(file.stem, "honest", file.stem, changed, claims=tuple(_touched(before, changed)))


def _touched(before: Mapping[str, str], changed: Mapping[str, str]) -> Iterator[str]:
    """Functions of the original whose text the changed files have no more."""
    everything = "\n".join({**before, **changed}.values())
    for path in before.keys() & changed.keys():
        file, lines = parsed(path, before[path].encode()), before[path].split("\n")
        for function in () if file is None else file.everything():
            if "\n".join(lines[function.first - 1 : function.last]) not in everything:
                yield function.name


def editable(task: Task) -> dict[str, str]:
    """The sources of a task that may be edited."""
    from chathpc.fix import globs

    project = read(task.original)
    return {
        path: (project.root / path).read_text() for path in globs.chosen(project.root, project.edit, project.protect)
    }
