# ruff: noqa: E501
"""What a program with something to mend is, and what must (not) be in the changed text."""

from __future__ import annotations

from dataclasses import dataclass

_HEAD = "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
_CPP = "#include <cmath>\n#include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n#include <fstream>\n#include <iostream>\n#include <map>\n#include <string>\n#include <vector>\n"


@dataclass(frozen=True, slots=True)
class Case:
    """A program, the recipe, and how near the results must be (0: to the last bit)."""

    name: str
    recipe: str
    language: str
    source: str
    has: tuple[str, ...] = ()
    has_not: tuple[str, ...] = ()
    relative: float = 0.0
    cause: str | None = None


def c(
    name: str,
    recipe: str,
    body: str,
    *has: str,
    has_not: tuple[str, ...] = (),
    relative: float = 0.0,
    cause: str | None = None,
) -> Case:
    """A case in C."""
    return Case(name, recipe, "c", _HEAD + body, has, has_not, relative, cause)


def cpp(name: str, recipe: str, body: str, *has: str, has_not: tuple[str, ...] = (), relative: float = 0.0) -> Case:
    """A case in C++."""
    return Case(name, recipe, "c++", _CPP + body, has, has_not, relative)


def f90(
    name: str,
    recipe: str,
    body: str,
    *has: str,
    has_not: tuple[str, ...] = (),
    relative: float = 0.0,
    cause: str | None = None,
) -> Case:
    """A case in Fortran."""
    return Case(name, recipe, "fortran", body, has, has_not, relative, cause)
