"""OpenMP loops: schedules, regions that are too small, loops that are still serial, and barriers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.dependences import dependences, is_independent
from chathpc.fix.recipes.analysis.directives import (
    WORTH_A_REGION,
    directives,
    is_parallel_already,
    tells_threads_apart,
    uses_openmp,
)
from chathpc.fix.recipes.analysis.edits import Edit, indent, line_start
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import Counted, around, counted, is_invariant, loops_of, used_after
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.scalars import own_scalars
from chathpc.fix.recipes.analysis.syntax import children, inside, line_of, nodes
from chathpc.fix.recipes.recipe import Change, Context, Semantics

if TYPE_CHECKING:
    from tree_sitter import Node

_INDENTED = re.compile(rb"^[ \t]+#[ \t]*pragma[ \t]+omp", re.MULTILINE)


def large_enough(context: Context, spot: Spot) -> Iterator[Change]:
    """`if(…)` at parallel loops: a region is opened only for enough iterations to pay for it.

    Where small regions are what the diagnosis found, all regions of the program get it: they are opened one after the other.
    """
    small = spot.cause in ("omp-fine-grained-regions", "oversubscription")
    procedures = context.program.procedures if small else (spot.procedure,)
    for procedure in procedures:
        if procedure.source.is_fortran == spot.source.is_fortran:
            yield from _if_large(procedure, spot, context.program)


def _if_large(procedure: Procedure, spot: Spot, program: Program) -> Iterator[Change]:
    if procedure.is_broken or tells_threads_apart(procedure):
        return
    told = spot.cause in ("omp-fine-grained-regions", "omp-barrier-wait", "oversubscription")
    if not told and not _is_called_often(procedure, program):
        return
    for one in directives(procedure):
        header = counted(one.statement, procedure)
        if not (one.is_loop and one.has("parallel")) or header is None or header.operator not in ("<", "<="):
            continue
        work = _work(header, procedure, program)
        if work is None or one.clause("if") is not None:
            continue
        semantics: Semantics = "reassociates floating point" if one.clause("reduction") else "exact"
        did = f"Open the parallel region only where {work} is above {WORTH_A_REGION:,}"
        edit = one.with_clause(f"if({work} > {WORTH_A_REGION})", procedure.source.text)
        yield Change({procedure.source.path: (edit,)}, line_of(one.statement), did, semantics)


def _is_called_often(procedure: Procedure, program: Program) -> bool:
    """True if a call of the function stands in a loop, or one of its regions does."""
    if any(True for one in directives(procedure) if one.has("parallel") for _ in around(one.node, procedure)):
        return True
    calls = program.calls.get(procedure.model.name, [])
    return any(True for caller, call in calls for _ in around(call, caller))


def _work(header: Counted, procedure: Procedure, program: Program) -> str | None:
    """Iterations of the nest as an expression that may stand before it."""
    factors = []
    whole = effects(header.node, procedure, program)
    # In Fortran, where no pointer leads astray, a call changes no more than how well the number is guessed.
    if procedure.source.is_fortran:
        whole = replace(whole, calls=[], opaque=[])
    one: Counted | None = header
    while one is not None:
        found = effects(one.bound, procedure, program)
        if not found.is_known or found.pure_calls or found.writes or header.variable in procedure.names(one.bound):
            break
        # The bound of the loop that is shared stays the same (OpenMP 5.2, 4.4.1), whatever its body calls.
        if one is not header and not is_invariant(one.bound, header.node, procedure, program, whole):
            break
        factors.append(procedure.written(one.bound))
        inner = next((each for each in nodes(one.body, "for_statement", "do_loop") if each != one.node), None)
        one = counted(inner, procedure)
    if not factors:
        return None
    plain = [each if re.fullmatch(r"[\w.>%-]+", each) else f"({each})" for each in factors]
    wide = f"int({factors[0]}, 8)" if procedure.source.is_fortran else f"(long){plain[0]}"
    return plain[0] if len(plain) == 1 else " * ".join([wide, *plain[1:]])


def parallel_loop(context: Context, spot: Spot) -> Iterator[Change]:
    """`parallel for` before an outermost loop whose iterations are proved independent; scalars become private or reductions."""
    procedure, program = spot.procedure, context.program
    flags = context.project.flags
    if (
        procedure.is_broken
        or not uses_openmp(program, flags.value if flags else None)
        or spot.source.language == "cuda"
    ):
        return
    given: list[Node] = []
    for loop in loops_of(procedure):
        header = counted(loop, procedure)
        if (
            header is None
            or any(inside(loop, each) for each in given)
            or (next(around(loop, procedure), None) is not None and not _outer_is_serial(loop))
            or not _is_worth_sharing(header, spot)
        ):
            continue
        found = _shared_directive(header, program, may_round=context.may_round)
        if found is None:
            continue
        edit, semantics = found
        given.append(loop)
        yield Change(
            {spot.source.path: (edit,)},
            line_of(loop),
            f"Parallelise the loop over {header.variable}: its iterations are independent",
            semantics,
        )


def _shared_directive(header: Counted, program: Program, *, may_round: bool) -> tuple[Edit, Semantics] | None:
    """The directive that shares a serial loop among threads, with what it does to the results; None where iterations may meet."""
    loop, procedure, text = header.node, header.procedure, header.procedure.source.text
    if header.operator == "!=" or is_parallel_already(loop, procedure, program):
        return None
    if not is_invariant(header.bound, loop, procedure, program):
        return None
    private = own_scalars(header.body, loop, procedure, program)
    found = dependences([header], header.body, program, frozenset(private))
    if (
        not found.is_known
        or not is_independent(found.vectors)
        or (not header.own and used_after(header.variable, loop, procedure))
    ):
        return None
    exact = all(one.exact for one in found.reductions.values())
    if not exact and not may_round:
        return None
    clauses = [f"private({', '.join(private)})"] if private else []
    clauses += [f"reduction({one.operator} : {one.name})" for one in found.reductions.values()]
    start = line_start(text, loop.start_byte)
    if text[start : loop.start_byte].strip():
        return None
    blank = indent(text, loop.start_byte) if _INDENTED.search(text) else b""
    line = blank + b"#pragma omp parallel for" + "".join(f" {one}" for one in clauses).encode() + b"\n"
    return Edit(start, start, line), "exact" if exact else "reassociates floating point"


def _outer_is_serial(loop: Node) -> bool:
    """True if the loop around is one over steps that cannot be shared, so that this one is the outermost that may be."""
    parent = loop.parent
    return parent is not None and parent.type == "compound_statement" and len(children(parent)) > 1


def _is_worth_sharing(header: Counted, spot: Spot) -> bool:
    """True for a loop that holds the spot's line, another loop, or calls."""
    if spot.finding is not None and header.node.start_point[0] < spot.line <= header.node.end_point[0] + 1:
        return True
    return any(True for _ in nodes(header.body, "for_statement"))
