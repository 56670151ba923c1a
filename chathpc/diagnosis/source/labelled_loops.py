"""Loops of Fortran 77, `do 10 i = 1, n … 10 continue`, which several loops may end together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.diagnosis.source.c_expressions import DEEPEST, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Loops that one labelled statement may end.
_MOST_SHARED = 16
_LABELLED_END = "end_do_label_loop_statement"


def terminal(node: Node) -> list[Node]:
    """The statement with a label that ends a loop of Fortran 77 and is executed in it; in the innermost of several such loops."""
    if any(_end_of(each) is not None for each in node.named_children if each.type == "do_loop" and _is_shared(each)):
        return []
    one: Node | None = node
    for _ in range(_MOST_SHARED):
        if one is None or not _is_shared(one):
            break
        one = one.parent
    end = _end_of(one) if one is not None else None
    return [each for each in (end.named_children if end is not None else []) if each.type != "statement_label"]


def _end_of(node: Node) -> Node | None:
    last = node.named_child(node.named_child_count - 1) if node.named_child_count else None
    return last if last is not None and last.type == _LABELLED_END else None


def _is_shared(node: Node) -> bool:
    """True for a loop that ends with the statement that ends the one around it."""
    end = _end_of(node)
    return end is not None and any(each.type == "do_label_virtual" for each in end.named_children)


def ends_loop(node: Node) -> bool:
    """True for a jump to the end of a loop around it, which is what `cycle` does."""
    label = next((text_of(each) for each in node.named_children if each.type == "statement_label_reference"), "")
    above = node.parent
    for _ in range(DEEPEST):
        if above is None or not label:
            return False
        if above.type == "do_loop":
            marks = above.named_children[0].named_children if above.named_child_count else []
            if any(each.type == "statement_label_reference" and text_of(each) == label for each in marks):
                return True
        above = above.parent
    return False
