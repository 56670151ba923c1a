"""Sums that a loop gathers, which may be gathered in parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.effects import Effects
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import bare, children, field, inside, nodes, text_of
from chathpc.fix.recipes.analysis.types import type_of

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class Reduction:
    """A scalar that every iteration adds to, and nothing else in the nest uses."""

    name: str
    operator: str
    exact: bool  #: of whole numbers: any order gives the same


def reductions(body: Node, inner: Effects, procedure: Procedure, program: Program) -> dict[str, Reduction]:
    """Scalars from outside that the body only adds to, subtracts from, multiplies, combines by bits, or that keep the greatest or
    smallest value, always the same way.
    """
    found: dict[str, Reduction] = {}
    names = {one.name for one in inner.writes if not one.memory} - inner.declared
    for name in sorted(names):
        uses = [one for one in inner.accesses if not one.memory and one.name == name]
        operators = {adding(one.node, name) for one in uses}
        if len(operators) != 1 or None in operators:
            continue
        kind = type_of(uses[0].node, procedure, program)
        if kind is None or not kind.is_arithmetic or name in procedure.addressed:
            continue
        operator = operators.pop() or ""
        if operator in ("&", "|", "^") and not kind.is_integer:
            continue
        found[name] = Reduction(name, operator, kind.is_integer or operator in ("max", "min"))
    return found


def adding(node: Node, name: str) -> str | None:
    """`+` for the occurrence of a variable in `x += …`, `x++` and `x = x + …`, `max` and `min` for that in the choice of the greater or
    smaller value; None for any other use.
    """
    parent = node.parent
    if parent is None:
        return None
    extreme = _choosing(node, name)
    if extreme is not None:
        return extreme
    if (
        parent.type == "update_expression"
        and parent.parent is not None
        and parent.parent.type in ("expression_statement", "for_statement")
    ):
        return "+"
    statement = parent
    while statement.type in ("binary_expression",) and statement.parent is not None:
        statement = statement.parent
    if (
        statement.type != "assignment_expression"
        or statement.parent is None
        or statement.parent.type != "expression_statement"
    ):
        return None
    left, right, operator = field(statement, "left"), field(statement, "right"), text_of(field(statement, "operator"))
    if left is None or right is None or text_of(left) != name:
        return None
    if left == node or inside(node, left):
        if operator in ("+=", "-="):
            return "+" if not _mentions(right, name) else None
        if operator in ("*=", "&=", "|=", "^="):
            return operator[0] if not _mentions(right, name) else None
        return _plain_sum(right, name) if operator == "=" else None
    return _plain_sum(right, name) if operator == "=" else None


_GREATEST = frozenset({"fmax", "fmaxf", "fmaxl", "std::max", "max", "std::fmax"})
_SMALLEST = frozenset({"fmin", "fminf", "fminl", "std::min", "min", "std::fmin"})


def _choosing(node: Node, name: str) -> str | None:
    """`max` or `min` for a variable in `if (v > x) x = v`, `x = v > x ? v : x` and `x = fmax(x, v)`."""
    one: Node | None = node.parent
    while one is not None and one.type in (
        "parenthesized_expression", "condition_clause", "binary_expression", "conditional_expression", "argument_list",
        "call_expression", "assignment_expression",
    ):  # fmt: skip
        if one.type == "assignment_expression":
            break
        one = one.parent
    if one is None:
        return None
    assignment: Node | None = one
    if one.type == "assignment_expression" and one.parent is not None and one.parent.type == "expression_statement":
        value = bare(field(one, "right"))
        if text_of(field(one, "left")) != name or text_of(field(one, "operator")) != "=" or value is None:
            return None
        if value.type == "call_expression":
            listed = [text_of(each) for each in children(field(value, "arguments"))]
            called = text_of(field(value, "function")).split("<")[0]
            others = [each for each in children(field(value, "arguments")) if text_of(each) != name]
            if len(listed) != 2 or len(others) != 1 or _mentions(others[0], name):
                return None
            return "max" if called in _GREATEST else "min" if called in _SMALLEST else None
        if value.type == "conditional_expression":
            return _greater(field(value, "condition"), field(value, "consequence"), field(value, "alternative"), name)
        whole = one.parent.parent
        while whole is not None and whole.type == "compound_statement" and len(children(whole)) == 1:
            whole = whole.parent
    else:
        whole = one
        body: Node | None = field(one, "consequence") if one.type == "if_statement" else None
        if body is not None and body.type == "compound_statement" and len(children(body)) == 1:
            body = children(body)[0]
        assignment = bare(body)
    if (
        whole is None
        or whole.type != "if_statement"
        or field(whole, "alternative") is not None
        or assignment is None
        or assignment.type != "assignment_expression"
        or text_of(field(assignment, "operator")) != "="
    ):
        return None
    return _greater(field(whole, "condition"), field(assignment, "right"), field(assignment, "left"), name)


def _greater(condition: Node | None, taken: Node | None, left: Node | None, name: str) -> str | None:
    """`max` where the condition says that the value that is taken is greater than what is left, which one of them is the variable."""
    compared = bare(condition)
    if compared is None or taken is None or left is None or compared.type != "binary_expression":
        return None
    operator = text_of(field(compared, "operator"))
    sides = [_squeezed(bare(field(compared, side))) for side in ("left", "right")]
    arms = [_squeezed(bare(taken)), _squeezed(bare(left))]
    value = bare(taken) if arms[1] == name else bare(left)
    if name not in arms or value is None or _mentions(value, name) or sorted(sides) != sorted(arms):
        return None
    if any(True for _ in nodes(value, "call_expression", "update_expression", "assignment_expression")):
        return None
    if operator not in ("<", "<=", ">", ">="):
        return None
    return "max" if (operator[0] == ">") == (sides[0] == arms[0]) else "min"


def _squeezed(node: Node | None) -> str:
    return "" if node is None else "".join(text_of(node).split())


def _plain_sum(right: Node, name: str) -> str | None:
    if right.type != "binary_expression" or text_of(field(right, "operator")) not in ("+", "*"):
        return None
    one, other = field(right, "left"), field(right, "right")
    if one is None or other is None or text_of(one) != name or _mentions(other, name):
        return None
    return text_of(field(right, "operator"))


def _mentions(node: Node, name: str) -> bool:
    return any(text_of(each) == name for each in nodes(node, "identifier"))
