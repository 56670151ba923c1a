"""OpenMP in free-form Fortran: schedules, and loops that are shared among threads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.model import Kind, Loop, Region
from chathpc.fix.recipes.analysis.dependences import is_independent
from chathpc.fix.recipes.analysis.directives import uses_openmp
from chathpc.fix.recipes.analysis.edits import Edit, indent, line_end, line_start
from chathpc.fix.recipes.analysis.program import Procedure, Spot
from chathpc.fix.recipes.analysis.syntax import line_of
from chathpc.fix.recipes.fortran.accesses import is_safe
from chathpc.fix.recipes.fortran.loops import dependences, do_node, is_index_free_after, nest, own_text
from chathpc.fix.recipes.recipe import Change, Context, Semantics

if TYPE_CHECKING:
    from tree_sitter import Node


def dynamic_schedule(context: Context, spot: Spot) -> Iterator[Change]:
    """`schedule(dynamic, 16)` at a parallel loop."""
    yield from _scheduled(spot, "schedule(dynamic, 16)")
    del context


def guided_schedule(context: Context, spot: Spot) -> Iterator[Change]:
    """`schedule(guided)` at a parallel loop."""
    yield from _scheduled(spot, "schedule(guided)")
    del context


def collapsed(context: Context, spot: Spot) -> Iterator[Change]:
    """`collapse(2)`: the iterations of two loops are shared, where the outer one alone has few."""
    procedure, text, function = spot.procedure, spot.source.text, spot.procedure.model
    if not is_safe(procedure) or "omp_get_thread" in own_text(procedure.node):
        return
    for node, words, loop in fortran_directives(procedure):
        if (
            loop is None
            or not re.search(r"\bdo\b", words)
            or re.search(r"collapse|ordered|schedule\s*\((?!\s*static\s*\))", words)
        ):
            continue
        loops = nest(function, loop)[:2]
        if len(loops) < 2 or any(
            loop.first < one.first <= loop.last for one in function.regions if one.first != loop.first
        ):
            continue
        inner = loops[1]
        names = {name for side in (inner.start, inner.condition) if side is not None for name in side.names()}
        if loop.variable in names or names - {inner.variable} & {
            one.expr.parts[0].text
            for one in function.inside(loop.index)
            if one.expr is not None and one.expr.kind == Kind.ASSIGN
        }:
            continue
        private = {each.strip() for found in re.findall(r"private\s*\(([^)]*)\)", words) for each in found.split(",")}
        found, own = dependences(loops, function, context.program, spot.source.file.unit.constants)
        summed = {
            each.strip() for one in re.findall(r"reduction\s*\([^:)]*:([^)]*)\)", words) for each in one.split(",")
        }
        if (
            not found.is_known
            or set(found.reductions) - summed
            or not own <= private | {each.variable for each in function.loops}
        ):
            continue
        if any(each != 0 for vector in found.vectors for each in vector):
            continue
        written = text[node.start_byte : node.end_byte].decode()
        semantics: Semantics = "reassociates floating point" if summed else "exact"
        yield Change(
            {spot.source.path: (with_clause(node, written, "collapse(2)"),)},
            line_of(node),
            f"shares the iterations over {loop.variable} and {inner.variable} together (collapse(2))",
            semantics,
        )


def _scheduled(spot: Spot, clause: str) -> Iterator[Change]:
    procedure, text = spot.procedure, spot.source.text
    whole = own_text(procedure.node)
    if "omp_get_thread" in whole or "omp_get_num" in whole:
        return
    for node, words, loop in fortran_directives(procedure):
        if not re.search(r"\bdo\b", words) or "ordered" in words or "nowait" in words or loop is None:
            continue
        if not (spot.cause in ("omp-load-imbalance", "omp-barrier-wait") or _is_uneven(loop, procedure)):
            continue
        written = text[node.start_byte : node.end_byte].decode()
        match = re.search(r"schedule\s*\(([^)]*)\)", written, re.IGNORECASE)
        if match is not None and match[1].strip().lower() != "static":
            continue
        if match is not None:
            edit = Edit(node.start_byte + match.start(), node.start_byte + match.end(), clause.encode())
        elif "schedule" in words:
            continue
        else:
            edit = with_clause(node, written, clause)
        semantics: Semantics = "reassociates floating point" if "reduction" in words else "exact"
        yield Change({spot.source.path: (edit,)}, line_of(node), f"gives the loop {clause}", semantics)


def with_clause(node: Node, written: str, clause: str) -> Edit:
    """One clause more at the end of a directive's first line."""
    bare = written.rstrip()
    at = node.start_byte + len((bare[:-1].rstrip() if bare.endswith("&") else bare).encode())
    return Edit(at, at, b" " + clause.encode())


def fortran_directives(procedure: Procedure) -> Iterator[tuple[Node, str, Loop | None]]:
    """Directives with all their words (continued lines too), and the loop behind each."""
    for node in procedure.all("comment"):
        words = own_text(node)
        if not words.startswith("!$omp") or words.startswith("!$omp end"):
            continue
        following = node.next_named_sibling
        while following is not None and following.type == "comment" and words.endswith("&"):
            words = words[:-1] + own_text(following).removeprefix("!$omp").removeprefix("&")
            following = following.next_named_sibling
        loop = next(
            (one for one in procedure.model.loops if following is not None and one.first == line_of(following)), None
        )
        yield node, words, loop


def _is_uneven(loop: Loop, procedure: Procedure) -> bool:
    inner = procedure.model.loops_in(loop.index)
    return any(
        not one.counted
        or loop.variable
        in {
            each.text
            for side in (one.start, one.condition)
            if side is not None
            for each in side.walk()
            if each.kind == Kind.NAME and each.text != one.variable
        }
        for one in inner
    )


def parallel_loop(context: Context, spot: Spot) -> Iterator[Change]:
    """`parallel do` at an outermost loop whose iterations are proved independent."""
    if not _may_be_shared(context, spot):
        return
    function = spot.procedure.model
    todo = [loop for loop in function.loops if loop.parent < 0]
    while todo:
        loop = todo.pop(0)
        inner = function.loops_in(loop.index)
        if any(_meet(region, loop) for region in function.regions):
            if not any(region.first <= loop.first and loop.last <= region.last for region in function.regions):
                todo = [one for one in function.loops if one.parent == loop.index] + todo
            continue
        change = _shared(loop, context, spot) if inner else None
        if change is not None:
            yield change
        elif inner:
            todo = [one for one in function.loops if one.parent == loop.index] + todo


def _may_be_shared(context: Context, spot: Spot) -> bool:
    procedure, flags = spot.procedure, context.project.flags
    if not is_safe(procedure) or not uses_openmp(context.program, flags.value if flags else None):
        return False
    return not any(
        "!$omp parallel" in own_text(one.node) and re.search(rf"\b{procedure.model.name}\b", own_text(one.node))
        for one in context.program.procedures
        if one is not procedure
    )


def _meet(region: Region, loop: Loop) -> bool:
    return region.first <= loop.last and loop.first <= region.last


def _shared(loop: Loop, context: Context, spot: Spot) -> Change | None:
    """A loop shared among threads; None where its iterations may meet."""
    procedure, text, function = spot.procedure, spot.source.text, spot.procedure.model
    if not loop.counted:
        return None
    found, private = dependences([loop], function, context.program, spot.source.file.unit.constants)
    if (
        not found.is_known
        or not is_independent(found.vectors)
        or not is_index_free_after(loop.variable, loop, function)
    ):
        return None
    exact = all(one.exact for one in found.reductions.values())
    node = do_node(procedure, loop)
    if node is None or (not exact and not context.may_round):
        return None
    private |= {one.variable for one in function.loops_in(loop.index)}
    clauses = f" private({', '.join(sorted(private))})" if private else ""
    clauses += "".join(f" reduction(+:{name})" for name in found.reductions)
    start, blank = line_start(text, node.start_byte), indent(text, node.start_byte)
    end = line_end(text, node.end_byte - 1)
    edits = (
        Edit(start, start, blank + f"!$omp parallel do{clauses}\n".encode()),
        Edit(end, end, blank + b"!$omp end parallel do\n"),
    )
    semantics: Semantics = "exact" if exact else "reassociates floating point"
    did = f"shares the loop over {loop.variable} among threads: its iterations are independent"
    return Change({spot.source.path: edits}, loop.first, did, semantics)
