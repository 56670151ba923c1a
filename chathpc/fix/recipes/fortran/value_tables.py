"""Powers and functions of the counters of inner loops: an outer loop that repeats them reads a table instead (free-form Fortran)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.fortran import expression, resolved
from chathpc.diagnosis.source.model import Expr, Function, Kind, Loop
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, indent_step, line_start
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import inside, line_of, text_of
from chathpc.fix.recipes.fortran.accesses import INTRINSICS, is_safe
from chathpc.fix.recipes.fortran.invariants import arrays_of, declared_type, is_costly, is_surely_done, stays
from chathpc.fix.recipes.fortran.loops import (
    control,
    declarations_end,
    do_node,
    first_directive,
    is_index_free_after,
    type_text,
)
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

#: A table of more dimensions is larger than what computing its values again costs.
_MOST_COUNTERS = 2


def tabulated(context: Context, spot: Spot) -> Iterator[Change]:
    """Costly functions of the counters of inner loops, and of what the outer loop leaves alone, are computed once for each counter."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    function, at = procedure.model, declarations_end(procedure)
    if not is_safe(procedure) or at is None or "default(none)" in text_of(procedure.node).replace(" ", ""):
        return
    taken: list[Node] = []
    for node in procedure.all("math_expression", "call_expression"):
        if any(inside(node, each) for each in taken) or not is_costly(node, procedure, program):
            continue
        expr = resolved(expression(node), arrays_of(procedure))
        kind, inner = type_text(expr, function, program), function.innermost(line_of(node))
        if kind is None or inner is None or not _is_in_assignment(node):
            continue
        chain = list(function.chain(inner.index))
        counters = _counters(expr, chain)
        outer = _outer(expr, node, chain, counters, procedure, program) if counters else None
        found = None if outer is None else do_node(procedure, outer)
        ranges = None if outer is None else _ranges(expr, counters, outer, procedure, program)
        if outer is None or found is None or ranges is None or _is_among_threads(function, outer, found):
            continue
        name = fresh_name("tabulated", text, len(taken))
        taken.append(node)
        named = f"{declared_type(kind)}, allocatable :: {name}({', '.join(':' for _ in counters)})"
        start, lines, instead = _computed(node, name, found, list(zip(counters, ranges, strict=True)), text)
        yield Change(
            {spot.source.path: (
                Edit(at, at, b"\n" + indent(text, at - 1) + named.encode()),
                Edit(start, start, lines),
                Edit(node.start_byte, node.end_byte, instead),
            )},
            line_of(node), f"computes {procedure.written(node)[:60]} once for each {' and '.join(one.variable for one in counters)}, into a table",
        )  # fmt: skip


def _computed(
    node: Node, name: str, outer: Node, ranges: Sequence[tuple[Loop, tuple[str, str]]], text: bytes
) -> tuple[int, bytes, bytes]:
    """Where the table is filled, the lines that do so, and what stands for the expression then."""
    start = line_start(text, first_directive(outer).start_byte)
    blank, step = indent(text, outer.start_byte).decode(), indent_step(text).decode()
    index = ", ".join(one.variable for one, _ in ranges)
    room = ", ".join(f"{low}:{high}" for _, (low, high) in ranges)
    lines = [f"if (allocated({name})) deallocate ({name})", f"allocate ({name}({room}))"]
    for depth, (one, (low, high)) in enumerate(reversed(ranges)):
        lines.append(f"{step * depth}do {one.variable} = {low}, {high}")
    value = text[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")
    lines.append(f"{step * len(ranges)}{name}({index}) = {value}")
    lines += [f"{step * depth}end do" for depth in reversed(range(len(ranges)))]
    written = "".join(f"{blank}{one}\n" for one in lines)
    return start, written.encode("utf-8", "surrogateescape"), f"{name}({index})".encode()


def _is_in_assignment(node: Node) -> bool:
    one = node.parent
    while one is not None and one.type not in ("assignment_statement", "do_loop", "function", "subroutine", "program"):
        one = one.parent
    return one is not None and one.type == "assignment_statement"


def _counters(expr: Expr, chain: Sequence[Loop]) -> list[Loop]:
    """The loops by whose counters the expression differs, the innermost first; none where one of them cannot be counted again."""
    names = expr.names()
    found = [one for one in chain if one.variable in names]
    variables = {one.variable for one in found}
    right = len(variables) == len(found) <= _MOST_COUNTERS and all(one.step == 1 for one in found)
    return found if right else []


def _outer(
    expr: Expr, node: Node, chain: Sequence[Loop], counters: list[Loop], procedure: Procedure, program: Program
) -> Loop | None:
    """The outermost loop around the counters' that leaves alone all else that the expression reads."""
    function, best = procedure.model, None
    apart = frozenset(one.variable for one in counters)
    for loop in chain[chain.index(counters[-1]) + 1 :]:
        if any(use.variable in apart for use in chain if use not in counters):
            return None
        ranges = _ranges(expr, counters, loop, procedure, program)
        everywhere = _is_plain(expr, apart)
        if not stays(expr, loop, function, program, apart) and (expr.names() - apart):
            break
        if ranges is None or not (everywhere or is_surely_done(node, procedure)):
            break
        if not all(is_index_free_after(variable, loop, function) for variable in apart):
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
    expr: Expr, counters: Sequence[Loop], outer: Loop, procedure: Procedure, program: Program
) -> list[tuple[str, str]] | None:
    """First and last value of each counter; where the loop begins or ends elsewhere each time, those of an array that it indexes."""
    found = []
    apart = frozenset(one.variable for one in counters)
    for loop in counters:
        head = do_node(procedure, loop)
        parts = control(head) if head is not None else None
        if parts is None or loop.start is None or loop.condition is None or len(parts.named_children) != 3:
            return None
        array = _indexed(expr, loop.variable, procedure) if _is_plain(expr, apart) else None
        limits = []
        for bound, written, of in (
            (loop.start, parts.named_children[1], "lbound"),
            (loop.condition.parts[1], parts.named_children[2], "ubound"),
        ):
            if not bound.names() or stays(bound, outer, procedure.model, program):
                limits.append(procedure.written(written))
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


def _is_among_threads(function: Function, outer: Loop, node: Node) -> bool:
    """True where several threads come to what stands in front of the loop."""
    first = line_of(first_directive(node))
    return any(one.first < first and outer.last <= one.last for one in function.regions)
