"""What a recipe is, and what it gives: changes of texts by bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from chathpc.fix.project import Project
from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.program import Program, Spot

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
