"""OpenMP directives of C and C++: their words and clauses, the loop or block they belong to, and edits of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.edits import Edit
from chathpc.fix.recipes.program import Procedure, Program

if TYPE_CHECKING:
    from tree_sitter import Node

_WORDS = re.compile(r"#\s*pragma\s+omp\s+(.*)", re.DOTALL)
#: Functions whose results depend on which thread does what.
THREADS = re.compile(rb"\bomp_get_(?:thread_num|num_threads|level|team_num)\b")


@dataclass(frozen=True, slots=True, eq=False)
class Directive:
    """A directive with the statement behind it; `words` without `omp`, in one line."""

    node: Node
    statement: Node
    words: str

    def has(self, *words: str) -> bool:
        """True if all the words are in it, outside the brackets of clauses."""
        outside = set(re.sub(r"\([^()]*(?:\([^()]*\)[^()]*)*\)", " ", self.words).replace(",", " ").split())
        return all(word in outside for word in words)

    def clause(self, name: str) -> str | None:
        """What stands in the brackets of a clause; None without it."""
        match = re.search(rf"\b{name}\s*\(((?:[^()]|\([^()]*\))*)\)", self.words)
        return match[1] if match else None

    @property
    def is_loop(self) -> bool:
        """It shares the iterations of a loop among threads."""
        return self.has("for") and self.statement.type == "for_statement"

    def end(self, text: bytes) -> int:
        """Where its words end in the text: a clause may be put there."""
        whole = text[self.node.start_byte : self.node.end_byte]
        comment = re.search(rb"//|/\*", whole)
        kept = whole[: comment.start()] if comment else whole
        return self.node.start_byte + len(kept.rstrip())

    def with_clause(self, clause: str, text: bytes) -> Edit:
        """One clause more."""
        at = self.end(text)
        return Edit(at, at, b" " + clause.encode())

    def replaced(self, old: str, new: str, text: bytes) -> Edit | None:
        """Another text for what a regular expression finds in it."""
        match = re.search(old.encode(), text[self.node.start_byte : self.node.end_byte])
        return (
            None
            if match is None
            else Edit(self.node.start_byte + match.start(), self.node.start_byte + match.end(), new.encode())
        )


def directive(node: Node) -> Directive | None:
    """The OpenMP directive that a node is."""
    if node.type != "preproc_call" or node.text is None:
        return None
    match = _WORDS.match(node.text.decode("utf-8", "replace").replace("\\\r\n", " ").replace("\\\n", " "))
    if match is None:
        return None
    following = node.next_named_sibling
    while following is not None and following.type in ("comment", "preproc_call"):
        following = following.next_named_sibling
    words = " ".join(re.split(r"//|/\*", match[1])[0].split())
    return None if following is None else Directive(node, following, words)


def directives(procedure: Procedure) -> Iterator[Directive]:
    """All of a function, in the order of the text."""
    for node in procedure.all("preproc_call"):
        found = directive(node)
        if found is not None:
            yield found


def uses_openmp(program: Program, flags: str | None) -> bool:
    """True if the program has directives already, or is built for them."""
    if flags is not None and re.search(r"-f?openmp|-qopenmp|-mp\b", flags):
        return True
    return any(
        re.search(rb"#\s*pragma\s+omp|!\$omp", source.text, re.IGNORECASE) for source in program.sources.values()
    )


def is_parallel_already(node: Node, procedure: Procedure, program: Program, depth: int = 0) -> bool:
    """True if the node stands in a parallel region, or its function may be called from one."""
    for one in directives(procedure):
        shares = one.has("parallel") or one.has("task") or one.has("for") or one.has("sections")
        if shares and one.statement.start_byte <= node.start_byte and node.end_byte <= one.statement.end_byte:
            return True
    if procedure.model.name in program.handed_on or depth > 4:
        return True
    if procedure.model.name == "main":
        return False
    calls = program.calls.get(procedure.model.name, [])
    return any(
        caller is not procedure and is_parallel_already(call, caller, program, depth + 1) for caller, call in calls
    )
