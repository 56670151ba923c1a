"""Powers of a base that a loop raises by one in each iteration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_start
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import counted
from chathpc.fix.recipes.analysis.program import Spot
from chathpc.fix.recipes.analysis.syntax import bare, children, field, line_of, nodes, text_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node


def running_powers(context: Context, spot: Spot) -> Iterator[Change]:
    """`pow(x, k)` in a loop over k = 0, 1, 2 … is multiplied on from one iteration to the next."""
    from chathpc.fix.recipes.analysis.loops import is_invariant, loops_of

    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or not context.may_round or program.named("pow") or "pow" in program.macros:
        return
    for loop in loops_of(procedure):
        header = counted(loop, procedure)
        if (
            header is None
            or header.step != 1
            or text_of(header.start) not in ("0", "1")
            or not header.own
            or loop.parent is None
            or loop.parent.type != "compound_statement"
        ):
            continue
        if any(True for _ in nodes(header.body, "continue_statement", "goto_statement")) or (
            loop.prev_named_sibling is not None and loop.prev_named_sibling.type == "preproc_call"
        ):
            continue
        if any(
            one.write and not one.memory and one.name == header.variable
            for one in effects(header.body, procedure, program).accesses
        ):
            continue
        calls = [
            each
            for each in nodes(header.body, "call_expression")
            if text_of(field(each, "function")) in ("pow", "std::pow") and _counts(each, header.variable)
        ]
        bases = {text_of(children(field(each, "arguments"))[0]) for each in calls}
        base = children(field(calls[0], "arguments"))[0] if len(bases) == 1 else None
        if base is None or base.type != "identifier" or not is_invariant(base, loop, procedure, program):
            continue
        kind = procedure.declarations.get(text_of(base))
        if kind is None or kind.type != "double" or kind.pointers or kind.dims:
            continue
        name, blank, start = (
            fresh_name(f"{text_of(base)}_power", text),
            indent(text, loop.start_byte),
            line_start(text, loop.start_byte),
        )
        if text[start : loop.start_byte].strip():
            continue
        first = "1.0" if text_of(header.start) == "0" else text_of(base)
        edits = [Edit(start, start, blank + f"double {name} = {first};\n".encode())]
        edits += [Edit(each.start_byte, each.end_byte, name.encode()) for each in calls]
        update = field(loop, "update")
        if update is None:
            continue
        edits.append(Edit(update.end_byte, update.end_byte, f", {name} *= {text_of(base)}".encode()))
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(calls[0]),
            f"multiplies the power of {text_of(base)} on from one iteration to the next instead of calling pow",
            "rounds differently",
        )


def _counts(call: Node, variable: str) -> bool:
    """True for `pow(x, k)` and `pow(x, (double)k)`."""
    listed = children(field(call, "arguments"))
    if len(listed) != 2:
        return False
    exponent = bare(listed[1])
    while (
        exponent is not None
        and exponent.type == "cast_expression"
        and text_of(field(exponent, "type")) in ("double", "int")
    ):
        exponent = bare(field(exponent, "value"))
    return exponent is not None and text_of(exponent) == variable
