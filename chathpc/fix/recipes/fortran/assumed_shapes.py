"""Dummy arrays with sizes of their own (`x(n)`), for which the compiler copies every section that lies in pieces: they take any (`x(:)`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, text_of, walk
from chathpc.fix.recipes.fortran.accesses import are_same, is_safe
from chathpc.fix.recipes.fortran.dummy_uses import directives, needed
from chathpc.fix.recipes.fortran.extents import are_extents_shown
from chathpc.fix.recipes.fortran.ranks import handed_rank, has_gaps
from chathpc.fix.recipes.fortran.statements import (
    Declared,
    arguments,
    called,
    declaration,
    identifiers,
    named_argument,
    squeezed,
)
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

_NUMBERS = re.compile(r"(?:real|integer|complex|logical|doubleprecision)\b")
_PREFIX = re.compile(r"\b(?:module|recursive|elemental|impure|bind|attributes)\b")
_UNKNOWN = re.compile(
    rb"^[ \t]*(?:#|include\b)|\b(?:volatile|asynchronous|codimension)\b", re.MULTILINE | re.IGNORECASE
)
_MOST_CALLEES = 40


@dataclass(frozen=True, slots=True)
class _Call:
    """A call, and the innermost procedure in which it stands."""

    node: Node
    caller: Procedure


def taking_any_shape(context: Context, spot: Spot) -> Iterator[Change]:
    """`x(n)`, for which a loop hands over `a(i, :)`, becomes `x(:)`: the section is then used where it lies."""
    program = context.program
    if program.unread or any(
        not each.is_fortran or _UNKNOWN.search(each.text) is not None for each in program.sources.values()
    ):
        return
    if any(one.has_errors for one in program.procedures):
        return
    for one in (spot.procedure, *program.callees(spot.procedure)):
        change = _change(one, spot, program)
        if change is not None:
            yield change


def _change(procedure: Procedure, spot: Spot, program: Program) -> Change | None:
    if not _has_interface(procedure) or not is_safe(procedure) or len(program.named(procedure.model.name)) != 1:
        return None
    calls = _calls(procedure, program)
    if not calls:
        return None
    listed = [text_of(each).lower() for each in children(field(_head(procedure), "parameters"))]
    edits: list[Edit] = []
    names: list[str] = []
    for place, name in enumerate(listed):
        known = declaration(procedure, name)
        if known is None or not known.rank or not _may_have_any_shape(known):
            continue
        handed = [(each, named_argument(each.node, name, place)) for each in calls]
        if not any(has_gaps(actual) and _is_repeated(each) for each, actual in handed):
            continue
        size = _size(procedure, name)
        if size is None or not _may_change(procedure, name, listed, known, size, handed, program):
            continue
        edits.append(_with_any_shape(size))
        names.append(name)
    if not edits:
        return None
    here = next((each.node for each in calls if each.caller is spot.procedure), procedure.node)
    return Change(
        {procedure.source.path: tuple(edits)}, line_of(here),
        f"hands {', '.join(names)} to {procedure.model.name} as it lies (assumed shape) instead of in a copy for each call",
    )  # fmt: skip


def _may_change(
    procedure: Procedure,
    name: str,
    listed: list[str],
    known: Declared,
    size: _Size,
    handed: list[tuple[_Call, Node | None]],
    program: Program,
) -> bool:
    """True if neither the procedure nor any of its callers can tell the difference."""
    needs = needed(procedure, name, program)
    if needs is None:
        return False
    for call, actual in handed:
        if actual is None or handed_rank(actual, call.caller, program) != known.rank:
            return False
        if _may_be_seen_otherwise(procedure, listed, name, call, actual, program):
            return False
        # Elements of one dimension are found from its beginning; where there are more, or the end matters, the sizes must be the same.
        wanted = size.bounds if needs == "size" else size.bounds[:-1]
        if wanted and not are_extents_shown(wanted, procedure, listed, call.node, call.caller, actual, program):
            return False
    return True


def _head(procedure: Procedure) -> Node:
    return children(procedure.node)[0]


def _has_interface(procedure: Procedure) -> bool:
    """True for a procedure of a module or one that another contains: who calls it knows its arguments."""
    around = procedure.node.parent
    return (
        procedure.node.type in ("subroutine", "function")
        and around is not None
        and around.type == "internal_procedures"
        and around.parent is not None
        and around.parent.type in ("module", "program", "subroutine", "function")
        and _PREFIX.search(text_of(_head(procedure)).lower()) is None
    )


def _calls(procedure: Procedure, program: Program) -> list[_Call] | None:
    """All calls; None where its name stands elsewhere as well, so that it may be called in other ways."""
    name = procedure.model.name
    found: list[_Call] = []
    for source in program.sources.values():
        if any(re.search(rf"\b{name}\b", each) for each in directives(source.file.tree.root_node)):
            return None
        for node in walk(source.file.tree.root_node):
            if node.child_count or text_of(node).lower() != name or node.type in ("type_member", "comment"):
                continue
            parent = node.parent
            if parent is None or not node.is_named:
                return None
            call = parent.type in ("call_expression", "subroutine_call") and called(parent) == name
            if call and children(parent)[0] == node:
                around = [
                    one for one in source.procedures if one.node.start_byte <= node.start_byte < one.node.end_byte
                ]
                if not around or procedure in around:
                    return None
                found.append(_Call(parent, max(around, key=lambda one: one.node.start_byte)))
                continue
            own = source is procedure.source and procedure.node.start_byte <= node.start_byte < procedure.node.end_byte
            if not own and parent.type not in ("public_statement", "private_statement", "included_items"):
                return None
    return found


def _may_have_any_shape(known: Declared) -> bool:
    return _NUMBERS.match(known.type.lower().replace(" ", "")) is not None and all(
        each.startswith(("intent", "dimension")) for each in known.attributes
    )


@dataclass(frozen=True, slots=True)
class _Size:
    """Where the sizes of a dummy array stand: its own, or those that its declaration gives to all of its names."""

    name: Node
    own: Node | None
    bounds: tuple[Node, ...]


def _size(procedure: Procedure, name: str) -> _Size | None:
    """The sizes of a dummy array of which every one is told; None for `x(*)`, `x(:)`, and for `x(1)`, which is an old way to say so."""
    for node in procedure.node.named_children:
        if node.type != "variable_declaration":
            continue
        shared = [each for each in node.children_by_field_name("attribute") if "dimension" in text_of(each).lower()]
        for one in node.children_by_field_name("declarator"):
            sized = one.type == "sized_declarator"
            own = children(one)[0] if sized else one
            if own.type != "identifier" or text_of(own).lower() != name:
                continue
            if not sized and not shared:
                return None
            bounds = children(children(one)[-1]) if sized else arguments(shared[0])
            if not bounds or any(
                each.type in ("assumed_size", "assumed_rank")
                or squeezed(each).endswith((":", "*"))
                or squeezed(each) in ("1", "1:1")
                for each in bounds
            ):
                return None
            return _Size(own, children(one)[-1] if sized else None, tuple(bounds))
    return None


def _with_any_shape(size: _Size) -> Edit:
    parts = []
    for each in size.bounds:
        lower = text_of(each).rpartition(":")[0].strip() if each.type == "extent_specifier" else ""
        parts.append(f"{lower}:")
    new = f"({', '.join(parts)})".encode()
    if size.own is None:
        return Edit(size.name.end_byte, size.name.end_byte, new)
    return Edit(size.own.start_byte, size.own.end_byte, new)


def _is_repeated(call: _Call) -> bool:
    """True in a loop, or in a procedure, which may be called in one."""
    one: Node | None = call.node
    while one is not None and one != call.caller.node:
        if one.type == "do_loop":
            return True
        one = one.parent
    return call.caller.node.type != "program"


def _may_be_seen_otherwise(
    procedure: Procedure, listed: list[str], name: str, call: _Call, actual: Node, program: Program
) -> bool:
    """True where a copy may differ from the array itself: it is also handed over under another name, or reached past the arguments.

    Fortran forbids to change it then (Fortran 2018, 15.5.2.13), but as long as there was a copy nobody noticed.
    """
    mine = _path(actual)
    for place, other in enumerate(listed):
        if other == name:
            continue
        theirs = named_argument(call.node, other, place)
        if theirs is None or not are_same(mine, _path(theirs)):  # values of other expressions are there before the call
            continue
        pair = [declaration(procedure, each) for each in (name, other)]
        if any(each is None or "intent(in)" not in each.attributes for each in pair):
            return True
    root = mine.partition("%")[0]
    reached = program.below(procedure)
    if len(reached) >= _MOST_CALLEES:
        return True
    return any(identifiers(one.node, root) and declaration(one, root) is None for one in (procedure, *reached))


def _path(node: Node) -> str:
    """`a%v` for what is a part of it: `a%v(i, :)`, `a(k)%v`."""
    names: list[str] = []
    one: Node | None = node
    while one is not None:
        if one.type == "derived_type_member_expression":
            names.append(text_of(children(one)[-1]).lower())
        elif one.type != "call_expression":
            break
        one = next(iter(children(one)), None)
    return "%".join([squeezed(one), *reversed(names)])
