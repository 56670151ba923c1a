"""Searches through all items of a vector (C++): a hash table beside it finds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import counted
from chathpc.fix.recipes.analysis.program import Program, Source, Spot
from chathpc.fix.recipes.analysis.syntax import bare, field, line_of, nodes, statements, text_of
from chathpc.fix.recipes.analysis.types import is_arithmetic
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.containers import INCLUDE

if TYPE_CHECKING:
    from tree_sitter import Node

_STEADY = frozenset({"size", "empty", "begin", "end", "cbegin", "cend", "front", "back", "at", "reserve", "capacity"})


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """A loop that looks for the first item whose key equals something, and what it does then."""

    loop: Node
    container: str
    key: str
    wanted: Node
    found: Node
    item: str
    is_index: bool


def indexed(context: Context, spot: Spot) -> Iterator[Change]:
    """A search through a vector that only grows looks its item up in a hash table beside it."""
    procedure, program, source = spot.procedure, context.program, spot.source
    if len(program.sources) != 1 or procedure.is_broken:
        return
    for loop in procedure.all("for_statement", "for_range_loop"):
        search = _search(loop, spot)
        if search is None:
            continue
        change = _with_table(search, source, program, spot)
        if change is not None:
            yield change


def _search(loop: Node, spot: Spot) -> Search | None:
    body = statements(field(loop, "body"))
    if len(body) != 1 or body[0].type != "if_statement" or field(body[0], "alternative") is not None:
        return None
    condition, found = bare(field(body[0], "condition")), field(body[0], "consequence")
    if (
        condition is None
        or found is None
        or condition.type != "binary_expression"
        or text_of(field(condition, "operator")) != "=="
    ):
        return None
    last = statements(found)[-1] if statements(found) else None
    if (
        last is None
        or last.type != "return_statement"
        or any(True for _ in nodes(found, "break_statement", "continue_statement"))
    ):
        return None
    if loop.type == "for_range_loop":
        item, right = field(loop, "declarator"), field(loop, "right")
        if item is None or right is None or item.type != "reference_declarator" or right.type != "identifier":
            return None
        name = text_of(next((each for each in nodes(item, "identifier")), None))
        container, access, is_index = text_of(right), name, False
    else:
        header = counted(loop, spot.procedure)
        match = re.fullmatch(r"(\w+)\.size\(\)", text_of(header.bound)) if header is not None else None
        if (
            header is None
            or match is None
            or text_of(header.start) != "0"
            or header.step != 1
            or header.operator not in ("<", "!=")
            or not header.own
        ):
            return None
        container, access, is_index = match[1], f"{match[1]}[{header.variable}]", True
        name = header.variable
    for key, wanted in (
        (field(condition, "left"), field(condition, "right")),
        (field(condition, "right"), field(condition, "left")),
    ):
        if key is None or wanted is None or key.type != "field_expression" or text_of(field(key, "argument")) != access:
            continue
        if name in {text_of(each) for each in nodes(wanted, "identifier")}:
            continue
        return Search(loop, container, text_of(field(key, "field")), wanted, found, name, is_index)
    return None


def _with_table(search: Search, source: Source, program: Program, spot: Spot) -> Change | None:
    home = [
        (record, one) for record in program.records.values() for one in record.fields if one.name == search.container
    ]
    if len(home) != 1 or search.container in spot.procedure.declarations:
        return None
    match = re.fullmatch(r"(?:std::)?vector<\s*(\w+)\s*>", home[0][1].type)
    record = program.records.get(match[1]) if match is not None else None
    key = next((one for one in record.fields if one.name == search.key), None) if record is not None else None
    if (
        key is None
        or key.pointers
        or key.dims
        or not (
            key.type in ("std::string", "string")
            or (is_arithmetic(key.type) and key.type not in ("float", "double", "long double"))
        )
    ):
        return None
    wanted = effects(search.wanted, spot.procedure, program)
    if not wanted.is_known or wanted.writes:
        return None
    text = source.text
    growing = _only_grows(search, source)
    declared = _member_declaration(search.container, source)
    includes = list(INCLUDE.finditer(text))
    if growing is None or declared is None or not includes:
        return None
    table, slot = fresh_name(f"{search.container.rstrip('_')}_table", text), fresh_name("place", text)
    blank = indent(text, search.loop.start_byte)
    body = text[search.found.start_byte : search.found.end_byte]
    shown = text[search.wanted.start_byte : search.wanted.end_byte].decode()
    bound = (
        f"const size_t {search.item} = {slot}->second;"
        if search.is_index
        else f"auto &{search.item} = {search.container}[{slot}->second];"
    )
    new = (
        f"auto {slot} = {table}.find({shown});\n".encode()
        + blank
        + f"if ({slot} != {table}.end()) {{\n".encode()
        + blank
        + b"  "
        + bound.encode()
        + b"\n"
        + blank
        + b"  "
        + body
        + b"\n"
        + blank
        + b"}"
    )
    edits = [
        Edit(search.loop.start_byte, search.loop.end_byte, new),
        Edit(
            declared.end_byte,
            declared.end_byte,
            b"\n"
            + indent(text, declared.start_byte)
            + f"std::unordered_map<{'std::string' if 'string' in key.type else key.type}, size_t> {table};".encode(),
        ),
    ]
    if b"<unordered_map>" not in text:
        edits.append(Edit(includes[-1].end(), includes[-1].end(), b"#include <unordered_map>\n"))
    for statement in growing:
        line = f" {table}.emplace({search.container}.back().{search.key}, {search.container}.size() - 1);"
        edits.append(Edit(statement.end_byte, statement.end_byte, line.encode()))
    if search.loop.parent is None or search.loop.parent.type != "compound_statement":
        return None
    return Change(
        {source.path: tuple(edits)},
        line_of(search.loop),
        f"finds items of {search.container} by {search.key} in a hash table instead of going through all of them",
    )


def _member_declaration(name: str, source: Source) -> Node | None:
    found = [
        each
        for each in nodes(source.file.tree.root_node, "field_declaration")
        if any(text_of(one) == name for one in each.children_by_field_name("declarator"))
    ]
    return found[0] if len(found) == 1 else None


def _only_grows(search: Search, source: Source) -> list[Node] | None:
    """Statements that append to the container; None where it is changed in another way, or a key may be."""
    grows: list[Node] = []
    for node in nodes(source.file.tree.root_node, "identifier", "field_identifier"):
        if text_of(node) != search.container:
            continue
        one, parent = node, node.parent
        if node.type == "field_identifier" and parent is not None:
            if parent.type == "field_declaration":
                continue
            one, parent = parent, parent.parent
        if parent is None:
            return None
        if parent.type == "field_expression" and field(parent, "argument") == one:
            member = text_of(field(parent, "field"))
            call = parent.parent
            if call is None or call.type != "call_expression":
                return None
            if member in ("push_back", "emplace_back"):
                if (
                    call.parent is None
                    or call.parent.type != "expression_statement"
                    or call.parent.parent is None
                    or call.parent.parent.type != "compound_statement"
                ):
                    return None
                grows.append(call.parent)
            elif (
                member not in _STEADY
                or (member in ("front", "back", "at") and _writes_key(call, search.key))
                or (
                    member in ("begin", "end")
                    and not (call.parent is not None and call.parent.type in ("for_range_loop",))
                )
            ):
                return None
            continue
        if parent.type == "subscript_expression" and field(parent, "argument") == one:
            if _writes_key(parent, search.key):
                return None
            continue
        if parent.type == "for_range_loop" and field(parent, "right") == one:
            item = next((text_of(each) for each in nodes(field(parent, "declarator") or parent, "identifier")), "")
            body = field(parent, "body")
            if body is None or any(
                _target_key(each, item) == search.key or text_of(field(each, "left")) == item
                for each in nodes(body, "assignment_expression")
            ):
                return None
            continue
        return None
    # A reference that is handed out could change a key: only members of it other than the key may be assigned anywhere.
    for node in nodes(source.file.tree.root_node, "assignment_expression", "update_expression"):
        target = field(node, "left") or field(node, "argument")
        if target is not None and target.type == "field_expression" and text_of(field(target, "field")) == search.key:
            root = text_of(next((each for each in nodes(target, "identifier")), None))
            if root == search.container or "(" in text_of(target):
                return None
    return grows if grows else None


def _writes_key(access: Node, key: str) -> bool:
    """True if an access to an item is an assignment to the item or its key, or gives its address away."""
    one, parent = access, access.parent
    name = ""
    while parent is not None and parent.type == "field_expression" and field(parent, "argument") == one:
        name = name or text_of(field(parent, "field"))
        one, parent = parent, parent.parent
    if parent is None:
        return True
    if parent.type in ("assignment_expression", "update_expression"):
        target = field(parent, "left") or field(parent, "argument")
        return target == one and name in ("", key)
    if parent.type == "pointer_expression":
        return True
    if parent.type == "call_expression" and name:
        return name == key and text_of(field(one, "field")) not in ("size", "c_str", "empty", "compare", "length")
    return False


def _target_key(node: Node, item: str) -> str:
    target = field(node, "left")
    if target is None or target.type != "field_expression" or text_of(field(target, "argument")) != item:
        return ""
    return text_of(field(target, "field"))
