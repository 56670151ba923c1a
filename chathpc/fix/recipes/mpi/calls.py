"""Calls of MPI in C and C++ as statements: which, with what, in what order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure
from chathpc.fix.recipes.analysis.syntax import children, field, statements, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Numbers of arguments.
_ARGUMENTS = {
    "MPI_Send": 6, "MPI_Ssend": 6, "MPI_Isend": 7, "MPI_Recv": 7, "MPI_Bcast": 5, "MPI_Reduce": 7, "MPI_Allreduce": 6,
    "MPI_Gather": 8, "MPI_Barrier": 1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """One call that is a statement by itself."""

    name: str
    statement: Node
    arguments: tuple[Node, ...]

    def word(self, place: int) -> str:
        """An argument as it is written, without blanks."""
        return text_of(self.arguments[place]).replace(" ", "")


def mpi_call(statement: Node | None) -> Call | None:
    """The statement as one of the calls that are known; None for anything else, and where a result of it is used."""
    if statement is None or statement.type != "expression_statement":
        return None
    call = next(iter(children(statement)), None)
    if call is None or call.type != "call_expression":
        return None
    name = text_of(field(call, "function"))
    listed = children(field(call, "arguments"))
    return Call(name, statement, tuple(listed)) if _ARGUMENTS.get(name) == len(listed) else None


def blocks(procedure: Procedure) -> list[list[Node]]:
    """Statements of each block of the procedure in their order."""
    return [statements(each) for each in procedure.all("compound_statement")]
