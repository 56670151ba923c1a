"""All recipes, those for serial programs first: of recipes that promise the same the earlier one is tried first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from chathpc.fix.recipes.recipe import C_FAMILY, FORTRAN, HOST, Recipe


@dataclass(frozen=True, slots=True)
class Group:
    """Recipes of one table, loaded when they are asked for: what they are for, their languages, and how the causes begin that they answer."""

    title: str
    module: str
    languages: tuple[str, ...]
    causes: str = ""

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """The recipes of the table."""
        found: tuple[Recipe, ...] = import_module(f"chathpc.fix.recipes.{self.module}").RECIPES
        return found


#: Recipes by what they are for, as the documentation lists them.
GROUPS = (
    Group("C and C++: work, memory, containers, files", "serial.table", C_FAMILY),
    Group("C and C++: OpenMP and threads", "threads.table", HOST),
    Group("Fortran, also with OpenMP", "fortran.table", FORTRAN),
    Group("MPI", "mpi.table", HOST, "mpi-"),
    Group("CUDA", "cuda.block_size", C_FAMILY),
)


@cache
def recipes() -> tuple[Recipe, ...]:
    """All recipes."""
    return tuple(one for group in GROUPS for one in group.recipes)


def answering(cause: str, language: str) -> tuple[Recipe, ...]:
    """The recipes for a cause in a language; no other group is loaded, since a report waits for this."""
    groups = [group for group in GROUPS if language in group.languages and cause.startswith(group.causes)]
    return tuple(one for group in groups for one in group.recipes if cause in one.causes and language in one.languages)
