"""Objects that functions give or take by value: members by constant reference (C++), records by pointer (C)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.layout import type_size
from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.program import Procedure, Program, Source, Spot
from chathpc.fix.recipes.analysis.syntax import children, enclosing, field, inside, line_of, nodes, statements, text_of
from chathpc.fix.recipes.analysis.types import owner
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.copies import LOOKING, changes_only_locals, is_large, parameters_of, prototypes

if TYPE_CHECKING:
    from tree_sitter import Node

#: Records from so many bytes on: smaller ones are copied in a few instructions.
_LARGE = 64
_LVALUES = frozenset({"identifier", "field_expression", "subscript_expression"})
_BLOCKS = frozenset({"compound_statement"})


def given_by_reference(context: Context, spot: Spot) -> Iterator[Change]:
    """`std::vector<int> items(int k) const { return items_[k]; }` gives a constant reference instead of a copy."""
    program = context.program
    for procedure in (spot.procedure, *program.callees(spot.procedure)):
        kind = field(procedure.node, "type")
        declarator = field(procedure.node, "declarator")
        if kind is None or declarator is None or declarator.type != "function_declarator" or procedure.is_broken:
            continue
        if not is_large(text_of(kind), program) or len(program.named(procedure.model.name)) != 1:
            continue
        if procedure.model.marks & {"virtual"} or procedure.model.name in program.handed_on:
            continue
        if not any(text_of(each) == "const" for each in children(declarator) if each.type == "type_qualifier"):
            continue
        if prototypes(procedure.model.name, program) or not _gives_member(procedure, text_of(kind), program):
            continue
        if not all(_only_looks(call, home, program) for home, call in program.calls.get(procedure.model.name, [])):
            continue
        qualified = any(text_of(each) == "const" for each in procedure.node.children if each.type == "type_qualifier")
        edits = (
            *(() if qualified else (Edit(kind.start_byte, kind.start_byte, b"const "),)),
            Edit(declarator.start_byte, declarator.start_byte, b"&"),
        )
        yield Change(
            {procedure.source.path: edits},
            line_of(procedure.node),
            f"gives what {procedure.model.name} returns by constant reference instead of copying it",
        )


def _gives_member(procedure: Procedure, kind: str, program: Program) -> bool:
    """True for a function that returns a member of its class, or an item of one, and does nothing else."""
    listed = statements(procedure.body)
    returned = (
        next(iter(children(listed[0])), None) if len(listed) == 1 and listed[0].type == "return_statement" else None
    )
    record = program.records.get(owner(procedure))
    if returned is None or record is None:
        return False
    is_item = returned.type == "subscript_expression"
    name = field(returned, "argument") if is_item else returned
    own = next((one for one in record.fields if one.name == text_of(name)), None)
    if name is None or name.type != "identifier" or own is None or own.pointers or own.reference:
        return False
    index = field(returned, "index") or field(returned, "indices")
    if any(True for _ in nodes(index or returned, "call_expression", "assignment_expression", "update_expression")):
        return False
    told, wanted = ("".join(each.split()).removeprefix("const") for each in (own.type, kind))
    return (
        re.fullmatch(rf"(?:std::)?(?:vector|array|deque)<{re.escape(wanted)}(?:,\w+)?>", told) is not None
        if is_item
        else told == wanted
    )


def _only_looks(call: Node, home: Procedure, program: Program) -> bool:
    """True if what the call gives is looked at, or copied, before anything can change the object that it is a part of."""
    parent = call.parent
    if parent is None:
        return False
    root = next((text_of(each) for each in nodes(field(call, "function") or call, "identifier")), "")
    if parent.type == "subscript_expression" and field(parent, "argument") == call:
        around = parent.parent
        return (
            around is not None
            and around.type not in ("pointer_expression", "reference_declarator", "update_expression")
            and not (around.type == "assignment_expression" and field(around, "left") == parent)
        )
    if parent.type == "field_expression":
        return text_of(field(parent, "field")) in LOOKING - {
            "begin",
            "end",
            "cbegin",
            "cend",
            "rbegin",
            "rend",
            "data",
            "c_str",
        }
    if parent.type == "for_range_loop":
        body = field(parent, "body")
        return body is not None and changes_only_locals(body, home, program, frozenset({root}))
    if parent.type == "init_declarator":
        declarator, scope = field(parent, "declarator"), enclosing(parent, _BLOCKS, home.node)
        if declarator is None or scope is None:
            return False
        return declarator.type == "identifier" or changes_only_locals(scope, home, program, frozenset({root}))
    if parent.type == "assignment_expression":
        return field(parent, "right") == call
    return parent.type in ("return_statement", "expression_statement")


def by_pointer(context: Context, spot: Spot) -> Iterator[Change]:
    """A large record that a function of C takes by value, and only reads, is handed over by its address."""
    program = context.program
    for procedure in (spot.procedure, *program.callees(spot.procedure)):
        name = procedure.model.name
        if procedure.body is None or procedure.is_broken or procedure.source.language != "c" or name == "main":
            continue
        if name in program.handed_on or len(program.named(name)) != 1:
            continue
        listed = parameters_of(procedure.node)
        for at, node in enumerate(listed):
            edits = _pointing(at, node, procedure, program)
            if edits is not None:
                shown = text_of(field(node, "declarator"))
                yield Change(edits, line_of(node), f"hands {shown} of {name} over by its address instead of copying it")


def _pointing(at: int, node: Node, procedure: Procedure, program: Program) -> dict[str, tuple[Edit, ...]] | None:
    kind, own = field(node, "type"), field(node, "declarator")
    if kind is None or own is None or own.type != "identifier" or procedure.body is None:
        return None
    size = type_size(text_of(kind), procedure.source.file.unit)
    record = program.records.get(text_of(kind).removeprefix("struct "))
    if record is None or (size is not None and size < _LARGE) or (size is None and not is_large(record.name, program)):
        return None
    name = text_of(own)
    if procedure.times_declared.get(name) or not changes_only_locals(
        procedure.body, procedure, program, frozenset({name})
    ):
        return None
    path = procedure.source.path
    edits: dict[str, list[Edit]] = {path: []}
    told: list[tuple[Source, list[Node]]] = [
        (procedure.source, parameters_of(procedure.node)),
        *((source, parameters_of(each)) for source, each in prototypes(procedure.model.name, program)),
    ]
    for source, listed in told:
        one = listed[at] if at < len(listed) else None
        of, declarator = field(one, "type"), field(one, "declarator")
        if (
            one is None
            or of is None
            or text_of(of) != text_of(kind)
            or (declarator is not None and declarator.type != "identifier")
        ):
            return None
        qualified = any(text_of(word) == "const" for word in one.children if word.type == "type_qualifier")
        mine = edits.setdefault(source.path, [])
        if not qualified:
            mine.append(Edit(one.start_byte, one.start_byte, b"const "))
        place = declarator.start_byte if declarator is not None else of.end_byte
        mine.append(Edit(place, place, b"*" if declarator is not None else b" *"))
    for use in procedure.identifiers.get(name, ()):
        if not inside(use, procedure.body):
            continue
        edit = _use(use)
        if edit is None:
            return None
        edits[path].append(edit)
    for home, call in program.calls.get(procedure.model.name, []):
        listed = children(field(call, "arguments"))
        if at >= len(listed):
            return None
        given = listed[at]
        if home is procedure and any(text_of(each) == name for each in nodes(given, "identifier")):
            return None
        if given.type == "pointer_expression" and text_of(field(given, "operator")) == "*":
            edits.setdefault(home.source.path, []).append(Edit(given.start_byte, given.start_byte + 1, b""))
        elif given.type in _LVALUES:
            edits.setdefault(home.source.path, []).append(Edit(given.start_byte, given.start_byte, b"&"))
        else:
            return None
    return {each: tuple(mine) for each, mine in edits.items()}


def _use(node: Node) -> Edit | None:
    """`record.member` by the pointer, the whole record as an argument, and its address as one."""
    parent = node.parent
    if parent is None:
        return None
    if parent.type == "field_expression" and field(parent, "argument") == node:
        operator = field(parent, "operator")
        outer = parent
        while outer.parent is not None and outer.parent.type in ("field_expression", "subscript_expression"):
            outer = outer.parent
        around = outer.parent
        if around is None or around.type in ("update_expression", "pointer_expression"):
            return None
        if around.type == "assignment_expression" and field(around, "left") == outer:
            return None
        return None if operator is None else Edit(operator.start_byte, operator.end_byte, b"->")
    if parent.type == "argument_list":
        return Edit(node.start_byte, node.start_byte, b"*")
    if parent.type == "pointer_expression" and text_of(field(parent, "operator")) == "&":
        return Edit(parent.start_byte, node.start_byte, b"")
    return None
