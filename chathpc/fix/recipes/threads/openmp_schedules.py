"""Schedules of OpenMP loops: how iterations are handed out to threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.layout import value
from chathpc.fix.recipes.analysis.directives import Directive, directives, region_of, tells_threads_apart
from chathpc.fix.recipes.analysis.loops import Counted, counted, loops_of
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import control, field, inside, line_of, nodes, statements, text_of
from chathpc.fix.recipes.recipe import Change, Context, Semantics

if TYPE_CHECKING:
    from tree_sitter import Node

_IMBALANCE = ("omp-load-imbalance", "omp-barrier-wait")


def scheduled(context: Context, spot: Spot, schedule: str) -> Iterator[Change]:
    """Iterations are handed out otherwise: `schedule(dynamic, …)` in small pieces, `schedule(guided)` in pieces that get smaller, `schedule(static, 8)` in
    turn, without the cost of handing them out. With `{piece}` few iterations are handed out one by one.
    """
    for one, header in _schedulable(context, spot):
        trips = value(header.procedure.expression(header.bound), spot.source.file.unit.constants)
        few = trips is not None and trips <= 512 and header.step > 0
        yield from _scheduled(one, f"schedule({schedule.format(piece=1 if few else 16)})", spot)


def _schedulable(context: Context, spot: Spot) -> Iterator[tuple[Directive, Counted]]:
    procedure = spot.procedure
    if procedure.is_broken or tells_threads_apart(procedure):
        return
    for one in directives(procedure):
        header = counted(one.statement, procedure)
        schedule = one.clause("schedule")
        if not one.is_loop or header is None or one.has("ordered") or one.clause("ordered"):
            continue
        if (one.has("nowait") and not _is_last(one, procedure)) or _follows_unwaited(one, procedure):
            continue  # another loop may count on the same thread having the same iterations
        if schedule is not None and schedule.replace(" ", "") != "static":
            continue
        if spot.cause in _IMBALANCE or _is_uneven(header, context.program):
            yield one, header


def _is_last(one: Directive, procedure: Procedure) -> bool:
    """True if the loop is the last that its parallel region does."""
    region = region_of(one.node, procedure)
    return region is not None and statements(region.statement)[-1:] == [one.statement]


def _follows_unwaited(one: Directive, procedure: Procedure) -> bool:
    """True if threads may come to the loop from another one without having waited for the others."""
    region = region_of(one.node, procedure)
    if procedure.source.is_fortran:  # it is said at the end of a loop, which is no directive of its own
        others = [each for each in directives(procedure) if each.node != one.node]
        shares = any(each.is_loop or any(map(each.has, ("sections", "single", "workshare"))) for each in others)
        alone = any(each.has("parallel") for each in others) and not shares
        return not one.has("parallel") and not alone and b"nowait" in (procedure.node.text or b"")
    return not one.has("parallel") and any(
        other.has("nowait") and other.node != one.node and (region is None or inside(other.node, region.statement))
        for other in directives(procedure)
    )


def _is_uneven(header: Counted, program: Program) -> bool:
    """True if iterations take different times by their own text: bounds of inner loops depend on the variable or on data."""
    procedure = header.procedure
    for node in nodes(header.body, *procedure.loop_kinds):
        head = control(node)
        for part in (field(node, "initializer"), field(node, "condition"), head):
            if part is None or node == header.node:
                continue
            if header.variable in procedure.names(part) or any(True for _ in nodes(part, "subscript_expression")):
                return True
        if node.type in ("while_statement", "do_statement") or (node.type == "do_loop" and head is None):
            return True
    for call in nodes(header.body, "call_expression"):
        for callee in program.named(text_of(field(call, "function"))):
            inner = loops_of(callee)
            if any(each.type in ("while_statement", "do_statement") for each in inner) or any(
                True for each in inner for _ in nodes(each, "break_statement", "return_statement")
            ):
                return True
            if any(field(each, "condition") is not None and _has_logic(field(each, "condition")) for each in inner):
                return True
    return any(True for _ in nodes(header.body, "continue_statement"))


def _has_logic(condition: Node | None) -> bool:
    """True for a loop that ends by more than its counter."""
    return condition is not None and any(
        text_of(field(each, "operator")) in ("&&", "||") for each in nodes(condition, "binary_expression")
    )


def _scheduled(one: Directive, clause: str, spot: Spot) -> Iterator[Change]:
    text = spot.source.text
    edit = (
        one.replaced(r"schedule\s*\([^)]*\)", clause, text)
        if one.clause("schedule") is not None
        else one.with_clause(clause, text)
    )
    if edit is not None:
        semantics: Semantics = "reassociates floating point" if one.clause("reduction") else "exact"
        yield Change({spot.source.path: (edit,)}, line_of(one.statement), f"Give the loop {clause}", semantics)
