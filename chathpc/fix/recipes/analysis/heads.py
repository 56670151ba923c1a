"""What stands around the names of functions of C and C++ where they are defined and declared, and of which language a header is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, line_end, line_start
from chathpc.fix.recipes.analysis.program import Procedure, Program, Source
from chathpc.fix.recipes.analysis.syntax import children, field, nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_HEADERS = (".h", ".hpp", ".hh")
#: A function's head that says no more than its types: no attribute, no template, no `constexpr`, no class.
_BEFORE_NAME = re.compile(rb"(?:[\w:]+\s+)+\Z")
_BEHIND_NAME = re.compile(rb"\s*(?:noexcept\s*)?\Z")
_KEEPS_NO_STATE = frozenset({b"constexpr", b"consteval", b"template", b"virtual", b"friend", b"operator", b"explicit"})
_END = re.compile(rb"[;{}]")
_LINES_APART = re.compile(rb"^[ \t]*(?:#|//)[^\n]*|/\*.*?\*/", re.MULTILINE | re.DOTALL)
_DECLARES = re.compile(rb"(?!(?:return|else)\b)[\w\s*:\[\]()\",]*\w")
_ATTRIBUTE = re.compile(rb"__attribute(?:__)?\b|__declspec\b|\[\[|__(?:host|device|global)__|alignas")


def has_plain_head(procedure: Procedure, program: Program) -> bool:
    """True for a function outside classes and templates, without attributes here or where it is declared."""
    node, text = procedure.node, procedure.source.text
    around = node.parent
    while around is not None and around.type in ("declaration_list", "linkage_specification", "namespace_definition"):
        around = around.parent
    guard = around is not None and around.type in ("preproc_ifdef", "preproc_if")
    if around is None or not (around.type == "translation_unit" or guard):
        return False
    declarator = field(node, "declarator")
    listed, body = field(declarator, "parameters"), procedure.body
    named = field(declarator, "declarator")
    if (
        declarator is None
        or declarator.type != "function_declarator"
        or listed is None
        or named is None
        or body is None
    ):
        return False
    if any(each.type != "parameter_declaration" for each in children(listed)):
        return False
    before = node.prev_named_sibling
    ahead = text[max(before.end_byte if before is not None else 0, line_start(text, node.start_byte)) : node.start_byte]
    head = text[node.start_byte : named.start_byte]
    told = [head, *_told_of(procedure.model.name, program)]
    for_others = re.search(rb"\binline\b|\b__inline", head) is not None and b"static" not in head
    words = {word for each in told for word in re.findall(rb"\w+", each)}
    return (
        not ahead.strip(b"; \t\n\r")
        and named.type == "identifier"
        and _BEFORE_NAME.match(head) is not None
        and _BEHIND_NAME.match(text[listed.end_byte : body.start_byte]) is not None
        and not any(_ATTRIBUTE.search(each) for each in told)
        and not words & (_KEEPS_NO_STATE | {one.encode() for one in program.macros})
        and not (
            for_others and not is_cpp(procedure.source, program)
        )  # in C such a function has no variables that last
    )


def _told_of(name: str, program: Program) -> Iterator[bytes]:
    """What stands before the name and behind the parameters where a function is declared."""
    pattern = re.compile(rb"\b%s\s*\(" % name.encode())
    for one in program.sources.values():
        for match in pattern.finditer(one.text):
            start = max(one.text.rfind(each, 0, match.start()) for each in (b";", b"{", b"}")) + 1
            found = _END.search(one.text, match.end())
            before = b" ".join(_LINES_APART.sub(b"", one.text[start : match.start()]).split())
            behind = one.text[match.end() : found.start() if found is not None else len(one.text)].partition(b")")[2]
            if _DECLARES.fullmatch(before):  # anything else is a call
                yield before
                yield behind


def is_cpp(source: Source, program: Program) -> bool | None:
    """Whether a file is C++; None for a header that both include, or nobody knows who does."""
    if not source.path.endswith(_HEADERS):
        return source.is_cpp
    kinds = {one.language for one in program.sources.values() if not one.is_fortran and not one.path.endswith(_HEADERS)}
    return None if len(kinds) != 1 or kinds == {"cuda"} else kinds == {"c++"}


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
