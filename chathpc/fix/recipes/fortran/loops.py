"""Loops of Fortran: their nodes, what their iterations have to do with each other, and the names that they leave alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.affine import Scope, add, factor, linear
from chathpc.diagnosis.source.model import Declaration, Does, Expr, Function, Kind, Loop
from chathpc.fix.recipes.analysis.dependences import Dependences, Vector
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.reductions import Reduction
from chathpc.fix.recipes.analysis.syntax import children, line_of, text_of
from chathpc.fix.recipes.fortran.accesses import Use, are_same, pure_function, uses

if TYPE_CHECKING:
    from tree_sitter import Node


def do_node(procedure: Procedure, loop: Loop) -> Node | None:
    """The node of a loop with a counter."""
    for node in procedure.all("do_loop"):
        if line_of(node) == loop.first and control(node) is not None:
            return node
    return None


def first_directive(node: Node) -> Node:
    """The first of the OpenMP directives in front of a statement, or the statement."""
    first = node
    while (
        (before := first.prev_named_sibling) is not None
        and before.type == "comment"
        and text_of(before).startswith("!$omp")
    ):
        first = before
    return first


def control(node: Node) -> Node | None:
    """`i = 1, n` of a loop."""
    head = next(iter(children(node)), None)
    if head is None or head.type != "do_statement":
        return None
    return next((each for each in head.named_children if each.type == "loop_control_expression"), None)


def nest(function: Function, loop: Loop) -> list[Loop]:
    """The loop and those that are all that is in the one around them."""
    found = [loop]
    while True:
        last = found[-1]
        inner = [one for one in function.loops if one.parent == last.index]
        own = [one for one in function.statements if one.loop == last.index and one.does != Does.CONDITION]
        if (
            len(inner) != 1
            or own
            or any(one.loop == last.index and one.line != last.first for one in function.statements)
            or len(found) > 3
        ):
            return found
        if not inner[0].counted or any(
            region.first > last.first and region.first <= inner[0].first for region in function.regions
        ):
            return found
        found.append(inner[0])


def reductions(found: Sequence[Use], function: Function, loop: Loop) -> dict[str, Reduction]:
    """Scalars that are only added to: `x = x + …`."""
    sums: dict[str, Reduction] = {}
    for name in {one.name for one in found if one.write and one.parts == ()}:
        statements = [
            one
            for one in function.inside(loop.index)
            if one.expr is not None and any(each.kind == Kind.NAME and each.text == name for each in one.expr.walk())
        ]
        if all(one.does == Does.EVALUATE and one.expr is not None and _is_sum(one.expr, name) for one in statements):
            declared = function.declared(name)
            kind = declared.type if declared is not None else ""
            if kind.startswith(("real", "integer", "double")):
                sums[name] = Reduction(name, "+", kind.startswith("integer"))
    return sums


def _is_sum(expr: Expr, name: str) -> bool:
    target, value = expr.parts
    if target.kind != Kind.NAME or target.text != name or value.kind != Kind.BINARY or value.text not in ("+", "-"):
        return False
    left, right = value.parts
    others = sum(each.kind == Kind.NAME and each.text == name for each in right.walk())
    while left.kind == Kind.BINARY and left.text in ("+", "-"):
        others += sum(each.kind == Kind.NAME and each.text == name for each in left.parts[1].walk())
        left = left.parts[0]
    return left.kind == Kind.NAME and left.text == name and others == 0


def _private_scalars(found: Sequence[Use], function: Function, outer: Loop) -> set[str]:
    """Scalars that every iteration of the innermost statements sets before it uses them, and that nobody uses after the loop."""
    private = set()
    for name in {one.name for one in found if one.write and one.parts == ()}:
        declared = next((one for one in function.declarations if one.name == name), None)
        if (
            declared is None
            or declared.dims
            or declared.value is not None
            or (function.returns is not None and name == function.returns.name)
        ):
            continue
        first = next(one for one in found if one.name == name)
        outside = any(
            each.kind == Kind.NAME and each.text == name
            for one in function.statements
            if one.expr is not None and not outer.first <= one.line <= outer.last
            for each in (
                one.expr.parts[1]
                if one.does == Does.EVALUATE and one.expr.kind == Kind.ASSIGN and one.expr.parts[0].kind == Kind.NAME
                else one.expr
            ).walk()
        )
        if first.write and first.branch == 0 and not outside:
            private.add(name)
    return private


def is_index_free_after(variable: str, outer: Loop, function: Function) -> bool:
    """True if the value that a loop leaves in its variable is not used."""
    for one in function.statements:
        if one.expr is None or outer.first <= one.line <= outer.last:
            continue
        used = any(each.kind == Kind.NAME and each.text == variable for each in _without_own_loops(one.expr))
        if used and not any(loop.variable == variable for loop in function.chain(one.loop)):
            return False
    return any(one.name == variable for one in function.declarations)


def _without_own_loops(expr: Expr) -> Iterator[Expr]:
    """The expression and what is in it but for `(a(i), i = 1, n)`, which counts for itself."""
    todo = [expr]
    while todo:
        one = todo.pop()
        if one.kind == Kind.OTHER and one.text == "implied_do_loop_expression":
            continue
        yield one
        todo.extend(one.parts)
        if one.base is not None:
            todo.append(one.base)


def dependences(
    loops: Sequence[Loop], function: Function, program: Program, constants: dict[str, int]
) -> tuple[Dependences, set[str]]:
    """Distances between iterations of the nest `loops` that touch the same element, and scalars that each iteration has for itself."""
    result = Dependences()
    found = uses(function, loops[-1], program)
    if found is None:
        result.why = "calls, ways out, or what is not known"
        return result, set()
    variables = [one.variable for one in loops]
    if any(one.write and one.name in variables for one in found) or len(set(variables)) != len(variables):
        result.why = "a loop variable is changed"
        return result, set()
    inner = {one.variable for one in function.loops_in(loops[-1].index)}
    result.reductions = reductions(found, function, loops[-1])
    private = _private_scalars(found, function, loops[0]) - set(result.reductions)
    changing = {one.name for one in found if one.write} | inner
    for write in (one for one in found if one.write):
        for other in found:
            if (
                not are_same(other.name, write.name)
                or write.name in private
                or write.name in result.reductions
                or write.name in inner
            ):
                continue
            if write.parts == () or other.parts == ():
                result.why = f"{write.name} is carried from one iteration to the next"
                return result, private
            if (
                write.parts is None
                or other.parts is None
                or other.name != write.name
                or len(write.parts) != len(other.parts)
            ):
                result.vectors.add((None,) * len(loops))
                continue
            vector = _distance(write.parts, other.parts, variables, changing, constants)
            if vector is not None:
                result.vectors.add(vector)
    return result, private


def _distance(
    first: Sequence[Expr], second: Sequence[Expr], variables: list[str], changing: set[str], constants: dict[str, int]
) -> Vector | None:
    fixed: list[int | None] = [None] * len(variables)
    scope = Scope({}, constants)
    for mine, its in zip(first, second, strict=True):
        if any(each.kind in (Kind.CALL, Kind.OTHER) for one in (mine, its) for each in one.walk()):
            continue
        left, right = (linear(one, scope, frozenset(variables)) for one in (mine, its))
        if left is None or right is None:
            continue
        if {name for key in (*left, *right) for part in key for name in re.findall(r"[a-z_]\w*", part)} & changing:
            continue
        factors = [(factor(left, each), factor(right, each)) for each in variables]
        if any(a is None or b is None or dict(a) != dict(b) for a, b in factors):
            continue
        involved = [at for at, (a, _) in enumerate(factors) if a]
        rest = add(left, right, -1)
        if rest is None or set(rest) - {()}:
            continue
        constant = rest.get((), 0)
        if not involved:
            if constant:
                return None
            continue
        if len(involved) == 1:
            number = (factors[involved[0]][0] or {}).get((), 0)
            if number and set(factors[involved[0]][0] or {}) == {()}:
                if constant % number:
                    return None
                value = constant // number
                if fixed[involved[0]] is not None and fixed[involved[0]] != value:
                    return None
                fixed[involved[0]] = value
    return tuple(fixed)


def type_text(expr: Expr, function: Function, program: Program) -> str | None:
    """The type of a real expression as it is declared (`real(dp)`): that of all its real names; None where they differ."""
    kinds = set()
    for one in expr.walk():
        declared: Declaration | None = None
        if one.kind == Kind.MEMBER:
            declared = component(one, function, program)
        if one.kind == Kind.NAME:
            declared = function.declared(one.text) or program.variables.get(one.text)
        elif (
            one.kind == Kind.CALL
            and (callee := pure_function(one.text, program)) is not None
            and callee.model.returns is not None
        ):
            declared = callee.model.returns
        if declared is not None and declared.type.startswith(("real", "double", "complex")):
            kinds.add(declared.type)
    return kinds.pop() if len(kinds) == 1 else None


def component(expr: Expr, function: Function, program: Program) -> Declaration | None:
    """The declaration of `cell%e`, by the types of what stands before it."""
    base = expr.base.base if expr.base is not None and expr.base.kind == Kind.INDEX else expr.base
    if base is None:
        return None
    holder = (
        component(base, function, program)
        if base.kind == Kind.MEMBER
        else function.declared(base.text) or program.variables.get(base.text)
    )
    match = re.fullmatch(r"(?:type|class)\((\w+)\)", holder.type if holder is not None else "")
    record = program.records.get(match[1]) if match else None
    return next((one for one in record.fields if one.name == expr.text), None) if record is not None else None


def declarations_end(procedure: Procedure) -> int | None:
    """Where another declaration may be put: behind the last one of the procedure."""
    listed = [each for each in procedure.node.named_children if each.type == "variable_declaration"]
    return listed[-1].end_byte if listed else None
