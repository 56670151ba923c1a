"""Calls of MPI in C, C++ and Fortran as statements: which, with what, in what order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure
from chathpc.fix.recipes.analysis.syntax import C_LOOPS, children, field, statements, text_of
from chathpc.fix.recipes.fortran.statements import arguments as fortran_arguments
from chathpc.fix.recipes.fortran.statements import called

if TYPE_CHECKING:
    from tree_sitter import Node

#: Numbers of arguments, without the error code that Fortran adds.
_ARGUMENTS = {
    "MPI_Send": 6, "MPI_Ssend": 6, "MPI_Isend": 7, "MPI_Recv": 7, "MPI_Bcast": 5, "MPI_Reduce": 7, "MPI_Allreduce": 6,
    "MPI_Gather": 8, "MPI_Barrier": 1,
}  # fmt: skip
_BY_LOWER_CASE = {name.lower(): name for name in _ARGUMENTS}


@dataclass(frozen=True, slots=True)
class Call:
    """One call that is a statement by itself; `error` is Fortran's last argument."""

    name: str
    statement: Node
    arguments: tuple[Node, ...]
    error: Node | None = None

    def word(self, place: int) -> str:
        """An argument as it is written, without blanks."""
        return text_of(self.arguments[place]).replace(" ", "")


def mpi_call(statement: Node | None, procedure: Procedure) -> Call | None:
    """The statement as one of the calls that are known; None for anything else, and where a result of it is used."""
    if statement is None:
        return None
    if procedure.source.is_fortran:
        name = _BY_LOWER_CASE.get(called(statement)) if statement.type == "subroutine_call" else None
        listed = fortran_arguments(statement)
        if name is None or any(each.type == "keyword_argument" for each in listed):
            return None
        count = _ARGUMENTS[name]
        if len(listed) == count + 1:
            return Call(name, statement, tuple(listed[:-1]), listed[-1])
        return Call(name, statement, tuple(listed)) if len(listed) == count else None
    call = next(iter(children(statement)), None) if statement.type == "expression_statement" else None
    if call is None or call.type != "call_expression":
        return None
    name = text_of(field(call, "function"))
    listed = children(field(call, "arguments"))
    return Call(name, statement, tuple(listed)) if _ARGUMENTS.get(name) == len(listed) else None


def blocks(procedure: Procedure) -> list[list[Node]]:
    """Statements of each block of the procedure in their order."""
    if procedure.source.is_fortran:
        kinds = ("do_loop", "if_statement", "else_clause", "elseif_clause", "block_construct")
        around = [procedure.node, *procedure.all(*kinds)]
        return [[one for one in children(each) if not one.type.startswith("end_")] for each in around]
    return [statements(each) for each in procedure.all("compound_statement")]


def is_repeated(statement: Node, procedure: Procedure) -> bool:
    """True in a loop, and in a procedure other than the main program, which may be called in one."""
    one = statement.parent
    while one is not None and one != procedure.node:
        if one.type == "do_loop" or one.type in C_LOOPS:
            return True
        one = one.parent
    return procedure.model.name != "main" and procedure.node.type != "program"
