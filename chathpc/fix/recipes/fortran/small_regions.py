"""Parallel regions of free-form Fortran that are opened only where there are enough iterations to pay for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chathpc.diagnosis.source.model import Function, Loop
from chathpc.fix.recipes.analysis.directives import WORTH_A_REGION
from chathpc.fix.recipes.analysis.program import Procedure, Spot
from chathpc.fix.recipes.analysis.syntax import line_of, text_of
from chathpc.fix.recipes.fortran.loops import control, do_node
from chathpc.fix.recipes.fortran.openmp import fortran_directives, with_clause
from chathpc.fix.recipes.recipe import Change, Context, Semantics

_NAME = re.compile(r"[\w%]+\Z")


def large_enough(context: Context, spot: Spot) -> Iterator[Change]:
    """`if(…)` at all parallel loops of the program: they are opened one after the other."""
    for procedure in context.program.procedures:
        whole = text_of(procedure.node)
        if procedure.source.is_fortran and not procedure.model.broken and not re.search(r"omp_(?:get_|in_par)", whole):
            yield from _if_large(procedure)
    del spot


def _if_large(procedure: Procedure) -> Iterator[Change]:
    text = procedure.source.text
    for node, words, loop in fortran_directives(procedure):
        parallel = re.match(r"!\$omp\s+parallel\s+do\b", words)
        if loop is None or not loop.counted or parallel is None or re.search(r"\bif\s*\(", words):
            continue
        work = _work(loop, procedure)
        if work is None:
            continue
        written = text[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")
        semantics: Semantics = "reassociates floating point" if "reduction" in words else "exact"
        yield Change(
            {procedure.source.path: (with_clause(node, written, f"if({work} > {WORTH_A_REGION})"),)},
            line_of(node),
            f"opens the parallel region only where {work} is above {WORTH_A_REGION:,}",
            semantics,
        )


def _work(loop: Loop, procedure: Procedure) -> str | None:
    """Iterations of the loop, and of those in it whose ends are known before it, as an expression that may stand before it."""
    factors: list[str] = []
    one: Loop | None = loop
    while one is not None:
        head = do_node(procedure, one)
        parts = control(head) if head is not None else None
        bound = one.condition.parts[1] if one.condition is not None and len(one.condition.parts) == 2 else None
        if parts is None or bound is None or len(parts.named_children) != 3 or list(bound.calls()):
            break
        if one is not loop and _moves(bound.names(), loop, procedure.model):
            break
        factors.append(procedure.written(parts.named_children[2]))
        inner = [each for each in procedure.model.loops if each.parent == one.index]
        one = inner[0] if inner else None
    if not factors:
        return None
    if len(factors) == 1:
        return factors[0]
    more = " * ".join(each if _NAME.match(each) else f"({each})" for each in factors[1:])
    return f"int({factors[0]}, 8) * {more}"


def _moves(names: frozenset[str] | set[str], loop: Loop, function: Function) -> bool:
    return bool(set(names) & set(function.changing(loop.index)))
