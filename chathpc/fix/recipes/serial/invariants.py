"""Loop-invariant code motion: what gives the same in every iteration is computed once before the loop (C and C++)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.invariant import LENGTHS
from chathpc.fix.recipes.analysis.accesses import Access
from chathpc.fix.recipes.analysis.directives import directive_before
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_start
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import (
    around,
    counted,
    is_before_first,
    is_invariant,
    is_repeated_on_purpose,
)
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot, plain_name
from chathpc.fix.recipes.analysis.syntax import (
    C_LOOPS,
    bare,
    children,
    enclosing,
    field,
    inside,
    line_of,
    nodes,
    text_of,
)
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

#: Conditions under which what stands in them may never be evaluated.
_CONDITIONAL = frozenset(
    {
        "if_statement", "conditional_expression", "switch_statement", "while_statement", "do_statement", "case_statement",
        "select_case_statement", "where_statement",
    }
)  # fmt: skip
_MEMBERS = ("field_expression", "derived_type_member_expression")
#: Mathematics of one or a few instructions.
_CHEAP = frozenset({"fabs", "abs", "min", "max", "fmin", "fmax", "labs", "floor", "ceil", "sqrt", "sqrtf", "fabsf"})
#: What may go on elsewhere than at the next statement.
_LEAVING = ("continue_statement", "break_statement", "return_statement", "goto_statement", "labeled_statement")


def hoisted(context: Context, spot: Spot) -> Iterator[Change]:
    """Calls of pure functions whose arguments stay the same are made once, in front of the outermost loop for which that holds."""
    procedure, program = spot.procedure, context.program
    if procedure.body is None or procedure.is_broken:
        return
    taken: list[Node] = []
    numbers: Counter[str] = Counter()
    for call in procedure.all("call_expression"):
        if taken and inside(call, taken[-1]):
            continue
        found = effects(call, procedure, program)
        if not found.is_known or not found.pure_calls or all(_is_cheap(each, program) for each in found.pure_calls):
            continue
        loop = outermost(call, procedure, program)
        if loop is None:
            continue
        whole = _widened(call, loop, procedure, program)
        change = _moved(whole, loop, spot, context, numbers)
        if change is not None:
            taken.append(whole)
            yield change


def _is_cheap(call: Node, program: Program) -> bool:
    """True for a call that costs next to nothing: an accessor, or mathematics of one instruction."""
    called = field(call, "function")
    if called is not None and called.type == "field_expression":
        own = program.named(plain_name(called))  # accessors, which the compiler puts in place
        working = ("call_expression", "for_statement", "while_statement")
        return len(own) == 1 and not any(True for _ in own[0].all(*working))
    return plain_name(called) in _CHEAP


def outermost(call: Node, procedure: Procedure, program: Program) -> Node | None:
    """The outermost loop in which the call is invariant and may be moved out of; None where that is none."""
    best = None
    for loop in around(call, procedure):
        if is_before_first(call, loop):
            continue
        if is_repeated_on_purpose(loop, procedure):
            break
        if not is_invariant(call, loop, procedure, program) or not _may_move(call, loop, procedure, program):
            break
        best = loop
    return best


def _may_move(call: Node, loop: Node, procedure: Procedure, program: Program) -> bool:
    """True if the call may be made before the loop, though it might not have been made at all: it cannot fail, or surely is made."""
    if loop.type == "do_statement":
        return False
    if _cannot_fail(call, procedure, program):
        return True
    if procedure.source.is_fortran:  # it may then run once more at most
        return enclosing(call, _CONDITIONAL, procedure.node) is None and not effects(loop, procedure, program).jumps
    condition = field(loop, "condition")
    if condition is not None and inside(call, condition):
        return _is_first(call, condition)
    return _is_unconditional(call, loop) and _guard_of(loop, procedure, program) is not None


def _cannot_fail(call: Node, procedure: Procedure, program: Program) -> bool:
    """True for mathematics of variables alone: no memory is read, nothing whole is divided, no function of the program is called."""
    found = effects(call, procedure, program)
    if found.callees or any(one.memory and not _is_plain_member(one) for one in found.accesses):
        return False
    if any(text_of(field(each, "function")) in LENGTHS for each in found.pure_calls):
        return False
    for each in nodes(call, "binary_expression"):
        if text_of(field(each, "operator")) in ("/", "%"):
            kind = type_of(each, procedure, program)
            if kind is None or not kind.is_floating:
                return False
    return True


def _is_plain_member(one: Access) -> bool:
    node = one.node
    if node.type == "field_expression" and text_of(field(node, "operator")) != ".":
        return False
    return node.type in _MEMBERS and children(node)[0].type == "identifier"


def _is_first(call: Node, condition: Node) -> bool:
    """True if the call is made whenever the condition is evaluated."""
    one: Node = call
    while one.parent is not None and one != condition:
        if _is_second(one) or (one.parent.type == "conditional_expression" and field(one.parent, "condition") != one):
            return False
        one = one.parent
    return True


def _is_second(node: Node) -> bool:
    """True for the side of `&&` and `||` that the other one decides about."""
    above = node.parent
    return above is not None and text_of(field(above, "operator")) in ("&&", "||") and field(above, "right") == node


def _is_unconditional(call: Node, loop: Node) -> bool:
    """True if every first iteration makes the call: no condition and no way out before it."""
    body = field(loop, "body")
    if body is None or not inside(call, body):
        return False
    one: Node = call
    while one.parent is not None and one != body:
        parent = one.parent
        # An inner loop may have no iteration; it is tried by itself.
        if _is_second(one) or (parent.type in _CONDITIONAL | C_LOOPS and parent != loop):
            return False
        if parent.type == "compound_statement":
            before = [each for each in children(parent) if each.end_byte <= one.start_byte]
            if any(True for each in before for _ in nodes(each, *_LEAVING)):
                return False
        one = parent
    return True


def _guard_of(loop: Node, procedure: Procedure, program: Program) -> str | None:
    """The condition under which the loop has a first iteration, written so that it may stand before it."""
    if loop.type == "while_statement":
        condition = bare(field(loop, "condition"))
        found = effects(condition, procedure, program) if condition is not None else None
        if condition is None or found is None or not found.is_known or found.writes or found.declared:
            return None
        return f"({text_of(condition)})"
    header = counted(loop, procedure)
    if header is None:
        return None
    return f"{text_of(header.start)} {header.operator} {text_of(header.bound)}"


def _widened(call: Node, loop: Node, procedure: Procedure, program: Program) -> Node:
    """The largest expression around the call that is invariant as a whole and may be moved."""
    best: Node = call
    one = call.parent
    while one is not None and _is_arithmetic_part(one, procedure, program):
        if not is_invariant(one, loop, procedure, program) or not _may_move(one, loop, procedure, program):
            break
        best = one
        one = one.parent
    return best


def _is_arithmetic_part(node: Node, procedure: Procedure, program: Program) -> bool:
    """True for an operation on numbers with a number as its result that is no condition."""
    if node.type not in ("binary_expression", "parenthesized_expression", "unary_expression", "cast_expression"):
        return False
    kind = type_of(node, procedure, program)
    compares = ("<", ">", "<=", ">=", "==", "!=", "&&", "||", "<<", ">>", "!")
    return kind is not None and kind.is_arithmetic and text_of(field(node, "operator")) not in compares


def _moved(whole: Node, loop: Node, spot: Spot, context: Context, numbers: Counter[str]) -> Change | None:
    procedure, program, text = spot.procedure, context.program, spot.source.text
    kind = type_of(whole, procedure, program)
    if kind is None or not kind.is_arithmetic:
        return None
    if procedure.names_shared:
        return None
    call = next(nodes(whole, "call_expression"))
    callee = re.sub(r"\W", "", plain_name(field(call, "function")))
    name = fresh_name(f"{callee}_once", text, numbers[callee])
    value = text[whole.start_byte : whole.end_byte]
    if not _cannot_fail(whole, procedure, program):
        condition = field(loop, "condition")
        if condition is None or not inside(whole, condition):
            guard = _guard_of(loop, procedure, program)
            if guard is None:
                return None
            value = guard.encode() + b" ? " + value + b" : 0"
    inserted = before_loop(loop, f"const {kind.name} {name} = ".encode() + value + b";", text)
    if not inserted:
        return None
    numbers[callee] += 1
    edits = (*inserted, Edit(whole.start_byte, whole.end_byte, name.encode()))
    header = counted(loop, procedure)
    over = f"the loop over {header.variable}" if header is not None else f"the loop at line {line_of(loop)}"
    shown = text_of(whole)
    return Change(
        {spot.source.path: edits},
        line_of(whole),
        f"Compute {shown[:60]}{'…' if len(shown) > 60 else ''} once before {over}",
    )


def before_loop(loop: Node, statement: bytes, text: bytes) -> tuple[Edit, ...]:
    """The statement in front of a loop and of its directive, in a line of its own with the loop's indent; braces are added where the loop is
    the only statement of another. Nothing where it may not stand there.
    """
    parent, blank = loop.parent, indent(text, loop.start_byte)
    if parent is not None and parent.type in C_LOOPS | {"if_statement", "else_clause"}:
        opening = Edit(loop.start_byte, loop.start_byte, b"{ " + statement + b"\n" + blank)
        return (opening, Edit(loop.end_byte, loop.end_byte, b" }"))
    if parent is None or parent.type != "compound_statement":
        return ()
    first = (directive_before(loop) or loop).start_byte
    start = line_start(text, first)
    if text[start:first].strip():
        return (Edit(first, first, statement + b" "),)
    return (Edit(start, start, blank + statement + b"\n"),)
