"""Atomic additions in loops: gathered in a variable of the thread's own and added once behind the loop."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent
from chathpc.fix.recipes.analysis.loops import loops_of
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, inside, line_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import is_arithmetic, type_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.threads.own_elements import LEAVING, is_named_by_callees, line_at, place_before, stays

if TYPE_CHECKING:
    from tree_sitter import Node

_MEMBER = re.compile(r"fetch_(?:add|sub)")
_FUNCTIONS = re.compile(
    r"(?:std::)?(?:atomic_fetch_(?:add|sub)(?:_explicit)?|__sync_fetch_and_(?:add|sub)|__sync_(?:add|sub)_and_fetch"
    r"|__atomic_fetch_(?:add|sub)|__atomic_(?:add|sub)_fetch)"
)
_ATOMIC = re.compile(r"(?:std::)?atomic\s*<\s*([\w:\s]+?)\s*>|_Atomic\s*\(?\s*([\w\s]+?)\s*\)?|(?:std::)?atomic_(\w+)")
_NAMED = {
    "int": "int",
    "uint": "unsigned",
    "long": "long",
    "ulong": "unsigned long",
    "llong": "long long",
    "size_t": "size_t",
}
#: What tells that somebody waits for a value, or looks at each of them.
_WATCHED = re.compile(r"\b(?:compare_exchange\w*|exchange|wait|notify_\w+|__sync_bool_\w+|__sync_val_\w+)\b")


@dataclass(frozen=True, slots=True, eq=False)
class Addition:
    """An atomic addition whose result is not used: `before` and `after` stand around what is added, to add it all at once."""

    node: Node
    target: Node
    value: Node | None
    sign: str
    before: str
    after: str


def own_counts(context: Context, spot: Spot) -> Iterator[Change]:
    """Atomic additions in a loop go to a variable of the thread's own, which is added once behind the loop."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or not program.has_threads:
        return
    done: list[Node] = []
    for loop in loops_of(procedure):
        place = place_before(loop, text)
        body = field(loop, "body")
        if place is None or body is None or any(inside(loop, each) for each in done):
            continue
        if any(True for _ in nodes(loop, *LEAVING)) or any(True for _ in nodes(body, "preproc_call")):
            continue
        found: dict[str, list[Addition]] = {}
        for node in nodes(body, "expression_statement"):
            one = _addition(node, procedure, program)
            if one is not None:
                found.setdefault(text_of(one.target), []).append(one)
        edits: list[Edit] = []
        for shown, listed in found.items():
            edits += _gathered(shown, listed, loop, place, procedure, program)
        if edits:
            done.append(loop)
            yield Change(
                {spot.source.path: tuple(edits)},
                line_of(loop),
                f"counts {', '.join(found)} in variables of the thread's own and adds them once behind the loop",
            )


def _addition(statement: Node, procedure: Procedure, program: Program) -> Addition | None:
    expr = next(iter(children(statement)), None)
    if expr is None:
        return None
    if expr.type == "call_expression":
        called, listed = field(expr, "function"), children(field(expr, "arguments"))
        if called is None or not listed:
            return None
        if called.type == "field_expression":
            target = field(called, "argument")
            name = text_of(field(called, "field"))
            if target is None or not _MEMBER.fullmatch(name) or len(listed) > 2:
                return None
            rest = "".join(f", {text_of(each)}" for each in listed[1:])
            sign = "-" if name.endswith("sub") else "+"
            before = f"{text_of(target)}{text_of(field(called, 'operator'))}fetch_add("
            return Addition(expr, target, listed[0], sign, before, f"{rest});")
        name = text_of(called)
        if not _FUNCTIONS.fullmatch(name) or len(listed) not in (2, 3) or listed[0].type != "pointer_expression":
            return None
        target = field(listed[0], "argument")
        if target is None or text_of(field(listed[0], "operator")) != "&":
            return None
        rest = "".join(f", {text_of(each)}" for each in listed[2:])
        sign = "-" if re.search(r"(?<![a-z])sub(?![a-z])", name) else "+"
        adding = re.sub(r"(?<![a-z])sub(?![a-z])", "add", name)
        return Addition(expr, target, listed[1], sign, f"{adding}(&{text_of(target)}, ", f"{rest});")
    target = field(expr, "left") or field(expr, "argument")
    operator = text_of(field(expr, "operator"))
    if target is None or operator not in ("+=", "-=", "++", "--") or _atomic_type(target, procedure, program) is None:
        return None
    if expr.type not in ("assignment_expression", "update_expression"):
        return None
    return Addition(expr, target, field(expr, "right"), operator[0], f"{text_of(target)} += ", ";")


def _gathered(
    shown: str, listed: list[Addition], loop: Node, place: int, procedure: Procedure, program: Program
) -> list[Edit]:
    text = procedure.source.text
    target = listed[0].target
    kind = _atomic_type(target, procedure, program) or _plain_type(target, procedure, program)
    identifiers = [text_of(each) for each in nodes(target, "identifier")]
    fields = [text_of(each) for each in nodes(target, "field_identifier")]
    name = fields[-1] if fields else identifiers[0] if identifiers else ""
    if kind is None or not name or any(True for _ in nodes(target, "call_expression")):
        return []
    chosen = identifiers if fields else identifiers[1:]
    if not all(stays(each, loop, procedure, known=each in program.variables) for each in chosen):
        return []
    own = sum(1 for each in nodes(loop, "identifier", "field_identifier") if text_of(each) == name)
    if own != len(listed) or is_named_by_callees(name, loop, program) or is_watched(name, program):
        return []
    for one in listed:
        if one.value is not None and any(True for _ in nodes(one.value, "update_expression", "assignment_expression")):
            return []
    label = fresh_name(f"own_{name}", text)
    blank = indent(text, loop.start_byte).decode()
    edits = [Edit(place, place, line_at(f"{kind} {label} = 0;", place, blank, text))]
    for one in listed:
        added = "1" if one.value is None else text_of(one.value)
        edits.append(Edit(one.node.start_byte, one.node.end_byte, f"{label} {one.sign}= {added}".encode()))
    edits.append(Edit(loop.end_byte, loop.end_byte, f"\n{blank}{listed[0].before}{label}{listed[0].after}".encode()))
    return edits


def _atomic_type(target: Node, procedure: Procedure, program: Program) -> str | None:
    """The type of whole numbers that an atomic variable or member holds."""
    last = list(nodes(target, "field_identifier"))
    if last:
        name = text_of(last[-1])
        found = [one for record in program.records.values() for one in record.fields if one.name == name]
    else:
        name = next((text_of(each) for each in nodes(target, "identifier")), "")
        local = procedure.declarations.get(name)
        found = [local] if local is not None else [one for key, one in program.variables.items() if key == name]
    if len({one.type for one in found}) != 1:
        return None
    inner = (
        re.search(r"<\s*(.*)>\s*\Z", found[0].type) if "vector" in found[0].type or "array" in found[0].type else None
    )
    match = _ATOMIC.search(inner[1] if inner else found[0].type)
    if match is None:
        return None
    kind = match[1] or match[2] or _NAMED.get(match[3] or "", match[3] or "")
    return kind if is_arithmetic(kind) and not re.search(r"float|double|bool", kind) else None


def _plain_type(target: Node, procedure: Procedure, program: Program) -> str | None:
    """The type of a variable that is no atomic one by itself."""
    kind = type_of(target, procedure, program)
    return kind.name if kind is not None and kind.is_integer else None


def is_watched(name: str, program: Program) -> bool:
    """True if somebody may wait for the value: it stands in the condition of a loop, or where values are exchanged."""
    for one in program.procedures:
        if one.source.is_fortran:
            continue
        for node in one.all("while_statement", "do_statement", "for_statement"):
            condition = field(node, "condition")
            if condition is not None and any(
                text_of(each) == name for each in nodes(condition, "identifier", "field_identifier")
            ):
                return True
        for node in one.all("call_expression"):
            if _WATCHED.search(text_of(field(node, "function"))) and any(
                text_of(each) == name for each in nodes(node, "identifier", "field_identifier")
            ):
                return True
    return False
