"""Objects that are made and thrown away in one block: on the stack; items that are taken out of a vector one by one (C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, indent_step, without_line
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import (
    bare,
    children,
    enclosing,
    field,
    inside,
    line_of,
    nodes,
    statements,
    text_of,
)
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCKS = frozenset({"compound_statement"})
_LEAVING = (
    "return_statement",
    "goto_statement",
    "break_statement",
    "continue_statement",
    "throw_statement",
    "lambda_expression",
)
_MADE = re.compile(r"(?:std::)?make_(?:unique|shared)<\s*([\w:]+)\s*>\Z")


def on_stack(context: Context, spot: Spot) -> Iterator[Change]:
    """`T *p = new T(…); … delete p;` in one block, and `auto p = std::make_unique<T>(…);`, is an object of the block."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or procedure.body is None:
        return
    for node in procedure.all("declaration"):
        declarators = node.children_by_field_name("declarator")
        block = enclosing(node, _BLOCKS, procedure.node)
        if len(declarators) != 1 or declarators[0].type != "init_declarator" or block is None or node.parent != block:
            continue
        name = text_of(next((each for each in nodes(declarators[0], "identifier")), None))
        made = bare(field(declarators[0], "value"))
        found = _made(node, made)
        if found is None:
            continue
        kind, given, owns = found
        record = program.records.get(kind)
        if record is None or any(one.dims for one in record.fields):
            continue
        deleting = [
            each
            for each in procedure.all("expression_statement")
            if text_of(each) == f"delete {name};" and inside(each, block)
        ]
        if (not owns and (len(deleting) != 1 or deleting[0].parent != block)) or (owns and deleting):
            continue
        end = deleting[0].start_byte if deleting else block.end_byte
        if any(True for each in nodes(block, *_LEAVING) if node.end_byte < each.start_byte < end) and not owns:
            continue
        if not all(
            _is_used_in_place(each, program) or inside(each, node) or any(inside(each, one) for one in deleting)
            for each in procedure.identifiers.get(name, ())
            if inside(each, block)
        ):
            continue
        value = fresh_name(f"{name}_object", text)
        blank = indent(text, node.start_byte)
        inits = f"({given})" if given else ""
        new = f"{kind} {value}{inits};\n".encode() + blank + f"{kind} *{name} = &{value};".encode()
        edits = [Edit(node.start_byte, node.end_byte, new)]
        for each in deleting:
            edits.append(without_line(each, text))
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(node),
            f"makes what {name} points to an object of the block instead of allocating it",
        )


def _made(node: Node, made: Node | None) -> tuple[str, str, bool] | None:
    """Type and arguments of the constructor; True for a pointer that deletes what it owns."""
    if made is None or any(each.type == "storage_class_specifier" for each in node.children):
        return None
    if made.type == "new_expression" and field(made, "declarator") is None and field(made, "placement") is None:
        kind = text_of(field(made, "type"))
        told = text_of(field(node, "type"))
        listed = field(made, "arguments")
        if told not in (kind, "auto") or (listed is not None and listed.type != "argument_list"):
            return None
        return kind, text_of(listed)[1:-1].strip(), False
    match = _MADE.match(text_of(field(made, "function"))) if made.type == "call_expression" else None
    if match is None:
        return None
    return match[1], text_of(field(made, "arguments"))[1:-1].strip(), True


def _is_used_in_place(node: Node, program: Program) -> bool:
    """True for `p->member` and `*p` as the argument of a function of the program that takes it by reference or value."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "field_expression" and text_of(field(parent, "operator")) == "->":
        call = parent.parent
        own = program.named(text_of(field(parent, "field")))
        called = call is not None and call.type == "call_expression" and field(call, "function") == parent
        # A member function that hands out its object might let it live on.
        return not called or (bool(own) and not any(True for one in own for _ in one.all("this")))
    return (
        parent.type == "pointer_expression"
        and text_of(field(parent, "operator")) == "*"
        and (
            parent.parent is not None
            and parent.parent.type in ("field_expression", "parenthesized_expression", "binary_expression")
        )
    )


def erased_once(context: Context, spot: Spot) -> Iterator[Change]:
    """A loop that takes items out of a vector with `it = v.erase(it)` moves those that stay forward once and cuts the rest off."""
    procedure, text = spot.procedure, spot.source.text
    if procedure.is_broken:
        return
    for loop in procedure.all("for_statement", "while_statement"):
        found = _erasing(loop, procedure)
        if found is None:
            continue
        start, name, it, test = found
        blank, step = indent(text, start.start_byte), indent_step(text)
        kept = fresh_name(f"{name}_kept", text)
        condition = text[test.start_byte : test.end_byte].decode()
        lines = [
            f"auto {kept} = {name}.begin();",
            f"for (auto {it} = {name}.begin(); {it} != {name}.end(); ++{it}) {{",
            f"{step.decode()}if ({condition}) continue;",
            f"{step.decode()}if ({kept} != {it}) *{kept} = std::move(*{it});",
            f"{step.decode()}++{kept};",
            "}",
            f"{name}.erase({kept}, {name}.end());",
        ]
        if b"<utility>" not in text and b"<algorithm>" not in text and b"<vector>" not in text:
            continue
        new = (b"\n" + blank).join(each.encode() for each in ("{", *(step.decode() + each for each in lines), "}"))
        yield Change(
            {spot.source.path: (Edit(start.start_byte, loop.end_byte, new),)},
            line_of(loop),
            f"moves the items of {name} that stay once instead of all behind each that goes",
        )
    del context


def _erasing(loop: Node, procedure: Procedure) -> tuple[Node, str, str, Node] | None:
    """Where it begins, the vector, the iterator and the condition for items that go."""
    if loop.type != "for_statement" or field(loop, "update") is not None:
        return None
    begun = re.fullmatch(
        r"(?:auto|(?:std::)?vector<.*>::iterator) (\w+) = (\w+)\.begin\(\);", text_of(field(loop, "initializer"))
    )
    listed = statements(field(loop, "body"))
    test = listed[0] if len(listed) == 1 else None
    if begun is None or test is None or test.type != "if_statement":
        return None
    it, name = begun[1], begun[2]
    if text_of(field(loop, "condition")) != f"{it} != {name}.end()":
        return None
    own = procedure.declarations.get(name)
    if own is None or own.pointers or not re.match(r"(?:std::)?vector<", own.type):
        return None
    condition = bare(field(test, "condition"))
    gone, stays = field(test, "consequence"), field(test, "alternative")
    stays = next(iter(children(stays)), None) if stays is not None and stays.type == "else_clause" else stays
    if (
        condition is None
        or _only(gone) != f"{it} = {name}.erase({it});"
        or _only(stays) not in (f"++{it};", f"{it}++;")
    ):
        return None
    if any(text_of(each) == name for each in nodes(condition, "identifier")) or any(
        True
        for _ in nodes(condition, "call_expression", "assignment_expression", "update_expression", "lambda_expression")
    ):
        return None
    return loop, name, it, condition


def _only(node: Node | None) -> str:
    listed = statements(node)
    return text_of(listed[0]) if len(listed) == 1 else ""
