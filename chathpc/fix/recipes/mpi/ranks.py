"""Which variables of a program in C hold the number of the process and how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, field, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

RANK, SIZE = "MPI_Comm_rank", "MPI_Comm_size"
_DEEPEST = 3


def asked(name: str, question: str, procedure: Procedure, program: Program, depth: int = 0) -> bool:
    """True if a variable has what `MPI_Comm_rank` or `MPI_Comm_size` told of all processes, and nothing else."""
    if "." in name or "->" in name:
        return _is_member(name.replace("->", ".").rsplit(".", 1)[-1], question, program)
    if name in procedure.parameters:
        return depth < _DEEPEST and _is_handed(name, question, procedure, program, depth)
    if name in procedure.declarations:
        return _tells(name, question, procedure) and not any(
            value is None or text_of(value) not in ("0", "-1", "1") for value in procedure.assigned.get(name, [])
        )
    if name not in program.variables or program.assigned.get(name):
        return False
    asking = [one for one in program.procedures if name not in one.declarations and _tells(name, question, one)]
    return len(asking) == 1


def _is_member(member: str, question: str, program: Program) -> bool:
    """True if the members of that name are given what was asked for, and nothing else, wherever they are."""
    told = f"{question} {member}"
    if told not in program.known_facts:
        addresses = [
            node.parent
            for one in program.procedures
            if not one.source.is_fortran
            for node in one.all("field_expression")
            if text_of(field(node, "field")) == member
            and node.parent is not None
            and node.parent.type == "pointer_expression"
        ]
        calls = [each.parent.parent if each.parent is not None else None for each in addresses]
        asking = [
            each
            for each in calls
            if text_of(field(each, "function")) == question and text_of(_argument(each, 0)) == "MPI_COMM_WORLD"
        ]
        changed = any(
            text_of(field(field(node, "argument"), "field")) == member
            for one in program.procedures
            for node in one.all("update_expression")
        )
        program.known_facts[told] = (
            len(calls) == len(asking) == 1 and not program.assigned_members.get(member) and not changed
        )
    return program.known_facts[told]


def _tells(name: str, question: str, procedure: Procedure) -> bool:
    """True if the procedure asks that once and gives the variable's address to nobody else."""
    found = 0
    for node in procedure.identifiers.get(name, ()):
        parent = node.parent
        if parent is None or parent.type != "pointer_expression" or text_of(field(parent, "operator")) != "&":
            continue
        call = parent.parent.parent if parent.parent is not None else None
        if call is None or text_of(field(call, "function")) != question:
            return False
        if text_of(_argument(call, 0)) != "MPI_COMM_WORLD":
            return False
        found += 1
    return found == 1


def _argument(call: Node | None, place: int) -> Node | None:
    listed = children(field(call, "arguments"))
    return listed[place] if place < len(listed) else None


def _is_handed(name: str, question: str, procedure: Procedure, program: Program, depth: int) -> bool:
    """True if all callers hand over such a variable, and the parameter stays what it is."""
    own = procedure.model.name
    if (
        procedure.assigned.get(name)
        or name in procedure.addressed
        or own in program.handed_on
        or len(program.named(own)) != 1
    ):
        return False
    if any(
        field(node, "argument") == each
        for node in procedure.all("update_expression")
        for each in procedure.identifiers.get(name, ())
    ):
        return False
    place = [one.name for one in procedure.model.parameters].index(name)
    calls = program.calls.get(own, [])
    return bool(calls) and all(
        (given := _argument(call, place)) is not None
        and given.type == "identifier"
        and asked(text_of(given), question, caller, program, depth + 1)
        for caller, call in calls
    )
