"""Schedules of OpenMP loops: how iterations are handed out to threads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from chathpc.diagnosis.source.layout import value
from chathpc.fix.recipes.analysis.directives import Directive, directives, region_of, tells_threads_apart
from chathpc.fix.recipes.analysis.loops import Counted, counted
from chathpc.fix.recipes.analysis.program import Procedure, Spot
from chathpc.fix.recipes.analysis.syntax import inside, line_of
from chathpc.fix.recipes.recipe import Change, Context, Recipe, Semantics

#: By name what a schedule does, its clause, and how often it pays.
_SCHEDULES = {
    "dynamic": ("Schedules an OpenMP loop dynamically in small chunks.", "dynamic, {piece}", 0.9),
    "guided": ("Schedules an OpenMP loop in chunks that get smaller.", "guided", 0.6),
    "cyclic": ("Distributes the iterations of an OpenMP loop round-robin, eight at a time.", "static, 8", 0.5),
}


def schedules(prefix: str, languages: tuple[str, ...], *names: str) -> Iterator[Recipe]:
    """The recipes for some schedules in some languages."""
    for name in names:
        does, clause, promise = _SCHEDULES[name]
        yield Recipe(
            f"{prefix}schedule-{name}", does, "No `nowait` or `ordered`, and nothing depends on the thread number.",
            ("omp-load-imbalance", "omp-barrier-wait"), languages, "reassociates floating point",
            partial(scheduled, schedule=clause), promise, everywhere=False,
        )  # fmt: skip


def scheduled(context: Context, spot: Spot, schedule: str) -> Iterator[Change]:
    """Iterations are handed out otherwise: `schedule(dynamic, …)` in small pieces, `schedule(guided)` in pieces that get smaller, `schedule(static, 8)` in
    turn, without the cost of handing them out. With `{piece}` few iterations are handed out one by one.
    """
    for one, header in _schedulable(spot):
        trips = value(header.procedure.expression(header.bound), spot.source.file.unit.constants)
        few = trips is not None and trips <= 512 and header.step > 0
        yield from _scheduled(one, f"schedule({schedule.format(piece=1 if few else 16)})", spot)


def _schedulable(spot: Spot) -> Iterator[tuple[Directive, Counted]]:
    procedure = spot.procedure
    if procedure.is_broken or tells_threads_apart(procedure):
        return
    for one in directives(procedure):
        header = counted(one.statement, procedure)
        schedule = one.clause("schedule")
        if not one.is_loop or header is None or one.has("ordered") or one.clause("ordered"):
            continue
        if one.has("nowait") or _follows_unwaited(one, procedure):
            continue  # another loop may count on the same thread having the same iterations
        if schedule is not None and schedule.replace(" ", "") != "static":
            continue
        yield one, header


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


def _scheduled(one: Directive, clause: str, spot: Spot) -> Iterator[Change]:
    text = spot.source.text
    has = one.clause("schedule") is not None
    edit = one.replaced(r"schedule\s*\([^)]*\)", clause, text) if has else one.with_clause(clause, text)
    if edit is not None:
        semantics: Semantics = "reassociates floating point" if one.clause("reduction") else "exact"
        yield Change({spot.source.path: (edit,)}, line_of(one.statement), f"Give the loop {clause}", semantics)
