"""What a recipe is, and what it gives: changes of texts by bytes, which are made here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Literal

from chathpc.fix.project import Project
from chathpc.fix.recipes.analysis.edits import Edit, applied
from chathpc.fix.recipes.analysis.program import Program, Spot

#: Characters of a line (Fortran 2018, 6.3.2.1); Fortran 2023 allows more, compilers do not yet.
_LONGEST = 132
_DIRECTIVE = re.compile(rb"[ \t]*!\$(?:omp|acc)\b *", re.IGNORECASE)
#: Languages that recipes are for: C, C++ and the host's part of CUDA; programs without a GPU; free-form Fortran.
C_FAMILY = ("c", "c++", "cuda")
HOST = ("c", "c++")
FORTRAN = ("fortran",)
#: Causes that tell no more than that a place computes for long.
COMPUTE = ("hot-compute", "not-vectorised")

#: What a recipe does to the results: nothing; another order of sums; another rounding of single operations.
Semantics = Literal["exact", "reassociates floating point", "rounds differently"]


@dataclass(frozen=True, slots=True)
class Change:
    """One place changed: edits by path, the line it is about, and what was done, as it goes on after the place's name."""

    edits: Mapping[str, tuple[Edit, ...]]
    line: int
    did: str
    semantics: Semantics = "exact"


@dataclass(frozen=True, slots=True)
class Context:
    """What a recipe looks at besides the spot."""

    program: Program
    project: Project

    @property
    def may_round(self) -> bool:
        """True if the project declares a tolerance: results may then differ in their last digits."""
        return self.project.check.relative > 0 or self.project.check.absolute > 0


Finder = Callable[[Context, Spot], Iterable[Change]]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A transformation with its applicability test.

    `causes` are those of the catalogue that it answers; at other findings it is tried after those that do. `promise` is how often
    it makes a program faster where it applies, by the tasks of `bench fix`: it orders the candidates of one finding.
    """

    name: str
    does: str  #: one sentence for the documentation: what is changed
    needs: str  #: one sentence: what must hold
    causes: tuple[str, ...]
    languages: tuple[str, ...]
    semantics: Semantics
    find: Finder
    promise: float = 0.5
    everywhere: bool = True  #: tried at findings of other causes as well


def edited(program: Program, changes: Sequence[Change]) -> dict[str, str] | None:
    """New texts by path; None where changes meet, or a line of Fortran gets too long."""
    edits: dict[str, list[Edit]] = {}
    shared: set[tuple[str, Edit]] = set()
    for change in changes:
        for path, each in change.edits.items():
            known = edits.setdefault(path, [])
            known.extend(one for one in each if (path, one) not in shared)
            shared.update((path, one) for one in each if is_shared(one))
    result = {}
    for path, listed in edits.items():
        new = applied(program.sources[path].text, listed)
        if new is None:
            return None
        if program.sources[path].is_fortran:
            new = folded(new, program.sources[path].text)
            if new is None:
                return None
        result[path] = new.decode("utf-8", "surrogateescape")
    return result


def folded(text: bytes, original: bytes) -> bytes | None:
    """Free-form Fortran in which lines that got too long go on, at a blank, in the next; None where that may be in a text or comment."""
    known, lines = set(original.split(b"\n")), list[bytes]()
    for line in text.split(b"\n"):
        if len(line) <= _LONGEST or line in known:
            lines.append(line)
            continue
        directive = _DIRECTIVE.match(line)
        begin = (directive[0] if directive else line[: len(line) - len(line.lstrip())]).decode()
        rest = line[len(begin) :].decode("utf-8", "surrogateescape")
        parts = wrap(rest, _LONGEST - len(begin) - 4, break_long_words=False, break_on_hyphens=False)
        folds = [f"{begin}{'  ' if at else ''}{one}".encode("utf-8", "surrogateescape") for at, one in enumerate(parts)]
        if any(each in rest for each in "'\"!") or max(map(len, folds)) > _LONGEST - 2:
            return None
        lines.append(b" &\n".join(folds))
    return b"\n".join(lines)


def is_shared(one: Edit) -> bool:
    """True for whole lines that several changes put in the same place, as a small function that all of them call."""
    return one.start == one.end and one.new.endswith(b"\n")
