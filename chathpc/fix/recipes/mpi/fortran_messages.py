"""MPI in Fortran: single numbers that a loop sends, receives, broadcasts or reduces become one message of an array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_start, shifted
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, nodes, text_of
from chathpc.fix.recipes.fortran.accesses import INTRINSICS, OF_ARRAYS, is_safe, pure_function
from chathpc.fix.recipes.fortran.loops import control
from chathpc.fix.recipes.fortran.statements import called, declaration, identifiers, is_way_out, mentions, squeezed
from chathpc.fix.recipes.mpi.calls import Call, mpi_call
from chathpc.fix.recipes.mpi.collectives import FORTRAN_TYPES, fortran_number, is_for_all
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

_SENDS = frozenset({"MPI_Send", "MPI_Ssend"})
_REDUCING = frozenset({"MPI_Reduce", "MPI_Allreduce"})
_PLAIN = frozenset({"assignment_statement", "if_statement", "do_loop", "else_clause", "elseif_clause", "comment"})


@dataclass(frozen=True, slots=True)
class Packed:
    """The new text of a loop, its calls, and how many numbers each iteration has in a message between two processes."""

    edit: Edit
    calls: tuple[Call, ...]


def batched(context: Context, spot: Spot) -> Iterator[Change]:
    """All loops of the program that exchange single numbers change together, or none."""
    program = context.program
    if any(not each.is_fortran for each in program.sources.values()) or program.unread:
        return
    found: dict[str, list[Edit]] = {}
    lines: list[int] = []
    exchanged: list[Call] = []
    for procedure in program.procedures:
        if procedure.has_errors:
            return
        for loop in procedure.all("do_loop"):
            calls = _single_calls(loop, procedure)
            if not calls:
                continue
            one = _packed(loop, procedure, program)
            if one is None:
                if any(
                    each.name not in (*_REDUCING, "MPI_Bcast") and not _is_of_partners(each, loop) for each in calls
                ):
                    return  # whoever is at the other end would wait for single numbers
                continue
            exchanged += [each for each in one.calls if each.name in (*_SENDS, "MPI_Recv")]
            found.setdefault(procedure.source.path, []).append(one.edit)
            if procedure.node == spot.procedure.node:
                lines.append(line_of(loop))
    sizes = {name: {len(group) for group in _groups(exchanged, name)} for name in ("send", "receive")}
    if not lines or (all(sizes.values()) and sizes["send"] != sizes["receive"]):
        return
    yield Change(
        {path: tuple(each) for path, each in found.items()},
        lines[0],
        "exchanges all numbers in one message instead of one message each",
    )


def _groups(calls: list[Call], which: str) -> list[list[Call]]:
    """The calls that send (or receive) in one loop."""
    mine = [each for each in calls if (each.name in _SENDS) == (which == "send")]
    by_loop: dict[int, list[Call]] = {}
    for each in mine:
        around = each.statement.parent
        by_loop.setdefault(around.start_byte if around is not None else -1, []).append(each)
    return list(by_loop.values())


def _single_calls(loop: Node, procedure: Procedure) -> list[Call]:
    """Calls of one number each that stand in the loop itself."""
    found = [mpi_call(each, procedure) for each in children(loop)]
    return [
        each for each in found if each is not None and each.name != "MPI_Barrier" and each.word(_count(each)) == "1"
    ]


def _count(call: Call) -> int:
    return 2 if call.name in _REDUCING else 1


def _is_of_partners(call: Call, loop: Node) -> bool:
    """True if each iteration exchanges with another process, or the loop is not over what is exchanged."""
    head = control(loop)
    variable = squeezed(children(head)[0]) if head is not None else ""
    return (
        not variable
        or mentions(call.arguments[3], variable)
        or not any(mentions(each, variable) for each in call.arguments)
    )


def _packed(loop: Node, procedure: Procedure, program: Program) -> Packed | None:
    head, text = control(loop), procedure.source.text
    parts = children(head) if head is not None else []
    if (
        len(parts) != 3
        or not is_safe(procedure)
        or is_way_out(loop)
        or any(True for _ in nodes(loop, "keyword_statement"))
    ):
        return None
    body = [each for each in children(loop)[1:] if not each.type.startswith("end_")]
    calls = [call for each in body if (call := mpi_call(each, procedure)) is not None]
    others = [each for each in body if all(each != call.statement for call in calls)]
    if (
        not calls
        or len({call.name for call in calls}) != 1
        or not all(_is_local(each, procedure, program) for each in others)
    ):
        return None
    first, variable = calls[0], squeezed(parts[0])
    if len(calls) > 1 and first.name not in (*_SENDS, "MPI_Recv"):
        return None
    type_at = _count(first) + 1
    told = squeezed(first.arguments[type_at])
    changing = {variable, *(_written(each) for other in others for each in nodes(other, "assignment_statement"))}
    changing |= {squeezed(children(each)[0]) for other in others for each in nodes(other, "loop_control_expression")}
    numbers = [_numbers(call, told, procedure) for call in calls]
    if any(each is None for each in numbers) or told not in FORTRAN_TYPES:
        return None
    changing |= {_root(call.arguments[1 if call.name in _REDUCING else 0]) for call in calls if call.name not in _SENDS}
    fixed = [
        parts[1],
        parts[2],
        *(each for call in calls for at, each in enumerate(call.arguments) if at in _fixed(call)),
    ]
    if any(mentions(each, name) for each in fixed for name in changing if name):
        return None
    if (
        not all(_drops_status(call, procedure) for call in calls)
        or len({tuple(call.word(at) for at in _fixed(call) if at != 4 or call.name in _REDUCING) for call in calls})
        != 1
    ):
        return None
    if first.name in (*_REDUCING, "MPI_Bcast"):
        target = _root(first.arguments[1 if first.name in _REDUCING else 0])
        if not is_for_all(loop, procedure, program) or any(mentions(each, target) for each in others):
            return None
        if first.name == "MPI_Bcast" and others:
            return None
    if text[line_start(text, loop.start_byte) : loop.start_byte].strip():
        return None
    return Packed(_edit(loop, parts, calls, told, procedure), tuple(calls))


def _fixed(call: Call) -> tuple[int, ...]:
    return {"MPI_Bcast": (3, 4), "MPI_Reduce": (4, 5, 6), "MPI_Allreduce": (4, 5)}.get(call.name, (3, 5))


def _numbers(call: Call, told: str, procedure: Procedure) -> list[str] | None:
    places = (0, 1) if call.name in _REDUCING else (0,)
    if call.word(_count(call)) != "1" or squeezed(call.arguments[_count(call) + 1]) != told:
        return None
    found = [fortran_number(call.arguments[each], told, procedure) for each in places]
    return [each for each in found if each is not None] if all(found) else None


def _written(node: Node) -> str:
    return _root(field(node, "left"))


def _root(node: Node | None) -> str:
    return called(node) if node is not None and node.type == "call_expression" else squeezed(node)


def _is_local(statement: Node, procedure: Procedure, program: Program) -> bool:
    """True for assignments, also under conditions and in loops, that call nothing but intrinsic and pure functions."""
    if statement.type not in _PLAIN:
        return False
    if any(
        True
        for _ in nodes(
            statement,
            "subroutine_call",
            "write_statement",
            "print_statement",
            "read_statement",
            "allocate_statement",
            "stop_statement",
        )
    ):
        return False
    for each in nodes(statement, "call_expression"):
        name = called(each)
        own = declaration(procedure, name) or procedure.source.file.unit.variables.get(name)
        if own is None and name not in INTRINSICS | OF_ARRAYS and pure_function(name, program) is None:
            return False
    return True


def _drops_status(call: Call, procedure: Procedure) -> bool:
    if call.name != "MPI_Recv":
        return True
    if any("mpi_any" in squeezed(call.arguments[each]) for each in (3, 4)):
        return False
    status = squeezed(call.arguments[6])
    if status == "mpi_status_ignore":
        return True
    uses = [
        each
        for each in identifiers(procedure.node, status)
        if each.parent is not None and each.parent.type == "argument_list"
    ]
    return status.isidentifier() and all(
        mpi_call(each.parent.parent, procedure) is not None for each in uses if each.parent is not None
    )


def _edit(loop: Node, parts: list[Node], calls: list[Call], told: str, procedure: Procedure) -> Edit:
    text, first, many = procedure.source.text, calls[0], len(calls) > 1
    blank = indent(text, loop.start_byte).decode()
    message, result = (fresh_name(each, text) for each in ("message", "results"))
    variable, low, high = (text_of(each) for each in parts)
    kind = _kind(first, procedure)
    reducing, both = first.name in _REDUCING, first.name == "MPI_Bcast"
    sends = first.name in _SENDS or reducing or both
    new = text[loop.start_byte : loop.end_byte]
    for place, call in reversed(list(enumerate(calls, 1))):
        at = f"{message}({place}, {variable})" if many else f"{message}({variable})"
        number = text_of(call.arguments[0])
        line = f"{at} = {number}" if sends else f"{number} = {at}"
        start, end = (each - loop.start_byte for each in (call.statement.start_byte, call.statement.end_byte))
        new = new[:start] + line.encode() + new[end:]
    listed = [text_of(each) for each in (*first.arguments, *((first.error,) if first.error is not None else ()))]
    listed[0], listed[_count(first)] = message, f"size({message})"
    if reducing:
        listed[1] = result
    elif not both and mentions(first.arguments[4], squeezed(parts[0])):
        listed[4] = "0"  # one message takes the place of many
    name = text_of(field(first.statement, "subroutine"))
    sent = f"if (size({message}) > 0) call {name}({', '.join(listed)})"
    shape = f"{len(calls)}, {low}:{high}" if many else f"{low}:{high}"
    colons = ":, :" if many else ":"
    inner = shifted(new, b"  ").decode("utf-8", "surrogateescape")
    target = text_of(first.arguments[1 if reducing else 0])
    back = result if reducing else message
    unpacked = (
        [f"  do {variable} = {low}, {high}", f"    {target} = {back}({variable})", "  end do"]
        if reducing or both
        else []
    )
    kept = (
        [f"  do {variable} = {low}, {high}", f"    {back}({variable}) = {target}", "  end do"]
        if first.name == "MPI_Reduce"
        else []
    )
    lines = [
        "block",
        f"  {kind}, allocatable :: {message}({colons})" + (f", {result}(:)" if reducing else ""),
        f"  allocate ({message}({shape})" + (f", {result}({shape}))" if reducing else ")"),
        *(() if sends else (f"  {sent}",)),
        f"  {inner}",
        *kept,
        *((f"  {sent}",) if sends else ()),
        *unpacked,
        "end block",
    ]
    return Edit(loop.start_byte, loop.end_byte, f"\n{blank}".join(lines).encode("utf-8", "surrogateescape"))


def _kind(call: Call, procedure: Procedure) -> str:
    own = declaration(procedure, _root(call.arguments[0]))
    return own.type if own is not None else ""
