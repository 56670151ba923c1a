"""What stands in front of functions of C and C++: inclusions of headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, line_end, line_start
from chathpc.fix.recipes.analysis.program import Procedure
from chathpc.fix.recipes.analysis.syntax import field, nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


def included(header: str, procedure: Procedure) -> list[Edit]:
    """The header's inclusion behind others before the function that no condition can leave out; nothing where it is included."""
    text, top = procedure.source.text, procedure.node
    while top.parent is not None and top.parent.type != "translation_unit":
        top = top.parent
    places = []
    for one in nodes(top.parent, "preproc_include") if top.parent is not None else ():
        holder = one.parent
        if one.start_byte < procedure.node.start_byte and holder is not None and _holds(holder, procedure.node):
            if text_of(field(one, "path")) == f"<{header}>":
                return []
            places.append(line_end(text, one.end_byte - 1))
    line = f"#include <{header}>\n".encode()
    at = places[-1] if places else line_start(text, top.start_byte)
    return [Edit(at, at, line)]


def _holds(holder: Node, node: Node) -> bool:
    """True if what holds an inclusion holds the function as well, and not behind an `#else`."""
    one = node.parent
    while one is not None and one != holder and one.type not in ("preproc_else", "preproc_elif"):
        one = one.parent
    return one == holder
