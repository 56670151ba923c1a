"""Source files of a profile, parsed once and within limits; None for what is absent, too large or of another language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from chathpc.diagnosis.source import c_family, fortran
from chathpc.diagnosis.source.c_expressions import last_line, line_of
from chathpc.diagnosis.source.fixed_form import free_form, looks_fixed
from chathpc.diagnosis.source.languages import grammar_of, is_fortran, parser
from chathpc.diagnosis.source.macros import expanded, macros_of
from chathpc.diagnosis.source.model import Expr, Function, Statement, Unit
from chathpc.profile.languages import is_fixed_form
from chathpc.profile.profile import Profile

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

#: Files with more are not parsed: 10,000 lines take about a tenth of a second.
MOST_BYTES = 400_000
#: What has a longer line was made by a program, not written.
LONGEST_LINE = 4_000
#: Functions longer than this are not looked at.
MOST_LINES = 1_200
#: What only the code of a GPU has.
_KERNEL = b"__global__"


@dataclass(frozen=True, slots=False, eq=False)
class SourceFile:
    """A parsed file. Functions are read when they are asked for."""

    name: str
    text: bytes
    tree: Tree

    @cached_property
    def _nodes(self) -> list[Node]:
        found = fortran.definitions if self.is_fortran else c_family.definitions
        return list(found(self.tree.root_node))

    @property
    def is_fortran(self) -> bool:
        """True for Fortran, whose arrays are stored by columns."""
        return is_fortran(self.name)

    @cached_property
    def unit(self) -> Unit:
        """Records, variables and constants of the file."""
        return fortran.unit(self._nodes) if self.is_fortran else c_family.unit(self._nodes, self.text)

    @cached_property
    def _defined(self) -> list[tuple[int, int, str, Node]]:
        """First and last line, name and node of every function."""
        chosen = (
            each
            for each in self._nodes
            if (fortran.is_procedure(each) if self.is_fortran else each.type == "function_definition")
        )
        name_of = fortran.name_of if self.is_fortran else c_family.name_of
        return [(line_of(each), last_line(each), name_of(each), each) for each in chosen]

    @cached_property
    def _read(self) -> dict[int, Function]:
        return {}

    def _function(self, node: Node) -> Function:
        if node.id not in self._read:
            self._read[node.id] = (
                fortran.function(node, self.unit) if self.is_fortran else c_family.function(node, self.text)
            )
        return self._read[node.id]

    def procedures(self, most_lines: int = MOST_LINES) -> list[tuple[Node, Function]]:
        """All functions of at most so many lines, read, each with its node in the tree."""
        return [(node, self._function(node)) for first, last, _, node in self._defined if last - first < most_lines]

    def function_at(self, line: int) -> Function | None:
        """The innermost function that holds the line."""
        holding = [each for each in self._defined if each[0] <= line <= each[1] and each[1] - each[0] < MOST_LINES]
        best = max(holding, key=lambda each: (each[0], -each[1]), default=None)
        return None if best is None else self._function(best[3])

    def functions_named(self, name: str) -> list[Function]:
        """All functions of that name, whatever their class."""
        wanted = name.lower() if self.is_fortran else name
        return [
            self._function(node)
            for first, last, own, node in self._defined
            if own == wanted and last - first < MOST_LINES
        ]

    def calls_of(self, name: str) -> Iterator[tuple[Function, Statement, Expr]]:
        """The calls of a function in the file, each with the function and statement that it stands in."""
        for caller in self.everything():
            for one in caller.statements:
                yield from ((caller, one, call) for call in one.calls() if call.short.removeprefix("call ") == name)

    @property
    def function_names(self) -> list[str]:
        """Names of all functions, in the order of the text."""
        return [name for _, _, name, _ in self._defined]

    def everything(self) -> list[Function]:
        """All functions, read."""
        return [function for _, function in self.procedures()]


def parsed(name: str, text: bytes) -> SourceFile | None:
    """The text of a file, parsed; None if it is too large, has lines that nobody wrote, or no grammar is there for it."""
    grammar = grammar_of(name)
    if grammar is None or len(text) > MOST_BYTES or max(map(len, text.split(b"\n")), default=0) > LONGEST_LINE:
        return None
    if _KERNEL in text and grammar in ("tree_sitter_c", "tree_sitter_cpp"):
        grammar = "tree_sitter_cuda"  # HIP and headers of CUDA are often named like C++
    reader = parser(grammar)
    if reader is None:
        return None
    tree = reader.parse(_prepared(name, text))
    return None if tree is None else SourceFile(name, text, tree)


def _prepared(name: str, text: bytes) -> bytes:
    """The text as the grammar expects it, every line and column where it was."""
    if not is_fortran(name):
        return c_family.prepared(text)
    return free_form(text) if is_fixed_form(name) and looks_fixed(text) else text


def read_file(profile: Profile, name: str) -> SourceFile | None:
    """The file as the profile brings it, with what its macros for expressions stand for; None without source text."""
    if grammar_of(name) is None:
        return None
    excerpt = profile.read_source(name, 1, MOST_BYTES)
    if excerpt is None or excerpt.first != 1 or sum(map(len, excerpt.lines)) > MOST_BYTES:
        return None
    text = "\n".join(excerpt.lines).encode("utf-8", "replace")
    if not is_fortran(name):
        text, _ = expanded(text, macros_of([text]))
    return parsed(name, text)
