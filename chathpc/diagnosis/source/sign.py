"""What a recogniser says: a cause at lines of the source, in words, with what it can't tell."""

from __future__ import annotations

from dataclasses import dataclass

from chathpc.diagnosis.source.layout import trips
from chathpc.diagnosis.source.model import Function, Loop, Statement, Unit

#: How evidence from source is marked.
DERIVED = "derived from the source, not measured"


@dataclass(frozen=True, slots=True)
class Sign:
    """A cause that the text at `line` suggests; its cost is the time of lines `first` to `last`.

    `says` goes on after "The source at file:line"; `summary` after the function's name. `alone` is False for what only supports a finding
    from measurement, and `suspected` is True where even then only counters could tell; `calls` is True where time in called functions
    belongs to the cost, but for that in the program's function `callee`. `limit` marks work at the limit of the machine, of which hardly
    any can go. `memory` names the array, or the pointer to the items, whose size decides. `kernel` is True where the cost is what the
    kernel does meanwhile, not the lines, and `waits` where it is what the lines spend in MPI. `bounded` is False where a repair makes other
    lines cheaper, too, so that it can give more than the cost. `interpreted` is True for what costs Python's own steps: where others have most of
    the time it is no explanation. `title` is said instead of the cause's, `advice` instead of the catalogue's, of which else that
    is for it which matches `fits`.
    """

    cause: str
    line: int
    first: int
    last: int
    says: str
    summary: str
    against: tuple[str, ...] = ()
    alone: bool = True
    suspected: bool = False
    calls: bool = False
    callee: str = ""
    limit: bool = False
    memory: str = ""
    kernel: bool = False
    waits: bool = False
    bounded: bool = True
    interpreted: bool = False
    title: str = ""
    advice: tuple[str, ...] = ()
    fits: str = ""

    @property
    def of_function(self) -> bool:
        """True if the profile tells the time of the function from its first line on, and not that of `line`."""
        return not self.first <= self.line <= self.last


#: Loops with so few iterations are unrolled by compilers: the loop around them is the inner one.
UNROLLED = 16


def effective(function: Function, loop: Loop, unit: Unit) -> Loop:
    """The loop that counts as innermost: loops of few, constant iterations belong to the one around them."""
    while loop.parent >= 0 and is_unrolled(loop, unit):
        loop = function.loops[loop.parent]
    return loop


def is_unrolled(loop: Loop, unit: Unit) -> bool:
    """True for a loop of few and constant iterations."""
    count = trips(loop, unit.constants)
    return count is not None and count <= UNROLLED


def body(function: Function, loop: Loop, unit: Unit) -> tuple[Statement, ...] | None:
    """Statements of an innermost loop with its unrolled ones; None if a longer loop stands inside."""
    inner = function.loops_in(loop.index)
    if not all(is_unrolled(each, unit) for each in inner):
        return None
    return function.inside(loop.index)
