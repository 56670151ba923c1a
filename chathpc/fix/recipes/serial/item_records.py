"""Where records of one type begin to exist in a program of C, so that what was known of an earlier one is forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import (
    children,
    enclosing,
    field,
    inside,
    nodes,
    record_definition,
    record_name,
    record_nodes,
    text_of,
)
from chathpc.fix.recipes.analysis.types import Type, type_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MAKING = frozenset({"malloc", "calloc"})
_NOTHING = frozenset({"0", "NULL"})


def creations(name: str, program: Program) -> list[tuple[Procedure, int, str]] | None:
    """Functions and places where a record of the type is new, with what is inserted there; None where one is copied, is a part of
    something else, is handed to what is not in the sources, or begins in a way that is not understood.
    """
    defined = [
        each
        for source in program.sources.values()
        for each in record_nodes(source.file.tree.root_node)
        if record_name(each) == name
    ]
    if len(defined) != 1 or program.has_unions:
        return None
    tag = text_of(field(defined[0], "name"))
    for source in program.sources.values():
        for node in nodes(source.file.tree.root_node, "type_identifier"):
            if (
                text_of(node) in (name, tag)
                and not inside(node, record_definition(defined[0]))
                and not (text_of(node) == name and _is_mentioned_well(node))
            ):
                return None
    found: list[tuple[Procedure, int, str]] = []
    for home in program.procedures:
        more = _in(home, name, program)
        if more is None:
            return None
        found += more
    return found


def _is_mentioned_well(node: Node) -> bool:
    """True for the type of pointers, of single variables, and for a size."""
    parent = node.parent
    if parent is not None and parent.type == "struct_specifier":
        parent = parent.parent
    if parent is None or parent.type == "translation_unit":
        return parent is not None  # `struct S;`
    if parent.type == "type_descriptor":
        return parent.parent is not None and parent.parent.type in ("sizeof_expression", "cast_expression")
    if parent.type not in ("declaration", "parameter_declaration", "field_declaration", "function_definition"):
        return False
    if "volatile" in text_of(parent).split("{", 1)[0].split():
        return False
    listed = parent.children_by_field_name("declarator")
    for each in listed:
        one = field(each, "declarator") if each.type == "init_declarator" else each
        if one is None or one.type in ("pointer_declarator", "abstract_pointer_declarator"):
            continue
        if parent.type != "declaration" or one.type != "identifier" or not _begins_with_nothing(field(each, "value")):
            return False
    return bool(listed)


def _begins_with_nothing(value: Node | None) -> bool:
    """True for no value, and a list of zeros and nothing."""
    return value is None or (
        value.type == "initializer_list"
        and all(_is_nothing(each.named_children[-1] if each.type == "initializer_pair" else each) for each in children(value))
    )  # fmt: skip


def _is_nothing(value: Node) -> bool:
    if value.type == "initializer_list":
        return all(_is_nothing(each) for each in children(value))
    return text_of(value) in _NOTHING


def _in(home: Procedure, name: str, program: Program) -> list[tuple[Procedure, int, str]] | None:
    found: list[tuple[Procedure, int, str]] = []
    for node in home.all("declaration"):
        if text_of(field(node, "type")).split()[-1] != name or all(
            next(nodes(each, "pointer_declarator"), None) is not None
            for each in node.children_by_field_name("declarator")
        ):
            continue
        if node.parent is None or node.parent.type != "compound_statement":
            return None
        if not text_of(node).startswith("static"):
            found.append((home, node.end_byte, " {} = 0;"))
    for node in home.all("init_declarator", "assignment_expression"):
        value = field(node, "value") or field(node, "right")
        left = field(node, "left")
        if left is not None and type_of(left, home, program) == Type(name):
            return None  # a copy
        given = type_of(value, home, program)
        if value is None or not _is_pointer(node, name, home, program):
            if given is not None and given.name == name and given.depth:
                return None  # seen as something else from now on
            continue
        inner: Node | None = value
        while inner is not None and inner.type in ("cast_expression", "parenthesized_expression"):
            inner = field(inner, "value") or next(iter(children(inner)), None)
        if text_of(field(inner, "function")) in _MAKING:
            found += [(home, value.start_byte, "({} = 0, "), (home, value.end_byte, ")")]
        elif text_of(inner) not in _NOTHING and (inner != value or type_of(value, home, program) != Type(name, 1)):
            return None
    for each in home.all("initializer_list"):
        kinds = (type_of(one, home, program) for one in nodes(each, "call_expression"))
        if any(kind is None or (kind.name == "void" and kind.depth) for kind in kinds):
            return None  # memory for a record, perhaps
    for node in home.all("cast_expression"):
        kind = type_of(node, home, program)
        given = type_of(field(node, "value"), home, program)
        if given is not None and given.name == name and given.depth:
            return None
        if kind is not None and kind.name == name and enclosing(node, frozenset({"init_declarator", "assignment_expression"})) is None:  # fmt: skip
            return None
    for node in home.all("call_expression"):
        own = program.named(text_of(field(node, "function")))
        if text_of(field(node, "function")) == "free" and not own:
            continue
        for at, each in enumerate(children(field(node, "arguments"))):
            given = type_of(each, home, program)
            taken = own[0].model.parameters[at : at + 1] if len(own) == 1 else ()
            takes = bool(taken) and taken[0].type.split()[-1] == name
            if takes and (given is None or given.name != name) and text_of(each) not in _NOTHING:
                return None
            if given is None or given.name != name:
                continue
            if not takes:
                if not own and _is_cleared(node):
                    found.append((home, node.start_byte, "{} = 0, "))
                    continue
                return None
    for node in home.all("return_statement"):
        value = next(iter(children(node)), None)
        given = type_of(value, home, program)
        gives = home.model.returns is not None and home.model.returns.type.split()[-1] == name
        if (given is not None and given.name == name) != gives and not (gives and text_of(value) in _NOTHING):
            return None
    return found


def _is_pointer(node: Node, name: str, home: Procedure, program: Program) -> bool:
    """True where a pointer to such a record gets its value."""
    left = field(node, "left")
    if left is not None:
        return type_of(left, home, program) == Type(name, 1)
    variable = next((text_of(each) for each in nodes(field(node, "declarator") or node, "identifier")), "")
    own = home.declarations.get(variable)
    return own is not None and own.pointers == 1 and not own.dims and own.type.split()[-1] == name


def _is_cleared(node: Node) -> bool:
    """True for the statement `memset(r, 0, …);`."""
    arguments = children(field(node, "arguments"))
    return (
        text_of(field(node, "function")) == "memset"
        and len(arguments) == 3
        and text_of(arguments[1]) == "0"
        and node.parent is not None
        and node.parent.type == "expression_statement"
    )
