"""Powers, intrinsic and pure functions of free-form Fortran that stay the same in a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.fortran import expression, resolved
from chathpc.diagnosis.source.model import Expr, Function, Kind, Loop
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_start
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, inside, line_of, nodes, text_of
from chathpc.fix.recipes.fortran.accesses import (
    COSTLY,
    INTRINSICS,
    TO_NUMBERS,
    are_same,
    is_safe,
    outside_names,
    path,
    pure_function,
    uses,
)
from chathpc.fix.recipes.fortran.loops import declarations_end, do_node, first_directive, type_text
from chathpc.fix.recipes.fortran.powers import is_real, written_number
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node


def hoisted(context: Context, spot: Spot) -> Iterator[Change]:
    """Powers, intrinsic and pure functions whose arguments stay the same are computed before the outermost loop for which that holds."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    function = procedure.model
    at = declarations_end(procedure)
    if not is_safe(procedure) or at is None or "default(none)" in text_of(procedure.node).replace(" ", ""):
        return
    number = 0
    taken: list[Node] = []
    for node in procedure.all("math_expression", "call_expression"):
        if any(inside(node, each) for each in taken) or not is_costly(node, procedure, program):
            continue
        expr = resolved(expression(node), arrays_of(procedure))
        if any(one.kind == Kind.OTHER and one.text != "extent_specifier" for one in expr.walk()):
            continue
        statement = node
        while statement.parent is not None and statement.type != "assignment_statement":
            statement = statement.parent
        if statement.type != "assignment_statement":
            continue
        best = None
        inner = function.innermost(line_of(node))
        for loop in function.chain(inner.index) if inner is not None else ():
            if not stays(expr, loop, function, program):
                break
            best = loop
        own = [one for one in expr.calls() if one.text not in INTRINSICS]
        own += [one for one in expr.walk() if one.kind == Kind.INDEX]
        if best is None or (own and not is_surely_done(node, procedure)):
            continue
        outer, kind = do_node(procedure, best), type_text(expr, function, program)
        if outer is None or kind is None:
            continue
        name = fresh_name("invariant_value", text, number)
        number += 1
        taken.append(node)
        first = first_directive(outer)
        start, blank = line_start(text, first.start_byte), indent(text, outer.start_byte)
        value_ = text[node.start_byte : node.end_byte]
        written = declared_type(kind)
        yield Change(
            {spot.source.path: (
                Edit(at, at, b"\n" + indent(text, at - 1) + f"{written} :: {name}".encode()),
                Edit(start, start, blank + f"{name} = ".encode() + value_ + b"\n"),
                Edit(node.start_byte, node.end_byte, name.encode()),
            )},
            line_of(node), f"computes {procedure.written(node)[:60]} once before the loop over {best.variable or 'items'}",
        )  # fmt: skip


def arrays_of(procedure: Procedure) -> frozenset[str]:
    """Names of the arrays that the procedure sees."""
    named = {
        **procedure.source.file.unit.variables,
        **{one.name: one for one in (*procedure.model.declarations, *procedure.model.parameters)},
    }
    return frozenset(name for name, one in named.items() if one.dims)


def declared_type(kind: str) -> str:
    """A type as it is written."""
    return {"doubleprecision": "double precision"}.get(kind, kind)


def is_costly(node: Node, procedure: Procedure, program: Program) -> bool:
    """True for a power, a costly intrinsic, what goes over a whole array, or a pure function of the program."""
    if node.type == "math_expression":
        return text_of(field(node, "operator")) == "**" and _is_fraction(field(node, "right"), procedure)
    name = text_of(next(iter(children(node)), None))
    known = procedure.model.declared(name) or procedure.source.file.unit.variables.get(name)
    if known is not None and known.dims:
        return False
    return name in COSTLY or _is_of_arrays(name, node, procedure) or pure_function(name, program) is not None


def _is_fraction(exponent: Node | None, procedure: Procedure) -> bool:
    """True for a real number, a real variable, and what is computed with one: whole exponents are products."""
    if exponent is None or written_number(exponent) is not None:
        return exponent is not None
    if exponent.type == "identifier":
        return is_real(exponent, procedure)
    operations = ("math_expression", "unary_expression", "parenthesized_expression")
    numbers = nodes(exponent, "number_literal", "identifier")
    return exponent.type in operations and any(_is_fraction(each, procedure) for each in numbers)


def _is_of_arrays(name: str, node: Node, procedure: Procedure) -> bool:
    """True for `sum(w)`: what goes over a whole array, without a dimension, mask or kind."""
    listed = [each for each in children(children(node)[-1]) if each.type != "extent_specifier"]
    if name not in TO_NUMBERS or any(each.type == "keyword_argument" for each in listed):
        return False
    return len(listed) == (2 if name == "dot_product" else 1) and bool(_names_arrays(node, procedure))


def _names_arrays(node: Node, procedure: Procedure) -> bool:
    arrays = arrays_of(procedure)
    return any(text_of(each) in arrays for each in nodes(node, "identifier"))


def stays(expr: Expr, loop: Loop, function: Function, program: Program, apart: frozenset[str] = frozenset()) -> bool:
    """True if nothing in the loop changes what an expression reads, `apart` from these counters, and reading it changes nothing."""
    found = uses(function, loop, program)
    if found is None:
        return False
    moving = {one.name for one in found if one.write} | {one.variable for one in (loop, *function.loops_in(loop.index))}
    bases = {path(one.base) for one in expr.walk() if one.kind == Kind.MEMBER and one.base is not None}
    names = {path(one) for one in expr.walk() if one.kind in (Kind.NAME, Kind.MEMBER)} - bases - apart
    for call in expr.calls():
        callee = pure_function(call.text, program)
        if callee is not None:
            names |= outside_names(callee)
        elif call.text not in INTRINSICS | TO_NUMBERS:
            return False
    return (
        bool(names)
        and not any(are_same(one, other) for one in names for other in moving)
        and not (function.returns is not None and function.returns.name in names & moving)
    )


def is_surely_done(node: Node, procedure: Procedure) -> bool:
    """True if no condition stands around the node inside its loops; a pure function may then run once more at most."""
    one = node.parent
    while one is not None and one != procedure.node:
        if one.type in ("if_statement", "select_case_statement", "where_statement", "else_clause", "elseif_clause"):
            return False
        one = one.parent
    return True
