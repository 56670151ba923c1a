"""Statements that open a file for a record or a question: streams of C and C++ that the same block closes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, enclosing, field, nodes, text_of
from chathpc.fix.recipes.serial.file_uses import constant_path

if TYPE_CHECKING:
    from tree_sitter import Node

_FLAGS = r"(?:(?:std::)?(?:ios|ios_base|[io]fstream)::(?:app|out|in|binary)(?:\s*\|\s*)?)+"
_OPENED = re.compile(rf"(?:std::)?([io])fstream\s+(\w+)\s*[({{]\s*(.+?)\s*(?:,\s*({_FLAGS}))?\s*[)}}]\s*;", re.DOTALL)
_OPENS = re.compile(rf"(\w+)\.open\(\s*(.+?)\s*(?:,\s*({_FLAGS}))?\s*\)\s*;", re.DOTALL)
_BLOCKS = frozenset({"compound_statement"})


@dataclass(frozen=True, slots=True)
class Opening:
    """A local stream: its declaration (or assignment), name, path, mode as written, and whether it is read or appended to."""

    node: Node
    call: Node | None  #: the call of `fopen`; None for a stream of C++
    name: str
    path: str
    mode: str
    reads: bool
    block: Node
    closing: tuple[Node, ...]
    declared: Node | None = None  #: where `open` opens it, the declaration in the same block before


def opening(node: Node, procedure: Procedure, program: Program) -> Opening | None:
    """The stream that a statement opens to append or to read; None for any other statement."""
    block = enclosing(node, _BLOCKS, procedure.node)
    if block is None or node.parent != block:
        return None
    if node.type == "declaration" and procedure.source.is_cpp:
        match = _OPENED.fullmatch(text_of(node))
        if match is not None:
            kind, name, path, mode = match.groups()
            reads = kind == "i"
            if re.search(r"[(,]", path) and not re.fullmatch(r"[^(),]*(?:\([^(),]*\)[^(),]*)*", path):
                return None
            if reads != ("::app" not in (mode or "")) or (reads and not re.fullmatch(r"[\w.>-]+|\"[^\"]*\"", path)):
                return None
            closing = _statements(block, (f"{name}.close()",))
            return Opening(node, None, name, path, mode or "", reads, block, closing) if _in(closing, block) else None
    if node.type == "expression_statement" and procedure.source.is_cpp:
        later = _opened_later(node, block)
        if later is not None:
            return later
    holder = next((each for each in nodes(node, "init_declarator", "assignment_expression")), None)
    target = field(holder, "declarator") or field(holder, "left")
    call = field(holder, "value") or field(holder, "right")
    if (
        holder is None
        or target is None
        or call is None
        or text_of(field(call, "function")) not in ("fopen", "std::fopen")
    ):
        return None
    name = text_of(next(iter(nodes(target, "identifier")), None))
    own, listed = procedure.declarations.get(name), children(field(call, "arguments"))
    if own is None or own.type != "FILE" or own.pointers != 1 or own.static or len(listed) != 2:
        return None
    if (
        name in procedure.parameters
        or len([each for each in procedure.assigned.get(name, ()) if text_of(each) not in ("NULL", "0", "nullptr")])
        != 1
    ):
        return None
    mode, path = text_of(listed[1]), listed[0]
    if mode not in ('"a"', '"ab"', '"at"', '"r"', '"rb"', '"rt"') or (
        node.type == "if_statement" and not _is_test(node, call)
    ):
        return None
    reads = mode.startswith('"r')
    if reads and constant_path(path, procedure, program) is None and not _is_often_the_same(path, procedure, program):
        return None
    closing = _statements(block, (f"fclose({name})", f"std::fclose({name})"))
    if len(closing) != 1 or not (_in(closing, block) or _is_where_opened(closing[0], name, block)):
        return None
    if closing[0].start_byte < node.end_byte:
        return None
    return Opening(node, call, name, text_of(path), mode, reads, block, closing)


def _opened_later(node: Node, block: Node) -> Opening | None:
    """The stream of `std::ofstream out; … out.open(path, std::ios::app);`."""
    match = _OPENS.fullmatch(text_of(node))
    if match is None:
        return None
    name, path, mode = match.groups()
    told = re.compile(rf"(?:std::)?([io])fstream\s+{name}\s*;")
    found = [
        (each, kind)
        for each in children(block)
        if each.end_byte <= node.start_byte and (kind := told.fullmatch(text_of(each)))
    ]
    if len(found) != 1:
        return None
    reads = found[0][1][1] == "i"
    if reads != ("::app" not in (mode or "")) or not re.fullmatch(r"[^(),]*(?:\([^(),]*\)[^(),]*)*", path):
        return None
    if reads and not re.fullmatch(r"[\w.>-]+|\"[^\"]*\"", path):
        return None
    closing = _statements(block, (f"{name}.close()",))
    return (
        Opening(node, None, name, path, mode or "", reads, block, closing, found[0][0]) if _in(closing, block) else None
    )


def _is_test(node: Node, call: Node) -> bool:
    """True for `if ((f = fopen(…)) == NULL) …` without an alternative."""
    condition = text_of(field(node, "condition")).replace(text_of(call), "OPENED")
    return field(node, "alternative") is None and re.fullmatch(
        r"\(\s*(?:!\s*\(\w+ = OPENED\)|\(\w+ = OPENED\) == (?:NULL|nullptr|0)|(?:NULL|nullptr|0) == \(\w+ = OPENED\))\s*\)", condition
    ) is not None  # fmt: skip


def _is_where_opened(closing: Node, name: str, block: Node) -> bool:
    """True in `if (f) { … }`, which stands in the block."""
    inner = closing.parent
    test = inner.parent if inner is not None else None
    if inner is None or test is None or test.type != "if_statement" or test.parent != block:
        return False
    condition = text_of(field(test, "condition"))
    return field(test, "consequence") == inner and (
        re.fullmatch(rf"\(\s*{name}(?: != (?:NULL|nullptr|0))?\s*\)", condition) is not None
    )


def _is_often_the_same(path: Node, procedure: Procedure, program: Program) -> bool:
    """True for a variable, member or parameter by which a function asks for one file again and again."""
    text = text_of(path)
    if text not in procedure.parameters:
        return re.fullmatch(r"\w+(?:(?:\.|->)\w+)*(?:\.c_str\(\))?", text) is not None
    at = [one.name for one in procedure.model.parameters].index(text)
    given = [children(field(call, "arguments")) for _, call in program.calls.get(procedure.model.name, [])]
    return bool(given) and all(
        at < len(each) and re.fullmatch(r"\w+(?:(?:\.|->)\w+)*", text_of(each[at])) is not None for each in given
    )


def _statements(block: Node, texts: tuple[str, ...]) -> tuple[Node, ...]:
    return tuple(
        each
        for each in nodes(block, "expression_statement")
        if text_of(next(iter(children(each)), None)).replace(" ", "") in texts
    )


def _in(closing: tuple[Node, ...], block: Node) -> bool:
    return all(each.parent == block for each in closing)
