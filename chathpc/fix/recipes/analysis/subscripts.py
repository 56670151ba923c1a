"""Indices of arrays: what they are added up of, and whether they stay the same in a loop."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.affine import Scope, Sum, add, linear
from chathpc.diagnosis.source.c_expressions import expression
from chathpc.diagnosis.source.model import Expr, Kind
from chathpc.fix.recipes.analysis.accesses import Access, Effects
from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import bare, children, field, index_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import WIDE, written_type

if TYPE_CHECKING:
    from tree_sitter import Node


def scope_of(body: Node, inner: Effects, procedure: Procedure) -> Scope:
    """What names stand for that the body declares once and never changes: whole numbers only."""
    values: dict[str, Expr] = {}
    written = [one.name for one in inner.writes if not one.memory]
    for node in nodes(body, "init_declarator"):
        name, value = field(node, "declarator"), field(node, "value")
        if name is None or value is None or name.type != "identifier" or node.parent is None:
            continue
        kind = text_of(field(node.parent, "type"))
        label = text_of(name)
        times = procedure.times_declared.get(label, 0)
        if label in written or label in procedure.addressed or not WIDE.match(kind) or times != 1:
            continue
        if is_whole(value, procedure):
            values[label] = expression(value)
    return Scope(values, procedure.source.file.unit.constants)


def is_whole(value: Node, procedure: Procedure) -> bool:
    """True for arithmetic of whole numbers without conversions that lose something."""
    if procedure.source.is_fortran:  # an index is a whole number, but what a function or section gives is not looked at
        return all(one.kind not in (Kind.CALL, Kind.OTHER) for one in procedure.expression(value).walk())
    for node in nodes(value, "cast_expression", "number_literal", "call_expression", "conditional_expression"):
        if node.type == "cast_expression":
            kind = written_type(field(node, "type"))
            if kind is None or kind.depth or not WIDE.match(kind.name):
                return False
        elif node.type == "number_literal":
            if not text_of(node).rstrip("uUlL").isdigit():
                return False
        elif node.type != "call_expression" or not _is_wide_cast(text_of(field(node, "function"))):
            return False
    for node in nodes(value, "identifier"):
        one = procedure.declarations.get(text_of(node))
        if one is not None and one.type in ("float", "double", "long double", "char", "unsigned char", "short"):
            return False
    return True


def _is_wide_cast(called: str) -> bool:
    """True for `static_cast<std::size_t>` and `size_t`, called with a number."""
    name = called.removeprefix("static_cast<").removesuffix(">") if called.startswith("static_cast<") else called
    return WIDE.match(name.strip()) is not None


def subscripts(node: Node, procedure: Procedure) -> tuple[Node, list[Node]] | None:
    """The base of an access and its indices, the first first; a member of an element counts by the element."""
    found: list[Node] = []
    one: Node | None = node
    if procedure.source.is_fortran:
        while node.type == "derived_type_member_expression":
            node = children(node)[0]
        return (children(node)[0], children(children(node)[-1])) if node.type == "call_expression" else None
    while one is not None and one.type == "field_expression" and text_of(field(one, "operator")) == ".":
        one = field(one, "argument")
    while one is not None and one.type == "subscript_expression":
        index = index_of(one)
        if index is not None and index.type == "subscript_argument_list" and len(children(index)) == 1:
            index = bare(children(index)[0])
        if index is None:
            return None
        found.append(index)
        one = field(one, "argument")
    return (one, found[::-1]) if one is not None and found else None


def sum_of(
    parts: list[Node], renamed: dict[str, str], scope: Scope, moving: frozenset[str], procedure: Procedure
) -> Sum | None:
    """The parts of an index added up, with names replaced; None for what is no sum of products."""
    total: Sum | None = {}
    for part in parts:
        one = linear(_renamed(procedure.expression(part), renamed), scope, moving)
        total = None if one is None or total is None else add(total, one)
    return total


def base_and_parts(one: Access, inner: Effects) -> tuple[Node, list[list[Node]]] | None:
    """Base and indices of an access, each index as parts to be added; a pointer that the body sets once to `base + offset` stands
    for that.
    """
    found = subscripts(one.node, one.procedure)
    if found is None:
        return None
    base, indices = found[0], [[each] for each in found[1]]
    name = text_of(base)
    if base.type != "identifier" or name not in inner.declared or len(indices) != 1:
        return base, indices
    own, given = one.procedure.declarations.get(name), one.procedure.assigned.get(name, [])
    value = given[0] if len(given) == 1 else None
    if own is None or own.pointers != 1 or name in one.procedure.addressed or value is None:
        return base, indices
    steps = (field(each, "argument") for each in one.procedure.all("update_expression"))
    if value.parent is None or value.parent.type != "init_declarator" or name in map(text_of, steps):
        return base, indices
    value = bare(value)
    while value is not None and value.type == "binary_expression" and text_of(field(value, "operator")) == "+":
        left, right = bare(field(value, "left")), field(value, "right")
        if left is None or right is None:
            return base, indices
        indices[0].append(right)
        value = left
    if value is not None and value.type == "pointer_expression" and text_of(field(value, "operator")) == "&":
        element = field(value, "argument") or value
        of = subscripts(element, one.procedure)
        if of is None or len(of[1]) != 1 or element.type != "subscript_expression":
            return base, [[each] for each in found[1]]
        indices[0].append(of[1][0])
        value = of[0]
    if value is None or value.type not in ("identifier", "field_expression"):
        return base, [[each] for each in found[1]]
    return value, indices


def is_steady(index: Node, inner: Effects, procedure: Procedure, program: Program) -> bool:
    """True if an index changes nothing, and nothing that it reads from memory is written by the loop."""
    mine = effects(index, procedure, program)
    if not mine.is_known or mine.writes:
        return False
    return not any(
        read.memory and may_overlap(read, write, program) for read in mine.accesses for write in inner.writes
    )


def _renamed(expr: Expr, names: dict[str, str]) -> Expr:
    if not names:
        return expr
    text = names.get(expr.text, expr.text) if expr.kind == Kind.NAME else expr.text
    base = None if expr.base is None else _renamed(expr.base, names)
    return replace(expr, text=text, base=base, parts=tuple(_renamed(part, names) for part in expr.parts))
