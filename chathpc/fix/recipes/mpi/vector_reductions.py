"""MPI: reductions of a number, or of a few, in each iteration become one of a vector (C)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent
from chathpc.fix.recipes.analysis.effects import Access, Effects, effects
from chathpc.fix.recipes.analysis.loops import Counted, counted, loops_of
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import bare, children, field, line_of, nodes, statements, text_of
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.mpi.elements import factor_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPES = {"MPI_DOUBLE": "double", "MPI_FLOAT": "float", "MPI_INT": "int", "MPI_LONG": "long"}
_LEAVING = ("return_statement", "break_statement", "continue_statement", "goto_statement", "preproc_call")
#: A reduction of more numbers at a time than this is no small one.
_MOST = 16


@dataclass(frozen=True, slots=True)
class _Nest:
    """Loops, the outer one first, whose innermost body holds a reduction: what is before it, and what is behind it."""

    headers: tuple[Counted, ...]
    call: Node
    before: tuple[Node, ...]
    after: tuple[Node, ...]

    @property
    def index(self) -> str:
        """The number of the iteration."""
        found = self.headers[0].variable
        for one in self.headers[1:]:
            found = f"{factor_of(found)} * {factor_of(text_of(one.bound))} + {one.variable}"
        return found

    @property
    def count(self) -> str:
        """How many iterations there are."""
        bounds = [text_of(one.bound) for one in self.headers]
        return bounds[0] if len(bounds) == 1 else " * ".join(factor_of(each) for each in bounds)


def vector_reduction(context: Context, spot: Spot) -> Iterator[Change]:
    """`MPI_Allreduce` in each iteration becomes one of a vector behind the loop, which is finished in a second loop."""
    procedure, program = spot.procedure, context.program
    if procedure.is_broken or procedure.source.is_cpp or b"stdlib.h" not in procedure.source.text:
        return
    for loop in loops_of(procedure):
        nest = _nest(loop, procedure)
        change = _split(nest, spot, program) if nest is not None else None
        if change is not None:
            yield change


def _nest(loop: Node, procedure: Procedure) -> _Nest | None:
    """The loop, and a loop that is all of its body, around one reduction."""
    headers: list[Counted] = []
    one: Node | None = loop
    while one is not None:
        header = counted(one, procedure)
        if header is None or header.operator != "<" or header.step != 1 or text_of(header.start) != "0":
            return None
        if not header.own:
            return None
        headers.append(header)
        listed = statements(header.body)
        one = listed[0] if len(listed) == 1 and listed[0].type == "for_statement" else None
    listed = statements(headers[-1].body)
    found = [(at, call) for at, each in enumerate(listed) if (call := _reduction(each)) is not None]
    if len(found) != 1 or len({each.variable for each in headers}) != len(headers):
        return None
    at, call = found[0]
    return _Nest(tuple(headers), call, tuple(listed[:at]), tuple(listed[at + 1 :]))


def _reduction(statement: Node) -> Node | None:
    inner = next(iter(children(statement)), None) if statement.type == "expression_statement" else None
    return inner if inner is not None and text_of(field(inner, "function")) == "MPI_Allreduce" else None


@dataclass(frozen=True, slots=True)
class _Reduced:
    """What is given and what comes back: a number (or array) of the body's own by its name, or an element as it is written."""

    mine: Node
    total: Node
    kind: str
    width: int

    @property
    def in_place(self) -> bool:
        """True where the result takes the place of what is given."""
        return text_of(self.mine) == text_of(self.total)


def _reduced(nest: _Nest, procedure: Procedure, program: Program) -> _Reduced | None:
    arguments = children(field(nest.call, "arguments"))
    told = text_of(arguments[2]) if len(arguments) == 6 else ""
    if not told.isdigit() or not 1 <= int(told) <= _MOST or text_of(arguments[3]) not in _TYPES:
        return None
    width, kind = int(told), _TYPES[text_of(arguments[3])]
    in_place = text_of(arguments[0]) == "MPI_IN_PLACE"
    mine, total = _named(arguments[int(in_place)], width), _named(arguments[1], width)
    if mine is None or total is None or (not in_place and text_of(mine) == text_of(total)):
        return None
    if not all(_is_number(each, kind, width, nest, procedure, program) for each in (mine, total)):
        return None
    return _Reduced(mine, total, kind, width)


def _named(argument: Node, width: int) -> Node | None:
    """The number whose address is given, or the array."""
    one = bare(argument)
    if one is None or width > 1:
        return one if one is not None and one.type == "identifier" else None
    return bare(field(one, "argument")) if text_of(field(one, "operator")) == "&" else None


def _is_number(node: Node, kind: str, width: int, nest: _Nest, procedure: Procedure, program: Program) -> bool:
    """True for a number or array of that type which the body declares, and for an element of an array."""
    if node.type == "subscript_expression" and width == 1:
        of = type_of(node, procedure, program)
        return of is not None and (of.name, of.depth) == (kind, 0)
    own = procedure.declarations.get(text_of(node))
    if node.type != "identifier" or own is None or own.type != kind or own.pointers:
        return False
    if text_of(node) not in {name for each in nest.before for name in effects(each, procedure, program).declared}:
        return False
    return not own.dims if width == 1 else [str(each) for each in own.dims] == [str(width)]


def _split(nest: _Nest, spot: Spot, program: Program) -> Change | None:
    procedure = spot.procedure
    reduced = _reduced(nest, procedure, program)
    if reduced is None or not _is_apart(nest, reduced, procedure, program):
        return None
    if any(True for each in (*nest.before, *nest.after) for _ in nodes(each, *_LEAVING)):
        return None
    new = _written(nest, reduced, procedure, _is_kept(nest, reduced, procedure, program))
    loop, width = nest.headers[0].node, reduced.width
    what = nest.count if width == 1 else f"{width} * {nest.count}"
    return Change(
        {spot.source.path: (Edit(loop.start_byte, loop.end_byte, new.encode("utf-8", "surrogateescape")),)},
        line_of(nest.call),
        f"reduces all {what} numbers at once instead of {'one' if width == 1 else 'a few'} in each iteration",
    )


def _is_apart(nest: _Nest, reduced: _Reduced, procedure: Procedure, program: Program) -> bool:
    """True if nothing behind the reduction is seen by what is before it in a later iteration, or needs what is declared there."""
    before = [effects(each, procedure, program) for each in nest.before]
    after = [effects(each, procedure, program) for each in nest.after]
    given, back = effects(reduced.mine, procedure, program), effects(reduced.total, procedure, program)
    first, second = [*before, given], [*after, back]
    if not all(each.is_known for each in (*first, *second)) or given.writes or back.writes:
        return False
    mine, total = text_of(reduced.mine), text_of(reduced.total)
    if not reduced.in_place and mine.isidentifier() and any(mine in _words(each) for each in nest.after):
        return False  # only what comes back is kept
    if not reduced.in_place and any(total in _words(one.node) for part in first for one in part.accesses):
        return False
    shared = {name for each in before for name in each.declared} - {mine, total}
    if shared & set().union(*(_words(each) for each in (*nest.after, reduced.total))):
        return False
    local = {name for each in (*first, *second) for name in each.declared}
    written = [one for each in (*first, *second) for one in each.writes]
    if any(not one.memory and one.name not in local for one in written):
        return False
    stored = [
        Access(one.node, procedure, one.name, True, True)
        for one in back.accesses
        if one.memory and one.node == reduced.total
    ]
    if not total.isidentifier() and not stored:
        return False
    changed = [one for one in (*written, *stored) if one.memory]
    later = [one for each in after for one in each.writes if one.memory] + stored
    return _are_steady(nest, changed, local, procedure, program) and not _is_seen_later(first, later, local, program)


def _words(node: Node) -> set[str]:
    return {text_of(each) for each in nodes(node, "identifier")}


def _are_steady(nest: _Nest, changed: list[Access], local: set[str], procedure: Procedure, program: Program) -> bool:
    """True if the loops' bounds stay the same, and none depends on another loop."""
    names = {each.variable for each in nest.headers}
    for header in nest.headers:
        bound = effects(header.bound, procedure, program)
        if not bound.is_known or bound.writes or bound.pure_calls or names & _words(header.bound):
            return False
        if any(not one.memory and one.name in local for one in bound.accesses):
            return False
        if any(may_overlap(write, one, program) for write in changed for one in bound.accesses):
            return False
    return True


def _is_seen_later(first: list[Effects], later: list[Access], local: set[str], program: Program) -> bool:
    return any(
        may_overlap(write, other, program)
        for write in later
        for part in first
        for other in part.accesses
        if other.memory or other.name not in local
    )


def _declares_only(statement: Node, name: str) -> bool:
    """True for the declaration of that name and no other, without a value."""
    listed = statement.children_by_field_name("declarator") if statement.type == "declaration" else []
    return len(listed) == 1 and text_of(listed[0]).split("[", 1)[0] == name


def _is_kept(nest: _Nest, reduced: _Reduced, procedure: Procedure, program: Program) -> bool:
    """True if nothing behind the reduction changes what it brings."""
    written = [one for each in nest.after for one in effects(each, procedure, program).writes]
    return not any(text_of(reduced.total) in _words(one.node) for one in written)


def _written(nest: _Nest, reduced: _Reduced, procedure: Procedure, is_kept: bool) -> str:
    text, width, kind = procedure.source.text, reduced.width, reduced.kind
    mine, total = text_of(reduced.mine), text_of(reduced.total)
    parts = fresh_name(f"{mine}_parts" if mine.isidentifier() else "parts", text)
    blank = indent(text, nest.headers[0].node.start_byte).decode()
    arguments = [text_of(each) for each in children(field(nest.call, "arguments"))]
    whole = nest.count if width == 1 else f"{width} * {factor_of(nest.count) if len(nest.headers) == 1 else nest.count}"
    constants = procedure.source.file.unit.constants
    bounds = [text_of(one.bound) for one in nest.headers]
    guard = " && ".join(f"{each} > 0" for each in bounds if each not in constants and not each.isdigit())
    inner = blank + "  " * (1 + len(nest.headers))

    def looped(lines: list[str]) -> list[str]:
        heads = [text[slice(*one.header)].decode() for one in nest.headers]
        opened = [f"{blank}{'  ' * (at + 1)}for ({each})" for at, each in enumerate(heads)]
        return [*opened[:-1], f"{opened[-1]} {{", *(f"{inner}{each}" for each in lines), f"{inner[:-2]}}}"]

    if width == 1:
        given = [f"{parts}[{nest.index}] = {mine};"]
        kept = f"{'const ' if is_kept else ''}{kind} " if total.isidentifier() else ""
        taken = [f"{kept}{total} = {parts}[{nest.index}];"]
    else:
        place = f"{width} * {factor_of(nest.index)}"
        given = [f"{parts}[{place}{f' + {at}' if at else ''}] = {mine}[{at}];" for at in range(width)]
        taken = [f"{'const ' if is_kept else ''}{kind} *{total} = &{parts}[{place}];"]
    lines = [
        f"if ({guard}) {{" if guard else "{",
        f"{blank}  {kind} *{parts} = malloc(sizeof({kind}) * (size_t)({whole}));",
        *looped([*(text_of(each) for each in nest.before if not _declares_only(each, total)), *given]),
        f"{blank}  MPI_Allreduce(MPI_IN_PLACE, {parts}, {whole}, {', '.join(arguments[3:])});",
        *looped([*taken, *map(text_of, nest.after)]),
        f"{blank}  free({parts});",
        f"{blank}}}",
    ]
    return "\n".join(lines)
