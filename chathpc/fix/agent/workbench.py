"""A working copy on which a model tries its edits: building, checking and timing there is quick, and counts for nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING

from chathpc.fix import globs
from chathpc.fix.gates.build import first_error
from chathpc.fix.gates.examination import Examination
from chathpc.fix.patch import unified
from chathpc.fix.runner import Built, Case
from chathpc.profile import numbers
from chathpc.profile.text import clean

if TYPE_CHECKING:
    from chathpc.chat.session import Session as Asked
    from chathpc.fix.session import Session, State

#: What is said where edits are needed and there are none.
NOTHING = "Nothing is edited."
#: Pairs of runs of a quick timing; the gate of speed takes ten at least.
_PAIRS = 3
#: A pair that differs by more needs no other for a first idea.
_PLAIN = 2.0
#: Larger files of the tree are not shown (bytes).
_LARGEST = 1 << 20
_KEPT = 4000
#: Flags that make a compiler tell what became of loops and calls: GCC's (Developer Options, -fopt-info), then Clang's (-Rpass).
_REMARKS = ("-fopt-info-vec-all -fopt-info-inline-missed", "-Rpass=loop-vectorize -Rpass-missed=loop-vectorize|inline")
#: Remarks that tell what became of a loop or a call; GCC's notes tell how it came to that, in hundreds of lines.
_NEWS = re.compile(r"\b(?:optimized|missed|remark):")
#: Of these such that say nothing of the program.
_NO_NEWS = re.compile(r"function body not available|clobbers memory|will not early inline|\bSLP")


@dataclass
class Workbench:
    """The sources of a state with a model's `edits` over them (path below the root → whole text)."""

    session: Session
    state: State
    edits: dict[str, str] = field(default_factory=dict)

    @cached_property
    def asked(self) -> Asked:
        """The tools of a conversation, for the profile of this state."""
        from chathpc.chat.session import Session as Asked

        return Asked(self.state.measured.only_shown())

    @cached_property
    def base(self) -> dict[str, str]:
        """What may be edited, as it is without the edits."""
        return self.session.sources(self.state)

    @property
    def time_left(self) -> str:
        """How much of the session's time limit is left, in words."""
        left = max(self.session.budget.seconds - self.session.taken, 0.0)
        return f"{numbers.seconds(round(left))} of the time limit are left."

    @property
    def sources(self) -> dict[str, str]:
        """What may be edited, as it is now."""
        return {**self.base, **self.edits}

    @property
    def paths(self) -> list[str]:
        """All files of the tree, those that may be edited first."""
        sources = self.sources
        return [*sources, *(path for path in self.session.paths if path not in sources)]

    def text(self, path: str) -> str | None:
        """The text of a file of the tree as it is now; None if there is none, or none that is text."""
        known = self.edits.get(path, self.base.get(path))
        if known is not None:
            return known
        if path not in self.session.paths:
            return None
        file = self.session.runner.workspace.original / path
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _LARGEST:
            return None
        content = file.read_bytes()
        return None if b"\0" in content else content.decode("utf-8", "replace")

    def may_make(self, path: str) -> bool:
        """Whether a new file may be at `path`: where a change may touch files, and nothing is yet."""
        project = self.session.project
        return (
            not globs.problem(path)
            and path not in self.session.paths
            and globs.matches(path, project.edit)
            and not globs.matches(path, project.protect)
        )

    def patch(self) -> str:
        """What the edits change, as a unified difference."""
        return unified(self.base, self.edits)

    def left(self) -> list[str]:
        """Names of the files that the timed run leaves beside what is declared as its output."""
        left = self.session.original.run(self.session.original.timed()).left
        return sorted(set(left) - set(self.session.project.check.outputs))

    def build(self, more: str = "") -> tuple[Built, str]:
        """The tree with the edits, built, and what is wrong with that; empty if nothing is."""
        built = self.session.runner.build({**self.state.files, **self.edits}, self.state.flags, more=more)
        if built.completed.succeeded:
            return built, ""
        said = built.completed.said
        return built, f"It does not build: {first_error(said)}\n{clean_lines(said[-_KEPT:])}"

    def _edited(self) -> tuple[Built | None, str]:
        """The tree with the edits, built; None and why where there are none, or it does not build."""
        if not self.edits:
            return None, NOTHING
        built, problem = self.build()
        return (None if problem else built), problem

    def check(self) -> str:
        """What is wrong with the answers for the declared inputs, and with what the runs leave; empty if nothing is."""
        built, problem = self._edited()
        if built is None:
            return problem
        session = self.session
        examined = Examination(
            session.original, built, self.sources, session.originals, session.random, session.progress
        )
        found = examined.first_wrong(Case.usual(run) for run in session.original.declared)
        return "" if found is None else found[1]

    def time(self) -> str:
        """How long the run that is timed takes with the edits and without: medians of a few pairs of runs."""
        built, problem = self._edited()
        if built is None:
            return problem
        before, after = [], []
        case = Case.usual(self.session.project.run)
        for _ in range(_PAIRS):
            before.append(self.session.runner.run(self.state.built, case).seconds)
            after.append(self.session.runner.run(built, case).seconds)
            if not 1 / _PLAIN < before[-1] / max(after[-1], 1e-9) < _PLAIN:
                break
        mine, theirs = median(before), median(after)
        runs = f"medians of {len(before)} runs each" if len(before) > 1 else "one run each"
        return (
            f"{numbers.seconds(mine)} before, {numbers.seconds(theirs)} with the edits: {mine / max(theirs, 1e-9):.2f}x as fast "
            f"({runs}; the speed gate takes more)."
        )

    def remarks(self, path: str) -> str:
        """What the compiler says of the loops of a file: vectorised, inlined or not, and why."""
        if self.session.project.flags is None:
            return "The project does not declare `flags`, so the compiler cannot be asked."
        for more in _REMARKS:
            built, problem = self.build(more)
            if not problem:
                break
        if problem:
            return problem
        name = path.rsplit("/", 1)[-1]
        lines = (built.completed.stderr + b"\n" + built.completed.stdout).decode("utf-8", "replace").splitlines()
        found = (clean(line) for line in lines if f"{name}:" in line and _NEWS.search(line))
        return (
            "\n".join(dict.fromkeys(line for line in found if not _NO_NEWS.search(line)))
            or "The compiler reported nothing about that file."
        )


def clean_lines(text: str) -> str:
    """Text of a program or compiler, line by line free of control characters but tabs, which an edit has to repeat."""
    return "\n".join("\t".join(map(clean, line.split("\t"))) for line in text.splitlines())


def described(files: Mapping[str, str], paths: list[str]) -> list[str]:
    """Files with their number of lines, those that may be edited marked."""
    return [
        f"{path} ({files[path].count(chr(10)) + 1} lines, may be edited)" if path in files else path for path in paths
    ]
