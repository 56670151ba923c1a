"""What one thread at a time does in a loop: critical, atomic and ordered sections, and what stands between taking and leaving a lock."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.directives import THREADS, Directive, directive, directives
from chathpc.fix.recipes.analysis.edits import Edit, without_line
from chathpc.fix.recipes.analysis.loops import Counted, counted
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.program import program as parsed_program
from chathpc.fix.recipes.analysis.syntax import children, line_of, nodes, statements, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_PAIRS = {
    "omp_set_lock": "omp_unset_lock",
    "omp_set_nest_lock": "omp_unset_nest_lock",
    "pthread_mutex_lock": "pthread_mutex_unlock",
    "pthread_spin_lock": "pthread_spin_unlock",
    "mtx_lock": "mtx_unlock",
}
_GUARD = re.compile(
    r"(?:const\s+)?std::(?:lock_guard|scoped_lock|unique_lock)\s*(?:<[\w:<>]*>)?\s+\w+\s*[({]\s*([\w.>\[\]-]+)\s*[)}]\s*;"
)
_CALL = re.compile(r"(\w+)\s*\(\s*(&?[\w.>-]+)\s*\)\s*;")
_MEMBER_CALL = re.compile(r"([\w.>-]+?)\s*(?:\.|->)\s*(lock|unlock)\s*\(\s*\)\s*;")


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """Protected statements; `word` is critical, atomic, ordered or lock, `taken` are the nodes that protect them, and `name` tells
    which sections keep each other out.
    """

    word: str
    words: str
    name: str
    taken: tuple[Node, ...]
    statements: tuple[Node, ...]

    @property
    def line(self) -> int:
        """Where it begins."""
        return line_of(self.taken[0])

    def edits(self, text: bytes) -> list[Edit]:
        """The protection goes, the statements stay."""
        return [without_line(each, text) for each in self.taken]


def sections(body: Node) -> list[Section] | None:
    """All protected sections of a loop's body; None where another directive stands in it, or a lock is not left in the same block."""
    found: list[Section] = []
    for node in nodes(body, "preproc_call"):
        one = directive(node)
        word = "" if one is None else re.split(r"[\s(]", one.words)[0]
        if one is None or word not in ("critical", "atomic", "ordered"):
            return None
        name = f"critical {one.clause('critical') or ''}" if word == "critical" else word
        found.append(Section(word, one.words, name, (one.node,), tuple(statements(one.statement))))
    locks = list(locked(body))
    if any(one is None for one in locks):
        return None
    found += [one for one in locks if one is not None]
    return sorted(found, key=lambda one: one.taken[0].start_byte)


def locked(body: Node) -> Iterator[Section | None]:
    """What stands between taking a lock and leaving it in one block; None for a lock that is left elsewhere."""
    for block in nodes(body, "compound_statement"):
        listed = children(block)
        at = 0
        while at < len(listed):
            taking = lock_of(listed[at])
            if taking is None:
                at += 1
                continue
            how, name = taking
            if how == "guard":
                yield Section("lock", "", name, (listed[at],), tuple(listed[at + 1 :]))
                break
            last = next((k for k in range(at + 1, len(listed)) if lock_of(listed[k]) == ("leave", name)), None)
            if how == "leave" or last is None:
                yield None
                break
            yield Section("lock", "", name, (listed[at], listed[last]), tuple(listed[at + 1 : last]))
            at = last + 1


def lock_of(statement: Node) -> tuple[str, str] | None:
    """("take" | "leave" | "guard", the lock) for a statement that does so."""
    text = " ".join(text_of(statement).split())
    if statement.type == "declaration":
        match = _GUARD.fullmatch(text)
        return None if match is None else ("guard", match[1])
    if statement.type != "expression_statement":
        return None
    match = _CALL.fullmatch(text)
    if match is not None:
        if match[1] in _PAIRS:
            return "take", match[2].removeprefix("&")
        return ("leave", match[2].removeprefix("&")) if match[1] in _PAIRS.values() else None
    match = _MEMBER_CALL.fullmatch(text)
    return None if match is None else ("take" if match[2] == "lock" else "leave", match[1])


@dataclass(frozen=True, slots=True, eq=False)
class Protected:
    """A loop that threads share, with its protected sections; `procedure` and `program` are as if no locks were there."""

    directive: Directive
    header: Counted
    procedure: Procedure
    program: Program
    sections: list[Section]


def protected_loops(spot: Spot, program: Program) -> Iterator[Protected]:
    """Counted loops of the spot's function that OpenMP shares among threads and that hold protected sections."""
    procedure, text = spot.procedure, spot.source.text
    if procedure.is_broken or THREADS.search(text[procedure.node.start_byte : procedure.node.end_byte]):
        return
    for one in directives(procedure):
        header = counted(one.statement, procedure) if one.is_loop and not one.has("nowait") else None
        found = sections(header.body) if header is not None and one.clause("collapse") is None else None
        if header is None or not found:
            continue
        spans = [(node.start_byte, node.end_byte) for each in found if each.word == "lock" for node in each.taken]
        if not spans:
            yield Protected(one, header, procedure, program, found)
            continue
        bare = without(program, spot.source.path, spans)
        again = _at_the_same_place(procedure, header.node, bare)
        if again is not None:
            yield Protected(one, again, again.procedure, bare, found)


def without(of: Program, path: str, spans: Iterable[tuple[int, int]]) -> Program:
    """The program with parts of a file as blanks: what would be there without them, every byte where it was."""
    text = bytearray(of.sources[path].text)
    for start, end in spans:
        text[start:end] = bytes(each if each in b"\r\n" else 0x20 for each in text[start:end])
    texts = {name: one.text.decode("utf-8", "surrogateescape") for name, one in of.sources.items()}
    found = parsed_program({**texts, path: text.decode("utf-8", "surrogateescape")})
    return Program(found.sources, of.unread)


def _at_the_same_place(procedure: Procedure, loop: Node, program: Program) -> Counted | None:
    """A loop of a function in a program whose text has the same length."""
    found = [
        one
        for one in program.procedures
        if one.source.path == procedure.source.path and one.node.start_byte == procedure.node.start_byte
    ]
    if len(found) != 1 or found[0].is_broken:
        return None
    node = next((each for each in found[0].all(loop.type) if each.start_byte == loop.start_byte), None)
    return counted(node, found[0])
