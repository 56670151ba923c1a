"""Where small functions are put that a recipe adds to a file, and what they include."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import line_start
from chathpc.fix.recipes.analysis.program import Source

if TYPE_CHECKING:
    from tree_sitter import Node


def place_of_functions(source: Source) -> int | None:
    """The byte in front of the first function, or the class or namespace around it, and its comment; None where the preprocessor
    decides about it.
    """
    at = min((one.node for one in source.procedures), key=lambda node: node.start_byte, default=None)
    while at is not None and at.parent is not None and at.parent.type != "translation_unit":
        at = at.parent
        if at.type.startswith("preproc"):
            return None
    if at is None:
        return None
    before = at.prev_sibling
    while before is not None and before.type == "comment" and before.end_point[0] + 1 >= at.start_point[0]:
        if _begins_line(before, source):
            at = before
        before = before.prev_sibling
    return line_start(source.text, at.start_byte) if _begins_line(at, source) else None


def _begins_line(node: Node, source: Source) -> bool:
    return not source.text[line_start(source.text, node.start_byte) : node.start_byte].strip()


def including(headers: Iterable[bytes], text: bytes) -> bytes:
    """Directives for those of the headers that a file does not include."""
    lines = [b"#include " + one + b"\n" for one in headers if one not in text]
    return b"".join(lines) + (b"\n" if lines else b"")
