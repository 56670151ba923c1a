"""Loops of C that look for the first item of an array that has a key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure
from chathpc.fix.recipes.analysis.syntax import bare, field, statements, text_of
from chathpc.fix.recipes.serial.bisection import counted_up, has_name, start_of
from chathpc.fix.recipes.serial.item_keys import unspaced

if TYPE_CHECKING:
    from tree_sitter import Node

#: How arrays and the numbers of their items are named.
PATHS = frozenset({"identifier", "field_expression"})
_LEAVING = frozenset({"return_statement", "break_statement", "goto_statement"})


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """A loop that does nothing with the items before the first whose key equals `wanted`; it counts from the number `zero`."""

    loop: Node
    variable: str
    zero: Node
    item: Node  #: the key, as it is compared: `ids[i]`, `r->items[i].id`
    array: Node
    key: str
    wanted: Node
    count: Node


def search_in(loop: Node, procedure: Procedure) -> Search | None:
    """The loop as such a search; None for any other."""
    condition, listed = bare(field(loop, "condition")), statements(field(loop, "body"))
    listed = [each for each in listed if text_of(each) != ";"]
    if condition is None or condition.type != "binary_expression":
        return None
    if loop.type == "for_statement":
        variable, begun = counted_up(field(loop, "update")), field(loop, "initializer") or _before(loop)
    elif loop.type == "while_statement" and listed:
        variable, begun = counted_up(bare(listed.pop())), _before(loop)
    else:
        return None
    if variable is None or begun is None or len(listed) > 1:
        return None
    test: Node | None
    if listed:
        test, operator = _asked(listed[0]), "=="
    else:
        if text_of(field(condition, "operator")) != "&&":
            return None
        test, operator = bare(field(condition, "right")), "!="
        condition = bare(field(condition, "left"))
    own = procedure.declarations.get(variable)
    zero = start_of(begun, variable)
    if own is None or own.pointers or own.dims or own.static or variable in procedure.addressed or zero is None:
        return None
    count = field(condition, "right")
    if (
        count is None
        or test is None
        or condition is None
        or text_of(zero) != "0"
        or text_of(field(condition, "left")) != variable
        or text_of(field(condition, "operator")) not in ("<", "!=")
        or text_of(field(test, "operator")) != operator
    ):
        return None
    return _compared(loop, variable, zero, test, count)


def _before(loop: Node) -> Node | None:
    one = loop.prev_named_sibling
    while one is not None and one.type == "comment":
        one = one.prev_named_sibling
    return one


def _asked(node: Node) -> Node | None:
    """The first comparison of a condition that leaves the loop where it holds."""
    found = statements(field(node, "consequence"))
    if node.type != "if_statement" or field(node, "alternative") is not None or not found:
        return None
    if found[-1].type not in _LEAVING:
        return None
    test = bare(field(node, "condition"))
    while test is not None and text_of(field(test, "operator")) == "&&":
        test = bare(field(test, "left"))
    return test


def _compared(loop: Node, variable: str, zero: Node, test: Node, count: Node) -> Search | None:
    for item, wanted in (
        (bare(field(test, "left")), bare(field(test, "right"))),
        (bare(field(test, "right")), bare(field(test, "left"))),
    ):
        if item is None or wanted is None or has_name(wanted, variable):
            continue
        access: Node | None = item
        key = ""
        if item.type == "field_expression" and text_of(field(item, "operator")) == ".":
            access, key = field(item, "argument"), text_of(field(item, "field"))
        array = field(access, "argument")
        if (
            access is None
            or array is None
            or access.type != "subscript_expression"
            or text_of(field(access, "index")) != variable
            or array.type not in PATHS
            or count.type != array.type
        ):
            continue
        if array.type == "field_expression" and (
            field(array, "argument", "field") is not None
            or unspaced(array).removesuffix(text_of(field(array, "field")))
            != unspaced(count).removesuffix(text_of(field(count, "field")))
            or (base := field(array, "argument")) is None
            or base.type != "identifier"
        ):
            continue
        return Search(loop, variable, zero, item, array, key, wanted, count)
    return None
