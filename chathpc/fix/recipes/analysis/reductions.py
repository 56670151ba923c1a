"""Sums that a loop gathers, which may be gathered in parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.effects import Effects
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import field, inside, nodes, text_of
from chathpc.fix.recipes.analysis.types import type_of

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class Reduction:
    """A scalar that every iteration adds to, and nothing else in the nest uses."""

    name: str
    operator: str
    exact: bool  #: of whole numbers: any order gives the same


def reductions(inner: Effects, procedure: Procedure, program: Program) -> dict[str, Reduction]:
    """Scalars from outside that the body only adds to, subtracts from, multiplies or combines by bits, always the same way."""
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
        found[name] = Reduction(name, operator, kind.is_integer)
    return found


def adding(node: Node, name: str) -> str | None:
    """`+` for the occurrence of a variable in `x += …`, `x++` and `x = x + …`; None for any other use."""
    parent = node.parent
    if parent is None:
        return None
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


def _plain_sum(right: Node, name: str) -> str | None:
    if right.type != "binary_expression" or text_of(field(right, "operator")) not in ("+", "*"):
        return None
    one, other = field(right, "left"), field(right, "right")
    if one is None or other is None or text_of(one) != name or _mentions(other, name):
        return None
    return text_of(field(right, "operator"))


def _mentions(node: Node, name: str) -> bool:
    return any(text_of(each) == name for each in nodes(node, "identifier"))
