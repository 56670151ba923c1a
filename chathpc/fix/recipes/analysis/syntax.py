"""Nodes of tree-sitter: walking, text, what stands around."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.c_expressions import children, line_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = [
    "all_enclosing",
    "bare",
    "body_of",
    "children",
    "control",
    "declared_names",
    "enclosing",
    "field",
    "index_of",
    "inside",
    "line_of",
    "nodes",
    "statements",
    "text_of",
    "variable_of",
    "walk",
]

C_LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})
FORTRAN_LOOPS = frozenset({"do_loop"})
#: What begins and ends a loop of Fortran.
_FRAME = re.compile(r"(?:do|end_do_loop|end_do_label_loop)_statement|block_label_start_expression")


def walk(node: Node, leaving: str = "") -> Iterator[Node]:
    """The node and all below it in the order of the text, without recursion; those without names as well. What is below nodes of the
    kind `leaving` is left out.
    """
    todo = [node]
    while todo:
        one = todo.pop()
        yield one
        if one.type != leaving:
            todo.extend(reversed(one.children))


def nodes(node: Node, *kinds: str) -> Iterator[Node]:
    """Those of some kinds that have names, the node itself among them, in the order of the text and without recursion."""
    todo = [node]
    while todo:
        one = todo.pop()
        if one.type in kinds:
            yield one
        if one.named_child_count:
            todo.extend(reversed(one.named_children))


def field(node: Node | None, *names: str) -> Node | None:
    """The child of that field, or of a field of that; None where there is none."""
    for name in names:
        if node is None:
            return None
        node = node.child_by_field_name(name)
    return node


def bare(node: Node | None) -> Node | None:
    """What stands in brackets or is a statement by itself."""
    while node is not None and node.type in ("parenthesized_expression", "expression_statement", "condition_clause"):
        inner = children(node)
        if len(inner) != 1:
            return node
        node = inner[0]
    return node


def enclosing(node: Node, kinds: frozenset[str], within: Node | None = None) -> Node | None:
    """The nearest node of some kinds around this one, and inside `within` where that is told."""
    one = node.parent
    while one is not None and (
        within is None or (one.start_byte >= within.start_byte and one.end_byte <= within.end_byte)
    ):
        if one.type in kinds:
            return one
        one = one.parent
    return None


def all_enclosing(node: Node, kinds: frozenset[str], within: Node) -> Iterator[Node]:
    """The nodes of some kinds around this one and inside `within`, the innermost first."""
    one = enclosing(node, kinds, within)
    while one is not None:
        yield one
        one = enclosing(one, kinds, within)


def inside(node: Node, around: Node) -> bool:
    """True if the node is in the other one, or is the same."""
    return around.start_byte <= node.start_byte and node.end_byte <= around.end_byte


def index_of(node: Node | None) -> Node | None:
    """What stands in the brackets behind an array; with C++'s grammar a list of arguments."""
    return field(node, "index") or field(node, "indices")


def variable_of(node: Node | None) -> Node | None:
    """The variable of which the expression is an element or member, or which it is; None behind a pointer to a record, or a call."""
    while node is not None and node.type in ("subscript_expression", "field_expression", "parenthesized_expression"):
        if node.type == "field_expression" and text_of(field(node, "operator")) != ".":
            return None
        node = field(node, "argument") or next(iter(children(node)), None)
    return node if node is not None and node.type == "identifier" else None


def statements(body: Node | None) -> list[Node]:
    """The statements of a block or of a loop of Fortran, or the one that stands for it."""
    if body is None:
        return []
    if body.type == "do_loop":
        return [one for one in children(body) if not _FRAME.match(one.type)]
    return children(body) if body.type == "compound_statement" else [body]


def body_of(loop: Node) -> Node:
    """What a loop repeats: a statement or block; of Fortran the loop itself, for its statements have no node of their own."""
    return field(loop, "body") or loop


def control(node: Node) -> Node | None:
    """`i = 1, n` of a loop of Fortran, or `i = 1:n` of a `do concurrent` with one index and nothing else; None for any other loop."""
    head = children(next((one for one in children(node) if one.type == "do_statement"), None))
    if head and head[-1].type == "concurrent_statement":
        header = children(head[-1])
        inner = children(header[0]) if len(header) == 1 else []
        return inner[0] if len(inner) == 1 and inner[0].type == "concurrent_control" else None
    return head[-1] if head and head[-1].type == "loop_control_expression" else None


def addressed_names(root: Node) -> frozenset[str]:
    """Variables and fields whose address is taken, to which a reference is bound, or that a lambda captures."""
    found: set[str] = set()
    for node in nodes(root, "pointer_expression", "reference_declarator", "lambda_expression", "for_range_loop"):
        if node.type == "lambda_expression":
            own = {
                name for part in nodes(node, "declaration", "parameter_declaration") for name in declared_names(part)
            }
            found.update({text_of(one) for one in nodes(node, "identifier")} - own)
            continue
        if node.type == "pointer_expression":
            if text_of(field(node, "operator")) != "&":
                continue
            of = field(node, "argument")
        else:  # what a reference is bound to
            if node.type != "reference_declarator" or node.parent is None or node.parent.type != "init_declarator":
                continue
            of = field(node.parent, "value")
        while of is not None:
            if of.type == "field_expression":
                found.add(text_of(field(of, "field")))
                of = field(of, "argument") if text_of(field(of, "operator")) == "." else None
            elif of.type == "parenthesized_expression":
                of = next(iter(children(of)), None)
            elif of.type == "subscript_expression":
                of = None  # an element's address is that of memory, which origins follow
            else:
                if of.type == "identifier":
                    found.add(text_of(of))
                of = None
    return frozenset(found)


def declared_names(declaration: Node) -> set[str]:
    """Names of the variables that a declaration makes; a reference is another's."""
    found = set()
    for one in declaration.children_by_field_name("declarator"):
        name: Node | None = one
        while name is not None and name.type in ("init_declarator", "array_declarator", "pointer_declarator"):
            name = field(name, "declarator")
        if name is not None and name.type == "identifier":
            found.add(text_of(name))
    return found
