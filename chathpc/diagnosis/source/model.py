"""One model of source text for C, C++, CUDA and Fortran: functions with their loops, statements, declarations, regions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

#: An expression is shown with so many characters.
_LONGEST_SHOWN = 80


class Kind(StrEnum):
    """What an expression is. Casts and brackets are left out of the model: they change no name and no index."""

    NAME = "name"
    NUMBER = "number"
    STRING = "string"
    MEMBER = "member"  #: `base.text`
    INDEX = "index"  #: `base[parts[0]][parts[1]]`, Fortran's `base(parts…)`
    CALL = "call"  #: `text(parts…)`, `base.text(parts…)`; `new` and `delete` are calls of these names
    UNARY = "unary"
    BINARY = "binary"
    ASSIGN = "assign"  #: parts are target and value; `i++` is `i += 1`
    CONDITIONAL = "conditional"
    OTHER = "other"


#: How strongly operators bind their operands (C17 6.5.5 to 6.5.14; Fortran's power before them all).
_LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %", "**")
_BINDS = {operator: level for level, operators in enumerate(_LEVELS, 1) for operator in operators.split()}
_MADE_OF_PARTS = frozenset({Kind.MEMBER, Kind.INDEX, Kind.CALL, Kind.UNARY, Kind.BINARY, Kind.ASSIGN})


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression; `text` is its name, number or operator. A call of a subroutine goes from `line` to `last`."""

    kind: Kind
    text: str = ""
    base: Expr | None = None
    parts: tuple[Expr, ...] = ()
    line: int = 0
    last: int = field(default=0, compare=False)

    @property
    def short(self) -> str:
        """The name without namespaces: `std::find` → `find`."""
        return self.text.rsplit("::", 1)[-1]

    def __str__(self) -> str:
        return self.written()

    def written(self, *, fortran: bool = False) -> str:
        """As it is written in C, or in Fortran (`u(i, j)`, `cell%e`), shortened where it is no name, number, member or index."""
        if self.kind not in _MADE_OF_PARTS and self.text != "extent_specifier":
            # The words of a string are the program's, and nothing that a report should say.
            return '"…"' if self.kind == Kind.STRING else self.text or "…"
        inner = [part.written(fortran=fortran) for part in self.parts]
        base = "" if self.base is None else self.base.written(fortran=fortran)
        match self.kind:
            case Kind.MEMBER:
                return f"{base}{'%' if fortran else '.'}{self.text}"
            case Kind.INDEX:
                return f"{base}({', '.join(inner)})" if fortran else f"{base}[{']['.join(inner)}]"
            case Kind.CALL:
                before = f"{base}." if base and not fortran else ""
                return f"{before}{self.text}({', '.join(inner)})"
            case Kind.UNARY:
                return self.text + "".join(
                    f"({text})" if part.kind == Kind.BINARY else text
                    for text, part in zip(inner, self.parts, strict=True)
                )
            case Kind.BINARY | Kind.ASSIGN:
                own = _BINDS.get(self.text, 0) if self.kind == Kind.BINARY else 0
                sides = [
                    f"({text})"
                    if part.kind == Kind.BINARY and _BINDS.get(part.text, 0) < own + (at > 0) and own
                    else text
                    for at, (text, part) in enumerate(zip(inner, self.parts, strict=True))
                ]
                return f" {self.text} ".join(sides)
            case _:
                return ":".join(
                    text if part.text or part.parts else "" for text, part in zip(inner, self.parts, strict=True)
                )

    def walk(self) -> Iterator[Expr]:
        """The expression and all inside it, outer before inner, in the order of the text."""
        todo = [self]
        while todo:
            one = todo.pop()
            yield one
            todo.extend(reversed(one.parts))
            if one.base is not None:
                todo.append(one.base)

    def names(self) -> frozenset[str]:
        """Names used in it; a member counts by its own name as well as by its object's."""
        return frozenset(one.text for one in self.walk() if one.kind in (Kind.NAME, Kind.MEMBER))

    def reads(self) -> frozenset[str]:
        """Names whose change may change its value, to compare with `changed`: of `c->mu[a]` c, mu and a, but of a record that is
        used as a whole its name with a dot as well (`f(c)`: c and `c.`), for any of its members may be read.
        """
        names: set[str] = set()
        todo = [(self, False)]
        while todo:
            one, is_base = todo.pop()
            if one.kind in (Kind.NAME, Kind.MEMBER):
                names.add(one.text)
                if not is_base:
                    names.add(f"{one.text}.")
            todo.extend((part, False) for part in one.parts)
            if one.base is not None:
                todo.append((one.base, one.kind == Kind.MEMBER))
        return frozenset(names)

    def calls(self) -> Iterator[Expr]:
        """The calls in it."""
        return (one for one in self.walk() if one.kind == Kind.CALL)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable, parameter or field: its type as written without `const`, `*` and `&`."""

    name: str
    type: str
    pointers: int = 0
    reference: bool = False
    const: bool = False
    dims: tuple[Expr | None, ...] = ()  #: sizes in each dimension; None for one that is not told
    value: Expr | None = None
    loop: int = -1
    line: int = 0
    static: bool = False
    allocatable: bool = False
    aligned: int = 0  #: bytes that its type is aligned to, where that is told
    space: str = ""  #: memory of a GPU: shared, constant, device, managed


@dataclass(frozen=True, slots=True)
class Record:
    """A struct, class or derived type."""

    name: str
    fields: tuple[Declaration, ...]
    aligned: int = 0


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of the source. `variable` counts from `start` while `condition` holds, `step` is added each time where that is a
    number; a range-for takes `variable` from `container`. Without such a header `variable` is empty.
    """

    index: int
    parent: int  #: the loop around it in the same function, or −1
    first: int
    last: int
    variable: str = ""
    start: Expr | None = None
    condition: Expr | None = None
    step: int | None = None
    container: Expr | None = None
    element: Declaration | None = None
    updated: frozenset[str] = frozenset()  #: names that the header changes
    updates: tuple[Expr, ...] = ()  #: the assignments by which it does so

    @property
    def counted(self) -> bool:
        """True for a loop over a variable with a known step."""
        return bool(self.variable) and self.step is not None


class Does(StrEnum):
    """What a statement does."""

    EVALUATE = "evaluate"
    CONDITION = "condition"
    RETURN = "return"
    BREAK = "break"
    CONTINUE = "continue"
    DECLARE = "declare"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement in the innermost loop `loop` (−1: in none), under `branch` conditions inside that loop."""

    does: Does
    line: int
    expr: Expr | None = None
    loop: int = -1
    branch: int = 0

    def walk(self) -> Iterator[Expr]:
        """Its expression with all inside, see `Expr.walk`; nothing without one."""
        return iter(()) if self.expr is None else self.expr.walk()

    def calls(self) -> Iterator[Expr]:
        """The calls in it."""
        return (one for one in self.walk() if one.kind == Kind.CALL)


@dataclass(frozen=True, slots=True)
class Region:
    """Lines under an OpenMP directive: its words without `omp`, the lines, and the loop around it."""

    words: str
    first: int
    last: int
    loop: int = -1


@dataclass(frozen=True, slots=True)
class Fork:
    """An `if`: its condition, and the lines of what is done where it holds and where not (None for nothing)."""

    condition: Expr
    line: int
    then: tuple[int, int]
    other: tuple[int, int] | None = None
    loop: int = -1


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch of a GPU kernel, with its blocks and the threads of each."""

    kernel: str
    grid: Expr
    block: Expr
    line: int
    loop: int = -1


@dataclass(frozen=True, slots=False, eq=False)
class Function:
    """A function or subroutine with everything in it, in the order of the text."""

    name: str
    first: int
    last: int
    parameters: tuple[Declaration, ...] = ()
    returns: Declaration | None = None  #: its result; None for none
    loops: tuple[Loop, ...] = ()
    statements: tuple[Statement, ...] = ()
    declarations: tuple[Declaration, ...] = ()
    regions: tuple[Region, ...] = ()
    forks: tuple[Fork, ...] = ()  #: of C and its family
    launches: tuple[Launch, ...] = ()
    marks: frozenset[str] = frozenset()  #: static, inline, virtual, noinline, member; global, device
    fixed: frozenset[str] = frozenset()  #: numbers that its template is given: known where it is compiled
    broken: tuple[int, ...] = ()  #: lines at which the text could not be parsed
    fortran: bool = False

    def chain(self, loop: int) -> Iterator[Loop]:
        """The loop and those around it, the innermost first."""
        while loop >= 0:
            yield self.loops[loop]
            loop = self.loops[loop].parent

    def inside(self, loop: int) -> tuple[Statement, ...]:
        """Statements in the loop and in loops inside it."""
        if loop not in self._inside:
            self._inside[loop] = tuple(one for one in self.statements if loop in self._around[one.loop])
        return self._inside[loop]

    def show(self, expr: Expr | None) -> str:
        """An expression as it is written in the function's language; what is long is cut."""
        text = "" if expr is None else expr.written(fortran=self.fortran)
        return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"

    def calls_at(self, line: int) -> tuple[Expr, ...]:
        """The calls that stand at the line, wholly or in part, in the order of the text."""
        return tuple(self._calls.get(line, ()))

    @cached_property
    def _calls(self) -> dict[int, list[Expr]]:
        found: dict[int, list[Expr]] = {}
        for one in expressions(self.statements):
            if one.kind == Kind.CALL:
                for line in range(one.line, max(one.line, one.last) + 1):
                    found.setdefault(line, []).append(one)
        return found

    def changing(self, loop: int) -> frozenset[str]:
        """Names that may change from one iteration of the loop to the next, see `changed`: those of loops inside as well, and
        variables declared in it.
        """
        names = set(changed(self.inside(loop)))
        for each in (self.loops[loop], *self.loops_in(loop)):
            names |= each.updated
        return frozenset(names | {one.name for one in self.declarations if loop in self._around[one.loop]})

    def loops_in(self, loop: int) -> list[Loop]:
        """Loops inside the loop."""
        return [each for each in self.loops[loop + 1 :] if loop in self._around[each.index]]

    @cached_property
    def _inside(self) -> dict[int, tuple[Statement, ...]]:
        return {}

    @cached_property
    def _around(self) -> dict[int, frozenset[int]]:
        """Each loop with those around it, by number; a loop stands behind its parent."""
        around = {-1: frozenset({-1})}
        for loop in self.loops:
            around[loop.index] = around[loop.parent] | {loop.index}
        return around

    def declared(self, name: str) -> Declaration | None:
        """The local variable or parameter of that name."""
        for one in (*self.declarations, *self.parameters):
            if one.name == name:
                return one
        return None

    def values(self, name: str) -> list[Expr]:
        """All that it sets a variable to."""
        found = assignments(self.statements)
        return [one.parts[1] for one in found if one.text == "=" and str(one.parts[0]) == name]

    def is_broken(self, first: int, last: int) -> bool:
        """True if something in the lines could not be parsed."""
        return any(first <= one <= last for one in self.broken)

    def innermost(self, line: int) -> Loop | None:
        """The innermost loop that holds the line."""
        holding = [loop for loop in self.loops if loop.first <= line <= loop.last]
        return max(holding, key=lambda loop: (loop.first, -loop.last, loop.index), default=None)


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """What is known of a file besides its functions: records, variables of the file, and constants."""

    records: dict[str, Record] = field(default_factory=dict)
    variables: dict[str, Declaration] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)

    def fields(self, name: str) -> list[Declaration]:
        """The fields of that name in all records."""
        return [one for record in self.records.values() for one in record.fields if one.name == name]


def expressions(statements: Iterable[Statement]) -> Iterator[Expr]:
    """All expressions of the statements, with those inside them."""
    for one in statements:
        yield from one.walk()


def assignments(statements: Iterable[Statement]) -> Iterator[Expr]:
    """All assignments in the statements."""
    return (one for one in expressions(statements) if one.kind == Kind.ASSIGN)


def changed(statements: tuple[Statement, ...]) -> frozenset[str]:
    """Names that the statements may change: targets of assignments, what is read from a stream or handed on by its address.

    A member counts by its own name, and its record by a name with a dot (`c->flux[k] = 0` → `flux`, `c.`), see `Expr.reads`.
    Arguments of a Fortran subroutine count as changed; what MPI sends does not.
    """
    names: set[str] = set()
    found = list(expressions(statements))
    sent = {id(one.parts[0]) for one in found if one.kind == Kind.CALL and one.parts and _SENDS.match(one.short)}
    for one in found:
        if one.kind == Kind.ASSIGN:
            names.update(target_names(one.parts[0]))
        elif one.kind == Kind.UNARY and one.text == "&" and id(one) not in sent:
            names.update(name for part in one.parts for name in target_names(part))
        elif one.kind == Kind.BINARY and one.text == ">>":
            names.update(target_names(one.parts[1]))
        elif one.kind == Kind.CALL and one.text.startswith(("call ", "read")):
            names.update(name for part in one.parts if id(part) not in sent for name in part.names())
    return frozenset(names)


#: Calls that only read what their first argument is or points to (MPI 4.0, A.3).
_SENDS = re.compile(r"(call )?mpi_(i?[bsr]?send|i?(all)?reduce|i?(ex)?scan)$", re.IGNORECASE)


def target_names(target: Expr) -> tuple[str, ...]:
    """Names of what an assignment changes; indices are only read."""
    names: list[str] = []
    one: Expr | None = target
    while one is not None:
        if one.kind in (Kind.NAME, Kind.MEMBER):
            names.append(one.text if not names else f"{one.text}.")
        one = one.parts[0] if one.kind == Kind.UNARY and one.parts else one.base
    return tuple(names)


def root(expr: Expr) -> Expr:
    """What is left of an index, member or dereference: `c->flux[k]` → `c`."""
    while True:
        if expr.kind in (Kind.INDEX, Kind.MEMBER) and expr.base is not None:
            expr = expr.base
        elif expr.kind == Kind.UNARY and expr.text in ("*", "&") and expr.parts:
            expr = expr.parts[0]
        else:
            return expr
