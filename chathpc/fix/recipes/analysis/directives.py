"""OpenMP directives: their words and clauses, the loop or block they belong to, and edits of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, declared_names, inside, nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_WORDS = re.compile(r"#\s*pragma\s+omp\s+(.*)|!\$omp\s+(?!end\b)(.*)", re.DOTALL)
#: What stands behind the words of a directive in its first line, in C and in Fortran.
_BEHIND = {"preproc_call": re.compile(rb"//|/\*"), "comment": re.compile(rb"(?<=.)!|&[ \t\r]*\Z")}
#: Iterations of simple work that are worth a region: opening one costs some microseconds (EPCC OpenMP microbenchmarks), an
#: operation about a nanosecond.
WORTH_A_REGION = 20_000
_LOOPS = (("for_statement", True, False), ("do_loop", False, True))
#: Functions whose results depend on which thread does what.
_THREADS = re.compile(rb"\bomp_(?:get_(?:thread_num|num_threads|(?:active_)?level|team_num)|in_parallel)\b")


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

    def listed(self, *clauses: str) -> set[str]:
        """Names in all clauses of some kinds, those of parts of arrays without their bounds."""
        found: set[str] = set()
        for name in clauses:
            for match in re.finditer(rf"\b{name}\s*\(((?:[^()]|\([^()]*\))*)\)", self.words):
                bare = re.sub(r"\[[^\]]*\]", "", re.sub(r"^[^:]*:(?!:)", "", match[1]))
                found |= {each.strip() for each in bare.split(",")} - {""}
        return found

    @property
    def private(self) -> frozenset[str]:
        """Variables of which each thread has its own by a clause."""
        return frozenset(self.listed("private", "lastprivate", "firstprivate", "linear"))

    @property
    def is_loop(self) -> bool:
        """It shares the iterations of a loop among threads."""
        return (self.statement.type, self.has("for"), self.has("do")) in _LOOPS

    def end(self, text: bytes) -> int:
        """Where its words end in the text: a clause may be put there."""
        whole = text[self.node.start_byte : self.node.end_byte]
        comment = _BEHIND[self.node.type].search(whole)
        kept = whole[: comment.start()] if comment else whole
        return self.node.start_byte + len(kept.rstrip())

    def with_clause(self, clause: str, text: bytes) -> Edit:
        """One clause more."""
        at = self.end(text)
        return Edit(at, at, b" " + clause.encode())

    def reducing(self, sums: Mapping[str, str], text: bytes) -> list[Edit]:
        """Reductions of variables, told by name with their operator; a name that was shared by a clause leaves that clause."""
        edits: list[Edit] = []
        whole = text[self.node.start_byte : self.end(text)]
        for match in re.finditer(rb"[ \t,]*\bshared[ \t]*\(([^()]*)\)", whole):
            names = re.split(rb"\s*,[\s\\]*", match[1].strip())
            kept = [each for each in names if each.decode() not in sums]
            if len(kept) < len(names):
                new = b" shared(" + b", ".join(kept) + b")" if kept else b""
                edits.append(Edit(self.node.start_byte + match.start(), self.node.start_byte + match.end(), new))
        operators = dict.fromkeys(sums.values())
        added = "".join(
            f" reduction({each} : {', '.join(name for name in sums if sums[name] == each)})" for each in operators
        )
        at = self.end(text)
        return [*edits, Edit(at, at, added.encode())] if added else edits

    def replaced(self, old: str, new: str, text: bytes) -> Edit | None:
        """Another text for what a regular expression finds in it."""
        start = self.node.start_byte
        match = re.search(old.encode(), text[start : self.node.end_byte])
        return None if match is None else Edit(start + match.start(), start + match.end(), new.encode())


def directive(node: Node) -> Directive | None:
    """The OpenMP directive that a node is."""
    if node.type not in _BEHIND or _goes_on(node.prev_named_sibling):
        return None
    written = text_of(node).replace("\\\r\n", " ").replace("\\\n", " ")
    one, following = node, node.next_named_sibling
    while following is not None and following.type in _BEHIND:
        if _goes_on(one):
            written = written.rstrip()[:-1] + re.sub(r"!\$omp\s*&?", " ", text_of(following))
        one, following = following, following.next_named_sibling
    match = _WORDS.match(written)
    if match is None or following is None:
        return None
    words = re.split(r"!" if match[1] is None else r"//|/\*", match[1] or match[2])[0]
    return Directive(node, following, " ".join(words.split()))


def _goes_on(node: Node | None) -> bool:
    """True for a line of a directive of Fortran that goes on in the next line."""
    return node is not None and node.type == "comment" and re.match(r"!\$omp.*&\s*\Z", text_of(node)) is not None


def directive_before(node: Node) -> Node | None:
    """The first of the directives that stand directly before a statement."""
    found, one = None, node.prev_named_sibling
    while one is not None and one.type in _BEHIND and not text_of(one).startswith("!$omp end"):
        if one.type == "preproc_call" or text_of(one).startswith("!$omp"):
            found = one
        one = one.prev_named_sibling
    return found


def directives(procedure: Procedure) -> Iterator[Directive]:
    """All of a function, in the order of the text."""
    for node in procedure.all("comment" if procedure.source.is_fortran else "preproc_call"):
        found = directive(node)
        if found is not None:
            yield found


def tells_threads_apart(procedure: Procedure) -> bool:
    """True if the function asks which thread it runs in."""
    return _THREADS.search(procedure.node.text or b"") is not None


def region_of(node: Node, procedure: Procedure) -> Directive | None:
    """The innermost parallel region of the function around a node, which is not that of the directive itself."""
    found = [
        one for one in directives(procedure) if one.has("parallel") and one.node != node and inside(node, one.statement)
    ]
    return found[-1] if found else None


def private_names(one: Directive, procedure: Procedure) -> frozenset[str]:
    """Variables of the threads' own at a loop that is shared among them: by its clauses, by those of the region around it, and those
    declared in that region; of a function that is called in a region all its variables.
    """
    if one.has("parallel"):
        return one.private
    region = region_of(one.node, procedure)
    if region is None:
        local = (*procedure.model.declarations, *procedure.model.parameters)
        return one.private | {each.name for each in local if not each.static and not each.reference}
    names = one.private | region.private | region.listed("reduction")
    for node in nodes(region.statement, "declaration"):
        if not inside(node, one.statement) and not any(text_of(each) == "static" for each in children(node)):
            names |= declared_names(node)
    return names


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
        shares = any(map(one.has, ("parallel", "task", "for", "sections")))
        if shares and inside(node, one.statement):
            return True
    if procedure.model.name in program.handed_on or depth > 4:
        return True
    if procedure.model.name == "main":
        return False
    calls = program.calls.get(procedure.model.name, [])
    return any(one is not procedure and is_parallel_already(call, one, program, depth + 1) for one, call in calls)
