"""Mathematics that costs less: powers as products and roots, divisions by the same value as products, calls made once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_start
from chathpc.fix.recipes.analysis.effects import effects, is_library_pure
from chathpc.fix.recipes.analysis.loops import around, is_invariant
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import block_of, children, field, line_of, text_of
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.recipe import Change, Context, Semantics
from chathpc.fix.recipes.serial.invariants import before_loop

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
        line = f"static inline {device}{kind} {function}({kind} x) {{ return {body}; }}\n"
        edits.append(Edit(last_include[-1], last_include[-1], line.encode()))
        base = text[listed[0].start_byte : listed[0].end_byte]
        edits.append(Edit(call.start_byte, call.end_byte, function.encode() + b"(" + base + b")"))
        semantics: Semantics = "exact" if exponent == 2 else "rounds differently"
        yield Change(
            {spot.source.path: tuple(edits)}, line_of(call), f"computes {text_of(call)[:50]} as {formula}", semantics
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


def repeated_calls(context: Context, spot: Spot) -> Iterator[Change]:
    """A pure call that stands several times in one block, with nothing of what it reads changed between, is made once."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.body is None or procedure.is_broken:
        return
    groups: dict[tuple[int, str], list[Node]] = {}
    for call in procedure.all("call_expression"):
        name = text_of(field(call, "function"))
        if (
            not is_library_pure(name, procedure)
            or program.named(name.rsplit("::", 1)[-1])
            or name in ("fabs", "std::fabs", "sqrt", "std::sqrt", "std::max", "std::min", "fmax", "fmin")
        ):
            continue
        found = effects(call, procedure, program)
        statement = block_of(call)
        if found.is_known and not found.writes and statement is not None and statement.parent is not None:
            groups.setdefault((statement.parent.start_byte, text_of(call)), []).append(call)
    number = 0
    for (_, shown), calls in groups.items():
        if len(calls) < 2:
            continue
        statements = [block_of(each) for each in calls]
        first, last = statements[0], statements[-1]
        if (
            first is None
            or last is None
            or first.type in ("for_statement", "while_statement", "do_statement", "case_statement")
        ):
            continue
        if any(_is_nested_conditionally(each, statement) for each, statement in zip(calls, statements, strict=True)):
            continue
        between = [
            each
            for each in children(first.parent)
            if first.start_byte <= each.start_byte and each.end_byte <= last.end_byte
        ]
        written = [effects(each, procedure, program) for each in between]
        mine = effects(calls[0], procedure, program)
        names = {one.name for one in mine.accesses if not one.memory}
        # The last statement may write what the call reads: it reads first, unless it is a block.
        if not all(each.is_known and not each.jumps for each in written) or any(
            names & each.declared for each in written
        ):
            continue
        if any(
            may_overlap(read, write, program)
            for each in written[:-1]
            for write in each.writes
            for read in mine.accesses
        ):
            continue
        if any(
            may_overlap(read, write, program) for write in written[-1].writes for read in mine.accesses
        ) and last.type not in ("expression_statement", "declaration"):
            continue
        if (
            last is first
            and any(may_overlap(read, write, program) for write in written[0].writes for read in mine.accesses)
            and first.type == "declaration"
        ):
            continue
        kind = type_of(calls[0], procedure, program)
        if kind is None or not kind.is_floating:
            continue
        callee = re.sub(r"\W", "", text_of(field(calls[0], "function")).rsplit("::", 1)[-1])
        name = fresh_name(f"{callee}_value", text, number)
        number += 1
        blank, start = indent(text, first.start_byte), line_start(text, first.start_byte)
        if text[start : first.start_byte].strip():
            start, blank = first.start_byte, b""
        line = (
            blank
            + f"const {kind.name} {name} = ".encode()
            + text[calls[0].start_byte : calls[0].end_byte]
            + (b";\n" if blank or start != first.start_byte else b"; ")
        )
        edits = (Edit(start, start, line), *(Edit(each.start_byte, each.end_byte, name.encode()) for each in calls))
        yield Change(
            {spot.source.path: edits}, line_of(calls[0]), f"calls {shown[:50]} once instead of {len(calls)} times"
        )


def _is_nested_conditionally(call: Node, statement: Node | None) -> bool:
    """True for a call in a loop or under a declaration's own names: it is not simply evaluated with its statement."""
    one = call.parent
    while one is not None and one != statement:
        if one.type in (
            "for_statement",
            "while_statement",
            "do_statement",
            "compound_statement",
            "lambda_expression",
            "comma_expression",
        ):
            return True
        one = one.parent
    return False


def reciprocals(context: Context, spot: Spot) -> Iterator[Change]:
    """Divisions of fractions by a value that stays the same in the loop become products with its reciprocal."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.body is None or procedure.is_broken or not context.may_round:
        return
    divisors: dict[tuple[int, str], tuple[Node, list[Node]]] = {}
    for node in procedure.all("binary_expression"):
        divisor = field(node, "right")
        if text_of(field(node, "operator")) != "/" or divisor is None or divisor.type == "number_literal":
            continue
        kind, own = type_of(node, procedure, program), type_of(divisor, procedure, program)
        if kind is None or own is None or kind.name != "double" or not own.is_arithmetic:
            continue
        loop = None
        for each in around(node, procedure):
            if not is_invariant(divisor, each, procedure, program):
                break
            loop = each
        if loop is not None:
            divisors.setdefault((loop.start_byte, text_of(divisor)), (loop, []))[1].append(node)
    number = 0
    for (_, shown), (loop, found) in divisors.items():
        place = before_loop(loop, text)
        divisor = field(found[0], "right")
        if (
            place is None
            or divisor is None
            or any(
                one.memory
                for one in effects(divisor, procedure, program).accesses
                if one.node.type == "subscript_expression"
            )
        ):
            continue
        name = fresh_name("reciprocal", text, number)
        number += 1
        edits = [
            *place.edits(
                f"const double {name} = 1.0 / (".encode() + text[divisor.start_byte : divisor.end_byte] + b");", text
            )
        ]
        for node in found:
            left, right = field(node, "left"), field(node, "right")
            if left is None or right is None:
                continue
            operator = next(each for each in node.children if each.type == "/")
            edits += [
                Edit(operator.start_byte, operator.end_byte, b"*"),
                Edit(right.start_byte, right.end_byte, name.encode()),
            ]
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(found[0]),
            f"multiplies by the reciprocal of {shown[:40]} instead of dividing by it in the loop",
            "rounds differently",
        )
