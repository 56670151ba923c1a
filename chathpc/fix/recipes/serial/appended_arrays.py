"""Arrays of C whose items are only ever appended: what a search found there stays there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure, Program, Source
from chathpc.fix.recipes.analysis.syntax import children, enclosing, field, nodes, text_of
from chathpc.fix.recipes.serial.item_keys import Array, are_kept, calls_own, unspaced
from chathpc.fix.recipes.serial.item_records import creations

if TYPE_CHECKING:
    from tree_sitter import Node

_READING = frozenset({"free", "fwrite"})
#: Where a pointer to items goes on, in an expression whose type is known.
_POINTING = frozenset(
    {"init_declarator", "assignment_expression", "return_statement", "binary_expression", "field_expression"}
)
_NOTHING = frozenset({"0", "NULL", "((void*)0)"})


@dataclass(frozen=True, slots=True)
class Reset:
    """A place from which on the array is another one: what is inserted before and behind it, with `{}` for what is known of it."""

    at: int
    new: str


def resets(array: Array, source: Source, program: Program) -> list[Reset] | None:
    """Where the array begins anew; None where an item's key may change in another way, or the array begins anew in another file."""
    found: list[tuple[Source, Reset]] = []
    if array.record:
        if set(program.holders.get(array.name, {})) != {array.record} or set(program.holders.get(array.count, {})) != {
            array.record
        }:
            return None
        made = creations(array.record, program)
        if made is None:
            return None
        found += [(home.source, Reset(at, new)) for home, at, new in made]
    for name in (array.name, array.count):
        if name in program.addressed or _is_in_macros(name, program):
            return None
        uses = _members(name, program) if array.record else _variables(name, program)
        if uses is None:
            return None
        for home, use in uses:
            more = _of_count(use, home) if name == array.count else _of_array(use, home, array, program)
            if more is None:
                return None
            found += [(home.source, each) for each in more]
    if array.key and not are_kept(array, program):
        return None
    return [each for _, each in found] if all(home is source for home, _ in found) else None


def _is_in_macros(name: str, program: Program) -> bool:
    word = re.compile(rf"\b{name}\b")
    return any(
        word.search(text_of(each))
        for source in program.sources.values()
        for each in nodes(source.file.tree.root_node, "preproc_arg")
    )


def _members(name: str, program: Program) -> list[tuple[Procedure, Node]]:
    return [
        (home, node)
        for home in program.procedures
        for node in home.all("field_expression")
        if text_of(field(node, "field")) == name
    ]


def _variables(name: str, program: Program) -> list[tuple[Procedure, Node]] | None:
    """Uses of a variable outside functions; None where it has other names, or its name is that of others as well."""
    found: list[tuple[Procedure, Node]] = []
    declared = 0
    for source in program.sources.values():
        for node in nodes(source.file.tree.root_node, "identifier"):
            if text_of(node) != name or enclosing(node, frozenset({"function_definition"})) is not None:
                continue
            around = _declaration(node)
            if around is None or re.search(r"\b(?:volatile|_Atomic|_Thread_local|__thread)\b", text_of(around)):
                return None
            if not text_of(around).startswith("extern"):
                declared += 1
                if not _is_plain(node):
                    return None
    for home in program.procedures:
        uses = home.identifiers.get(name, [])
        if name in home.parameters or not uses:
            continue
        if name in home.declarations:
            first = _declaration(uses[0])
            if first is None or first.parent != home.body or text_of(first).startswith("extern"):
                return None
            continue
        found += [(home, each) for each in uses]
    return found if declared == 1 else None


def _declaration(node: Node) -> Node | None:
    """The declaration that declares this name."""
    one, parent = node, node.parent
    while parent is not None and field(parent, "declarator") == one and parent.type != "declaration":
        one, parent = parent, parent.parent
    return parent if parent is not None and parent.type == "declaration" and one in parent.children_by_field_name("declarator") else None  # fmt: skip


def _is_plain(node: Node) -> bool:
    """True for a variable that begins with nothing, a number, or a list of its own."""
    one = enclosing(node, frozenset({"init_declarator"}))
    value = field(one, "value")
    return (
        value is None or value.type in ("initializer_list", "number_literal", "null") or text_of(value) in _NOTHING
    ) and not text_of(value).startswith("-")


def _of_count(use: Node, home: Procedure) -> list[Reset] | None:
    """Where the number of items becomes none; None where it becomes less in another way."""
    parent = use.parent
    if parent is None:
        return None
    if parent.type == "update_expression":
        return [] if text_of(field(parent, "operator")) == "++" else None
    if parent.type != "assignment_expression" or field(parent, "left") != use:
        return []
    operator, value = text_of(field(parent, "operator")), field(parent, "right")
    last = value
    while last is not None and last.type == "assignment_expression" and text_of(field(last, "operator")) == "=":
        last = field(last, "right")
    if operator == "=" and value is not None and text_of(last) == "0":
        return [Reset(value.start_byte, "{} = ")]
    if operator == "=" and unspaced(value) in (f"{unspaced(use)}+1", f"1+{unspaced(use)}"):
        return []
    return [] if operator == "+=" and text_of(value).isdigit() else None


def _of_array(use: Node, home: Procedure, array: Array, program: Program) -> list[Reset] | None:
    """Where the array gets other memory; None where one of its items may be changed that was there before."""
    parent = use.parent
    if parent is None or (not array.record and array.count in home.declarations):
        return None
    if enclosing(use, frozenset({"sizeof_expression"}), home.node) is not None:
        return []
    if parent.type == "subscript_expression" and field(parent, "argument") == use:
        return [] if _is_kept(parent, use, home, array, program) else None
    if parent.type == "assignment_expression" and field(parent, "left") == use:
        value = field(parent, "right")
        if value is None or text_of(field(parent, "operator")) != "=":
            return None
        return _of_memory(value, unspaced(use), home)
    if parent.type == "argument_list":
        return [] if _is_read(use, parent, array, program) else None
    if array.key and parent.type in _POINTING:
        return []  # who else has a pointer to items does not write their keys: that is looked at by the items' type
    return [] if _is_asked(parent) else None


def _is_asked(parent: Node) -> bool:
    """True for a test whether there is memory."""
    if parent.type == "parenthesized_expression":
        return parent.parent is not None and parent.parent.type in ("if_statement", "while_statement")
    return parent.type in ("binary_expression", "unary_expression") and (
        text_of(field(parent, "operator")) in ("!", "==", "!=", "&&", "||")
    )


def _is_kept(access: Node, use: Node, home: Procedure, array: Array, program: Program) -> bool:
    """True if what is done to an item leaves its key alone, or the item is the one behind the last."""
    path, one = "", access
    while one.parent is not None and one.parent.type == "field_expression" and field(one.parent, "argument") == one:
        one = one.parent
        path = path or text_of(field(one, "field"))
    parent = one.parent
    if parent is None:
        return False
    if path not in ("", array.key) or (parent.type == "subscript_expression" and field(parent, "argument") == one):
        return path not in ("", array.key)
    if parent.type == "update_expression":
        return False
    if parent.type == "pointer_expression" and text_of(field(parent, "operator")) == "&":
        return bool(array.key) and not path
    if parent.type != "assignment_expression" or field(parent, "left") != one:
        return True
    behind = unspaced(use).removesuffix(array.name) + array.count
    index = unspaced(field(access, "index"))
    if text_of(field(parent, "operator")) != "=" or index not in (behind, f"{behind}++"):
        return False
    return not calls_own(field(parent, "right"), program)


def _of_memory(value: Node, name: str, home: Procedure) -> list[Reset] | None:
    """What the array may be assigned: more memory with the same items, other memory from an allocator, or nothing."""
    inner = _allocated(value)
    called = text_of(field(inner, "function"))
    if unspaced(inner) in _NOTHING:
        return []
    if called == "realloc":
        return [] if unspaced(next(iter(children(field(inner, "arguments"))), None)) == name else None
    if called in ("malloc", "calloc"):
        return [Reset(value.start_byte, "({} = 0, "), Reset(value.end_byte, ")")]
    given = home.assigned.get(text_of(inner), []) if inner is not None and inner.type == "identifier" else []
    if not given or text_of(inner) in home.parameters or text_of(inner) in home.addressed:
        return None
    for each in given:
        one = _allocated(each)
        if text_of(field(one, "function")) != "realloc" or (
            unspaced(next(iter(children(field(one, "arguments"))), None)) != name
        ):
            return None
    return [] if all(_is_only_handed_on(each) for each in home.identifiers.get(text_of(inner), ())) else None


def _is_only_handed_on(node: Node) -> bool:
    """True for a declaration, an assignment, or a test of a pointer."""
    parent = node.parent
    return parent is not None and (
        parent.type in ("assignment_expression", "init_declarator", "pointer_declarator") or _is_asked(parent)
    )


def _allocated(node: Node | None) -> Node | None:
    """A value without casts and brackets."""
    while node is not None and node.type in ("cast_expression", "parenthesized_expression"):
        node = field(node, "value") or next(iter(children(node)), None)
    return node


def _is_read(use: Node, arguments: Node, array: Array, program: Program) -> bool:
    """True if the function that is handed the array only reads it."""
    call = arguments.parent
    name = text_of(field(call, "function"))
    own = program.named(name)
    if not own:
        return name in _READING or (name == "realloc" and children(arguments)[0] == use)
    at = children(arguments).index(use)
    if len(own) != 1 or at >= len(own[0].model.parameters):
        return False
    if array.key:
        return True
    one, callee = own[0].model.parameters[at], own[0]
    return not any(not _is_looked_up(each) for each in callee.identifiers.get(one.name, []))


def _is_looked_up(node: Node) -> bool:
    """True for a parameter's declaration, and for an access that reads one of its items."""
    if enclosing(node, frozenset({"parameter_declaration"})) is not None:
        return True
    access = node.parent
    if access is None or access.type != "subscript_expression" or field(access, "argument") != node:
        return False
    parent = access.parent
    if parent is None or parent.type in ("update_expression", "pointer_expression"):
        return False
    return parent.type != "assignment_expression" or field(parent, "left") != access
