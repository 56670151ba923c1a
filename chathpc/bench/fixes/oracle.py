"""Strategies of the benchmark alone: what lies beside a task is proposed, as a model would that always knows (or always errs)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from chathpc.bench.fixes.task import Task
from chathpc.fix.records import Attempt, Candidate, Problem

#: A version of a program that is larger is none (bytes).
_LARGEST = 4 << 20


class Beside:
    """Proposes, once, a version of the program that lies beside it."""

    learns = False

    def __init__(self, name: str, folder: Path | None, flags: str | None, causes: Sequence[str]) -> None:
        self.name = name
        self._folder = folder
        self._flags = flags
        self._causes = causes

    def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterable[Candidate]:
        """The version as one candidate, for the finding that it mends; nothing in later rounds."""
        if history:
            return
        files = {} if self._folder is None else differing(self._folder, problem.sources)
        if not files and self._flags is None:
            return
        findings = problem.diagnosis.findings
        named = [each for each in findings if each.cause in self._causes]
        yield Candidate(
            id=self.name,
            proposer=self.name,
            title=f"The {self.name} version.",
            files=files,
            flags=self._flags,
            finding=next(iter((*named, *findings)), None),
        )


def differing(folder: Path, sources: Mapping[str, str]) -> dict[str, str]:
    """Texts below `folder` that are other than those of `sources`; what builds and describes the program is not among these."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= _LARGEST:
            text = path.read_bytes().decode("utf-8", "surrogateescape")
            if sources.get(name, "") != text and (name in sources or path.suffix in _SUFFIXES):
                found[name] = text
    return found


#: New files of a version are taken if they are sources.
_SUFFIXES = frozenset(
    (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".cu", ".cuh", ".f", ".f90", ".F90", ".f03", ".f08")
)


def human(task: Task) -> Beside:
    """The version that an expert wrote: what a perfect model would say."""
    return Beside("human", task.human, task.flags, task.right)


def buggy(task: Task) -> Beside:
    """The expert's version with a bug: what a model says that looks perfect."""
    return Beside("buggy", task.buggy, task.flags, task.right)
