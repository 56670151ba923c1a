"""Powers in free-form Fortran: products and square roots take their place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.fortran_accesses import is_call
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import declared
from chathpc.fix.recipes.fortran.statements import component
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

_POWERS = {
    2.0: "{x}**2", 3.0: "{x}**3", 4.0: "{x}**4", 0.5: "sqrt({x})", 0.25: "sqrt(sqrt({x}))", 1.5: "({x}*sqrt({x}))",
    2.5: "({x}**2*sqrt({x}))", 3.5: "({x}**3*sqrt({x}))", -1.0: "(1/{x})", -0.5: "(1/sqrt({x}))", 0.75: "(sqrt({x})*sqrt(sqrt({x})))",
    -2.0: "(1/{x}**2)", -0.25: "(1/sqrt(sqrt({x})))", -1.5: "(1/({x}*sqrt({x})))",
}  # fmt: skip
_BASES = ("identifier", "call_expression", "parenthesized_expression", "derived_type_member_expression")


def simple_powers(context: Context, spot: Spot) -> Iterator[Change]:
    """`x**1.5` becomes products and square roots."""
    procedure, text = spot.procedure, spot.source.text
    if procedure.unstable or not context.may_round:
        return
    for node in procedure.all("math_expression"):
        if text_of(field(node, "operator")) != "**":
            continue
        base, exponent = field(node, "left"), field(node, "right")
        number = _exponent(exponent, procedure, context.program)
        if base is None or number not in _POWERS or not is_real(base, procedure, context.program):
            continue
        shown = text[base.start_byte : base.end_byte].decode()
        if base.type not in _BASES:
            continue
        new = _POWERS[number].format(x=shown)
        edits: tuple[Edit, ...] = (Edit(node.start_byte, node.end_byte, new.encode()),)
        if number == 0.5 and base.type == "parenthesized_expression":  # what is in it may be changed as well
            edits = (Edit(base.start_byte, base.start_byte, b"sqrt"), Edit(base.end_byte, node.end_byte, b""))
        elif number in (2.0, 3.0, 4.0) and exponent is not None:
            edits = (Edit(exponent.start_byte, exponent.end_byte, str(int(number)).encode()),)
        elif len(shown) > 40 or any(
            is_call(each, procedure, context.program) for each in nodes(base, "call_expression")
        ):
            continue
        yield Change(
            {spot.source.path: edits},
            line_of(node),
            f"Compute {procedure.written(node)} as {new}",
            "rounds differently",
        )


def is_real(base: Node, procedure: Procedure, program: Program) -> bool:
    """Whether what is raised to a power begins with a real variable or component."""
    first = next(nodes(base, "identifier", "derived_type_member_expression"), None)
    if first is not None and first.type == "derived_type_member_expression":
        of = component(procedure.expression(first), procedure, program)
    else:
        of = declared(text_of(first), procedure, program)
    return of is not None and of.type.startswith(("real", "double"))


def _exponent(node: Node | None, procedure: Procedure, program: Program) -> float | None:
    number = written_number(node)
    if number is not None or node is None or node.type != "identifier":
        return number
    name = text_of(node)
    names = [one.name for one in procedure.model.parameters]
    if name not in names or len(program.named(procedure.model.name)) != 1:
        return None
    if not re.search(rb"intent\s*\(\s*in\s*\)[^\n]*\b%s\b" % name.encode(), procedure.node.text or b""):
        return None
    at = names.index(name)
    found: set[float | None] = set()
    for source in program.sources.values():
        if not source.is_fortran:
            return None
        for call in nodes(source.file.tree.root_node, "subroutine_call", "call_expression"):
            if text_of(field(call, "subroutine") or next(iter(children(call)), None)) == procedure.model.name:
                listed = children(next((each for each in children(call) if each.type == "argument_list"), None))
                found.add(written_number(listed[at]) if at < len(listed) else None)
    return found.pop() if len(found) == 1 else None


def written_number(node: Node | None) -> float | None:
    """The number that a literal with a fraction or an exponent stands for; None for anything else."""
    text = text_of(node)
    if node is None or not ("." in text or "e" in text or "d" in text):
        return None  # whole exponents are products already
    match = re.fullmatch(r"([+-]?\d*\.?\d*(?:[ed][+-]?\d+)?)(?:_\w+)?", text)
    try:
        return float(match[1].replace("d", "e")) if match else None
    except ValueError:
        return None
