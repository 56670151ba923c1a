"""What runs in a parallel region of OpenMP in C and C++: its statements, and the functions that may be called from there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.directives import Directive, directive, directives
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_JOINED = re.compile(rb"\\\r?\n")
#: Directives that stand elsewhere than in a line of their own.
_HIDDEN = re.compile(rb"\b_Pragma\b|\b__pragma\b|\bomp\s*::")


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A statement, or the whole body of a function, that threads may be in at the same time."""

    node: Node
    procedure: Procedure


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """A parallel region with the functions that may be called in it, whoever calls them."""

    parts: tuple[Part, ...]

    def holds(self, node: Node, procedure: Procedure) -> bool:
        """True if a node of a function is in it."""
        return any(
            one.procedure is procedure and one.node.start_byte <= node.start_byte and node.end_byte <= one.node.end_byte
            for one in self.parts
        )


def all_directives(word: str, program: Program) -> list[tuple[Procedure, Directive]] | None:
    """Directives of C and C++ with a word in all files; None where one may be hidden from the parser."""
    texts = [one.text for one in program.sources.values() if not one.is_fortran]
    if any(_HIDDEN.search(text) for text in texts):
        return None
    pattern = re.compile(rb"\bpragma\s+omp\b[^\n]*\b%s\b" % word.encode())
    written = sum(len(pattern.findall(_JOINED.sub(b" ", _COMMENT.sub(b" ", text)))) for text in texts)
    found = [
        (procedure, one)
        for procedure in program.procedures
        if not procedure.source.is_fortran
        for one in directives(procedure)
        if one.has(word)
    ]
    places = {(procedure.source.path, one.node.start_byte) for procedure, one in found}
    if len(places) != len(found) or len(found) != written or any(procedure.is_broken for procedure, _ in found):
        return None
    return found


def reaches(program: Program) -> list[Reach] | None:
    """All parallel regions; None where one may be hidden."""
    found = all_directives("parallel", program)
    if found is None:
        return None
    return [_reach(one, procedure, program) for procedure, one in found]


def _reach(one: Directive, home: Procedure, program: Program) -> Reach:
    parts = [Part(one.statement, home)]
    known: set[int] = set()
    implied = [each for name in program.handed_on for each in program.named(name)]
    implied += [each for each in program.procedures if each.model.name.startswith(("operator", "~"))]
    todo = [*implied, *_named_in(one.statement, home, program)]
    while todo:
        each = todo.pop()
        if id(each) in known or each.source.is_fortran or each.body is None:
            continue
        known.add(id(each))
        parts.append(Part(each.node, each))
        todo.extend(_named_in(each.node, each, program))
    return Reach(tuple(parts))


def _named_in(node: Node, procedure: Procedure, program: Program) -> Iterator[Procedure]:
    """Functions that a statement names: any of them may be called there. A type that it makes objects of has its constructors."""
    types: list[str] = []
    for each in nodes(node, "identifier", "field_identifier", "type_identifier"):
        name = text_of(each)
        if each.type == "type_identifier":
            types += [name] if not _is_handed_on(each) else []
        elif not (each.type == "identifier" and name in procedure.declarations):
            yield from program.named(name)
    seen: set[str] = set()
    while types:
        name = types.pop()
        if name in seen:
            continue
        seen.add(name)
        yield from program.named(name)
        if name in program.records:
            types += [word for one in program.records[name].fields for word in re.findall(r"\w+", one.type)]


def _is_handed_on(node: Node) -> bool:
    """True where a type is that of a pointer or reference: no object is made."""
    around = node.parent
    if around is not None and around.type == "struct_specifier":
        around = around.parent
    if around is None or around.type not in ("declaration", "parameter_declaration", "optional_parameter_declaration"):
        return False
    listed = around.children_by_field_name("declarator")
    return bool(listed) and all(
        any(True for _ in nodes(each, "pointer_declarator", "reference_declarator")) for each in listed
    )


def pragmas_of(part: Part) -> Iterator[Directive]:
    """The directives of a part."""
    for node in nodes(part.node, "preproc_call"):
        one = directive(node)
        if one is not None:
            yield one
