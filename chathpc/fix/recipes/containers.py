"""Containers of C++ that are wrong for what is done with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.edits import Edit
from chathpc.fix.recipes.program import Spot
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.syntax import bare, field, is_container_use, line_of, nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[^\n]*\n", re.MULTILINE)
#: Members of a vector that a deque has as well, with the same meaning.
_OF_QUEUES = frozenset(
    {
        "push_back", "pop_back", "front", "back", "empty", "size", "begin",
        "end", "erase", "clear", "at", "emplace_back",
    }
)  # fmt: skip


def double_ended(context: Context, spot: Spot) -> Iterator[Change]:
    """A vector from whose front items are taken becomes a double-ended queue."""
    program, source, text = context.program, spot.source, spot.source.text
    if len(program.sources) != 1:
        return
    for call in spot.procedure.all("call_expression"):
        match = re.fullmatch(r"(\w+)\.erase\((\w+)\.begin\(\)\)", text_of(call))
        if match is None or match[1] != match[2]:
            continue
        name = match[1]
        declared = [
            each
            for each in nodes(source.file.tree.root_node, "field_declaration", "declaration", "parameter_declaration")
            if any(text_of(one) == name for one in each.children_by_field_name("declarator"))
        ]
        kind = field(declared[0], "type") if len(declared) == 1 else None
        if kind is None or not re.fullmatch(r"(?:std::)?vector<.*>", text_of(kind)):
            continue
        if not all(
            _is_queue_like(each)
            for each in nodes(source.file.tree.root_node, "identifier", "field_identifier")
            if text_of(each) == name
        ):
            continue
        includes = list(INCLUDE.finditer(text))
        if not includes:
            continue
        written = text[kind.start_byte : kind.end_byte]
        edits = [Edit(kind.start_byte, kind.end_byte, written.replace(b"vector<", b"deque<", 1))]
        if b"<deque>" not in text:
            edits.append(Edit(includes[-1].end(), includes[-1].end(), b"#include <deque>\n"))
        for each in nodes(source.file.tree.root_node, "call_expression"):
            if (
                text_of(each) == f"{name}.erase({name}.begin())"
                and each.parent is not None
                and each.parent.type == "expression_statement"
            ):
                edits.append(Edit(each.start_byte, each.end_byte, f"{name}.pop_front()".encode()))
        yield Change(
            {source.path: tuple(edits)},
            line_of(call),
            f"makes {name} a double-ended queue, whose front is taken without moving the rest",
        )
        return


def _is_queue_like(node: Node) -> bool:
    """True for uses that a deque has as well, with the same meaning."""
    one, parent = node, node.parent
    if (
        node.type == "field_identifier"
        and parent is not None
        and parent.type == "field_expression"
        and field(parent, "field") == node
    ):
        one, parent = parent, parent.parent
    if parent is None:
        return False
    if parent.type in ("field_declaration", "declaration"):
        return True
    # From the address of an item a queue does not lead to the next one.
    is_item = parent.type == "subscript_expression"
    if is_item and parent.parent is not None and parent.parent.type == "pointer_expression":
        return False
    return is_container_use(one, _OF_QUEUES)


def appended(context: Context, spot: Spot) -> Iterator[Change]:
    """`text = text + part` appends in place instead of copying the text each time."""
    procedure, text = spot.procedure, spot.source.text
    for node in procedure.all("assignment_expression"):
        target, right = field(node, "left"), bare(field(node, "right"))
        if (
            target is None
            or right is None
            or target.type != "identifier"
            or text_of(field(node, "operator")) != "="
            or node.parent is None
            or node.parent.type != "expression_statement"
        ):
            continue
        own = procedure.declarations.get(text_of(target))
        if own is None or own.type not in ("std::string", "string") or own.pointers or own.dims:
            continue
        if own.reference or text_of(target) in procedure.addressed:
            continue  # what is added may be the text itself under another name
        parts: list[Node] = []
        one: Node | None = right
        while one is not None and one.type == "binary_expression" and text_of(field(one, "operator")) == "+":
            last = field(one, "right")
            if last is not None:
                parts.append(last)
            one = field(one, "left")
        if (
            one is None
            or text_of(one) != text_of(target)
            or not parts
            or any(text_of(target) == text_of(each) for part in parts for each in nodes(part, "identifier"))
        ):
            continue
        name = text_of(target)
        statement = "; ".join(f"{name} += {text[each.start_byte : each.end_byte].decode()}" for each in reversed(parts))
        alone = node.parent.parent is not None and node.parent.parent.type == "compound_statement"
        new = f"{statement};" if alone or len(parts) == 1 else f"{{ {statement}; }}"
        yield Change(
            {spot.source.path: (Edit(node.parent.start_byte, node.parent.end_byte, new.encode()),)},
            line_of(node),
            f"appends to {name} in place instead of copying it each time",
        )
    del context
