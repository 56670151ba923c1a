"""Keys of records in an array: set once, before anybody can search for them (C)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import C_LOOPS, children, field, nodes, text_of
from chathpc.fix.recipes.analysis.types import Type, type_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Functions that only read what they are handed, or keep it.
_READING = frozenset({"free", "fwrite", "realloc"})
_MAKING = frozenset({"malloc", "calloc", "realloc"})
_NOTHING = frozenset({"0", "NULL"})


@dataclass(frozen=True, slots=True)
class Array:
    """An array and the number of its items: variables outside functions, or members of `record`. `key` is the member of an item,
    of type `item`, by which it is found; both are empty where items are numbers.
    """

    name: str
    count: str
    record: str
    key: str
    item: str


def unspaced(node: Node | None) -> str:
    """The text without blanks."""
    return "".join(text_of(node).split())


def calls_own(node: Node | None, program: Program) -> bool:
    """True if a function of the program may be called, which may search while an item is half there."""
    return node is not None and any(
        field(each, "function") is None
        or text_of(field(each, "function")) in program.macros
        or field(each, "function", "argument") is not None
        or bool(program.named(text_of(field(each, "function"))))
        for each in nodes(node, "call_expression")
    )


def are_kept(array: Array, program: Program) -> bool:
    """True if all that is ever done to the key of a record of the items' type is to set that of a variable, which is no item, or that of
    the item behind the array's last one; items are neither copied over others nor handed to what is not in the sources.
    """
    item = array.item
    if array.key in program.addressed or program.has_unions:
        return False
    behind = re.compile(
        rf"(?:&(?P<a>(?:\w+(?:->|\.))?){array.name}\[(?P=a){array.count}(?:\+\+)?\]|(?P<b>(?:\w+(?:->|\.))?){array.name}\+(?P=b){array.count}(?:\+\+)?)\Z"
    )
    for home in program.procedures:
        for node in home.all("assignment_expression", "update_expression"):
            target = field(node, "left") or field(node, "argument")
            if target is None or not _is_right(node, target, array, behind, home, program):
                return False
        for node in home.all("init_declarator", "assignment_expression"):
            if not _is_of_its_type(node, item, home, program):
                return False
        for node in home.all("cast_expression"):
            if not _is_cast_well(node, item, home, program):
                return False
        for node in home.all("call_expression"):
            if not _is_called_well(node, item, home, program):
                return False
        for node in home.all("return_statement"):
            kind = type_of(next(iter(children(node)), None), home, program)
            returns = home.model.returns
            if kind is not None and kind.name == item and (returns is None or returns.type.split()[-1] != item):
                return False
    return True


def _is_right(
    node: Node, target: Node, array: Array, behind: re.Pattern[str], home: Procedure, program: Program
) -> bool:
    """True for an assignment that changes no key of an item that is there."""
    base: Node | None = target
    if target.type == "field_expression":
        if text_of(field(target, "field")) != array.key:
            return True
        base = field(target, "argument")
        of = type_of(base, home, program)
        if of is not None and of.name != array.item and of.name in program.records:
            return True
    elif type_of(target, home, program) != Type(array.item):
        return not (type_of(target, home, program) is None and target.type != "identifier")
    if base is None:
        return False
    if base.type == "subscript_expression" and _is_array(field(base, "argument"), array, home):
        return True  # all uses of the array are looked at
    if base.type == "identifier" and (target is base or text_of(field(target, "operator")) == "."):
        return True  # a variable of its own
    if base.type == "pointer_expression":
        base = field(base, "argument")
    if base is None or base.type != "identifier":
        return False
    return node.type == "assignment_expression" and _is_behind(base, node, behind, home, program)


def _is_array(node: Node | None, array: Array, home: Procedure) -> bool:
    if node is None:
        return False
    if array.record:
        return node.type == "field_expression" and text_of(field(node, "field")) == array.name
    return node.type == "identifier" and text_of(node) == array.name and array.name not in home.declarations


def _is_behind(base: Node, node: Node, behind: re.Pattern[str], home: Procedure, program: Program) -> bool:
    """True for a pointer to the item behind the last, in the block that declares it, where nobody can have searched meanwhile."""
    name = text_of(base)
    values = home.assigned.get(name, [])
    if len(values) != 1 or values[0] is None or name in home.parameters or name in home.addressed:
        return False
    if not behind.match(unspaced(values[0])) or calls_own(field(node, "right"), program):
        return False
    first: Node | None = values[0]
    while first is not None and not first.type.endswith(("declaration", "statement")):
        first = first.parent
    last = node.parent
    if first is None or last is None or last.type != "expression_statement" or last.parent != first.parent:
        return False
    one: Node | None = first
    while one is not None and one != last:
        if (
            calls_own(one, program)
            or next(nodes(one, *C_LOOPS, "labeled_statement", "goto_statement"), None) is not None
        ):
            return False
        one = one.next_named_sibling
    return one is not None


def _is_of_its_type(node: Node, item: str, home: Procedure, program: Program) -> bool:
    """True unless a pointer to an item becomes one to something else."""
    value = field(node, "value") or field(node, "right")
    kind = type_of(value, home, program)
    if kind is None or kind.name != item or not kind.depth:
        return True
    target = field(node, "left")
    if target is None:
        name = next((text_of(each) for each in nodes(field(node, "declarator") or node, "identifier")), "")
        own = home.declarations.get(name)
        return own is not None and own.type.split()[-1] == item and own.pointers + len(own.dims) == kind.depth
    return type_of(target, home, program) == kind


def _is_cast_well(node: Node, item: str, home: Procedure, program: Program) -> bool:
    """True unless memory of items is seen as another type, or other memory as items."""
    value = field(node, "value")
    inner = type_of(value, home, program)
    if inner is not None and inner.name == item and inner.depth:
        return False
    to = text_of(field(node, "type")).replace("*", " ").split()
    return item not in to or text_of(field(value, "function")) in _MAKING or text_of(value) in _NOTHING


def _is_called_well(node: Node, item: str, home: Procedure, program: Program) -> bool:
    """True unless items are handed to a function that may write them and is not in the sources, or does not take them for items."""
    name = text_of(field(node, "function"))
    own = program.named(name)
    if name in _READING and not own:
        return True
    for at, each in enumerate(children(field(node, "arguments"))):
        kind = type_of(each, home, program)
        if kind is None and any(
            _points(one, item, home, program) for one in nodes(each, "identifier", "field_expression")
        ):
            return False
        if kind is None or kind.name != item or not kind.depth:
            continue
        if not own:
            if each.type == "pointer_expression" and _is_own_variable(field(each, "argument"), home):
                continue
            return False
        taken = own[0].model.parameters[at : at + 1]
        if len(own) != 1 or not taken or taken[0].type.split()[-1] != item:
            return False
    return True


def _is_own_variable(node: Node | None, home: Procedure) -> bool:
    one = home.declarations.get(text_of(node)) if node is not None and node.type == "identifier" else None
    return one is not None and not one.pointers and not one.dims and not one.reference


def _points(node: Node, item: str, home: Procedure, program: Program) -> bool:
    kind = type_of(node, home, program)
    return kind is not None and kind.name == item and kind.depth > 0
