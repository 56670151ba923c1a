"""Rows of Fortran arrays that a loop hands over one by one: sections across columns, of which every call makes a copy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.edits import Edit, indent, line_start, shifted
from chathpc.fix.recipes.fortran_accesses import is_safe
from chathpc.fix.recipes.fortran_allocations import is_given_away, is_kept
from chathpc.fix.recipes.fortran_loops import control
from chathpc.fix.recipes.fortran_statements import (
    Declared,
    arguments,
    called,
    declaration,
    identifiers,
    is_way_out,
    mentions,
    squeezed,
)
from chathpc.fix.recipes.invariants import fresh_name
from chathpc.fix.recipes.program import Procedure, Program, Spot
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.syntax import children, line_of, nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Rows that are copied at once: two lines of a cache hold so many numbers of eight bytes of each column.
_AT_ONCE = 16


def rows_at_once(context: Context, spot: Spot) -> Iterator[Change]:
    """`do i = …; call f(a(i, :)); end do` copies 16 rows at once, column by column, and hands over columns of the copy."""
    procedure, program = spot.procedure, context.program
    if not is_safe(procedure) or "!$omp" in text_of(procedure.node).lower():
        return
    for loop in procedure.all("do_loop"):
        heads = control(loop)
        listed = children(heads) if heads is not None else []
        if (
            heads is None
            or heads.type != "loop_control_expression"
            or len(listed) != 3
            or is_way_out(loop)
            or any(squeezed(each).startswith("exit") for each in nodes(loop, "keyword_statement"))
        ):
            continue
        variable = squeezed(listed[0])
        found = _rows(loop, variable)
        own = declaration(procedure, found.name) if found is not None else None
        if found is None or own is None or not _may_copy(found, own, loop, procedure, program):
            continue
        edits = _edits(found, own, loop, listed, procedure, program)
        if edits is not None:
            yield Change(
                {spot.source.path: edits}, line_of(loop),
                f"copies {_AT_ONCE} rows of {found.name} at once, column by column, instead of one row with each call",
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rows:
    """An array of which a loop uses `name(variable, …, :, …)`: where the colon is, and all subscripts as they are written."""

    name: str
    place: int
    subscripts: tuple[str, ...]


def _rows(loop: Node, variable: str) -> Rows | None:
    """The array of which the loop uses rows; None where it uses none."""
    for node in nodes(loop, "call_expression"):
        listed = [squeezed(each) for each in arguments(node)]
        if called(node) and len(listed) > 1 and listed[0] == variable and listed.count(":") == 1:
            return Rows(called(node), listed.index(":"), tuple(listed))
    return None


def _may_copy(rows: Rows, own: Declared, loop: Node, procedure: Procedure, program: Program) -> bool:
    """True if the loop uses nothing of the array but the row of each iteration, also by what it calls."""
    name, head = rows.name, control(loop)
    if (
        own.rank != len(rows.subscripts)
        or head is None
        or mentions(head, name)
        or own.type.lower().startswith(("class", "type"))
    ):
        return False
    variable = squeezed(children(head)[0])
    for node in identifiers(loop, name):
        element = node.parent
        if element is None or element.type != "call_expression" or children(element)[0] != node:
            return False
        listed = arguments(element)
        if len(listed) != own.rank or mentions(listed[rows.place], name):
            return False
        if any(squeezed(each) != rows.subscripts[at] for at, each in enumerate(listed) if at != rows.place):
            return False
        if listed[rows.place].type == "extent_specifier" and squeezed(listed[rows.place]) != ":":
            return False
        fixed = [each for at, each in enumerate(listed) if at not in (0, rows.place)]
        if any(each.type not in ("identifier", "number_literal") for each in fixed):
            return False
        if any(not is_kept(squeezed(each), loop, procedure, program) for each in fixed if each.type == "identifier"):
            return False
    inner = {squeezed(children(each)[0]) for each in nodes(loop, "loop_control_expression") if each != head}
    if variable in inner or not _is_unchanged(variable, loop, procedure, program):
        return False
    if any(mentions(each, name) for each in procedure.all("internal_procedures")):
        return False
    return all(
        is_kept(text_of(each).lower(), loop, procedure, program)
        for part in children(head)[1:]
        for each in nodes(part, "identifier")
    )


def _is_unchanged(variable: str, loop: Node, procedure: Procedure, program: Program) -> bool:
    body = [each for each in children(loop)[1:] if not each.type.startswith("end_")]
    return all(is_kept(variable, each, procedure, program) for each in body)


def _edits(
    of: Rows, own: Declared, loop: Node, head: list[Node], procedure: Procedure, program: Program
) -> tuple[Edit, ...] | None:
    text, name, dimension = procedure.source.text, of.name, of.place + 1
    start = line_start(text, loop.start_byte)
    if text[start : loop.start_byte].strip():
        return None
    blank = indent(text, loop.start_byte).decode()
    rows, first, last, column = (fresh_name(each, text) for each in (f"{name}_rows", "first_row", "last_row", "column"))
    variable, low, high = (text_of(each) for each in head)
    offset = f"{variable} - {first} + 1"
    new = text[loop.start_byte : loop.end_byte]
    uses = sorted(
        (each.parent for each in identifiers(loop, name) if each.parent is not None), key=lambda each: -each.start_byte
    )
    changed = False
    for element in uses:
        second = text_of(arguments(element)[of.place])
        changed = changed or _may_change_row(element, program)
        one = f"{rows}({second}, {offset})".encode()
        new = new[: element.start_byte - loop.start_byte] + one + new[element.end_byte - loop.start_byte :]
    bounds = head[1].start_byte - loop.start_byte, head[2].end_byte - loop.start_byte
    new = new[: bounds[0]] + f"{first}, {last}".encode() + new[bounds[1] :]
    inner = shifted(new, b"    ").decode("utf-8", "surrogateescape")

    def copied(left: str, right: str) -> list[str]:
        return [
            f"    do {column} = lbound({name}, {dimension}), ubound({name}, {dimension})",
            f"      do {variable} = {first}, {last}",
            f"        {left} = {right}",
            "      end do",
            "    end do",
        ]

    subscripts = [column if at == of.place else each for at, each in enumerate(of.subscripts)]
    row, element_ = f"{rows}({column}, {offset})", f"{name}({', '.join((variable, *subscripts[1:]))})"
    lines = [
        "block",
        f"  {own.type}, allocatable :: {rows}(:, :)",
        f"  integer :: {first}, {last}, {column}",
        f"  allocate ({rows}(lbound({name}, {dimension}):ubound({name}, {dimension}), {_AT_ONCE}))",
        f"  do {first} = {low}, {high}, {_AT_ONCE}",
        f"    {last} = min({first} + {_AT_ONCE - 1}, {high})",
        *copied(row, element_),
        f"    {inner}",
        *(copied(element_, row) if changed else ()),
        "  end do",
        "end block",
    ]
    return (Edit(loop.start_byte, loop.end_byte, f"\n{blank}".join(lines).encode("utf-8", "surrogateescape")),)


def _may_change_row(element: Node, program: Program) -> bool:
    """True unless the row is only an operand there, or handed to who only reads it."""
    parent = element.parent
    if parent is None or parent.type == "input_item_list":
        return True
    if parent.type in ("argument_list", "keyword_argument"):
        return is_given_away(element, program)
    return parent.type == "assignment_statement" and parent.child_by_field_name("left") == element
