"""The sources of a problem, parsed, and where in them the diagnosis says the time goes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.model import Declaration, Function, Record
from chathpc.diagnosis.source.text import SourceFile, parsed
from chathpc.fix.recipes.syntax import children, field, nodes, text_of
from chathpc.profile.languages import Language, is_fixed_form, language_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from chathpc.diagnosis.records import Finding

#: A macro that is a number, or an expression of numbers alone, is as good as one.
_PLAIN = re.compile(r"[\s\d.()+\-*/<uUlLfFeExXa-fA-F]*\Z")
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*pragma[^\n]*", re.MULTILINE)
_UNSTABLE = re.compile(rb"\b(?:volatile|_Atomic|atomic\w*|std::atomic)\b")


@dataclass(frozen=True, slots=False, eq=False)
class Procedure:
    """A function with its text, its node and its model."""

    source: Source
    node: Node
    model: Function

    @property
    def body(self) -> Node | None:
        """The block of a function of C."""
        return field(self.node, "body")

    @cached_property
    def declarations(self) -> Mapping[str, Declaration | None]:
        """Variables and parameters by name; None for a name that stands for variables of different types."""
        found: dict[str, Declaration | None] = {}
        for one in (*self.model.parameters, *self.model.declarations):
            known = found.get(one.name, one)
            same = known is not None and (known.type, known.pointers, len(known.dims), known.reference, known.static) == (
                one.type, one.pointers, len(one.dims), one.reference, one.static,
            )  # fmt: skip
            found[one.name] = one if same else None
        return found

    @cached_property
    def parameters(self) -> frozenset[str]:
        """Names of the parameters."""
        return frozenset(one.name for one in self.model.parameters)

    @cached_property
    def addressed(self) -> frozenset[str]:
        """Names of variables whose address is taken, or to which a reference may be bound by a capture."""
        return _addressed(self.node)

    @cached_property
    def unstable(self) -> bool:
        """True where something in it is volatile or atomic: such accesses are never moved."""
        return (
            _UNSTABLE.search(_DIRECTIVE.sub(b"", self.source.text[self.node.start_byte : self.node.end_byte]))
            is not None
        )

    @cached_property
    def restricted(self) -> frozenset[str]:
        """Parameters that are declared restrict."""
        head = self.source.text[self.node.start_byte : self.body.start_byte if self.body else self.node.end_byte]
        return frozenset(
            match.decode() for match in re.findall(rb"\*\s*(?:const\s+)?_*restrict_*\s+(?:const\s+)?(\w+)", head)
        )

    @property
    def has_errors(self) -> bool:
        """True where a part of it could not be parsed."""
        return self.node.has_error

    @property
    def is_broken(self) -> bool:
        """True where a part of it could not be parsed, or is chosen by the preprocessor."""
        return self.node.has_error or any(True for _ in nodes(self.node, "preproc_if", "preproc_ifdef", "preproc_function_def", "preproc_def"))  # fmt: skip


@dataclass(frozen=True, slots=False, eq=False)
class Source:
    """One file."""

    path: str
    file: SourceFile

    @property
    def text(self) -> bytes:
        """What stands in it."""
        return self.file.text

    @property
    def is_fortran(self) -> bool:
        """Free-form Fortran; files in fixed form are left out before."""
        return self.file.is_fortran

    @property
    def is_cpp(self) -> bool:
        """C++ or CUDA, where operators may be functions."""
        return language_of(self.path) in (Language.CPP, Language.CUDA, Language.HIP) or self.path.endswith(
            (".h", ".hpp", ".hh")
        )

    @property
    def language(self) -> str:
        """c, c++, cuda or fortran."""
        if self.is_fortran:
            return "fortran"
        if language_of(self.path) in (Language.CUDA, Language.HIP) or b"__global__" in self.text:
            return "cuda"
        return "c++" if self.is_cpp else "c"

    @cached_property
    def procedures(self) -> tuple[Procedure, ...]:
        """All functions."""
        return tuple(Procedure(self, node, model) for node, model in self.file.procedures())

    @cached_property
    def macros(self) -> frozenset[str]:
        """Names of macros that are more than a number."""
        found = set()
        for node in nodes(self.file.tree.root_node, "preproc_def", "preproc_function_def"):
            value = re.split(r"//|/\*", text_of(field(node, "value")))[0]
            if node.type == "preproc_function_def" or not _PLAIN.match(value):
                found.add(text_of(field(node, "name")))
        return frozenset(found)


@dataclass(frozen=True, slots=False, eq=False)
class Program:
    """All sources that may be edited. What it says of the whole program holds for what is in them."""

    sources: Mapping[str, Source]

    @cached_property
    def procedures(self) -> tuple[Procedure, ...]:
        """Functions of all files."""
        return tuple(one for source in self.sources.values() for one in source.procedures)

    @cached_property
    def _named(self) -> dict[str, list[Procedure]]:
        found: dict[str, list[Procedure]] = {}
        for one in self.procedures:
            found.setdefault(one.model.name, []).append(one)
        return found

    def named(self, name: str) -> list[Procedure]:
        """Functions of that name in all files."""
        return self._named.get(name, [])

    @cached_property
    def macros(self) -> frozenset[str]:
        """Macros of any file that are more than a number."""
        return frozenset(name for source in self.sources.values() for name in source.macros)

    @cached_property
    def records(self) -> Mapping[str, Record]:
        """Structs and classes by name."""
        return {name: one for source in self.sources.values() for name, one in source.file.unit.records.items()}

    @cached_property
    def variables(self) -> Mapping[str, Declaration]:
        """Variables outside functions."""
        return {name: one for source in self.sources.values() for name, one in source.file.unit.variables.items()}

    @cached_property
    def addressed(self) -> frozenset[str]:
        """Names of variables and fields whose address is taken somewhere."""
        return frozenset(
            name
            for source in self.sources.values()
            if not source.is_fortran
            for name in _addressed(source.file.tree.root_node)
        )

    @cached_property
    def has_unions(self) -> bool:
        """True where one memory may have two types."""
        return any(b"union" in source.text for source in self.sources.values())

    @cached_property
    def calls(self) -> Mapping[str, list[tuple[Procedure, Node]]]:
        """Calls by the name of what they call, each with the function that it is in."""
        found: dict[str, list[tuple[Procedure, Node]]] = {}
        for one in self.procedures:
            for node in nodes(one.node, "call_expression"):
                called = field(node, "function")
                if called is not None and called.type == "field_expression":
                    called = field(called, "field")
                found.setdefault(text_of(called).split("<", 1)[0].rsplit("::", 1)[-1], []).append((one, node))
        return found

    @cached_property
    def handed_on(self) -> frozenset[str]:
        """Functions that are used other than by a call, and so may be called from anywhere."""
        found: set[str] = set()
        for source in self.sources.values():
            if source.is_fortran:
                continue
            for node in nodes(source.file.tree.root_node, "identifier"):
                parent = node.parent
                if parent is None or parent.type == "function_declarator" or field(parent, "function") == node:
                    continue
                found.add(text_of(node))
        return frozenset(found & set(self._named))


def program(sources: Mapping[str, str]) -> Program:
    """The sources as a program; what cannot be parsed, and Fortran in fixed form, is left out."""
    found = {}
    for path, text in sorted(sources.items()):
        if is_fixed_form(path):
            continue
        file = parsed(path, text.encode("utf-8", "surrogateescape"))
        if file is not None:
            found[path] = Source(path, file)
    return Program(found)


def _addressed(root: Node) -> frozenset[str]:
    found: set[str] = set()
    for node in nodes(root, "pointer_expression", "reference_declarator", "lambda_expression", "for_range_loop"):
        if node.type == "lambda_expression":
            found.update(text_of(one) for one in nodes(node, "identifier"))
            continue
        if node.type == "pointer_expression":
            if text_of(field(node, "operator")) != "&":
                continue
            of = field(node, "argument")
        else:  # what a reference is bound to
            if node.type != "reference_declarator" or node.parent is None or node.parent.type != "init_declarator":
                continue
            of = field(node.parent, "value")
        while of is not None:
            if of.type in ("field_expression",):
                found.add(text_of(field(of, "field")))
                of = field(of, "argument") if text_of(field(of, "operator")) == "." else None
            elif of.type == "parenthesized_expression":
                of = children(of)[0] if children(of) else None
            elif of.type == "subscript_expression":
                of = None  # an element's address is that of memory, which origins follow
            else:
                if of.type == "identifier":
                    found.add(text_of(of))
                of = None
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Spot:
    """A function in which time goes, the line where most of it does, and the finding that says so; `weight` orders spots."""

    procedure: Procedure
    line: int
    weight: float
    finding: Finding | None
    cause: str

    @property
    def source(self) -> Source:
        """The file."""
        return self.procedure.source


def is_same_file(told: str, path: str) -> bool:
    """True if a file of a profile, told with folders of another machine, is the one at the path."""
    ours, theirs = path.split("/"), told.replace("\\", "/").split("/")
    return ours[-1] == theirs[-1]


def by_distance(line: int, changes: Iterator[tuple[int, object]]) -> list[object]:
    """What stands next to the line first."""
    return [one for _, one in sorted(changes, key=lambda pair: abs(pair[0] - line))]
