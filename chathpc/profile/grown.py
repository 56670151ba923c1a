"""How the cost of a place grows with the size of the problem, as other runs of the program show it (chathpc scale)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GrownPlace:
    """A function whose cost grows as a power of `parameter`: the exponent with its 80 % interval, and its costs in `unit` at the sizes
    that were measured.

    `name` is what grows, where that is a call in the function; `rest` is the exponent of the rest of the program's time, None where
    there is hardly a rest.
    """

    function: str
    file: str | None
    line: int | None
    parameter: str
    exponent: tuple[float, float, float]
    sizes: tuple[float, ...]
    costs: tuple[float, ...]
    unit: str
    rest: float | None = None
    name: str = ""
