"""The functions of a source file as spans of its text, by tree-sitter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.languages import grammar_of, is_fortran, parser

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_DEFINITIONS = frozenset({"function_definition", "subroutine", "function", "program"})
_NAMES = frozenset(
    {"identifier", "field_identifier", "qualified_identifier", "destructor_name", "operator_name", "name"}
)
#: What may stand around a definition and belongs to it.
_WRAPPERS = frozenset({"template_declaration"})


def faults(path: str, text: str) -> int:
    """How many places of `text` its language's grammar does not understand; 0 where there is no grammar for it."""
    tree = _parsed(path, text)
    if tree is None:
        return 0
    return sum(node.is_error or node.is_missing for node in _nodes(tree.root_node))


def definitions(path: str, text: str) -> Iterator[tuple[str, str]]:
    """Name and text of each function that `text`, in the language of `path`, defines, in order."""
    data = text.encode("utf-8", "surrogateescape")
    for name, start, end in _spans(path, text):
        yield name, data[start:end].decode("utf-8", "surrogateescape")


def with_definition(path: str, text: str, name: str, definition: str) -> str | None:
    """`text` with `definition` in place of the function `name`; None if it defines none or several of that name."""
    fortran = is_fortran(path)
    found = [
        (start, end)
        for one, start, end in _spans(path, text)
        if one == name or (fortran and one.lower() == name.lower())
    ]
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
    tree = _parsed(path, text)
    if tree is None:
        return []
    data = text.encode("utf-8", "surrogateescape")
    found = []
    for node in _nodes(tree.root_node):
        if node.type in _DEFINITIONS and (name := _name(node)):
            whole = node.parent if node.parent is not None and node.parent.type in _WRAPPERS else node
            # Fortran's definitions end with the line break behind them.
            found.append(
                (name, whole.start_byte, whole.start_byte + len(data[whole.start_byte : whole.end_byte].rstrip()))
            )
    return found


def _name(node: Node) -> str:
    """The name that a definition defines: the first name in its declarator, in Fortran in its first statement."""
    head = node.child_by_field_name("declarator") or (node.named_children[0] if node.named_children else None)
    while head is not None and head.type not in _NAMES:
        inner = head.child_by_field_name("declarator") or head.child_by_field_name("name")
        if inner is None:
            inner = next((child for child in head.named_children if child.type in _NAMES), None)
        if inner is None:
            inner = next((child for child in head.named_children if child.type.endswith("declarator")), None)
        head = inner
    return "" if head is None or head.text is None else head.text.decode("utf-8", "replace")


def _parsed(path: str, text: str) -> Tree | None:
    grammar = grammar_of(path)
    found = None if grammar is None else parser(grammar)
    return None if found is None else found.parse(text.encode("utf-8", "surrogateescape"))


def _nodes(root: Node) -> Iterator[Node]:
    """All nodes below `root`, itself first, in the order of the text, without recursion."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)
