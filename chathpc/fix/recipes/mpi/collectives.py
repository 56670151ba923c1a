"""Whether all processes of a program with MPI come by a statement together, as they must at collective calls (C and C++)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, field, nodes, text_of
from chathpc.fix.recipes.mpi.ranks import RANK, asked

if TYPE_CHECKING:
    from tree_sitter import Node

_BRANCHES = ("if_statement", "switch_statement", "conditional_expression")


def is_for_all(statement: Node, procedure: Procedure, program: Program, depth: int = 0) -> bool:
    """True if the processes come by together: no condition around it, or around calls of its procedure, asks which process it is."""
    one = statement.parent
    while one is not None and one != procedure.node:
        if one.type in _BRANCHES and _asks_rank(one, procedure, program):
            return False
        one = one.parent
    name = procedure.model.name
    if depth > 3 or name in ("main", ""):
        return depth <= 3
    calls = program.calls.get(name, [])
    if name in program.handed_on or any(caller.source.is_fortran for caller, _ in calls):
        return False
    return all(is_for_all(call, caller, program, depth + 1) for caller, call in calls)


def _asks_rank(branch: Node, procedure: Procedure, program: Program) -> bool:
    condition = field(branch, "condition") or next(iter(children(branch)), None)
    names = {text_of(each) for each in nodes(condition or branch, "identifier")}
    if any(True for _ in nodes(condition or branch, "field_expression")):
        return True
    plain = {name for name in names if name not in program.macros}
    return any(asked(name, RANK, procedure, program) or _may_depend(name, procedure, program) for name in plain)


def _may_depend(name: str, procedure: Procedure, program: Program) -> bool:
    """True if a variable may be made from the number of the process, as far as its values tell."""
    if name in procedure.parameters or name not in procedure.declarations:
        return name not in procedure.parameters or "rank" in name or name in ("me", "id", "myid", "pid")
    return any(
        value is None or any(asked(text_of(each), RANK, procedure, program) for each in nodes(value, "identifier"))
        for value in procedure.assigned.get(name, [])
    )
