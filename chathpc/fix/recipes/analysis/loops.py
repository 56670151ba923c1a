"""Counted loops with their nodes, and the names that a loop leaves alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.c_expressions import expression
from chathpc.diagnosis.source.c_family import step_of
from chathpc.fix.recipes.analysis.accesses import Effects
from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import (
    all_enclosing,
    body_of,
    children,
    control,
    field,
    inside,
    statements,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

#: Loops that may count, and Fortran's `(a(i), i = 1, n)`.
_COUNTING = frozenset({"for_statement", "do_loop", "implied_do_loop_expression"})
_DECLARED = frozenset({"declaration", "variable_declaration", "sized_declarator", "parameters"})


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """`for (variable = start; variable < bound; variable += step)` or `do variable = start, bound, step`; `operator` is that of the
    condition, `own` tells whether the header declares the variable.
    """

    node: Node
    procedure: Procedure
    variable: str
    start: Node
    bound: Node
    operator: str
    step: int
    own: bool

    @property
    def body(self) -> Node:
        """What is repeated."""
        return body_of(self.node)

    @property
    def header(self) -> tuple[int, int]:
        """Bytes between the brackets behind `for`, or behind `do`."""
        head = control(self.node)
        if head is not None:
            return head.start_byte, head.end_byte
        brackets = [
            each for each in self.node.children if each.type in ("(", ")") and each.end_byte <= self.body.start_byte
        ]
        return brackets[0].end_byte, brackets[-1].start_byte


def counted(node: Node | None, procedure: Procedure, condition: Node | None = None) -> Counted | None:
    """The loop as one that counts upwards or downwards by a number; None for any other.

    `condition` is the part of its condition that counts, where that has other parts as well.
    """
    if node is not None and node.type == "do_loop":
        return _do_loop(node, procedure)
    if node is None or node.type != "for_statement" or field(node, "body") is None or node.has_error:
        return None
    initial, update = field(node, "initializer"), field(node, "update")
    condition = condition or field(node, "condition")
    if initial is None or condition is None or update is None:
        return None
    name, start, own = None, None, initial.type == "declaration"
    if own and len(declarators := initial.children_by_field_name("declarator")) == 1:
        name, start = field(declarators[0], "declarator"), field(declarators[0], "value")
    elif initial.type == "assignment_expression" and text_of(field(initial, "operator")) == "=":
        name, start = field(initial, "left"), field(initial, "right")
    if name is None or name.type != "identifier" or start is None or condition.type != "binary_expression":
        return None
    variable = text_of(name)
    operator, bound = text_of(field(condition, "operator")), field(condition, "right")
    if operator not in ("<", "<=", ">", ">=", "!=") or text_of(field(condition, "left")) != variable or bound is None:
        return None
    step = step_of(expression(update), variable)
    if not step or (step > 0) != (operator in ("<", "<=", "!=")) or (operator == "!=" and step != 1):
        return None
    return Counted(node, procedure, variable, start, bound, operator, step, own)


def _do_loop(node: Node, procedure: Procedure) -> Counted | None:
    """The same of a loop of Fortran that ends with a statement of its own and nothing else."""
    head, end = control(node), children(node)[-1]
    parts = children(head)
    if len(parts) < 3 or head is None or node.has_error or parts[0].type != "identifier":
        return None
    if end.type != "end_do_loop_statement" and [text_of(one) for one in children(end)][1:] != ["continue"]:
        return None
    written = text_of(parts[3]).replace(" ", "") if len(parts) > 3 else "1"
    step = int(written) if re.fullmatch(r"[+-]?\d+", written) else 0
    operator, own = "<=" if step > 0 else ">=", head.type == "concurrent_control"
    return Counted(node, procedure, text_of(parts[0]), parts[1], parts[2], operator, step, own) if step else None


def loops_of(procedure: Procedure) -> list[Node]:
    """All loops, outer before inner."""
    return list(procedure.all(*procedure.loop_kinds))


def around(node: Node, procedure: Procedure, within: Node | None = None) -> Iterator[Node]:
    """Loops around a node, in the function or another node, the innermost first."""
    return all_enclosing(node, procedure.loop_kinds, within or procedure.node)


def is_before_first(node: Node, loop: Node) -> bool:
    """True for a part of the loop's header that is evaluated once, before the first iteration."""
    once = [field(loop, "initializer"), field(loop, "right") if loop.type == "for_range_loop" else None]
    return any(part is not None and inside(node, part) for part in once)


def is_repeated_on_purpose(loop: Node, procedure: Procedure) -> bool:
    """True for a loop of `main` with one statement: a benchmark repeats its work."""
    return procedure.model.name == "main" and len(statements(field(loop, "body"))) == 1


def is_invariant(
    value: Node,
    loop: Node,
    procedure: Procedure,
    program: Program,
    within: Effects | None = None,
    apart: Collection[str] = (),
) -> bool:
    """True if an expression has the same value whenever it is evaluated in the loop, `apart` from what these variables decide, and
    evaluating it changes nothing.
    """
    mine = effects(value, procedure, program)
    if not mine.is_known or mine.writes or mine.jumps or mine.declared:
        return False
    whole = within if within is not None else effects(loop, procedure, program)
    if not whole.is_known or whole.jumps & {"goto", "label"}:
        return False
    reads = [one for one in mine.accesses if one.memory or one.name not in apart]
    writes = [one for one in whole.writes if one.memory or one.name not in apart]
    if {one.name for one in reads if not one.memory} & whole.declared:
        return False
    return not any(may_overlap(read, write, program) for read in reads for write in writes)


def used_after(name: str, loop: Node, procedure: Procedure) -> bool:
    """True if a variable is used outside the loop other than in loops that give it a new value first, or may be by others."""
    if procedure.source.is_fortran and name not in {one.name for one in procedure.model.declarations}:
        return True
    for node in procedure.identifiers.get(name, ()):
        if inside(node, loop) or is_declared(node):
            continue
        if not _is_counted_again(node, name, procedure):
            return True
    return False


def is_declared(node: Node) -> bool:
    """True where the name of a variable stands as what is declared."""
    parent = node.parent
    if parent is not None and parent.type == "init_declarator":
        return node in (field(parent, "declarator"), field(parent, "left"))
    return parent is not None and parent.type in _DECLARED


def _is_counted_again(node: Node, name: str, procedure: Procedure) -> bool:
    for one in all_enclosing(node, _COUNTING, procedure.node):
        implied = next((each for each in children(one) if each.type == "loop_control_expression"), control(one))
        if implied is not None and text_of(children(implied)[0]) == name:
            return True
        initial = field(one, "initializer")
        if initial is not None and initial.type == "assignment_expression" and text_of(field(initial, "left")) == name:
            return True
        if initial is not None and initial.type == "declaration" and name in procedure.names(initial):
            return True
    return False
