"""Mathematics that costs less: powers as products and roots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, text_of
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.recipe import Change, Context, Semantics

if TYPE_CHECKING:
    from tree_sitter import Node

#: Exponent → what is computed instead, with x for the base, and the name of the function that does it.
POWERS: dict[float, tuple[str, str]] = {
    2: ("x * x", "squared"),
    3: ("x * x * x", "cubed"),
    4: ("(x * x) * (x * x)", "power4"),
    5: ("(x * x) * (x * x) * x", "power5"),
    6: ("(x * x * x) * (x * x * x)", "power6"),
    8: ("((x * x) * (x * x)) * ((x * x) * (x * x))", "power8"),
    12: ("((x * x * x) * (x * x * x)) * ((x * x * x) * (x * x * x))", "power12"),
    0.5: ("sqrt(x)", "root"),
    0.25: ("sqrt(sqrt(x))", "root4"),
    0.75: ("sqrt(x) * sqrt(sqrt(x))", "power3_4"),
    1.5: ("x * sqrt(x)", "power3_2"),
    2.5: ("x * x * sqrt(x)", "power5_2"),
    3.5: ("x * x * x * sqrt(x)", "power7_2"),
    -1: ("1 / x", "inverse"),
    -2: ("1 / (x * x)", "inverse_squared"),
    -3: ("1 / (x * x * x)", "inverse_cubed"),
    -0.5: ("1 / sqrt(x)", "inverse_root"),
    -0.25: ("1 / sqrt(sqrt(x))", "inverse_root4"),
    -1.5: ("1 / (x * sqrt(x))", "inverse_power3_2"),
}
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[^\n]*\n", re.MULTILINE)


def simple_powers(context: Context, spot: Spot) -> Iterator[Change]:
    """`pow` with a constant exponent becomes products and square roots, in a function of one line so that the base is evaluated once."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.body is None or procedure.is_broken or {"pow", "powf", "std"} & program.macros or program.named("pow"):
        return
    last_include = [match.end() for match in _INCLUDE.finditer(text) if match.end() <= procedure.node.start_byte]
    if not last_include:
        return
    for call in procedure.all("call_expression"):
        name = text_of(field(call, "function"))
        listed = children(field(call, "arguments"))
        if name not in ("pow", "std::pow", "powf") or len(listed) != 2:
            continue
        exponent = _exponent(listed[1], procedure, program)
        kind = _result(name, listed, procedure, program)
        if exponent not in POWERS or kind is None or (exponent != 2 and not context.may_round):
            continue
        formula, label = POWERS[exponent]
        function = label if kind == "double" else f"{label}f"
        function = fresh_name(function, text)
        edits = []
        body = formula if kind == "double" else formula.replace("sqrt(", "sqrtf(")
        device = "__host__ __device__ " if spot.source.language == "cuda" else ""
        line = f"\nstatic inline {device}{kind} {function}({kind} x) {{ return {body}; }}\n"
        edits.append(Edit(last_include[-1], last_include[-1], line.encode()))
        base = text[listed[0].start_byte : listed[0].end_byte]
        edits.append(Edit(call.start_byte, call.end_byte, function.encode() + b"(" + base + b")"))
        semantics: Semantics = "exact" if exponent == 2 else "rounds differently"
        yield Change(
            {spot.source.path: tuple(edits)}, line_of(call), f"Compute {text_of(call)[:50]} as {formula}", semantics
        )


def _exponent(node: Node, procedure: Procedure, program: Program) -> float | None:
    """The exponent's value: a number, or a parameter that is never changed and the same number in all calls."""
    number = _number(node)
    if number is not None or node.type != "identifier":
        return number
    name = text_of(node)
    if (
        name not in procedure.parameters
        or "static" not in procedure.model.marks
        or procedure.model.name in program.handed_on
    ):
        return None
    if len(program.named(procedure.model.name)) != 1 or name in procedure.addressed or procedure.body is None:
        return None
    kind = type_of(node, procedure, program)
    if kind is None or not kind.is_floating:
        return None  # a whole number would lose the fraction that a call hands over
    if any(one.name == name and not one.memory for one in effects(procedure.body, procedure, program).writes):
        return None
    if any(text_of(field(each, "declarator")) == name for each in procedure.all("init_declarator")):
        return None
    at = [one.name for one in procedure.model.parameters].index(name)
    found = set()
    for _, call in program.calls.get(procedure.model.name, []):
        listed = children(field(call, "arguments"))
        found.add(_number(listed[at]) if at < len(listed) else None)
    return found.pop() if len(found) == 1 else None


def _number(node: Node) -> float | None:
    text = text_of(node).replace(" ", "")
    if node.type == "parenthesized_expression":
        text = text.strip("()")
    try:
        return float(text.rstrip("fFlL"))
    except ValueError:
        return None


def _result(name: str, listed: list[Node], procedure: Procedure, program: Program) -> str | None:
    """Double or float: what the call gives; None where an overload may be chosen that is not seen."""
    if not procedure.source.is_cpp:
        return "float" if name == "powf" else "double"
    kinds = [type_of(each, procedure, program) for each in listed]
    if None in kinds or not all(kind is not None and kind.is_arithmetic for kind in kinds):
        return None
    names = {kind.name for kind in kinds if kind is not None}
    if "long double" in names:
        return None
    return "float" if names == {"float"} or name == "powf" else "double"
