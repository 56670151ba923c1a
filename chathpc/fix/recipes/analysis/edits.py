"""Changes of a text by bytes: what no edit names stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Bytes `start` to `end` of a text become `new`; an insertion where both are the same."""

    start: int
    end: int
    new: bytes


def applied(text: bytes, edits: Iterable[Edit]) -> bytes | None:
    """The text after all edits; None where two of them are about the same bytes. Insertions at one place keep their order."""
    parts: list[bytes] = []
    at = 0
    for one in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if one.start < at:
            return None
        parts += [text[at : one.start], one.new]
        at = one.end
    return b"".join([*parts, text[at:]])


def line_start(text: bytes, at: int) -> int:
    """Where the line begins that holds the byte."""
    return text.rfind(b"\n", 0, at) + 1


def line_end(text: bytes, at: int) -> int:
    """Where the next line begins after the byte; the text's end for its last line."""
    found = text.find(b"\n", at)
    return len(text) if found < 0 else found + 1


def without_line(node: Node, text: bytes, instead: bytes = b"") -> Edit:
    """The node goes, with its line where nothing else stands in it; elsewhere `instead` takes its place."""
    last = max(node.start_byte, node.end_byte - 1)
    start, end = line_start(text, node.start_byte), line_end(text, last)
    if text[start : node.start_byte].strip() or text[last + 1 : end].strip():
        return Edit(node.start_byte, last + 1, instead + (b"\n" if text[last : last + 1] == b"\n" else b""))
    return Edit(start, end, b"")


def without_statement(node: Node, text: bytes, instead: bytes = b"") -> Edit:
    """As `without_line`, for a statement of C or C++: one that is the whole body of a loop or condition leaves `;`."""
    if node.parent is not None and node.parent.type != "compound_statement":
        return Edit(node.start_byte, node.end_byte, b";")
    return without_line(node, text, instead)


def indent(text: bytes, at: int) -> bytes:
    """The blanks before what stands in the byte's line."""
    start = line_start(text, at)
    end = start
    while text[end : end + 1] in (b" ", b"\t"):
        end += 1
    return text[start:end]


def shifted(block: bytes, more: bytes) -> bytes:
    """The lines with `more` before each that is not empty, the first left out: it stands behind its own indent."""
    first, *rest = block.split(b"\n")
    return b"\n".join([first, *(more + one if one.strip() and not one.startswith(b"#") else one for one in rest)])


def fresh_name(wanted: str, text: bytes, number: int = 0) -> str:
    """A name that stands nowhere in the text yet."""
    name = wanted if number == 0 else f"{wanted}{number + 1}"
    while name.encode() in text and re.search(rb"\b%s\b" % name.encode(), text):
        number += 1
        name = f"{wanted}{number + 1}"
    return name
