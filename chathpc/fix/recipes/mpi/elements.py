"""Elements of arrays that messages send and receive one by one: the address of the first, and whether the message's type is theirs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.affine import Scope, factor, linear
from chathpc.diagnosis.source.c_expressions import expression
from chathpc.diagnosis.source.layout import type_size
from chathpc.fix.recipes.analysis.loops import Counted
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import bare, children, field, nodes, text_of
from chathpc.fix.recipes.analysis.types import Type, type_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Types of messages with those of their elements: other ones may lie at other distances than the elements do.
_ELEMENTS = {
    "MPI_CHAR": "char", "MPI_BYTE": "char", "MPI_UNSIGNED_CHAR": "unsigned char", "MPI_SHORT": "short", "MPI_INT": "int",
    "MPI_UNSIGNED": "unsigned", "MPI_LONG": "long", "MPI_UNSIGNED_LONG": "unsigned long", "MPI_LONG_LONG": "long long",
    "MPI_FLOAT": "float", "MPI_DOUBLE": "double", "MPI_INT32_T": "int32_t", "MPI_INT64_T": "int64_t",
}  # fmt: skip

_SIZE = re.compile(r"(?:\(int\))?sizeof\((?:struct\s*)?(\w+)\)")


@dataclass(frozen=True, slots=True)
class First:
    """The address of the first element as text; `node` is an element, or the address of one where `is_address` holds."""

    address: str
    node: Node
    is_address: bool

    def type_of(self, procedure: Procedure, program: Program) -> Type | None:
        """The type of the elements."""
        kind = type_of(self.node, procedure, program)
        if kind is None or not self.is_address:
            return kind
        return Type(kind.name, kind.depth - 1) if kind.depth else None


def first_element(node: Node, header: Counted, procedure: Procedure) -> First | None:
    """The address of the first element for `&a[… + i]` and `a + … + i`; None where elements do not lie side by side."""
    one = bare(node)
    if one is None:
        return None
    if one.type == "pointer_expression" and text_of(field(one, "operator")) == "&":
        element = bare(field(one, "argument"))
        index = bare(field(element, "index") or next(iter(children(field(element, "indices"))), None))
        base = bare(field(element, "argument"))
        if element is None or element.type != "subscript_expression" or index is None or base is None:
            return None
        if header.variable in _names(base) or not _is_side_by_side(index, header.variable):
            return None
        new = _from_start(index, header, procedure)
        return None if new is None else First(f"&{text_of(base)}[{new or 0}]", element, False)
    if one.type == "binary_expression" and _is_side_by_side(one, header.variable):
        new = _from_start(one, header, procedure)
        base = _leftmost(one)
        return None if not new or header.variable in _names(base) else First(new, base, True)
    return None


def _names(node: Node) -> set[str]:
    return {text_of(each) for each in nodes(node, "identifier")}


def _leftmost(node: Node) -> Node:
    """The pointer in `a + … + i`."""
    while node.type == "binary_expression" and text_of(field(node, "operator")) == "+":
        left = field(node, "left")
        if left is None:
            return node
        node = left
    return node


def _is_side_by_side(index: Node, variable: str) -> bool:
    terms = linear(expression(index), Scope({}, {}), frozenset({variable}))
    step = factor(terms, variable) if terms is not None else None
    return step is not None and dict(step) == {(): 1}


def _from_start(index: Node, header: Counted, procedure: Procedure) -> str | None:
    """The index with the loop's start in place of its variable, without a last summand of nought; None where it stands there twice."""
    names = [each for each in nodes(index, "identifier") if text_of(each) == header.variable]
    if len(names) != 1:
        return None
    text, name = procedure.source.text, names[0]
    start = text_of(header.start)
    last = name
    while last.parent is not None and last.parent.type == "parenthesized_expression":
        last = last.parent
    around = last.parent
    if (
        start == "0"
        and around == index
        and text_of(field(around, "operator")) == "+"
        and field(around, "right") == last
        and (left := field(around, "left")) is not None
    ):
        return text[index.start_byte : left.end_byte].decode()
    before, after = text[index.start_byte : name.start_byte], text[name.end_byte : index.end_byte]
    return (before + start.encode() + after).decode()


def factor_of(text: str) -> str:
    """An expression as a factor: in brackets where it needs them."""
    return text if re.fullmatch(r"\w+", text) else f"({text})"


def is_of_one(count: Node) -> bool:
    """True for the number of one element: 1, or as many bytes as a type has."""
    words = text_of(count).replace(" ", "")
    return words == "1" or _SIZE.fullmatch(text_of(count).replace(" ", "")) is not None


def is_of_elements(count: Node, told: Node, element: Type | None, procedure: Procedure) -> bool:
    """True if a message of that number and type is one element, and the next one lies directly behind it."""
    if element is None or element.depth:
        return False
    unit, kind = procedure.source.file.unit, text_of(told)
    if text_of(count) != "1":
        size = _SIZE.fullmatch(text_of(count).replace(" ", ""))
        return size is not None and kind == "MPI_BYTE" and size[1] == element.name
    told_size = type_size(_ELEMENTS[kind], unit) if kind in _ELEMENTS else None
    return element.is_arithmetic and told_size == type_size(element.name, unit) is not None
