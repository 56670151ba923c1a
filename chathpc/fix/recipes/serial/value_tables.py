"""Calls that depend on the counters of inner loops alone: an outer loop that repeats them reads a table instead (C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, indent_step, line_end
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.heads import included, is_cpp
from chathpc.fix.recipes.analysis.loops import Counted, around, counted, is_invariant, is_repeated_on_purpose
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot, plain_name
from chathpc.fix.recipes.analysis.subscripts import subscripts
from chathpc.fix.recipes.analysis.syntax import bare, field, inside, line_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import plain, type_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.invariants import (
    Place,
    before_loop,
    guard_of,
    is_arithmetic_part,
    is_cheap,
    is_unconditional,
    outermost,
)

if TYPE_CHECKING:
    from tree_sitter import Node

#: A table of more dimensions is larger than what computing its values again costs.
_MOST_COUNTERS = 2
_LITERAL = re.compile(r"\d+[uUlL]*\Z")
_DIVIDES = ("/", "%", "/=", "%=")
_DEFAULT_NONE = re.compile(rb"#\s*pragma\s+omp\b[^\n]*default\s*\(\s*none\s*\)")


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A value by the counters of some loops, the outermost first, and the loop around them that needs it again and again."""

    value: Node
    counters: tuple[Counted, ...]
    outer: Node
    from_zero: frozenset[str]  #: counters whose loop begins somewhere else each time
    guard: str  #: the condition under which the values may be computed; empty for always


def tabulated(context: Context, spot: Spot) -> Iterator[Change]:
    """Pure calls of the counters of inner loops, and of what the outer loop leaves alone, are made once for each value of the counters."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    cpp = is_cpp(spot.source, program)
    if procedure.body is None or procedure.is_broken or procedure.names_shared or cpp is None:
        return
    if _DEFAULT_NONE.search(text):
        return
    taken: list[Node] = []
    for call in procedure.all("call_expression"):
        if any(inside(call, each) for each in taken):
            continue
        found = effects(call, procedure, program)
        if not found.is_known or not found.pure_calls or all(is_cheap(each, program) for each in found.pure_calls):
            continue
        if outermost(call, procedure, program) is not None:
            continue  # it needs no table
        table = _table(call, procedure, program)
        change = None if table is None else _change(table, spot, program, len(taken), cpp=cpp)
        if table is not None and change is not None:
            taken.append(table.value)
            yield change


def _table(call: Node, procedure: Procedure, program: Program) -> _Table | None:
    loops = list(around(call, procedure))
    names = {one.name for one in effects(call, procedure, program).accesses if not one.memory}
    counters: list[Counted] = []
    last = -1
    for position, loop in enumerate(loops):
        header = counted(loop, procedure, _first_condition(loop))
        if header is None or header.variable not in names or not inside(call, header.body):
            continue
        if header.step < 1 or header.operator == "!=" or not _is_left_alone(header, program):
            return None
        counters.append(header)
        last = position
    if not 0 < len(counters) <= _MOST_COUNTERS or len({one.variable for one in counters}) != len(counters):
        return None
    best = None
    for loop in loops[last + 1 :]:
        if _only_repeats(loop, procedure, program) or effects(loop, procedure, program).jumps & {"return", "throw"}:
            break
        found = _within(call, counters, loop, procedure, program)
        if found is None:
            break
        best = found
    return best


def _only_repeats(loop: Node, procedure: Procedure, program: Program) -> bool:
    """True for a benchmark's loop around its work, which does not even look at how often it was done."""
    header = counted(loop, procedure)
    looks = header is not None and any(
        one.name == header.variable for one in effects(header.body, procedure, program).accesses if not one.memory
    )
    return is_repeated_on_purpose(loop, procedure) and not looks


def _first_condition(loop: Node) -> Node | None:
    """What a loop's condition begins with: `i < n` of `i < n && x[i] < limit`."""
    condition = bare(field(loop, "condition")) if loop.type == "for_statement" else None
    while (
        condition is not None
        and condition.type == "binary_expression"
        and text_of(field(condition, "operator")) == "&&"
    ):
        condition = bare(field(condition, "left"))
    return condition


def _is_left_alone(header: Counted, program: Program) -> bool:
    """True if nothing but the loop's header sets its counter."""
    if header.variable in header.procedure.addressed:
        return False
    return not any(
        one.write and not one.memory and one.name == header.variable
        for one in effects(header.body, header.procedure, program).accesses
    )


def _within(call: Node, counters: list[Counted], outer: Node, procedure: Procedure, program: Program) -> _Table | None:
    """The table that one loop needs; None where it needs none, or another one in each iteration."""
    own = {one.variable for one in counters}
    if not is_invariant(call, outer, procedure, program, apart=own):
        return None
    from_zero = set()
    for one in counters:
        if not is_invariant(one.bound, outer, procedure, program):
            return None
        if not is_invariant(one.start, outer, procedure, program):
            if one.step != 1 or not _is_index(one.variable, call):
                return None
            from_zero.add(one.variable)
    value = call
    while value.parent is not None and is_arithmetic_part(value.parent, procedure, program):
        if not is_invariant(value.parent, outer, procedure, program, apart=own):
            break
        value = value.parent
    guard = ""
    if not _is_harmless(value, procedure, program):
        surely = not from_zero and _is_surely_computed(call, counters, outer, procedure)
        guard = (guard_of(outer, procedure, program) or "") if surely else ""
        if not guard:
            return None
    return _Table(value, tuple(reversed(counters)), outer, frozenset(from_zero), guard)


def _is_surely_computed(call: Node, counters: list[Counted], outer: Node, procedure: Procedure) -> bool:
    """True if the first iteration of the outer loop computes all values, whatever else it finds."""
    one = call
    for loop in [*(each.node for each in counters), outer]:
        if not is_unconditional(one, loop, procedure) or _first_condition(loop) != bare(field(loop, "condition")):
            return False
        one = loop
    return True


def _is_index(variable: str, call: Node) -> bool:
    """True where the call reads an array at the counter itself, which is no negative number then."""
    found = (subscripts(one) for one in nodes(call, "subscript_expression"))
    return any(text_of(bare(each)) == variable for one in found if one is not None for each in one[1])


def _is_harmless(value: Node, procedure: Procedure, program: Program) -> bool:
    """True if the value may be computed where it was not: it divides no whole numbers, and what it calls has no loop."""
    todo, seen = [(value, procedure)], set[int]()
    while todo:
        node, home = todo.pop()
        for each in nodes(node, "binary_expression", "assignment_expression"):
            if text_of(field(each, "operator")) in _DIVIDES:
                kind = type_of(field(each, "left"), home, program), type_of(field(each, "right"), home, program)
                if not any(one is not None and one.is_floating for one in kind):
                    return False
        for call in nodes(node, "call_expression"):
            for callee in program.named(plain_name(field(call, "function"))):
                if callee.body is None or any(
                    True for _ in callee.all("for_statement", "while_statement", "do_statement")
                ):
                    return False
                if callee.node.start_byte not in seen:
                    seen.add(callee.node.start_byte)
                    todo.append((callee.body, callee))
    return True


def _change(table: _Table, spot: Spot, program: Program, number: int, *, cpp: bool) -> Change | None:
    procedure, text = spot.procedure, spot.source.text
    kind = type_of(table.value, procedure, program)
    place = before_loop(table.outer, text)
    if kind is None or not kind.is_arithmetic or place is None or place.braces:
        return None
    call = table.value if table.value.type == "call_expression" else next(nodes(table.value, "call_expression"))
    name = fresh_name(f"{re.sub(r'[^A-Za-z0-9_]', '', plain_name(field(call, 'function')))}_of", text, number)
    types = [_type_of_counter(one) for one in table.counters]
    if None in types:
        return None
    index, room = _index_and_room(table)
    blank, step = indent(text, table.outer.start_byte).decode(), indent_step(text).decode()
    written = bare(table.value) or table.value
    value = text[written.start_byte : written.end_byte].decode("utf-8", "surrogateescape")
    lines = [
        f"std::vector<{kind.name}> {name}({room});"
        if cpp
        else f"{kind.name} *{name} = malloc(sizeof({kind.name}) * {room});"
    ]
    deeper = ""
    if table.guard:
        lines.append(f"if ({table.guard})")
        deeper = step
    for one, type_ in zip(table.counters, types, strict=True):
        start = "0" if one.variable in table.from_zero else text_of(one.start)
        update = f"{one.variable}++" if one.step == 1 else f"{one.variable} += {one.step}"
        lines.append(
            f"{deeper}for ({type_} {one.variable} = {start}; {one.variable} {one.operator} {text_of(one.bound)}; {update})"
        )
        deeper += step
    lines.append(f"{deeper}{name}[{index}] = {value};")
    edits = _placed(place, table.outer, "\n".join(blank + one for one in lines) + "\n", text)
    if edits is None:
        return None
    end = line_end(text, table.outer.end_byte - 1)
    if not cpp:
        if text[table.outer.end_byte : end].strip():
            return None
        edits.append(Edit(end, end, f"{blank}free({name});\n".encode()))
    edits.append(Edit(table.value.start_byte, table.value.end_byte, f"{name}[{index}]".encode()))
    edits += included("vector" if cpp else "stdlib.h", procedure)
    shown = text_of(written)
    over = " and ".join(one.variable for one in table.counters)
    return Change(
        {spot.source.path: tuple(edits)},
        line_of(table.value),
        f"computes {shown[:60]}{'…' if len(shown) > 60 else ''} once for each {over}, into a table",
    )


def _placed(place: Place, outer: Node, lines: str, text: bytes) -> list[Edit] | None:
    """The lines in front of the loop and its directives, if these begin a line."""
    start = text.rfind(b"\n", 0, place.first.start_byte) + 1
    if text[start : place.first.start_byte].strip() or outer.has_error:
        return None
    return [Edit(start, start, lines.encode("utf-8", "surrogateescape"))]


def _type_of_counter(one: Counted) -> str | None:
    """The type that a counter is declared with."""
    if one.own:
        written = text_of(field(field(one.node, "initializer"), "type"))
        return None if written == "auto" else written
    declared = one.procedure.declarations.get(one.variable)
    return None if declared is None or declared.pointers or declared.dims else plain(declared.type)


def _index_and_room(table: _Table) -> tuple[str, str]:
    """Index of the value and number of values, as C and C++ write them."""
    index, room = "", ""
    for one in table.counters:
        start, bound = text_of(one.start), text_of(one.bound)
        plain_start = one.variable in table.from_zero or _LITERAL.match(start)
        extent = bound if plain_start else f"{_bracketed(one.bound)} - {_bracketed(one.start)}"
        extent += " + 1" if one.operator == "<=" else ""
        if not _LITERAL.match(extent):
            extent = f"({extent} > 0 ? {extent} : 1)"
        at = one.variable if plain_start else f"{one.variable} - {_bracketed(one.start)}"
        index = f"(size_t){index if index.isidentifier() else f'({index})'} * {extent} + {at}" if index else at
        room = f"{room} * (size_t){extent}" if room else f"(size_t){extent}"
    return index, room


def _bracketed(node: Node) -> str:
    written = text_of(node)
    return (
        written
        if node.type in ("identifier", "number_literal", "field_expression", "parenthesized_expression")
        else f"({written})"
    )
