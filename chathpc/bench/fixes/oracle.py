"""Strategies of the benchmark alone: what lies beside a task is proposed, as a model would that always knows (or always errs)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from chathpc.bench.fixes.task import Task
from chathpc.fix.patch import patched
from chathpc.fix.records import Attempt, Candidate, Problem

#: A version of a program that is larger is none (bytes).
_LARGEST = 4 << 20


class Beside:
    """Proposes, once, a version of the program that lies beside it."""

    learns = False

    def __init__(self, name: str, version: Path | None, flags: str | None, causes: Sequence[str]) -> None:
        self.name = name
        self._version = version
        self._flags = flags
        self._causes = causes

    def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterable[Candidate]:
        """The version as one candidate, for the finding that it mends; nothing in later rounds."""
        if history:
            return
        files = {} if self._version is None else differing(self._version, problem.sources)
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


def differing(version: Path, sources: Mapping[str, str]) -> dict[str, str]:
    """Texts of a version of the program (`Task.human`, `Task.buggy`) that are other than those of `sources`, what it was made from.

    What builds and describes the program is not among these. ChathpcError for a patch that does not fit.
    """
    if version.is_dir():
        texts = {
            path.relative_to(version).as_posix(): _text(path)
            for path in sorted(version.rglob("*"))
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= _LARGEST
        }
    else:
        texts = patched(sources, _text(version)) if version.stat().st_size <= _LARGEST else {}
    return {
        name: text
        for name, text in texts.items()
        if sources.get(name, "") != text and (name in sources or Path(name).suffix in _SUFFIXES)
    }


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")


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
