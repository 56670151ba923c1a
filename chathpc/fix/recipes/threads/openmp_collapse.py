"""OpenMP loops over few iterations: those of two nested loops are shared together."""

from __future__ import annotations

from collections.abc import Iterator

from chathpc.fix.recipes.analysis.dependences import dependences
from chathpc.fix.recipes.analysis.directives import THREADS, directives, private_names
from chathpc.fix.recipes.analysis.loops import counted, is_invariant
from chathpc.fix.recipes.analysis.program import Spot
from chathpc.fix.recipes.analysis.syntax import line_of, nodes, statements, text_of
from chathpc.fix.recipes.recipe import Change, Context, Semantics


def collapsed(context: Context, spot: Spot) -> Iterator[Change]:
    """`collapse(2)`: the iterations of two loops are shared, where the outer one alone has few."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or THREADS.search(text[procedure.node.start_byte : procedure.node.end_byte]):
        return
    for one in directives(procedure):
        header = counted(one.statement, procedure)
        if (
            not one.is_loop
            or header is None
            or one.clause("collapse") is not None
            or one.clause("ordered")
            or one.has("ordered")
        ):
            continue
        inner_nodes = statements(header.body)
        inner = counted(inner_nodes[0], procedure) if len(inner_nodes) == 1 else None
        private = private_names(one, procedure)
        if (
            inner is None
            or not (inner.own or inner.variable in private)
            or inner.variable in one.listed("lastprivate")
            or any(True for _ in nodes(header.body, "preproc_call"))
        ):
            continue
        if "!=" in (header.operator, inner.operator) or one.clause("schedule") not in (None, "static"):
            continue
        if header.variable in {
            text_of(each) for side in (inner.start, inner.bound) for each in nodes(side, "identifier")
        }:
            continue
        if not all(is_invariant(side, header.node, procedure, program) for side in (inner.start, inner.bound)):
            continue
        found = dependences([header, inner], inner.body, program, private - {header.variable, inner.variable})
        sums = one.listed("reduction")
        if (
            not found.is_known
            or set(found.reductions) - sums
            or any(each != 0 for vector in found.vectors for each in vector)
        ):
            continue
        semantics: Semantics = "reassociates floating point" if sums else "exact"
        yield Change(
            {spot.source.path: (one.with_clause("collapse(2)", text),)},
            line_of(one.statement),
            f"shares the iterations over {header.variable} and {inner.variable} together (collapse(2))",
            semantics,
        )
