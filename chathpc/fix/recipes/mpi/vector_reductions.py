"""MPI: reductions one by one in a loop become one of a vector (C)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import Counted, counted, loops_of
from chathpc.fix.recipes.analysis.program import Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, nodes, statements, text_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node


def vector_reduction(context: Context, spot: Spot) -> Iterator[Change]:
    """`MPI_Allreduce` of one number in each iteration becomes one of a vector behind the loop, which is finished in a second loop."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or procedure.source.is_cpp:
        return
    for loop in loops_of(procedure):
        header = counted(loop, procedure)
        listed = statements(field(loop, "body"))
        at = [place for place, each in enumerate(listed) if _reduction(each) is not None]
        if (
            header is None
            or header.operator != "<"
            or header.step != 1
            or text_of(header.start) != "0"
            or not header.own
            or len(at) != 1
        ):
            continue
        call = _reduction(listed[at[0]])
        arguments = children(field(call, "arguments"))
        if (
            call is None
            or len(arguments) != 6
            or text_of(arguments[2]) != "1"
            or text_of(arguments[3]) not in ("MPI_DOUBLE", "MPI_INT", "MPI_LONG")
        ):
            continue
        mine, total = (
            text_of(field(each, "argument")) if each.type == "pointer_expression" else "" for each in arguments[:2]
        )
        before, after = listed[: at[0]], listed[at[0] + 1 :]
        change = _split(header, call, mine, total, before, after, spot, program, text)
        if change is not None:
            yield change


def _reduction(statement: Node) -> Node | None:
    inner = next(iter(children(statement)), None) if statement.type == "expression_statement" else None
    return inner if inner is not None and text_of(field(inner, "function")) == "MPI_Allreduce" else None


def _split(
    header: Counted,
    call: Node,
    mine: str,
    total: str,
    before: list[Node],
    after: list[Node],
    spot: Spot,
    program: Program,
    text: bytes,
) -> Change | None:
    procedure = spot.procedure
    kind = {"MPI_DOUBLE": "double", "MPI_INT": "int", "MPI_LONG": "long"}[
        text_of(children(field(call, "arguments"))[3])
    ]
    own = [procedure.declarations.get(name) for name in (mine, total)]
    if (
        not mine
        or not total
        or mine == total
        or any(one is None or one.type != kind or one.pointers or one.dims for one in own)
    ):
        return None
    declared = [
        each for each in before if each.type == "declaration" and re.search(rf"\b({mine}|{total})\b", text_of(each))
    ]
    if (
        len(declared) > 2
        or not declared
        or any(re.search(rf"\b{name}\b", text_of(each)) for each in after for name in (mine,))
    ):
        return None
    if any(
        True
        for each in (*before, *after)
        for _ in nodes(
            each, "return_statement", "break_statement", "continue_statement", "goto_statement", "preproc_call"
        )
    ):
        return None
    if not all(any(re.search(rf"\b{name}\b", text_of(each)) for each in declared) for name in (mine, total)):
        return None
    first, second = (
        [effects(each, procedure, program) for each in before],
        [effects(each, procedure, program) for each in after],
    )
    if not all(each.is_known for each in (*first, *second)):
        return None
    shared = {name for each in first for name in each.declared} - {mine, total}
    if any(not one.memory and one.name in shared for each in second for one in each.accesses):
        return None
    if any(one.name == total and not one.memory for each in first for one in each.accesses):
        return None
    local = {name for each in (*first, *second) for name in each.declared}
    if any(not one.memory and one.name not in local for each in (*first, *second) for one in each.writes):
        return None
    # What the second part writes must not be read by the first part of a later iteration.
    if any(
        may_overlap(write, other, program)
        for each in second
        for write in each.writes
        if write.memory
        for part in first
        for other in part.accesses
        if other.memory or other.name not in local
    ):
        return None
    parts = fresh_name(f"{mine}_parts", text)
    blank = indent(text, header.node.start_byte)
    control = text[slice(*header.header)].decode()
    bound = text_of(header.bound)

    def listed(group: list[Node]) -> str:
        return "".join(f"\n{blank.decode()}    {text[each.start_byte : each.end_byte].decode()}" for each in group)

    arguments = [text[each.start_byte : each.end_byte].decode() for each in children(field(call, "arguments"))]
    new = (
        f"if ({bound} > 0) {{\n{blank.decode()}  {kind} *{parts} = malloc(sizeof({kind}) * (size_t)({bound}));\n"
        f"{blank.decode()}  for ({control}) {{{listed(before)}\n{blank.decode()}    {parts}[{header.variable}] = {mine};\n{blank.decode()}  }}\n"
        f"{blank.decode()}  MPI_Allreduce(MPI_IN_PLACE, {parts}, {bound}, {', '.join(arguments[3:])});\n"
        f"{blank.decode()}  for ({control}) {{\n{blank.decode()}    const {kind} {total} = {parts}[{header.variable}];{listed(after)}\n{blank.decode()}  }}\n"
        f"{blank.decode()}  free({parts});\n{blank.decode()}}}"
    )
    if b"stdlib.h" not in text:
        return None
    return Change(
        {spot.source.path: (Edit(header.node.start_byte, header.node.end_byte, new.encode()),)},
        line_of(call),
        f"reduces all {bound} numbers at once instead of one in each iteration",
    )
