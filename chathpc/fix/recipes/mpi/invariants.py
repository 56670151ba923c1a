"""MPI: collective calls in a loop whose result is the same in each iteration are made once before it (C)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, indent, line_end, line_start
from chathpc.fix.recipes.analysis.effects import Access, effects
from chathpc.fix.recipes.analysis.loops import counted, loops_of
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.reach import meets, reach
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, nodes, statements, text_of
from chathpc.fix.recipes.mpi.calls import Call, mpi_call
from chathpc.fix.recipes.mpi.collectives import is_for_all
from chathpc.fix.recipes.mpi.order import buffer
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

#: What is given and what comes back.
_HOISTED = {"MPI_Bcast": (0, 0), "MPI_Allreduce": (0, 1)}
#: Calls of MPI with the places of what they write; all others are not known.
_WRITES = {
    "MPI_Bcast": (0,),
    "MPI_Allreduce": (1,),
    "MPI_Reduce": (1,),
    "MPI_Recv": (0, 6),
    "MPI_Send": (),
    "MPI_Ssend": (),
    "MPI_Barrier": (),
    "MPI_Gather": (3,),
}
_PRINTING = frozenset({"printf", "puts", "putchar", "fflush"})


def made_once(context: Context, spot: Spot) -> Iterator[Change]:
    """`MPI_Bcast` and `MPI_Allreduce` of what no iteration changes go in front of the loop, if that is entered at all."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or procedure.body is None or procedure.source.is_cpp:
        return
    for loop in loops_of(procedure):
        header, listed = counted(loop, procedure), statements(field(loop, "body"))
        if header is None or header.operator not in ("<", "<=") or not is_for_all(loop, procedure, program):
            continue
        for at, statement in enumerate(listed):
            call = mpi_call(statement, procedure)
            if call is None or call.name not in _HOISTED or _leaves(listed[:at]):
                continue
            if words_of(call.arguments[_HOISTED[call.name][1]]) & (words_of(header.start) | words_of(header.bound)):
                continue
            if not _is_the_same(call, listed, at, header.variable, procedure, program):
                continue
            start, end = line_start(text, statement.start_byte), line_end(text, statement.end_byte - 1)
            to = line_start(text, loop.start_byte)
            if (
                text[start : statement.start_byte].strip()
                or text[statement.end_byte : end].strip()
                or text[to : loop.start_byte].strip()
            ):
                continue
            condition = f"if ({text_of(header.start)} {header.operator} {text_of(header.bound)}) ".encode()
            moved = indent(text, loop.start_byte) + condition + text[statement.start_byte : statement.end_byte] + b"\n"
            yield Change(
                {spot.source.path: (Edit(to, to, moved), Edit(start, end, b""))},
                line_of(statement),
                f"calls {call.name} once before the loop over {header.variable}: no iteration changes what it brings",
            )


def words_of(node: Node) -> set[str]:
    """All names in an expression."""
    return {text_of(each) for each in nodes(node, "identifier", "field_identifier")}


def _leaves(listed: list[Node]) -> bool:
    """True where an iteration may not come as far as what follows."""
    kinds = ("break_statement", "continue_statement", "return_statement", "goto_statement")
    return any(True for each in listed for _ in nodes(each, *kinds))


def _is_the_same(
    call: Call, listed: list[Node], at: int, variable: str, procedure: Procedure, program: Program
) -> bool:
    """True if nothing else in the loop writes what the call uses, and nothing before it looks at what it brings."""
    given, back = (
        buffer(call.arguments[each], procedure, each == _HOISTED[call.name][1]) for each in _HOISTED[call.name]
    )
    if given is None or back is None or "MPI_IN_PLACE" in map(text_of, call.arguments):
        return False
    mine = [given, back] if given.node != back.node else [back]
    words = {text_of(each) for argument in call.arguments for each in nodes(argument, "identifier")}
    if variable in words:
        return False
    for argument in call.arguments[1:]:
        known = effects(argument, procedure, program)
        if not known.is_known or known.writes:
            return False
        mine += known.accesses
    for place, other in enumerate(listed):
        if place == at:
            continue
        found = touched(other, procedure, program)
        if found is None:
            return False
        accesses, declared = found
        if declared & words or any(one.write and meets(own, one, program) for one in accesses for own in mine):
            return False
        if place < at and any(meets(back, one, program) for one in accesses):
            return False
    return True


def touched(statement: Node, procedure: Procedure, program: Program) -> tuple[list[Access], set[str]] | None:
    """All that a statement reads and writes, also by messages and lines that it prints."""
    call = mpi_call(statement, procedure)
    if call is not None and call.name in _WRITES:
        found: list[Access] = []
        for place, each in enumerate(call.arguments):
            known = effects(each, procedure, program)
            if not known.is_known or known.writes:
                return None
            found += known.accesses
            if (place in _WRITES[call.name] or place == 0) and not text_of(each).startswith("MPI_"):
                memory = buffer(each, procedure, place in _WRITES[call.name])
                if memory is None:
                    return None
                found.append(memory)
        return found, set()
    if statement.type == "if_statement" and field(statement, "alternative") is None:
        condition, inner = field(statement, "condition"), statements(field(statement, "consequence"))
        asked = effects(condition, procedure, program) if condition is not None else None
        parts = [touched(each, procedure, program) for each in inner]
        if asked is not None and asked.is_known and all(each is not None for each in parts):
            return [*asked.accesses, *(one for each in parts if each for one in each[0])], set()
        return None
    if statement.type == "break_statement":
        return [], set()
    inner_call = next(iter(children(statement)), None) if statement.type == "expression_statement" else None
    if inner_call is not None and text_of(field(inner_call, "function")) in _PRINTING:
        effect = [effects(each, procedure, program) for each in children(field(inner_call, "arguments"))]
        return (
            ([one for each in effect for one in each.accesses], set())
            if all(each.is_known for each in effect)
            else None
        )
    reached = reach(statement, procedure, program)
    return None if reached is None else (reached.accesses, reached.declared)
