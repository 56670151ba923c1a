"""Texts of Fortran that grow at their end in a loop: they are written where they end instead of being copied as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_end, line_start
from chathpc.fix.recipes.analysis.program import Procedure, Spot
from chathpc.fix.recipes.analysis.syntax import field, line_of, nodes, text_of
from chathpc.fix.recipes.fortran.accesses import INTRINSICS, is_safe
from chathpc.fix.recipes.fortran.loops import declarations_end
from chathpc.fix.recipes.fortran.statements import (
    arguments,
    called,
    declaration,
    identifiers,
    is_only_statement,
    is_way_out,
    mentions,
    squeezed,
)
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

#: Functions of texts that only look at their arguments; their values are asked for twice.
_LOOKING = frozenset({"trim", "adjustl", "adjustr", "achar", "char", "repeat", "new_line"})
_FIRST = 256
_READING = ("relational_expression", "concatenation_expression", "output_item_list")


def appended(context: Context, spot: Spot) -> Iterator[Change]:
    """`t = t // x` and `t = trim(t) // x` in a loop write `x` behind what is there already."""
    procedure = spot.procedure
    at = declarations_end(procedure)
    if not is_safe(procedure) or at is None or "!$omp" in text_of(procedure.node).lower():
        return
    done: set[str] = set()
    for node in procedure.all("assignment_statement"):
        name = squeezed(field(node, "left"))
        own = declaration(procedure, name) if name.isidentifier() and name not in done else None
        if own is None or own.rank or not own.type.lower().startswith("character"):
            continue
        trimmed = not own.is_allocatable
        loop, mine = _outermost(name, node, trimmed, procedure)
        if loop is None or not mine:
            continue
        done.add(name)
        edits = (_fixed if trimmed else _growing)(name, mine, loop, procedure, at)
        if edits is not None:
            yield Change(
                {spot.source.path: edits}, line_of(mine[0]),
                f"writes what is added behind the end of {name} instead of copying all of it",
            )  # fmt: skip
    del context


def _parts(node: Node, name: str, trimmed: bool) -> list[Node] | None:
    """What `t = t // x // y` puts behind the text; None for any other assignment."""
    if squeezed(field(node, "left")) != name:
        return None
    parts: list[Node] = []
    todo = [field(node, "right")]
    while todo:
        one = todo.pop()
        if one is not None and one.type == "concatenation_expression":
            todo += [field(one, "right"), field(one, "left")]
        elif one is not None:
            parts.append(one)
    if len(parts) < 2 or squeezed(parts[0]) != (f"trim({name})" if trimmed else name):
        return None
    return parts[1:] if all(_is_plain(each, name) for each in parts[1:]) else None


def _is_plain(node: Node, name: str) -> bool:
    if mentions(node, name):
        return False
    return all(called(each) in _LOOKING | INTRINSICS or _is_section(each) for each in nodes(node, "call_expression"))


def _is_section(node: Node) -> bool:
    return [each.type for each in arguments(node)] == ["extent_specifier"]


def _outermost(name: str, node: Node, trimmed: bool, procedure: Procedure) -> tuple[Node | None, list[Node]]:
    """The outermost loop in which the text is only appended to (and read, where its room stays the same)."""
    best: Node | None = None
    mine: list[Node] = []
    one = node.parent
    while one is not None and one != procedure.node:
        if one.type == "do_loop":
            writes = [each for each in nodes(one, "assignment_statement") if _parts(each, name, trimmed) is not None]
            listed = [each for each in identifiers(one, name) if not any(_holds(each, write) for write in writes)]
            if is_way_out(one) or any(mentions(each, name) for each in procedure.all("internal_procedures")):
                break
            if any(not trimmed or _is_changed(each) for each in listed):
                break
            best, mine = one, writes
        one = one.parent
    return best, mine


def _holds(node: Node, write: Node) -> bool:
    return write.start_byte <= node.start_byte < write.end_byte


def _is_changed(node: Node) -> bool:
    """True unless the text is only looked at there: an operand, or an argument of an intrinsic function."""
    parent = node.parent
    if parent is None:
        return True
    if parent.type == "call_expression":  # a part of it
        parent = parent.parent
        return parent is None or parent.type not in _READING
    if parent.type == "argument_list":
        return called(parent.parent) not in ("len", "len_trim", "trim", "index", "scan", "verify")
    return parent.type not in _READING


def _joined(parts: list[Node], text: bytes) -> str:
    return " // ".join(text[each.start_byte : each.end_byte].decode("utf-8", "surrogateescape") for each in parts)


def _fixed(name: str, writes: list[Node], loop: Node, procedure: Procedure, at: int) -> tuple[Edit, ...] | None:
    """A text of one length is blank behind its end, and stays so."""
    text = procedure.source.text
    end = fresh_name(f"{name}_end", text)
    start = line_start(text, loop.start_byte)
    if text[start : loop.start_byte].strip():
        return None
    edits = [
        Edit(at, at, f"\n{indent(text, at - 1).decode()}integer :: {end}".encode()),
        Edit(start, start, indent(text, loop.start_byte) + f"{end} = len_trim({name})\n".encode()),
    ]
    for one in writes:
        parts = _parts(one, name, True) or []
        value = _joined(parts, text)
        lines = [
            f"{name}({end} + 1:min(len({name}), {end} + len({value}))) = {value}",
            f"{end} = max({end}, min(len({name}), {end} + len_trim({value})))",
        ]
        new = _statements(one, lines, text)
        if new is None:
            return None
        edits.append(new)
    return tuple(edits)


def _growing(name: str, writes: list[Node], loop: Node, procedure: Procedure, at: int) -> tuple[Edit, ...] | None:
    """A text whose length is its end is built in another one that doubles."""
    text = procedure.source.text
    room, end = (fresh_name(f"{name}_{each}", text) for each in ("room", "end"))
    start, behind = line_start(text, loop.start_byte), line_end(text, loop.end_byte - 1)
    blank, edge = indent(text, loop.start_byte).decode(), indent(text, at - 1).decode()
    if text[start : loop.start_byte].strip():
        return None
    before = [f"{end} = len({name})", f"{room} = {name} // repeat(' ', {_FIRST})"]
    edits = [
        Edit(at, at, f"\n{edge}character(:), allocatable :: {room}\n{edge}integer :: {end}".encode()),
        Edit(start, start, "".join(f"{blank}{line}\n" for line in before).encode()),
        Edit(behind, behind, f"{blank}{name} = {room}(1:{end})\n{blank}deallocate ({room})\n".encode()),
    ]
    for one in writes:
        value = _joined(_parts(one, name, False) or [], text)
        size = f"{end} + len({value})"
        lines = [
            f"if ({size} > len({room})) {room} = {room} // repeat(' ', {size})",
            f"{room}({end} + 1:{size}) = {value}",
            f"{end} = {size}",
        ]
        new = _statements(one, lines, text)
        if new is None:
            return None
        edits.append(new)
    return tuple(edits)


def _statements(node: Node, lines: list[str], text: bytes) -> Edit | None:
    inner = indent(text, node.start_byte).decode()
    if text[line_start(text, node.start_byte) : node.start_byte].strip():
        if not is_only_statement(node):
            return None
        lines = ["then", *(f"  {line}" for line in lines), "end if"]
    return Edit(node.start_byte, node.end_byte, f"\n{inner}".join(lines).encode("utf-8", "surrogateescape"))
