"""Containers of C++ that are wrong for what is done with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, indent
from chathpc.fix.recipes.analysis.loops import around
from chathpc.fix.recipes.analysis.program import Spot
from chathpc.fix.recipes.analysis.syntax import bare, children, field, inside, is_container_use, line_of, nodes, text_of
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


def prepended(context: Context, spot: Spot) -> Iterator[Change]:
    """`v.insert(v.begin(), x)` in a loop appends instead, and what the loop gave is turned around behind it."""
    procedure, text = spot.procedure, spot.source.text
    includes = list(INCLUDE.finditer(text))
    if procedure.is_broken or not includes:
        return
    for call in procedure.all("call_expression"):
        match = re.fullmatch(r"(\w+)\.insert\((\w+)\.c?begin\(\), (.+)\)", text_of(call))
        loops = list(around(call, procedure))
        if match is None or match[1] != match[2] or not loops or re.search(rf"\b{match[1]}\b", match[3]):
            continue
        name, listed = match[1], children(field(call, "arguments"))
        own = procedure.declarations.get(name)
        uses = [each for each in procedure.identifiers.get(name, ()) if not inside(each, call)]
        declared = next(
            (each.parent for each in uses if each.parent is not None and each.parent.type == "declaration"), None
        )
        first = min((each.start_byte for each in uses if each.parent != declared), default=len(text))
        if own is None or declared is None or own.pointers or own.reference or own.static or len(listed) != 2:
            continue
        if not re.match(r"(?:std::)?(?:vector<|string\Z)", own.type) or call.parent is None or len(uses) < 2:
            continue
        outer = [each for each in loops if not inside(declared, each)]
        loop = outer[-1] if outer else None
        # Nobody looks at it before the loop is left, by its end alone, and it began empty.
        if loop is None or loop.parent is None or loop.parent != declared.parent or first < loop.end_byte:
            continue
        if call.parent.type != "expression_statement" or any(
            True for _ in nodes(loop, "return_statement", "goto_statement", "throw_statement", "lambda_expression")
        ):
            continue
        edits = [
            Edit(call.start_byte, listed[1].start_byte, f"{name}.push_back(".encode()),
            Edit(
                loop.end_byte,
                loop.end_byte,
                b"\n" + indent(text, loop.start_byte) + f"std::reverse({name}.begin(), {name}.end());".encode(),
            ),
        ]
        if b"<algorithm>" not in text:
            edits.append(Edit(includes[-1].end(), includes[-1].end(), b"#include <algorithm>\n"))
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(call),
            f"appends to {name} and turns it around behind the loop instead of moving all of it for each item",
        )
    del context


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
