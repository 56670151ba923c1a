"""How a program uses records of one type: only where they lie (C), or as values that are constructed and copied (C++); never as bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure, Program, Source
from chathpc.fix.recipes.analysis.syntax import children, field, inside, nodes, record_definition, text_of
from chathpc.fix.recipes.analysis.types import Type, type_of
from chathpc.fix.recipes.serial.record_storage import ALLOCATING, FREEING, Storage, allocates, array, made, sizes_of

if TYPE_CHECKING:
    from tree_sitter import Node


def storage_of(name: str, record: Node, program: Program) -> list[Storage] | None:
    """All places where records of the type begin and cease to exist in a program of C; None where one is not understood, or where a
    record is copied, handed to what is not in the sources, or taken for bytes.
    """
    found: list[Storage] = []
    for source, node in _mentions(name, record, program):
        if not _is_pointed_to(node, source, program, found):
            return None
    for home in program.procedures:
        if home.source.is_fortran:
            continue
        here = made(name, home, program)
        if here is None or _is_copied(name, home, program) or _is_seen_as_bytes(name, home, program):
            return None
        found += here
    return found if any(one.count for one in found) else None


def is_only_a_value(name: str, record: Node, program: Program) -> bool:
    """True if all records of the type are constructed, copied and destroyed as C++ does it, so that a member may do so in its own way."""
    for _, node in _mentions(name, record, program):
        if not _is_constructed(node):
            return False
    return not any(
        sizes_of(name, home, program) or allocates(name, home, program) or _is_seen_as_bytes(name, home, program)
        for home in program.procedures
        if not home.source.is_fortran
    ) and not any(_may_be_listed(node, name) for node in program.lists)


def _mentions(name: str, record: Node, program: Program) -> Iterator[tuple[Source, Node]]:
    """Where the type is named, but for its own definition."""
    whole = record_definition(record)
    for source in program.sources.values():
        if not source.is_fortran:
            for node in nodes(source.file.tree.root_node, "type_identifier"):
                if text_of(node) == name and not inside(node, whole):
                    yield source, node


def _parent(node: Node) -> Node | None:
    """What the type stands in, without the word `struct` before it."""
    parent = node.parent
    return parent.parent if parent is not None and parent.type in ("struct_specifier", "class_specifier") else parent


def _is_constructed(node: Node) -> bool:
    """True for variables, parameters, results, members, `new`, and what containers hold; not for casts, bases, lists, constants."""
    parent = _parent(node)
    if parent is None or parent.type in ("base_class_clause", "compound_literal_expression", "type_definition"):
        return False
    if parent.type == "type_descriptor":
        return parent.parent is not None and parent.parent.type == "template_argument_list"
    if parent.type == "new_expression":
        return len(children(field(parent, "arguments"))) < 2  # none, or a record that is copied
    return "constexpr" not in text_of(parent).split("(", 1)[0]


def _may_be_listed(node: Node, name: str) -> bool:
    """True for a list in braces that may give its values to the members of a record."""
    if node.type != "initializer_list" or not children(node):
        return False
    one = node.parent
    while one is not None and one.type in ("init_declarator", "initializer_list", "argument_list"):
        if one.type == "argument_list":
            return True
        one = one.parent
    if one is None or one.type not in ("declaration", "field_declaration"):
        return True
    return re.search(rf"\b{re.escape(name)}\b", text_of(field(one, "type"))) is not None or (
        text_of(field(one, "type")) == "auto"
    )


def _is_pointed_to(node: Node, source: Source, program: Program, found: list[Storage]) -> bool:
    """True if the name of the type stands where pointers, references or parameters are declared, or storage that is understood."""
    parent = _parent(node)
    if parent is None:
        return False
    match parent.type:
        case "translation_unit":
            return True  # `struct S;`
        case "type_definition":  # `typedef struct S S;` without a body
            return text_of(field(parent, "declarator")) == text_of(node)
        case "type_descriptor":
            return _is_described(parent)
        case "declaration" | "parameter_declaration" | "field_declaration" | "function_definition":
            listed = parent.children_by_field_name("declarator")
            if listed and all(_is_indirect(each) for each in listed):
                return True
            storage = array(parent, source, program) if len(listed) == 1 else None
            if storage is not None:
                found.append(storage)
            return storage is not None
        case _:
            return False


def _is_indirect(declarator: Node) -> bool:
    """True for a declarator with a star or a reference outermost, with or without a value."""
    one: Node | None = field(declarator, "declarator") if declarator.type == "init_declarator" else declarator
    return one is not None and one.type in (
        "pointer_declarator", "reference_declarator", "abstract_pointer_declarator", "abstract_reference_declarator",
    )  # fmt: skip


def _is_described(node: Node) -> bool:
    """True for a cast of what was allocated, and for a size, which is looked at with all others."""
    parent = node.parent
    if parent is None or parent.type != "cast_expression":
        return parent is not None and parent.type == "sizeof_expression"
    value = field(parent, "value")
    return text_of(node).rstrip().endswith("*") and (
        text_of(field(value, "function")) in ALLOCATING or text_of(value) in ("0", "NULL")
    )


def _is_copied(name: str, home: Procedure, program: Program) -> bool:
    """True if the function copies a record."""
    return any(type_of(field(node, "left"), home, program) == Type(name) for node in home.all("assignment_expression"))


def _is_seen_as_bytes(name: str, home: Procedure, program: Program) -> bool:
    """True if the function hands the address of a record to what is not in the sources, or takes it for something else."""
    for node in home.all("cast_expression"):
        inner = type_of(field(node, "value"), home, program)
        if inner is not None and inner.name == name and inner.depth:
            return True
    for node in home.all("call_expression"):
        called = text_of(field(node, "function"))
        if called.endswith((".data", "->data")) and f"<{name}>" in "".join(
            home.source.text.decode(errors="replace").split()
        ):
            return True  # of a vector, perhaps of these
        if called in FREEING or len(program.named(called)) == 1:
            continue
        for each in children(field(node, "arguments")):
            kind = type_of(each, home, program)
            if kind is not None and kind.name == name and kind.depth:
                return True
    return False
