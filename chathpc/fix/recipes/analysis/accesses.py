"""What a part of a function reads, writes, calls, and how it may be left: the base of every legality test."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as attribute
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One access: of a variable by its name, or of memory behind a pointer, array, reference or member.

    `update` marks a write that reads the old value as well (`+=`, `++`). An identifier in memory accesses stands for all that it
    points to. In Fortran `name` is that of the variable or component (`cell%e`), also for an element.
    """

    node: Node
    procedure: Procedure
    name: str
    memory: bool
    write: bool
    update: bool = False


@dataclass(slots=True)
class Effects:
    """Accesses, calls of what is not known, ways out, and what cannot be looked through."""

    accesses: list[Access] = attribute(default_factory=list)
    calls: list[Node] = attribute(default_factory=list)
    pure_calls: list[Node] = attribute(default_factory=list)
    jumps: set[str] = attribute(default_factory=set)
    opaque: list[str] = attribute(default_factory=list)
    declared: set[str] = attribute(default_factory=set)  #: counters of Fortran's loops among them: they are set anew
    pragmas: list[Node] = attribute(default_factory=list)
    callees: list[tuple[Node, Procedure]] = attribute(default_factory=list)  #: calls of functions of the program

    @property
    def is_known(self) -> bool:
        """True if nothing in it is hidden."""
        return not self.calls and not self.opaque

    @property
    def writes(self) -> list[Access]:
        """Those that change something."""
        return [one for one in self.accesses if one.write]

    @property
    def reads(self) -> list[Access]:
        """Those that use something."""
        return [one for one in self.accesses if not one.write or one.update]
