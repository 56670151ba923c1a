"""Scalars of a loop: sums, which may be gathered in parts, and those that every iteration sets before it uses them and may have for itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.accesses import Effects
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import around, is_declared, used_after
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import body_of, field, inside, nodes, text_of
from chathpc.fix.recipes.analysis.types import type_of

if TYPE_CHECKING:
    from tree_sitter import Node

_SUMS = frozenset({"binary_expression", "math_expression"})


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
    if parent is None or parent.parent is None:
        return None
    if parent.type == "update_expression" and parent.parent.type in ("expression_statement", "for_statement"):
        return "+"
    statement = parent
    while statement.type in _SUMS and statement.parent is not None:
        statement = statement.parent
    above = statement.parent
    if statement.type != "assignment_statement" and (
        statement.type != "assignment_expression" or above is None or above.type != "expression_statement"
    ):
        return None
    left, right, operator = field(statement, "left"), field(statement, "right"), text_of(field(statement, "operator"))
    if left is None or right is None or text_of(left) != name:
        return None
    if operator in ("", "="):
        return _plain_sum(right, name)
    if left != node or operator not in ("+=", "-=", "*=", "&=", "|=", "^=") or _mentions(right, name):
        return None
    return "+" if operator == "-=" else operator[0]


def _plain_sum(right: Node, name: str) -> str | None:
    """`+` for `x + … - …`, `*` for `x * …`."""
    operators: set[str] = set()
    one: Node | None = right
    while one is not None and one.type in _SUMS:
        other = field(one, "right")
        if other is None or _mentions(other, name):
            return None
        operators.add(text_of(field(one, "operator")))
        one = field(one, "left")
    if text_of(one) != name or not operators or not (operators <= {"+", "-"} or operators == {"*"}):
        return None
    return operators.pop().replace("-", "+")


def _mentions(node: Node, name: str) -> bool:
    return any(text_of(each) == name for each in nodes(node, "identifier"))


_CONDITIONAL = (
    "if_statement",
    "while_statement",
    "do_statement",
    "switch_statement",
    "conditional_expression",
    "for_range_loop",
    "select_case_statement",
    "where_statement",
)


def own_scalars(body: Node, loop: Node, procedure: Procedure, program: Program) -> list[str]:
    """Local variables declared outside `body` that it sets first of all, and that nobody uses behind `loop`, which is around it."""
    inner = effects(body, procedure, program)
    found = []
    for name in sorted({one.name for one in inner.writes if not one.memory} - inner.declared):
        kept = procedure.declarations.get(name)
        if kept is None or kept.static or kept.reference or name in procedure.addressed:
            continue
        if _is_set_first(name, inner, body) and not _used_elsewhere(name, loop, procedure, program):
            found.append(name)
    return found


def _used_elsewhere(name: str, loop: Node, procedure: Procedure, program: Program) -> bool:
    """True if a use outside the loop may see a value from it: one that is not set there, nor by every iteration of a loop of its own."""
    if not used_after(name, loop, procedure):
        return False
    for node in procedure.identifiers.get(name, ()):
        if inside(node, loop) or is_declared(node) or _is_set(node):
            continue
        others = [body_of(each) for each in around(node, procedure) if not inside(loop, each)]
        if not any(inside(node, own) and _is_set_first(name, effects(own, procedure, program), own) for own in others):
            return True
    return False


def _is_set(node: Node) -> bool:
    """True for the left side of a plain assignment."""
    parent = node.parent
    if parent is None or parent.type not in ("assignment_expression", "assignment_statement"):
        return False
    return node == field(parent, "left") and text_of(field(parent, "operator")) in ("", "=")


def _is_set_first(name: str, inner: Effects, body: Node) -> bool:
    """True if the body's first access of the variable sets it, whatever way it takes."""
    first = next(one for one in inner.accesses if not one.memory and one.name == name)
    if not first.write or first.update:
        return False
    one = first.node
    while one.parent is not None and one.parent != body and one != body:
        parent = one.parent
        if parent.type in ("for_statement", "do_loop") and field(parent, "initializer") != one:
            uses = (each for each in inner.accesses if not each.memory and each.name == name)
            if not all(inside(each.node, body_of(parent)) for each in uses):
                return False  # it may have no iteration
        elif parent.type in _CONDITIONAL:
            return False
        one = parent
    return True
