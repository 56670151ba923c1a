"""Names of C and C++ that may be reached by other ways than by their name: by an address, a reference, or a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.syntax import children, field, nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


def addressed_names(root: Node) -> frozenset[str]:
    """Variables and fields whose address is taken, to which a reference is bound, or that a lambda captures."""
    found: set[str] = set()
    for node in nodes(root, "pointer_expression", "reference_declarator", "lambda_expression", "for_range_loop"):
        if node.type == "lambda_expression":
            own = {
                text_of(each)
                for part in nodes(node, "declaration", "parameter_declaration")
                for one in part.children_by_field_name("declarator")
                for each in [_declared_name(one)]
                if each is not None
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
            if of.type in ("field_expression",):
                found.add(text_of(field(of, "field")))
                of = field(of, "argument") if text_of(field(of, "operator")) == "." else None
            elif of.type == "parenthesized_expression":
                of = children(of)[0] if children(of) else None
            elif of.type == "subscript_expression":
                of = None  # an element's address is that of memory, which origins follow
            else:
                if of.type == "identifier":
                    found.add(text_of(of))
                of = None
    return frozenset(found)


def _declared_name(node: Node | None) -> Node | None:
    """The name that a declarator without a reference declares: a variable of the block's own."""
    while node is not None and node.type in ("init_declarator", "array_declarator", "pointer_declarator"):
        node = field(node, "declarator")
    return node if node is not None and node.type == "identifier" else None
