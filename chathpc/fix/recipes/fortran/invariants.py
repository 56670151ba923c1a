"""Powers, intrinsic and pure functions of free-form Fortran that stay the same in a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.directives import directive_before
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_start
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.fortran_accesses import COSTLY, is_call
from chathpc.fix.recipes.analysis.loops import counted
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, enclosing, field, inside, line_of, nodes, text_of
from chathpc.fix.recipes.fortran.powers import is_real, written_number
from chathpc.fix.recipes.fortran.statements import declarations_end, type_text
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.invariants import outermost

if TYPE_CHECKING:
    from tree_sitter import Node


def hoisted(context: Context, spot: Spot) -> Iterator[Change]:
    """Powers, intrinsic and pure functions whose arguments stay the same are computed before the outermost loop for which that holds."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    at = declarations_end(procedure)
    if at is None or procedure.names_shared:
        return
    taken: list[Node] = []
    for node in costly(procedure, program):
        loop = None if any(inside(node, each) for each in taken) else outermost(node, procedure, program)
        kind = type_text(procedure.expression(node), procedure, program)
        if loop is None or kind is None:
            continue
        name = fresh_name("invariant_value", text, len(taken))
        taken.append(node)
        start, blank = line_start(text, (directive_before(loop) or loop).start_byte), indent(text, loop.start_byte)
        header, written = counted(loop, procedure), procedure.written(node)
        yield Change(
            {spot.source.path: (
                Edit(at, at, b"\n" + indent(text, at - 1) + f"{kind} :: {name}".encode()),
                Edit(start, start, blank + f"{name} = {written}\n".encode("utf-8", "surrogateescape")),
                Edit(node.start_byte, node.end_byte, name.encode()),
            )},
            line_of(node), f"Compute {written[:60]} once before the loop over {header.variable if header else 'items'}",
        )  # fmt: skip


def costly(procedure: Procedure, program: Program) -> Iterator[Node]:
    """In assignments of real numbers powers, costly intrinsics and pure functions of the program."""
    for node in procedure.all("math_expression", "call_expression"):
        if enclosing(node, frozenset({"assignment_statement"}), procedure.node) is None:
            continue
        if node.type == "math_expression":
            if text_of(field(node, "operator")) == "**" and _is_fraction(field(node, "right"), procedure, program):
                yield node
        elif is_call(node, procedure, program):
            name, found = text_of(children(node)[0]), effects(node, procedure, program)
            if found.is_known and (name in COSTLY or program.named(name)):
                yield node


def _is_fraction(exponent: Node | None, procedure: Procedure, program: Program) -> bool:
    """True for a real number, a real variable, and what is computed with one: whole exponents are products."""
    if exponent is None or written_number(exponent) is not None:
        return exponent is not None
    if exponent.type == "identifier":
        return is_real(exponent, procedure, program)
    operations = ("math_expression", "unary_expression", "parenthesized_expression")
    numbers = nodes(exponent, "number_literal", "identifier")
    return exponent.type in operations and any(_is_fraction(each, procedure, program) for each in numbers)
