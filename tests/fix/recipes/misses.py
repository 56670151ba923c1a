"""What a program is in which a recipe would be wrong."""

from __future__ import annotations

from dataclasses import dataclass

_HEAD = "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
_CPP = (
    "#include <cmath>\n#include <cstdio>\n#include <iostream>\n#include <map>\n#include <string>\n#include <vector>\n"
)


@dataclass(frozen=True, slots=True)
class Miss:
    """A program that a recipe must leave alone."""

    why: str
    recipe: str
    language: str
    source: str
    cause: str | None = None
    relative: float = 1e-9


def c(why: str, recipe: str, body: str, *, relative: float = 1e-9) -> Miss:
    """A near miss in C."""
    return Miss(why, recipe, "c", _HEAD + body, None, relative)


def cpp(why: str, recipe: str, body: str) -> Miss:
    """A near miss in C++."""
    return Miss(why, recipe, "c++", _CPP + body)


def f90(why: str, recipe: str, body: str, *, relative: float = 1e-9) -> Miss:
    """A near miss in Fortran."""
    return Miss(why, recipe, "fortran", body, None, relative)
