"""Cache lines that threads share without need: records of different threads get room between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.layout import type_size
from chathpc.fix.recipes.edits import Edit, indent
from chathpc.fix.recipes.invariants import fresh_name
from chathpc.fix.recipes.program import Spot
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.syntax import children, field, line_of, nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Bytes between what two threads write: two cache lines, for neighbours are fetched together (Intel optimisation manual, 2.1.5.4).
_APART = 128
#: What sends or stores records as bytes: their size must stay.
_BYTES = re.compile(rb"\b(?:fwrite|fread|write|read|send|recv|MPI_\w+|memcmp|mmap)\b")


def padded(context: Context, spot: Spot) -> Iterator[Change]:
    """Records of threads that lie side by side in an array get room at their end, so that no two share a cache line."""
    program, text = context.program, spot.source.text
    if len(program.sources) != 1 or not re.search(rb"omp_get_thread_num|std::thread|pthread_create", text):
        return
    for name, record in program.records.items():
        kind = next((each for each in _record_nodes(spot.source.file.tree.root_node) if _name_of(each) == name), None)
        arrays = [
            one
            for one in (
                *program.variables.values(),
                *(each for procedure in program.procedures for each in procedure.model.declarations),
            )
            if one.type.removeprefix("struct ") == name and (one.dims or one.pointers)
        ]
        size = type_size(name, spot.source.file.unit)
        atomics = any("atomic" in one.type for one in record.fields)
        if kind is None or not arrays or (size is None and not atomics) or (size or 8) >= 64 or record.aligned >= 64:
            continue
        if not any(_is_per_thread(one.name, text) for one in arrays):
            continue
        if any(
            re.search(rb"\bsizeof\b[^;]*\b%s\b" % name.encode(), each) and _BYTES.search(each)
            for each in text.split(b";")
        ):
            continue
        body = field(kind, "body")
        if body is None:
            continue
        last = children(body)[-1]
        label = fresh_name("padding", text)
        line = b"\n" + indent(text, last.start_byte) + f"char {label}[{_APART}];".encode()
        yield Change(
            {spot.source.path: (Edit(last.end_byte, last.end_byte, line),)},
            line_of(kind),
            f"puts {_APART} bytes between the records of type {name} of different threads",
        )


def _record_nodes(root: Node) -> Iterator[Node]:
    return (each for each in nodes(root, "struct_specifier", "class_specifier") if field(each, "body") is not None)


def _name_of(node: Node) -> str:
    parent = node.parent
    if parent is not None and parent.type == "type_definition":
        return text_of(field(parent, "declarator"))
    return text_of(field(node, "name"))


def _is_per_thread(name: str, text: bytes) -> bool:
    """True if an array is indexed by the number of a thread, or by a parameter of the function that a thread runs."""
    if re.search(rb"\b%s\s*\[\s*omp_get_thread_num\s*\(\s*\)\s*\]" % name.encode(), text):
        return True
    numbers = set(re.findall(rb"(\w+)\s*=\s*omp_get_thread_num\s*\(", text))
    starts = set(re.findall(rb"(?:emplace_back|std::thread\s+\w+)\s*\(\s*(\w+)", text))
    for start in starts:
        match = re.search(rb"\b%s\s*\(([^)]*)\)\s*\{" % start, text)
        numbers |= set(re.findall(rb"(\w+)\s*(?:,|$)", match[1])) if match else set()
    return any(re.search(rb"\b%s\s*\[\s*%s\s*\]" % (name.encode(), each), text) for each in numbers)
