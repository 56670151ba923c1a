"""Powers and functions of the counters of inner loops: an outer loop that repeats them reads a table instead (free-form Fortran)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.c_expressions import last_line
from chathpc.diagnosis.source.model import Expr, Kind
from chathpc.fix.recipes.analysis.directives import directive_before
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, indent_step, line_start
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.fortran_accesses import INTRINSICS
from chathpc.fix.recipes.analysis.loops import Counted, around, counted, is_invariant, used_after
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import enclosing, inside, line_of
from chathpc.fix.recipes.fortran.invariants import costly
from chathpc.fix.recipes.fortran.types import declarations_end, type_text
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.invariants import CONDITIONAL

if TYPE_CHECKING:
    from tree_sitter import Node

#: A table of more dimensions is larger than what computing its values again costs.
_MOST_COUNTERS = 2


def tabulated(context: Context, spot: Spot) -> Iterator[Change]:
    """Costly functions of the counters of inner loops, and of what the outer loop leaves alone, are computed once for each counter."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    at = declarations_end(procedure)
    if at is None or procedure.names_shared:
        return
    taken: list[Node] = []
    for node in costly(procedure, program):
        expr, chain = procedure.expression(node), list(around(node, procedure))
        kind, counters = type_text(expr, procedure, program), _counters(expr, chain, procedure)
        if kind is None or not counters or any(inside(node, each) for each in taken):
            continue
        outer = _outer(expr, node, chain, counters, procedure, program)
        ranges = None if outer is None else _ranges(expr, counters, outer, procedure, program)
        if outer is None or ranges is None or _is_among_threads(outer, procedure):
            continue
        name = fresh_name("tabulated", text, len(taken))
        taken.append(node)
        named = f"{kind}, allocatable :: {name}({', '.join(':' for _ in counters)})"
        variables = [one.variable for one in counters]
        start, lines, instead = _computed(node, name, outer, list(zip(variables, ranges, strict=True)), text)
        yield Change(
            {spot.source.path: (
                Edit(at, at, b"\n" + indent(text, at - 1) + named.encode()),
                Edit(start, start, lines),
                Edit(node.start_byte, node.end_byte, instead),
            )},
            line_of(node), f"Tabulate {procedure.written(node)[:60]} once for each {' and '.join(variables)}",
        )  # fmt: skip


def _computed(
    node: Node, name: str, outer: Node, ranges: Sequence[tuple[str, tuple[str, str]]], text: bytes
) -> tuple[int, bytes, bytes]:
    """Where the table is filled, the lines that do so, and what stands for the expression then."""
    start = line_start(text, (directive_before(outer) or outer).start_byte)
    blank, step = indent(text, outer.start_byte).decode(), indent_step(text).decode()
    index = ", ".join(one for one, _ in ranges)
    room = ", ".join(f"{low}:{high}" for _, (low, high) in ranges)
    lines = [f"if (allocated({name})) deallocate ({name})", f"allocate ({name}({room}))"]
    for depth, (one, (low, high)) in enumerate(reversed(ranges)):
        lines.append(f"{step * depth}do {one} = {low}, {high}")
    value = text[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")
    lines.append(f"{step * len(ranges)}{name}({index}) = {value}")
    lines += [f"{step * depth}end do" for depth in reversed(range(len(ranges)))]
    written = "".join(f"{blank}{one}\n" for one in lines)
    return start, written.encode("utf-8", "surrogateescape"), f"{name}({index})".encode()


def _counters(expr: Expr, chain: Sequence[Node], procedure: Procedure) -> list[Counted]:
    """The loops by whose counters the expression differs, the innermost first; none where one of them cannot be counted again."""
    headers = [counted(each, procedure) for each in chain]
    found = [one for one in headers if one is not None and one.variable in expr.names()]
    variables = [
        one.variable for one in headers if one is not None and one.variable in {each.variable for each in found}
    ]
    right = len(set(variables)) == len(variables) <= _MOST_COUNTERS and all(one.step == 1 for one in found)
    return found if right else []


def _outer(
    expr: Expr, node: Node, chain: Sequence[Node], counters: list[Counted], procedure: Procedure, program: Program
) -> Node | None:
    """The outermost loop around the counters' that leaves alone all else that the expression reads."""
    best = None
    apart = frozenset(one.variable for one in counters)
    sure = enclosing(node, CONDITIONAL, procedure.node) is None or _is_plain(expr, apart)
    for loop in chain[chain.index(counters[-1].node) + 1 :]:
        if expr.names() - apart and not is_invariant(node, loop, procedure, program, None, apart):
            break
        if not sure or effects(loop, procedure, program).jumps - {"continue"}:
            break
        if _ranges(expr, counters, loop, procedure, program) is None:
            break
        if any(used_after(variable, loop, procedure) for variable in apart):
            break
        best = loop
    return best


def _is_plain(expr: Expr, counters: frozenset[str]) -> bool:
    """True if computing it for any element of its arrays does no harm: intrinsic functions, and elements at the counters themselves."""
    for one in expr.walk():
        if one.kind == Kind.CALL and one.text not in INTRINSICS:
            return False
        if one.kind == Kind.BINARY and one.text == "/":
            return False
        if one.kind == Kind.INDEX and not all(
            part.kind == Kind.NUMBER or (part.kind == Kind.NAME and part.text in counters) for part in one.parts
        ):
            return False
    return True


def _ranges(
    expr: Expr, counters: Sequence[Counted], outer: Node, procedure: Procedure, program: Program
) -> list[tuple[str, str]] | None:
    """First and last value of each counter; where the loop begins or ends elsewhere each time, those of an array that it indexes."""
    found = []
    apart = frozenset(one.variable for one in counters)
    for one in counters:
        array = _indexed(expr, one.variable, procedure) if _is_plain(expr, apart) else None
        limits = []
        for bound, of in ((one.start, "lbound"), (one.bound, "ubound")):
            if is_invariant(bound, outer, procedure, program):
                limits.append(procedure.written(bound))
            elif array is not None:
                limits.append(f"{of}({array[0]}, {array[1]})")
            else:
                return None
        found.append((limits[0], limits[1]))
    return found


def _indexed(expr: Expr, variable: str, procedure: Procedure) -> tuple[str, int] | None:
    """An array that the expression reads at the counter, and in which dimension, if both its bounds are known where it is read."""
    for one in expr.walk():
        if one.kind != Kind.INDEX or one.base is None or one.base.kind != Kind.NAME:
            continue
        declared = procedure.model.declared(one.base.text)
        if declared is None or len(declared.dims) != len(one.parts):
            continue
        assumed_size = declared.dims[-1] is not None and str(declared.dims[-1]) == "*"
        for number, part in enumerate(one.parts, 1):
            if part.kind == Kind.NAME and part.text == variable and not assumed_size:
                return one.base.text, number
    return None


def _is_among_threads(outer: Node, procedure: Procedure) -> bool:
    """True where several threads come to what stands in front of the loop."""
    first, last = line_of(directive_before(outer) or outer), last_line(outer)
    return any(one.first < first and last <= one.last for one in procedure.model.regions)
