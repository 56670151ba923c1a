"""Whether a program of C or C++ uses records of one type only where they lie: never copied, never seen as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure, Program, Source
from chathpc.fix.recipes.analysis.syntax import children, field, inside, nodes, text_of
from chathpc.fix.recipes.analysis.types import Type, plain, type_of
from chathpc.fix.recipes.serial.record_storage import ALLOCATING, FREEING, Storage, array, made

if TYPE_CHECKING:
    from tree_sitter import Node


def storage_of(name: str, record: Node, program: Program) -> list[Storage] | None:
    """All places where records of the type begin and cease to exist; None where one is not understood, or where a record is copied,
    handed to what is not in the sources, or taken for bytes.
    """
    found: list[Storage] = []
    for source in program.sources.values():
        if source.is_fortran:
            continue
        for node in nodes(source.file.tree.root_node, "type_identifier"):
            if text_of(node) != name or inside(node, _whole(record)):
                continue
            if not _is_pointed_to(node, name, source, program, found):
                return None
    for home in program.procedures:
        if home.source.is_fortran:
            continue
        here = made(name, home, program)
        if here is None or _is_copied(name, home, program):
            return None
        found += here
    return found if any(one.count for one in found) else None


def _whole(record: Node) -> Node:
    return record.parent if record.parent is not None and record.parent.type == "type_definition" else record


def _is_pointed_to(node: Node, name: str, source: Source, program: Program, found: list[Storage]) -> bool:
    """True if the name of the type stands where pointers, references or parameters are declared, or storage that is understood."""
    parent = node.parent
    if parent is not None and parent.type in ("struct_specifier", "class_specifier"):
        parent = parent.parent
    if parent is None:
        return False
    match parent.type:
        case "translation_unit" | "type_definition" | "declaration_list":
            # `struct S;`, and `typedef struct S S;` without a body
            return parent.type != "type_definition" or text_of(field(parent, "declarator")) == name
        case "new_expression":
            return True  # looked at where it is made
        case "type_descriptor":
            return _is_described(parent)
        case "declaration" | "parameter_declaration" | "field_declaration" | "function_definition":
            listed = parent.children_by_field_name("declarator")
            if any(_is_indirect(each) for each in listed) and all(_is_indirect(each) for each in listed):
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
    """True for a cast of what was allocated, a size that an allocation asks for, and the type of a vector's items."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "cast_expression":
        value = field(parent, "value")
        return text_of(node).rstrip().endswith("*") and (
            text_of(field(value, "function")) in ALLOCATING or text_of(value) in ("0", "NULL")
        )
    if parent.type == "sizeof_expression":
        return True  # looked at with all others
    return parent.type == "template_argument_list" and _is_local_vector(parent.parent)


def _is_local_vector(node: Node | None) -> bool:
    """True for the type of a parameter or a variable of a function: what becomes of members and results is not followed."""
    if text_of(field(node, "name")) != "vector":
        return False
    one = node.parent if node is not None else None
    while one is not None and one.type == "qualified_identifier":
        one = one.parent
    if one is None or one.type != "declaration":
        return one is not None and one.type == "parameter_declaration"
    return one.parent is not None and one.parent.type == "compound_statement"


def _is_copied(name: str, home: Procedure, program: Program) -> bool:
    """True if the function may copy a record, hand its address to what is not in the sources, or take it for something else."""
    for node in home.all("assignment_expression"):
        if type_of(field(node, "left"), home, program) == Type(name):
            return True
    for node in home.all("cast_expression"):
        inner = type_of(field(node, "value"), home, program)
        if (
            inner is not None
            and inner.name == name
            and inner.depth
            and plain(text_of(field(node, "type", "type"))) != name
        ):
            return True
    for node in home.all("call_expression"):
        called = text_of(field(node, "function"))
        if called in FREEING or len(program.named(called)) == 1:
            continue
        for each in children(field(node, "arguments")):
            kind = type_of(each, home, program)
            if kind is not None and kind.name == name and (kind.depth or not home.source.is_cpp):
                return True
    return any(_is_taken_by_value(node, home, program) for node in home.all("declaration"))


def _is_taken_by_value(node: Node, home: Procedure, program: Program) -> bool:
    """True for `auto one = …;` with anything but a number or a pointer."""
    if text_of(field(node, "type")) != "auto":
        return False
    for each in node.children_by_field_name("declarator"):
        named = field(each, "declarator")
        if each.type == "init_declarator" and named is not None and named.type == "identifier":
            kind = type_of(field(each, "value"), home, program)
            if kind is None or not (kind.is_arithmetic or kind.depth):
                return True
    return False
