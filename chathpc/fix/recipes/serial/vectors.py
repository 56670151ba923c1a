"""Vectors that functions and loops construct or let grow: memory that is kept for the next time, and room before the loop."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, indent, line_start
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import around, counted, loops_of
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, inside, is_container_use, line_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import is_arithmetic, names_number
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.buffers import calls_itself

if TYPE_CHECKING:
    from tree_sitter import Node

#: Members of a vector that leave its memory its own; not what is returned, moved, swapped or handed on.
_OWNING = frozenset(
    {
        "size", "push_back", "begin", "end", "empty", "back", "front", "data",
        "reserve", "emplace_back", "pop_back", "clear", "at", "assign", "resize",
    }
)  # fmt: skip


def _numbers(node: Node, scope: Node, procedure: Procedure, program: Program) -> tuple[str, str, str] | None:
    """Type, name and what fills it anew, of a local vector of numbers, or of vectors of numbers, that stays in the scope."""
    match = re.fullmatch(
        r"((?:std::)?vector<\s*(?:(?:std::)?vector<\s*([\w:\s]+?)\s*>|([\w:\s]+?))\s*>)\s+(\w+)\s*(?:\((.*)\))?\s*;",
        text_of(node),
    )
    if match is None or not names_number(match[2] or match[3], procedure.source) or "bool" in (match[2], match[3]):
        return None
    name, given = match[4], match[5]
    uses = [each for each in procedure.identifiers.get(name, ()) if not inside(each, node)]
    if (
        any(not inside(each, scope) for each in uses)
        or any(not (is_container_use(each, _OWNING) or _is_lent(each, program)) for each in uses)
        or sum(
            1
            for each in procedure.all("declaration")
            if re.search(rf"\b{name}\b", text_of(each)) and re.search(rf"[\s&*]{name}\s*[(;=,]", text_of(each))
        )
        != 1
    ):
        return None
    if given is None:
        return match[1], name, f"{name}.clear();"
    if re.search(r"begin|\{|\}|<", given):
        return None
    depth = count = 0
    for letter in given:
        depth += (letter in "([") - (letter in ")]")
        count += letter == "," and depth == 0
    if match[2]:  # each of the vectors keeps its own memory
        if count or any(
            re.search(rf"\b{name}\[[^]]*\] = ", text_of(each)) for each in procedure.all("assignment_expression")
        ):
            return None
        return match[1], name, f"{name}.resize({given}); for (auto &each : {name}) each.clear();"
    if count > 1 or (count == 0 and (name in given or not _is_number(given, procedure, program))):
        return None
    return match[1], name, f"{name}.assign({given}{'' if count else ', 0'});"


def _is_lent(node: Node, program: Program) -> bool:
    """True for an argument of a function of the program that takes it by reference and keeps nothing of it."""
    parent = node.parent
    call = parent.parent if parent is not None and parent.type == "argument_list" else None
    own = program.named(text_of(field(call, "function"))) if call is not None else []
    if parent is None or len(own) != 1 or own[0].body is None or own[0].is_broken:
        return False
    at = children(parent).index(node)
    told = own[0].model.parameters
    if at >= len(told) or not told[at].reference or told[at].pointers:
        return False
    return all(
        is_container_use(each, _OWNING)
        for each in own[0].identifiers.get(told[at].name, ())
        if inside(each, own[0].body)
    )


def _is_number(given: str, procedure: Procedure, program: Program) -> bool:
    """False for a name of something else than a number: another vector is copied."""
    if re.fullmatch(r"\w+", given) is not None:
        one = procedure.declarations.get(given) if given in procedure.declarations else program.variables.get(given)
        return (
            given.isdigit()
            or one is None
            or (is_arithmetic(one.type) and not one.pointers)
            or one.type.endswith("auto")
        )
    member = re.fullmatch(r"[\w.>-]*(?:\.|->)(\w+)", given)
    if member is None:
        return True
    fields = [one for record in program.records.values() for one in record.fields if one.name == member[1]]
    return bool(fields) and all(is_arithmetic(one.type) and not one.pointers for one in fields)


def kept_vectors(context: Context, spot: Spot) -> Iterator[Change]:
    """A vector of numbers that a function called in loops, or a loop of threads, constructs each time keeps its memory for the next time."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.body is None or procedure.is_broken or calls_itself(procedure, program):
        return
    if (program.has_threads and not program.has_only_openmp) or any(True for _ in procedure.all("lambda_expression")):
        return
    in_region = b"omp parallel" in text[procedure.node.start_byte : procedure.node.end_byte]
    calls = program.calls.get(procedure.model.name, [])
    again = procedure.model.name != "main" and any(True for home, call in calls for _ in around(call, home))
    for node in procedure.all("declaration"):
        looping = any(True for _ in around(node, procedure))
        if (not in_region if looping else not again) or node.parent is None or node.parent.type != "compound_statement":
            continue
        found = _numbers(node, procedure.body, procedure, program)
        if found is None:
            continue
        kind, name, new = found
        static = "static thread_local" if program.has_threads else "static"
        lines = f"{static} {kind} {name};\n".encode() + indent(text, node.start_byte) + new.encode()
        yield Change(
            {spot.source.path: (Edit(node.start_byte, node.end_byte, lines),)},
            line_of(node),
            f"keeps the memory of the vector {name} for the next time instead of allocating and freeing it",
        )


def reserved(context: Context, spot: Spot) -> Iterator[Change]:
    """A vector that a counted loop appends to gets its room before the loop."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken:
        return
    for loop in loops_of(procedure):
        header = counted(loop, procedure)
        if (
            header is None
            or header.operator != "<"
            or text_of(header.start) != "0"
            or any(True for _ in around(loop, procedure))
        ):
            continue
        start = line_start(text, loop.start_byte)
        names = []
        for call in nodes(header.body, "call_expression"):
            called = field(call, "function")
            base = field(called, "argument") if called is not None and called.type == "field_expression" else None
            if (
                base is None
                or base.type != "identifier"
                or text_of(field(called, "field")) not in ("push_back", "emplace_back")
            ):
                continue
            own = procedure.declarations.get(text_of(base))
            if (
                own is None
                or own.pointers
                or not re.match(r"(?:std::)?vector<", own.type)
                or text_of(base) in procedure.parameters
            ):
                continue
            if next(iter(around(call, procedure)), None) == loop and text_of(base) not in names:
                names.append(text_of(base))
        found = effects(header.bound, procedure, program)
        if (
            not names
            or text[start : loop.start_byte].strip()
            or not found.is_known
            or found.pure_calls
            or f"{names[0]}.reserve" in text.decode("utf-8", "replace")
        ):
            continue
        if any(_may_change(each, header.body) for each in nodes(header.bound, "identifier")):
            continue
        lines = "".join(
            f"{indent(text, loop.start_byte).decode()}if ({text_of(header.bound)} > 0) {each}.reserve({each}.size() + (size_t)({text_of(header.bound)}));\n"
            for each in names
        )
        yield Change(
            {spot.source.path: (Edit(start, start, lines.encode()),)},
            line_of(loop),
            f"reserves the room of {', '.join(names)} before the loop",
        )


def _may_change(name: Node, body: Node) -> bool:
    return any(
        text_of(field(each, "left") or field(each, "argument")) == text_of(name)
        for each in nodes(body, "assignment_expression", "update_expression")
    )
