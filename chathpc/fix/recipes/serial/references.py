"""Copies that range-for loops, variables and lambdas make of objects (C++): constant references instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, enclosing, field, inside, line_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import is_arithmetic, type_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.copies import changes_only_locals, is_large, is_reading, is_value, only_read, referring

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCKS = frozenset({"compound_statement"})


def loop_references(context: Context, spot: Spot) -> Iterator[Change]:
    """Variables of range-for loops, and variables that are initialised with another object, become constant references."""
    procedure, program = spot.procedure, context.program
    if procedure.body is None or procedure.is_broken:
        return
    for loop in procedure.all("for_range_loop"):
        kind, own, right, body = (field(loop, name) for name in ("type", "declarator", "right", "body"))
        if kind is None or own is None or right is None or body is None or own.type != "identifier":
            continue
        written = text_of(kind)
        element = type_of(right, procedure, program)
        if (
            (element is not None and is_arithmetic(element.name) and element.depth <= 1)
            or is_arithmetic(written)
            or ("auto" not in written and not is_large(written, program))
        ):
            continue
        if right.type not in ("identifier", "field_expression", "subscript_expression"):
            continue
        if "auto" in written and element is not None and element.depth <= 1 and not is_large(element.name, program):
            continue
        root = next((text_of(each) for each in nodes(right, "identifier")), "")
        if not only_read(text_of(own), body, program) or not changes_only_locals(
            body, procedure, program, frozenset({root, text_of(own)})
        ):
            continue
        yield _by_reference(
            procedure, loop, kind, own, f"visits {text_of(right)} by constant reference instead of copying each item"
        )
    for node in procedure.all("declaration"):
        change = _bound(node, procedure, program)
        if change is not None:
            yield change
    for node in procedure.all("lambda_expression"):
        edits = _of_lambda(node, program)
        if edits:
            yield Change(
                {procedure.source.path: edits},
                line_of(node),
                "hands objects to a lambda by constant reference instead of copying them",
            )


def _of_lambda(node: Node, program: Program) -> tuple[Edit, ...]:
    """Parameters of a lambda that only reads, and changes nothing at all."""
    body = field(node, "body")
    listed = children(field(field(node, "declarator"), "parameters"))
    if body is None or any(
        True for _ in nodes(body, "assignment_expression", "update_expression", "lambda_expression", "new_expression")
    ):
        return ()
    return tuple(
        edit
        for each in listed
        if is_value(each)
        and is_large(text_of(field(each, "type")), program)
        and only_read(text_of(field(each, "declarator")), body, program)
        for edit in referring(each)
    )


def _bound(node: Node, procedure: Procedure, program: Program) -> Change | None:
    """`const T x = object;` as a reference to the object."""
    kind, declarators = field(node, "type"), node.children_by_field_name("declarator")
    if (
        kind is None
        or len(declarators) != 1
        or declarators[0].type != "init_declarator"
        or not is_large(text_of(kind), program)
    ):
        return None
    own, value, scope = (
        field(declarators[0], "declarator"),
        field(declarators[0], "value"),
        enclosing(node, _BLOCKS, procedure.node),
    )
    if (
        own is None
        or value is None
        or scope is None
        or own.type != "identifier"
        or value.type not in ("identifier", "field_expression", "subscript_expression")
    ):
        return None
    if any(each.type == "storage_class_specifier" for each in node.children):
        return None
    root = next((text_of(each) for each in nodes(value, "identifier")), "")
    if not only_read(text_of(own), scope, program) and not _only_here(text_of(own), declarators[0], scope, program):
        return None
    if not changes_only_locals(scope, procedure, program, frozenset({root, text_of(own)})):
        return None
    return _by_reference(procedure, node, kind, own, f"refers to {text_of(value)} instead of copying it")


def _by_reference(procedure: Procedure, node: Node, kind: Node, own: Node, did: str) -> Change:
    """What `node` declares (`own`, of type `kind`) becomes a constant reference."""
    constant = any(text_of(each) == "const" for each in node.children if each.type == "type_qualifier")
    edits = () if constant else (Edit(kind.start_byte, kind.start_byte, b"const "),)
    return Change({procedure.source.path: (*edits, Edit(own.start_byte, own.start_byte, b"&"))}, line_of(node), did)


def _only_here(name: str, declarator: Node, scope: Node, program: Program) -> bool:
    """True if all uses but the declaration itself read."""
    return all(
        inside(node, declarator) or is_reading(node, scope, program)
        for node in nodes(scope, "identifier")
        if text_of(node) == name
    ) and not any(True for _ in nodes(scope, "lambda_expression"))
