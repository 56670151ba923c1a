"""The sources of a problem, parsed, and where in them the diagnosis says the time goes."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import merge
from operator import itemgetter
from typing import TYPE_CHECKING

from chathpc.diagnosis.source import fortran
from chathpc.diagnosis.source.c_expressions import expression as c_expression
from chathpc.diagnosis.source.c_family import declared as c_declared
from chathpc.diagnosis.source.model import Declaration, Expr, Function, Kind, Record, expressions
from chathpc.diagnosis.source.text import SourceFile, parsed
from chathpc.fix.recipes.analysis.syntax import (
    C_LOOPS,
    FORTRAN_LOOPS,
    addressed_names,
    children,
    field,
    nodes,
    text_of,
    walk,
)
from chathpc.profile.languages import Language, is_fixed_form, language_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from chathpc.diagnosis.records import Finding
    from chathpc.fix.recipes.analysis.accesses import Effects
    from chathpc.fix.recipes.analysis.edits import Edit
    from chathpc.fix.recipes.analysis.expansion import Expanded

#: A macro that is a number, or an expression of numbers alone, is as good as one.
_PLAIN = re.compile(r"[\s\d.()+\-*/<uUlLfFeExXa-fA-F]*\Z")
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*pragma[^\n]*", re.MULTILINE)
_THREADS = re.compile(
    rb"\b(?:pthread_create|std::j?thread|std::async|std::execution|(?:omp|acc)\s+(?:parallel|target|teams|kernels)|thrd_create|setjmp"
    rb"|fork|tbb|cilk_\w+|dispatch_\w+)\b|#\s*include\s*<(?:thread|future|execution|threads\.h|pthread\.h|tbb/)"
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_OF_POINTERS = ("pointer_declarator", "array_declarator", "parenthesized_declarator")
_UNSTABLE = re.compile(rb"\b(?:volatile|_Atomic|atomic\w*|std::atomic)\b")
#: Where one memory of Fortran may have two names, or change by itself.
_MANY_NAMES = re.compile(
    rb"\b(?:pointer|target|equivalence|volatile|asynchronous|common|save|goto|go\s+to|entry|impure)\b|=>\s*\w+\s*\(|^\s*#",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=False, eq=False)
class Procedure:
    """A function with its text, its node and its model."""

    source: Source
    node: Node
    model: Function

    def written(self, node: Node) -> str:
        """The text of a node as it is written, be it in capitals."""
        return self.source.text[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")

    @property
    def body(self) -> Node | None:
        """The block of a function of C."""
        return field(self.node, "body")

    @cached_property
    def _by_kind(self) -> Mapping[str, list[tuple[int, Node]]]:
        found: dict[str, list[tuple[int, Node]]] = {}
        for at, one in enumerate(walk(self.node, leaving="internal_procedures")):
            if one.is_named:
                found.setdefault(one.type, []).append((at, one))
        return found

    def all(self, *kinds: str) -> Iterator[Node]:
        """Nodes of some kinds in all of the function, in the order of the text; it is walked through once for all who ask."""
        if len(kinds) == 1:
            return (one for _, one in self._by_kind.get(kinds[0], ()))
        return (one for _, one in merge(*(self._by_kind.get(kind, ()) for kind in kinds), key=itemgetter(0)))

    @cached_property
    def identifiers(self) -> Mapping[str, list[Node]]:
        """Where each name stands in the function."""
        found: dict[str, list[Node]] = {}
        for one in self.all("identifier"):
            found.setdefault(text_of(one), []).append(one)
        return found

    @cached_property
    def assigned(self) -> Mapping[str, list[Node | None]]:
        """All values that each variable is given; None for a change that is not understood."""
        found: dict[str, list[Node | None]] = {}
        for node in self.all("assignment_expression", "init_declarator"):
            target = field(node, "left") if node.type == "assignment_expression" else field(node, "declarator")
            if node.type == "init_declarator":
                while target is not None and target.type in _OF_POINTERS:
                    inner = field(target, "declarator") or next(iter(children(target)), None)
                    if target.type == "array_declarator" and (
                        inner is None or inner.type != "parenthesized_declarator"
                    ):
                        break
                    target = inner
                value = field(node, "value")
            else:
                value = field(node, "right") if text_of(field(node, "operator")) == "=" else field(node, "left")
            if target is not None and target.type == "identifier":
                found.setdefault(text_of(target), []).append(value)
        return found

    @cached_property
    def declarations(self) -> Mapping[str, Declaration | None]:
        """Variables and parameters by name; None for a name that stands for variables of different types.

        Of Fortran arguments and the result are references, and what has a value from the beginning is static (Fortran 2018, 8.4).
        """
        if self.source.is_fortran:
            result = self.model.returns
            outside = {one.name for one in (*self.model.parameters, *((result,) if result is not None else ()))}
            return {
                one.name: replace(one, reference=one.name in outside, static=one.value is not None and not one.const)
                for one in (*self.model.parameters, *self.model.declarations)
            }
        found: dict[str, Declaration | None] = {}
        for one in (*self.model.parameters, *self.model.declarations, *self._in_lambdas()):
            known = found.get(one.name, one)
            same = known is not None and (known.type, known.pointers, len(known.dims), known.reference, known.static) == (
                one.type, one.pointers, len(one.dims), one.reference, one.static,
            )  # fmt: skip
            found[one.name] = one if same else None
        return found

    def _in_lambdas(self) -> Iterator[Declaration]:
        """Variables and parameters of lambdas, which the model leaves out."""
        for one in self.all("lambda_expression"):
            for node in nodes(one, "declaration", "parameter_declaration"):
                yield from c_declared(node, inside=True)

    @cached_property
    def arrays(self) -> frozenset[str]:
        """Names of arrays that a procedure of Fortran sees, as far as the file tells."""
        named = {**self.source.file.unit.variables, **self.declarations}
        indexed = (one.base for one in expressions(self.model.statements) if one.kind == Kind.INDEX)
        return frozenset(name for name, one in named.items() if one is not None and one.dims).union(
            base.text for base in indexed if base is not None and base.kind == Kind.NAME
        )

    def expression(self, node: Node | None) -> Expr:
        """The expression that a node of the function stands for."""
        if self.source.is_fortran:
            return fortran.resolved(fortran.expression(node), self.arrays)
        return c_expression(node)

    def names(self, *parts: Node) -> frozenset[str]:
        """Names that stand in parts of the function."""
        return frozenset(text_of(one) for part in parts for one in nodes(part, "identifier"))

    @property
    def loop_kinds(self) -> frozenset[str]:
        """What loops are called in its language's grammar."""
        return FORTRAN_LOOPS if self.source.is_fortran else C_LOOPS

    @cached_property
    def parameters(self) -> frozenset[str]:
        """Names of the parameters."""
        return frozenset(one.name for one in self.model.parameters)

    @property
    def arity(self) -> int:
        """How many parameters there are; `(void)` is none."""
        return sum(1 for one in self.model.parameters if one.name or one.type != "void" or one.pointers)

    @cached_property
    def addressed(self) -> frozenset[str]:
        """Names of variables whose address is taken, or to which a reference may be bound by a capture."""
        return addressed_names(self.node)

    @cached_property
    def unstable(self) -> bool:
        """True where something in it is volatile or atomic, or of Fortran's memory may have two names: such accesses are never moved."""
        text = self.node.text or b""
        if self.source.is_fortran:
            return self.is_broken or _MANY_NAMES.search(re.sub(rb"!(?!\$)[^\n]*", b"", text)) is not None
        return _UNSTABLE.search(_DIRECTIVE.sub(b"", text)) is not None

    @cached_property
    def names_shared(self) -> bool:
        """True where a directive asks for a word on every variable, so that none may be added."""
        return b"default(none)" in (self.node.text or b"").replace(b" ", b"")

    @cached_property
    def times_declared(self) -> Mapping[str, int]:
        """How often each name is declared with a value."""
        return Counter(text_of(field(one, "declarator")) for one in self.all("init_declarator"))

    @cached_property
    def is_broken(self) -> bool:
        """True where a part of it could not be parsed, or is chosen by the preprocessor."""
        return (
            bool(self.source.is_fortran and self.model.broken)
            or self.node.has_error
            or any(True for _ in self.all("preproc_if", "preproc_ifdef", "preproc_function_def", "preproc_def"))
        )


@dataclass(frozen=True, slots=False, eq=False)
class Source:
    """One file: `text` as it is written, `file` as it is parsed, which for Fortran is in lower case, so that names can be compared."""

    path: str
    file: SourceFile
    text: bytes

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
        return tuple(Procedure(self, node, model) for node, model in self.file.procedures(sys.maxsize))

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
    """All sources that may be edited. What it says of the whole program holds for what is in them.

    `unread` are words of sources that could not be parsed: whatever has such a name may be used there in any way.
    """

    sources: Mapping[str, Source]
    unread: frozenset[str] = frozenset()

    @cached_property
    def procedures(self) -> tuple[Procedure, ...]:
        """Functions of all files."""
        return tuple(one for source in self.sources.values() for one in source.procedures)

    @cached_property
    def known_effects(self) -> dict[tuple[int, str, int, int, str, bool], Effects]:
        """What was found out about parts of functions: every recipe asks for the same."""
        return {}

    @cached_property
    def known_expansions(self) -> dict[str, Expanded | None]:
        """The program behind its macros, once it was looked for."""
        return {}

    @cached_property
    def known_origins(self) -> dict[tuple[int, str, int, int], frozenset[str] | None]:
        """Where pointers come from, as far as it was asked."""
        return {}

    @cached_property
    def known_exchanges(self) -> dict[str, tuple[dict[str, list[Edit]], dict[str, dict[int, int]]] | None]:
        """Messages that can be put together, once they were looked for."""
        return {}

    @cached_property
    def assigned(self) -> Mapping[str, list[tuple[Procedure, Node | None]]]:
        """All values that variables outside functions are given, each with the function that does it."""
        found: dict[str, list[tuple[Procedure, Node | None]]] = {}
        for one in self.procedures:
            for name, values in one.assigned.items():
                if name not in one.declarations:
                    found.setdefault(name, []).extend((one, each) for each in values)
        return found

    @cached_property
    def assigned_members(self) -> Mapping[str, list[tuple[Procedure, Node | None]]]:
        """All values that members of a name are given by assignments, whatever their records."""
        found: dict[str, list[tuple[Procedure, Node | None]]] = {}
        for one in self.procedures:
            for node in one.all("assignment_expression"):
                left = field(node, "left")
                if left is not None and left.type == "field_expression" and text_of(field(node, "operator")) == "=":
                    found.setdefault(text_of(field(left, "field")), []).append((one, field(node, "right")))
        return found

    @cached_property
    def holders(self) -> Mapping[str, Mapping[str, int]]:
        """By name of a member the records that have such a one, and its place in each."""
        found: dict[str, dict[str, int]] = {}
        for record in self.records.values():
            for at, one in enumerate(record.fields):
                found.setdefault(one.name, {}).setdefault(record.name, at)
        return found

    @cached_property
    def lists(self) -> tuple[Node, ...]:
        """All lists in braces and literals of records, and what constructors give to members."""
        return tuple(
            node
            for source in self.sources.values()
            if not source.is_fortran
            for node in nodes(
                source.file.tree.root_node, "initializer_list", "compound_literal_expression", "field_initializer"
            )
        )

    @cached_property
    def known_facts(self) -> dict[str, bool]:
        """What was found out about all of the program, by the question."""
        return {}

    @cached_property
    def has_threads(self) -> bool:
        """True if functions may run at the same time in several threads."""
        return any(_THREADS.search(source.text) for source in self.sources.values())

    @cached_property
    def has_only_openmp(self) -> bool:
        """True if all threads are those of OpenMP's loops and regions: a few, each of which does one thing to its end."""
        return not any(
            re.search(rb"\bomp\s+(?:task|taskloop|target)\b", source.text)
            or any(not match[0].startswith(b"omp") for match in _THREADS.finditer(source.text))
            for source in self.sources.values()
        )

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
        return self.unread.union(
            name
            for source in self.sources.values()
            if not source.is_fortran
            for name in addressed_names(source.file.tree.root_node)
        )

    @cached_property
    def has_pointers_in_records(self) -> bool:
        """True where a member of a record may lead to any memory."""
        return any(one.pointers for record in self.records.values() for one in record.fields)

    @cached_property
    def calls(self) -> Mapping[str, list[tuple[Procedure, Node]]]:
        """Calls by the name of what they call, each with the function that it is in."""
        found: dict[str, list[tuple[Procedure, Node]]] = {}
        for one in self.procedures:
            for node in one.all("call_expression"):
                called = field(node, "function")
                found.setdefault(plain_name(called), []).append((one, node))
        return found

    def callees(self, procedure: Procedure) -> list[Procedure]:
        """Functions of the program that a function calls, be it itself, as far as their names tell."""
        calls = procedure.all("call_expression", "subroutine_call")
        called = (
            field(one, "function") or field(one, "subroutine") or next(iter(children(one)), None) for one in calls
        )
        return list(dict.fromkeys(one for each in called for one in self.named(plain_name(each))))

    @cached_property
    def handed_on(self) -> frozenset[str]:
        """Functions that are used other than by a call in a function, and so may be called from anywhere."""
        found = set(self.unread)
        for source in self.sources.values():
            if source.is_fortran:
                continue
            known = {each.id for one in source.procedures for each in one.all("call_expression")}
            for node in nodes(source.file.tree.root_node, "identifier", "preproc_arg"):
                parent = node.parent
                if node.type == "preproc_arg":  # a macro calls it with whatever it is given
                    found.update(_WORD.findall(text_of(node)))
                    continue
                if parent is None or parent.type == "function_declarator":
                    continue
                if field(parent, "function") != node or parent.id not in known:
                    found.add(text_of(node))
        return frozenset(found & set(self._named))


def plain_name(called: Node | None) -> str:
    """The name of what is called, without its object, scope and template arguments."""
    return text_of(field(called, "field") or called).split("<", 1)[0].rsplit("::", 1)[-1]


def program(sources: Mapping[str, str]) -> Program:
    """The sources as a program; what cannot be parsed, and Fortran in fixed form, is left out."""
    found = {}
    unread: set[str] = set()
    for path, text in sorted(sources.items()):
        written = text.encode("utf-8", "surrogateescape")
        lower = language_of(path) == Language.FORTRAN
        file = None if is_fixed_form(path) else parsed(path, written.lower() if lower else written)
        if file is not None:
            found[path] = Source(path, file, written)
        elif language_of(path) is not None:
            unread.update(_WORD.findall(text.lower() if is_fixed_form(path) else text))
    return Program(found, frozenset(unread))


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
    return path.rsplit("/", 1)[-1] == told.replace("\\", "/").rsplit("/", 1)[-1]
