"""Recipes of generated cases: each makes profiles of a program with a known fault, and says what is true of them.

A recipe is written from the physics of the fault and from what the profiler's documentation says that it records. What chathpc
finds in the result has no part in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.accuracy.draw import Draw

Truth = dict[str, Any]
Maker = Callable[[Draw, Path], Truth]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to make `count` cases of one kind; `kind` groups those that are divided between the halves (cause, or kind of case)."""

    name: str
    kind: str
    family: str
    make: Maker
    count: int


RECIPES: dict[str, Recipe] = {}


def recipe(kind: str, family: str, count: int = 2) -> Callable[[Maker], Maker]:
    """Register a recipe under the name of its function."""

    def register(make: Maker) -> Maker:
        name = make.__name__
        if name in RECIPES:
            raise ValueError(f"two recipes {name}")
        RECIPES[name] = Recipe(name, kind, family, make, count)
        return make

    return register


def place(
    function: str | None = None,
    *,
    file: str | None = None,
    lines: tuple[int, int] | None = None,
    kernel: str | None = None,
) -> dict[str, Any]:
    """Where a fault is, as far as the profile can show it."""
    return {"function": function, "file": file, "lines": list(lines) if lines else None, "kernel": kernel}


def truth(
    cause: str,
    form: str,
    profiles: Sequence[str],
    share: float,
    why: str,
    *,
    where: Mapping[str, Any] | None = None,
    acceptable: Sequence[str] = (),
    functions: Sequence[str] = (),
    visible: bool = True,
    second: tuple[str, float, Mapping[str, Any]] | None = None,
) -> Truth:
    """The truth of a case; `second` is another fault with its share and place, which may be told first if it is the larger."""
    found: Truth = {
        "cause": cause,
        "acceptable": list(acceptable),
        "where": dict(where or place()),
        "acceptable_functions": list(functions) or [name for name in ((where or {}).get("function"),) if name],
        "healthy": cause == "healthy",
        "visible_in_profile": visible,
        "share_of_time": round(share, 4),
        "why": why,
        "profiles": list(profiles),
        "format": form,
    }
    if second is not None:
        also, part, there = second
        found["second"] = {
            "cause": also, "share_of_time": round(part, 4), "where": dict(there), "either_first": part > 0.6 * share,
        }  # fmt: skip
    return found
