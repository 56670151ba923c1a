"""The functions of a source file as spans of its text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.languages import is_fortran
from chathpc.diagnosis.source.text import parsed
from chathpc.fix.recipes.analysis.syntax import field, nodes, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

#: What may stand around a definition and belongs to it.
_WRAPPERS = frozenset({"template_declaration"})


def faults(path: str, text: str) -> list[int]:
    """Lines of `text` that its language's grammar does not understand; none where there is no grammar for it, or too much of it."""
    file = parsed(path, text.encode("utf-8", "surrogateescape"))
    nodes = () if file is None else walk(file.tree.root_node)
    return sorted(node.start_point[0] + 1 for node in nodes if node.is_error or node.is_missing)


def definitions(path: str, text: str) -> Iterator[tuple[str, str]]:
    """Name and text of each function that `text`, in the language of `path`, defines, in order; names of Fortran in lower case."""
    data = text.encode("utf-8", "surrogateescape")
    for name, start, end in _spans(path, text):
        yield name, data[start:end].decode("utf-8", "surrogateescape")


def with_definition(path: str, text: str, name: str, definition: str) -> str | None:
    """`text` with `definition` in place of the function `name`; None if it defines none or several of that name.

    A method that is defined within its class is also found by its qualified name, which is not written there.
    """
    wanted = name.lower() if is_fortran(path) else name
    spans = _spans(path, text)
    found = [(start, end) for one, start, end in spans if one == wanted]
    scope, _, bare = name.rpartition("::")
    if not found and scope:
        found = [(start, end) for one, start, end in spans if one == bare]
        definition = definition.replace(f"{name}(", f"{bare}(", 1)
    if len(found) != 1:
        return None
    data = text.encode("utf-8", "surrogateescape")
    start, end = found[0]
    new = definition.strip("\n").encode("utf-8", "surrogateescape")
    return (data[:start] + new + data[end:]).decode("utf-8", "surrogateescape")


def enclosing(path: str, text: str, line: int) -> tuple[str, str] | None:
    """Name and text of the function around `line` (from 1); None if there is none."""
    data = text.encode("utf-8", "surrogateescape")
    for name, start, end in _spans(path, text):
        first = data.count(b"\n", 0, start) + 1
        if first <= line <= first + data.count(b"\n", start, end):
            return name, data[start:end].decode("utf-8", "surrogateescape")
    return None


def _spans(path: str, text: str) -> list[tuple[str, int, int]]:
    """Name, first byte and end of each definition. Nodes are placed by line and column: what is parsed may be shorter or longer."""
    data = text.encode("utf-8", "surrogateescape")
    file = parsed(path, data)
    if file is None:
        return []
    lines = list(accumulate((len(line) + 1 for line in data.split(b"\n")), initial=0))
    found = []
    for node, model in file.procedures(sys.maxsize):
        if model.name:
            whole = node.parent if node.parent is not None and node.parent.type in _WRAPPERS else node
            start, end = (lines[row] + column for row, column in (whole.start_point, whole.end_point))
            # Fortran's definitions end with the line break behind them.
            found.append((_qualified(node, model.name), start, start + len(data[start:end].rstrip())))
    return found


def _qualified(node: Node, name: str) -> str:
    """The name with the class that stands before it in the definition."""
    declarator = field(node, "declarator")
    full = () if declarator is None else map(text_of, nodes(declarator, "qualified_identifier"))
    return next((each for each in full if each.rsplit("::", 1)[-1] == name), name)
