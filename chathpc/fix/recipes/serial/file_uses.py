"""Where else a program opens, removes or asks about files while it keeps one open between records (C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure, Program, plain_name
from chathpc.fix.recipes.analysis.syntax import (
    block_of,
    children,
    code_of,
    enclosing,
    field,
    inside,
    nodes,
    text_of,
)
from chathpc.fix.recipes.serial.output import LOST

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERAL = re.compile(r'"[^"\\]*"\Z')
_STREAM = re.compile(r"(?:std::)?(?:basic_)?w?([io]?)fstream\Z")
_READ_MODE = re.compile(r'"rb?t?"\Z')
#: Calls after which a file is gone, is another one, or is as long as it is not as long as records wait in a buffer.
_CHANGING = frozenset(
    {"remove", "unlink", "unlinkat", "rename", "renameat", "truncate", "resize_file", "remove_all", "copy_file", "copy", "creat",
     "link", "symlink", "create_hard_link"}
)  # fmt: skip
_ASKING = frozenset({"stat", "lstat", "file_size", "exists", "access", "opendir", "last_write_time"})
#: What is not followed: descriptors, streams whose file changes, other folders, names that macros hide.
_UNKNOWN = re.compile(
    rb"(?<![.>\w])(?:freopen|fdopen|open|openat|mmap|ftruncate|chdir|fchdir|current_path|dup2?|mkstemp|directory_iterator|w?filebuf)\s*[({]"
    rb"|\bshared_ptr<\s*(?:std::)?[io]?fstream|\bunique_ptr<\s*(?:std::)?[io]?fstream|\b[io]?fstream\s*[*>]"
)
_IN_MACRO = re.compile(rb"\b(?:fopen|fclose|w?[io]?fstream|remove|unlink|rename|truncate)\b")


@dataclass(frozen=True, slots=True)
class Use:
    """One opening, removal or question: its function, the node, its path as written, and how far its stream is in use."""

    home: Procedure
    node: Node
    path: str | None
    opens: bool
    reads: bool
    asks: bool
    end: int


def constant_path(node: Node | None, procedure: Procedure, program: Program) -> str | None:
    """The file's name where it is always the same: a literal, by a macro or constant perhaps, or a parameter that always is one."""
    text = text_of(node)
    if _LITERAL.match(text):
        return text
    if text in procedure.parameters:
        return _handed_over(text, procedure, program)
    if text in procedure.declarations:
        return None
    found = {
        text_of(field(each, "value")).strip()
        for source in program.sources.values()
        for each in nodes(source.file.tree.root_node, "preproc_def")
        if text_of(field(each, "name")) == text
    }
    if text in program.variables and not found and not program.assigned.get(text):
        found = {
            text_of(field(each, "value"))
            for source in program.sources.values()
            for each in nodes(source.file.tree.root_node, "init_declarator")
            if text_of(next(nodes(field(each, "declarator") or each, "identifier"), None)) == text
            and re.match(r"(?:static |constexpr )*const (?:char|std::string)\b|constexpr", text_of(each.parent))
        }
    only = found.pop() if len(found) == 1 else ""
    return only if _LITERAL.match(only) else None


def _handed_over(name: str, procedure: Procedure, program: Program) -> str | None:
    own = procedure.model.name
    if own in program.handed_on or len(program.named(own)) != 1 or procedure.assigned.get(name):
        return None
    at = [one.name for one in procedure.model.parameters].index(name)
    given: set[str | None] = set()
    for home, call in program.calls.get(own, []):
        listed = children(field(call, "arguments"))
        if at >= len(listed) or text_of(listed[at]) in home.parameters:
            return None
        given.add(constant_path(listed[at], home, program))
    return given.pop() if len(given) == 1 else None


def is_shared(program: Program) -> bool:
    """True if several processes run the program: what they write to one file would be mixed in the midst of records."""
    return any(b"MPI_Init" in source.text for source in program.sources.values())


def is_followed(program: Program) -> bool:
    """True if all that the program does with files can be seen, and it ends as it should."""
    if program.has_threads or program.unread or is_shared(program):
        return False
    for source in program.sources.values():
        root = source.file.tree.root_node
        code = code_of(source.text)
        if source.is_fortran or LOST.search(code) or _UNKNOWN.search(code):
            return False
        if any(_IN_MACRO.search(code_of(each.text or b"")) for each in nodes(root, "preproc_arg")):
            return False
        for each in nodes(root, "field_declaration", "declaration"):
            if _STREAM.match(text_of(field(each, "type"))) and not any(
                inside(each, one.node) for one in source.procedures
            ):
                return False
    return True


def uses_beside(mine: Node, program: Program) -> Iterator[Use]:
    """All but the opening that is told, with what is not followed as a use that does not end."""
    for home in program.procedures:
        for each in home.all("call_expression", "declaration"):
            if inside(each, mine) and home.source.file.tree.root_node == _root(mine):
                continue
            found = _declared(each, home, program) if each.type == "declaration" else _called(each, home, program)
            if found is not None:
                yield found


def _root(node: Node) -> Node:
    while node.parent is not None:
        node = node.parent
    return node


def _declared(node: Node, home: Procedure, program: Program) -> Use | None:
    match = _STREAM.match(text_of(field(node, "type")))
    block = enclosing(node, frozenset({"compound_statement"}), home.node)
    if match is None:
        return None
    name = re.search(r"(\w+)\s*[({;=]", text_of(node).split("stream", 1)[-1])
    text = text_of(home.node)
    gone = name is None or re.search(rf"\breturn\s+{name[1]}\s*;|\bmove\(\s*{name[1]}\s*\)", text) is not None
    given = re.search(r"\w\s*[({]\s*([^,()]+)", text_of(node))
    path = given[1].strip() if given is not None else None
    return Use(
        home,
        node,
        _literal(path, home, program),
        True,
        match[1] == "i",
        False,
        home.node.end_byte + 1 if gone or block is None else block.end_byte,
    )


def _literal(path: str | None, home: Procedure, program: Program) -> str | None:
    if path is None or not re.match(r"[\w\"]", path):
        return None
    found = next((each for each in home.all("identifier", "string_literal") if text_of(each) == path), None)
    return constant_path(found, home, program) if found is not None else None


def _called(call: Node, home: Procedure, program: Program) -> Use | None:
    called, listed = field(call, "function"), children(field(call, "arguments"))
    name = plain_name(called)
    stream = _STREAM.match(text_of(called))
    path = constant_path(listed[0], home, program) if listed else None
    if called is not None and called.type == "field_expression":
        return (
            Use(home, call, path, True, False, False, home.node.end_byte)
            if name == "open" and not program.named(name)
            else None
        )
    if stream is not None:
        return Use(home, call, path, True, stream[1] == "i", False, call.end_byte)
    if program.named(name):
        return None
    if name == "fopen" and len(listed) == 2:
        reads = _READ_MODE.match(text_of(listed[1])) is not None
        return Use(home, call, path, True, reads, False, _closed(call, home))
    if (name in _CHANGING and len(listed) <= 2) or name in _ASKING:
        return Use(home, call, path if len(listed) == 1 else None, False, False, name in _ASKING, call.end_byte)
    return None


def _closed(call: Node, home: Procedure) -> int:
    """Where the stream of `fopen` is closed again; the function's end where that is not seen."""
    holder = enclosing(call, frozenset({"init_declarator", "assignment_expression"}), home.node)
    named = field(holder, "declarator") or field(holder, "left")
    name = text_of(next(iter(nodes(named, "identifier")), None)) if named is not None else ""
    own = home.declarations.get(name)
    if own is None or own.static:
        return home.node.end_byte + 1
    ends = [
        each.end_byte
        for each in home.all("call_expression")
        if text_of(each).replace(" ", "").removeprefix("std::") == f"fclose({name})"
    ]
    return max(ends, default=home.node.end_byte + 1)


def reaching(names: set[str], program: Program) -> set[str]:
    """Names of functions that may call one of those, and those themselves."""
    found = {one.lstrip("~") for one in names}
    size = -1
    while size != len(found):
        size = len(found)
        found |= {one.model.name.lstrip("~") for one in program.procedures if found & _words(one.source.text, one.node)}
    return found


def mentions(names: set[str], source: bytes, start: int, end: int) -> bool:
    """True if one of the names stands in a part of a text."""
    return bool(names & set(re.findall(r"\w+", source[start:end].decode("utf-8", "replace"))))


def _words(text: bytes, node: Node) -> set[str]:
    body = field(node, "body") or node
    lists = [each for each in children(node) if each.type == "field_initializer_list"]
    parts = [text[each.start_byte : each.end_byte].decode("utf-8", "replace") for each in (body, *lists)]
    return set(re.findall(r"\w+", " ".join(parts)))


def statement_of(use: Use) -> Node | None:
    """The statement of a block around the use, before which something may be put; a loop is one without braces."""
    found = block_of(use.node)
    if found is None or found.parent is None or not inside(found, use.home.node):
        return None
    return None if found.type in ("case_statement", "labeled_statement") else found
