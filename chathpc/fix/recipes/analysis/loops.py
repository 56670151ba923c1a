"""Counted loops of C and C++ with their nodes, and the names that a loop leaves alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.c_expressions import expression
from chathpc.diagnosis.source.c_family import constant
from chathpc.diagnosis.source.model import Kind
from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.effects import Effects, effects
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import C_LOOPS, enclosing, field, inside, nodes, statements, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """`for (variable = start; variable < bound; variable += step)`; `operator` is that of the condition, `own` tells whether the
    header declares the variable.
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
        body = field(self.node, "body")
        return self.node if body is None else body

    @property
    def header(self) -> tuple[int, int]:
        """Bytes between the brackets behind `for`."""
        opening = next(each for each in self.node.children if each.type == "(")
        closing = [each for each in self.node.children if each.type == ")" and each.end_byte <= self.body.start_byte][
            -1
        ]
        return opening.end_byte, closing.start_byte


def counted(node: Node | None, procedure: Procedure, condition: Node | None = None) -> Counted | None:
    """The loop as one that counts upwards or downwards by a number; None for any other.

    `condition` is the part of its condition that counts, where that has other parts as well.
    """
    if node is None or node.type != "for_statement" or field(node, "body") is None or node.has_error:
        return None
    initial, update = field(node, "initializer"), field(node, "update")
    condition = condition or field(node, "condition")
    if initial is None or condition is None or update is None:
        return None
    variable, start, own = "", None, initial.type == "declaration"
    if own:
        declarators = initial.children_by_field_name("declarator")
        if len(declarators) != 1 or declarators[0].type != "init_declarator":
            return None
        name = field(declarators[0], "declarator")
        start = field(declarators[0], "value")
        variable = text_of(name) if name is not None and name.type == "identifier" else ""
    elif initial.type == "assignment_expression" and text_of(field(initial, "operator")) == "=":
        name, start = field(initial, "left"), field(initial, "right")
        variable = text_of(name) if name is not None and name.type == "identifier" else ""
    if not variable or start is None or condition.type != "binary_expression":
        return None
    operator, bound = text_of(field(condition, "operator")), field(condition, "right")
    if operator not in ("<", "<=", ">", ">=", "!=") or text_of(field(condition, "left")) != variable or bound is None:
        return None
    step = _step(update, variable)
    if step is None or (step > 0) != (operator in ("<", "<=", "!=")) or (operator == "!=" and step != 1):
        return None
    return Counted(node, procedure, variable, start, bound, operator, step, own)


def _step(update: Node, variable: str) -> int | None:
    expr = expression(update)
    if expr.kind != Kind.ASSIGN or expr.parts[0].kind != Kind.NAME or expr.parts[0].text != variable:
        return None
    value = expr.parts[1]
    if expr.text in ("+=", "-=") and value.kind == Kind.NUMBER:
        number = constant(value.text)
        return None if not number else number if expr.text == "+=" else -number
    if expr.text == "=" and value.kind == Kind.BINARY and value.text in ("+", "-") and value.parts[0].text == variable:
        number = constant(value.parts[1].text) if value.parts[1].kind == Kind.NUMBER else None
        return None if not number else number if value.text == "+" else -number
    return None


def loops_of(procedure: Procedure) -> list[Node]:
    """All loops, outer before inner."""
    return [] if procedure.body is None else list(procedure.all(*C_LOOPS))


def around(node: Node, procedure: Procedure) -> Iterator[Node]:
    """Loops around a node, the innermost first."""
    one = enclosing(node, C_LOOPS, procedure.node)
    while one is not None:
        yield one
        one = enclosing(one, C_LOOPS, procedure.node)


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
    """True if a variable is used outside the loop other than in loops that give it a new value first."""
    for node in procedure.identifiers.get(name, ()):
        if inside(node, loop) or is_declared(node):
            continue
        if not _is_counted_again(node, name, procedure):
            return True
    return False


def is_declared(node: Node) -> bool:
    """True where the name of a variable stands as what is declared."""
    parent = node.parent
    return (
        parent is not None
        and parent.type in ("declaration", "init_declarator")
        and (parent.type == "declaration" or node == field(parent, "declarator"))
    )


def _is_counted_again(node: Node, name: str, procedure: Procedure) -> bool:
    one = enclosing(node, frozenset({"for_statement"}), procedure.node)
    while one is not None:
        initial = field(one, "initializer")
        if initial is not None and initial.type == "assignment_expression" and text_of(field(initial, "left")) == name:
            return True
        if (
            initial is not None
            and initial.type == "declaration"
            and any(text_of(each) == name for each in nodes(initial, "identifier"))
        ):
            return True
        one = enclosing(one, frozenset({"for_statement"}), procedure.node)
    return False
