"""Vectors of C++ that are used as queues become double-ended queues."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.program import Spot
from chathpc.fix.recipes.analysis.syntax import field, line_of, nodes, text_of
from chathpc.fix.recipes.recipe import Change, Context

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
            f"Make {name} a double-ended queue, which pops its front without moving the rest",
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
    if parent.type == "subscript_expression":  # from the address of an item a queue does not lead to the next one
        above = parent.parent
        return field(parent, "argument") == one and (above is None or above.type != "pointer_expression")
    if parent.type == "field_expression":
        return text_of(field(parent, "field")) in _OF_QUEUES
    return parent.type == "for_range_loop" and field(parent, "right") == one
