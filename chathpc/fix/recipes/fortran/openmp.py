"""OpenMP in free-form Fortran: its directives, and schedules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.model import Kind, Loop
from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.program import Procedure, Spot
from chathpc.fix.recipes.analysis.syntax import line_of, text_of
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


def _scheduled(spot: Spot, clause: str) -> Iterator[Change]:
    procedure, text = spot.procedure, spot.source.text
    whole = text_of(procedure.node)
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
        words = text_of(node)
        if not words.startswith("!$omp") or words.startswith("!$omp end"):
            continue
        following = node.next_named_sibling
        while following is not None and following.type == "comment" and words.endswith("&"):
            words = words[:-1] + text_of(following).removeprefix("!$omp").removeprefix("&")
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
