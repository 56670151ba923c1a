"""Scalars that every iteration of a loop sets before it uses them: each iteration may have its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.accesses import Effects
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import is_declared, used_after
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import body_of, enclosing, field, inside, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

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
        around = enclosing(node, procedure.loop_kinds, procedure.node)
        while around is not None and not inside(loop, around):
            own = body_of(around)
            if inside(node, own) and _is_set_first(name, effects(own, procedure, program), own):
                break
            around = enclosing(around, procedure.loop_kinds, procedure.node)
        if around is None or inside(loop, around):
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
