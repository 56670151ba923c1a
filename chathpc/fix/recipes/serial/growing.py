"""Arrays that get room for one more item each time: they get twice the room when it is used up (C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import bare, children, field, line_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

_SIZE = re.compile(r"sizeof ?(?:\([^()]*\)|\*?\w+)")
_PATHS = frozenset({"identifier", "field_expression"})
_NOTHING = frozenset({"0", "NULL", "nullptr"})


def doubled(context: Context, spot: Spot) -> Iterator[Change]:
    """`realloc(v, (n + 1) * sizeof *v)` is called only when n is a power of two, and then asks for twice as much.

    The array has room for the next power of two then, whenever the number of items only went up and down one by one from none.
    """
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or program.unread:
        return
    for call in procedure.all("call_expression"):
        listed = children(field(call, "arguments"))
        if (
            text_of(field(call, "function")) not in ("realloc", "std::realloc")
            or len(listed) != 2
            or listed[0].type not in _PATHS
        ):
            continue
        found = _one_more(listed[1])
        if found is None:
            continue
        count, old, size = found
        kind = type_of(count, procedure, program)
        if kind is None or not kind.is_integer or count.type not in _PATHS:
            continue
        if not _begins_with_nothing(listed[0], call, procedure, program) or not _goes_by_one(count, procedure, program):
            continue
        pointer = text[listed[0].start_byte : listed[0].end_byte].decode()
        n = text_of(count) if old == 0 else f"({text_of(count)} - 1)"
        more = f"({n} ? 2 * {n} : 1) * {size}"
        new = f"(({n} & ({n} - 1)) ? {pointer} : "
        cast = f"({_pointer_type(listed[0], procedure, program)})" if spot.source.is_cpp else ""
        yield Change(
            {
                spot.source.path: (
                    Edit(call.start_byte, call.start_byte, new.encode() + cast.encode()),
                    Edit(listed[1].start_byte, listed[1].end_byte, more.encode()),
                    Edit(call.end_byte, call.end_byte, b")"),
                )
            },
            line_of(call),
            f"doubles the room of {text_of(listed[0])} when it is used up instead of asking for each item",
        )


def _pointer_type(node: Node, procedure: Procedure, program: Program) -> str:
    kind = type_of(node, procedure, program)
    return "void *" if kind is None else f"{kind.name} {'*' * kind.depth}"


def _one_more(size: Node) -> tuple[Node, int, str] | None:
    """The number of items and the size of one, of `(n + 1) * sizeof …` and, once n is counted up, `n * sizeof …` (1)."""
    one = bare(size)
    if one is None or one.type != "binary_expression" or text_of(field(one, "operator")) != "*":
        return None
    sides = bare(field(one, "left")), bare(field(one, "right"))
    for count, width in (sides, sides[::-1]):
        if count is None or width is None or not _SIZE.fullmatch(text_of(width)):
            continue
        if count.type in _PATHS:
            return (count, 1, text_of(width)) if _is_counted_before(count, size) else None
        left, right = bare(field(count, "left")), field(count, "right")
        if (
            count.type == "binary_expression"
            and text_of(field(count, "operator")) == "+"
            and text_of(right) == "1"
            and left is not None
        ):
            return left, 0, text_of(width)
    return None


def _is_counted_before(count: Node, size: Node) -> bool:
    """True if the statement before counts it up."""
    statement: Node | None = size
    while statement is not None and statement.parent is not None and statement.parent.type != "compound_statement":
        statement = statement.parent
    before = statement.prev_named_sibling if statement is not None else None
    return before is not None and text_of(before).replace(" ", "") in (
        f"{text_of(count)}++;", f"++{text_of(count)};", f"{text_of(count)}+=1;",
    )  # fmt: skip


def _same(node: Node | None, other: Node, home: Procedure, procedure: Procedure) -> bool:
    """True for the same variable, and for members of the same name."""
    if node is None or node.type != other.type:
        return False
    if node.type == "field_expression":
        return text_of(field(node, "field")) == text_of(field(other, "field"))
    return text_of(node) == text_of(other) and (home is procedure or text_of(node) not in procedure.declarations)


def _name(node: Node) -> str:
    return text_of(field(node, "field")) if node.type == "field_expression" else text_of(node)


def _begins_with_nothing(pointer: Node, call: Node, procedure: Procedure, program: Program) -> bool:
    """True if the pointer is set nowhere but to nothing, and to what this call gives."""
    if _name(pointer) in program.addressed or text_of(pointer) in procedure.parameters:
        return False
    given = _variables(call)
    for home in program.procedures:
        for node in home.all("assignment_expression"):
            if not _same(field(node, "left"), pointer, home, procedure):
                continue
            value = bare(field(node, "right"))
            while value is not None and value.type == "cast_expression":
                value = bare(field(value, "value"))
            if value is None or not (
                value == call or text_of(value) in _NOTHING or (home is procedure and text_of(value) in given)
            ):
                return False
    return _starts_empty(pointer, procedure, program)


def _variables(call: Node) -> set[str]:
    """Names that are declared with what the call gives: `T *more = realloc(…);`."""
    one = call.parent
    while one is not None and one.type in ("cast_expression", "parenthesized_expression"):
        one = one.parent
    if one is None or one.type != "init_declarator":
        return set()
    return {text_of(each) for each in nodes(field(one, "declarator") or one, "identifier")}


def _starts_empty(node: Node, procedure: Procedure, program: Program) -> bool:
    """True for a variable declared as nothing, and a member that all lists leave empty and no allocation leaves open."""
    name = _name(node)
    if node.type == "identifier":
        own = procedure.declarations.get(name) or program.variables.get(name)
        outside = name not in procedure.declarations
        return own is not None and (
            (own.value is not None and own.value.text in _NOTHING) or (outside and own.value is None)
        )
    holders = program.holders.get(name, {})
    if len(holders) != 1:
        return False
    record, place = next(iter(holders.items()))
    for home in program.procedures:
        for each in home.all("declaration"):
            if record not in text_of(field(each, "type")).split():
                continue
            for one in each.children_by_field_name("declarator"):
                listed = children(field(one, "value"))
                if one.type == "identifier" and not _is_set(text_of(one), name, home):
                    return False
                if len(listed) > place and text_of(listed[place]) not in (*_NOTHING, "{0}"):
                    return False
    return True


def _is_set(variable: str, member: str, home: Procedure) -> bool:
    """True if the function sets the member, or all of the record, or hands it to who does."""
    return any(
        text_of(field(each, "left")) == f"{variable}.{member}" for each in home.all("assignment_expression")
    ) or any(
        f"&{variable}" in text_of(field(each, "arguments")).replace("& ", "&") for each in home.all("call_expression")
    )


def _goes_by_one(count: Node, procedure: Procedure, program: Program) -> bool:
    """True if the number of items begins with 0 and is only counted up and down."""
    if _name(count) in program.addressed or text_of(count) in procedure.parameters:
        return False
    for home in program.procedures:
        for node in home.all("assignment_expression"):
            if not _same(field(node, "left"), count, home, procedure):
                continue
            operator, value = text_of(field(node, "operator")), text_of(field(node, "right"))
            if not ((operator == "=" and value == "0") or (operator in ("+=", "-=") and value == "1")):
                return False
    return _starts_empty(count, procedure, program)
