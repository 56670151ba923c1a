"""Expressions of C, C++ and CUDA from nodes of tree-sitter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.diagnosis.source.model import Expr, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

#: What is nested deeper is not looked at; no author writes such expressions.
DEEPEST = 40
_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"})
#: Types that are called like functions when a value is converted: `double(i)`.
_CONVERSIONS = frozenset({"int", "long", "float", "double", "size_t", "unsigned", "char", "short", "bool"})
#: Nodes that stand for what is in them.
_THROUGH = frozenset(
    {"parenthesized_expression", "condition_clause", "expression_statement", "subscript_argument_list"}
)
_STRINGS = frozenset({"string_literal", "char_literal", "concatenated_string", "raw_string_literal"})
_NAMES = frozenset(
    {"identifier", "field_identifier", "type_identifier", "this", "true", "false", "null", "namespace_identifier"}
)


def text_of(node: Node | None) -> str:
    """The text of a node, in one line."""
    if node is None or node.text is None:
        return ""
    return " ".join(node.text.decode("utf-8", "replace").split())


def children(node: Node | None) -> list[Node]:
    """What is in a node, without comments; nothing without a node."""
    return [] if node is None else [each for each in node.named_children if each.type != "comment"]


def line_of(node: Node) -> int:
    """Number of the line in which the node begins; the first is 1."""
    return int(node.start_point[0]) + 1


def last_line(node: Node) -> int:
    """Number of the last line of the node; an end of line at its end is no line."""
    return int(node.end_point[0]) + (1 if node.end_point[1] else 0)


def expression(node: Node | None, depth: int = 0) -> Expr:
    """The expression that a node stands for; what is not known is OTHER with what is in it."""
    if node is None:
        return Expr(Kind.OTHER)
    line, deeper = line_of(node), depth + 1
    if depth > DEEPEST:
        return Expr(Kind.OTHER, line=line)
    kind = node.type
    if kind in _NAMES or kind == "qualified_identifier":
        return Expr(Kind.NAME, text_of(node), line=line)
    if kind == "number_literal":
        return Expr(Kind.NUMBER, text_of(node), line=line)
    if kind in _STRINGS:
        return Expr(Kind.STRING, text_of(node)[:40], line=line)
    if kind in _THROUGH and node.named_child_count == 1:
        return expression(node.named_child(0), deeper)
    field = node.child_by_field_name
    if kind == "cast_expression":
        return expression(field("value"), deeper)
    if kind in ("binary_expression", "assignment_expression"):
        sides = expression(field("left"), deeper), expression(field("right"), deeper)
        which = Kind.BINARY if kind == "binary_expression" else Kind.ASSIGN
        return Expr(which, text_of(field("operator")), None, sides, line)
    if kind == "update_expression":
        operator = "+=" if text_of(field("operator")) == "++" else "-="
        sides = expression(field("argument"), deeper), Expr(Kind.NUMBER, "1", line=line)
        return Expr(Kind.ASSIGN, operator, None, sides, line)
    if kind in ("unary_expression", "pointer_expression"):
        return Expr(Kind.UNARY, text_of(field("operator")), None, (expression(field("argument"), deeper),), line)
    if kind == "field_expression":
        name = field("field")
        base = expression(field("argument"), deeper)
        return Expr(Kind.MEMBER, text_of(name).split("<", 1)[0], base, (), line)
    if kind == "subscript_expression":
        return _index(node, deeper)
    if kind == "call_expression":
        return _call(node, deeper)
    if kind == "conditional_expression":
        arms = tuple(expression(field(name), deeper) for name in ("condition", "consequence", "alternative"))
        return Expr(Kind.CONDITIONAL, "?", None, arms, line)
    if kind == "new_expression":
        parts = tuple(expression(child, deeper) for child in children(field("declarator")))
        return Expr(Kind.CALL, "new", Expr(Kind.NAME, text_of(field("type"))), parts, line)
    if kind == "delete_expression":
        return Expr(Kind.CALL, "delete", None, tuple(expression(child, deeper) for child in node.named_children), line)
    if kind == "sizeof_expression":
        of = field("type")
        what = Expr(Kind.NAME, text_of(of), line=line) if of is not None else expression(field("value"), deeper)
        return Expr(Kind.OTHER, "sizeof", None, (what,), line)
    if kind == "lambda_expression":
        return Expr(Kind.OTHER, "lambda", None, (), line)
    inside = tuple(expression(child, deeper) for child in children(node))
    return Expr(Kind.OTHER, kind, None, inside, line)


def _index(node: Node, depth: int) -> Expr:
    """`a[i][j]` as one index with two parts."""
    base = expression(node.child_by_field_name("argument"), depth)
    indices = node.child_by_field_name("indices") or node.child_by_field_name("index")
    part = expression(indices, depth)
    if base.kind == Kind.INDEX:
        return Expr(Kind.INDEX, "", base.base, (*base.parts, part), line_of(node))
    return Expr(Kind.INDEX, "", base, (part,), line_of(node))


def _call(node: Node, depth: int) -> Expr:
    called = node.child_by_field_name("function")
    parts = tuple(expression(child, depth) for child in children(node.child_by_field_name("arguments")))
    name, base = "", None
    if called is not None:
        if called.type == "field_expression":
            base = expression(called.child_by_field_name("argument"), depth)
            called = called.child_by_field_name("field")
        name = text_of(called).split("<", 1)[0]
    if len(parts) == 1 and base is None and (name in _CASTS or name in _CONVERSIONS):
        return parts[0]
    return Expr(Kind.CALL, name, base, parts, line_of(node))
