"""Parallel regions that are opened in each iteration of a loop whose iterations could be shared themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.directives import THREADS, Directive, directives
from chathpc.fix.recipes.analysis.edits import without_line
from chathpc.fix.recipes.analysis.loops import around, counted
from chathpc.fix.recipes.analysis.program import Spot
from chathpc.fix.recipes.analysis.syntax import inside, line_of, nodes, text_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.threads.openmp_loops import shared_directive
from chathpc.fix.recipes.threads.protection import at_the_same_place, without

if TYPE_CHECKING:
    from tree_sitter import Node

#: Directives without which a program does the same with one thread.
_PLAIN = frozenset({"parallel", "for", "simd", "critical", "atomic", "barrier", "single", "master", "masked"})


def outer_loops(context: Context, spot: Spot) -> Iterator[Change]:
    """The outermost loop around a parallel region that can be shared is shared instead of what is in it."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or THREADS.search(text[procedure.node.start_byte : procedure.node.end_byte]):
        return
    listed = list(directives(procedure))
    done: list[Node] = []
    for one in listed:
        if not one.has("parallel") or any(inside(one.node, each) for each in done):
            continue
        for loop in reversed(list(around(one.node, procedure))):
            if counted(loop, procedure) is None or (
                loop.prev_named_sibling is not None and loop.prev_named_sibling.type == "preproc_call"
            ):
                continue
            within = [each for each in listed if inside(each.node, loop)]
            if not _may_go(within, loop):
                continue
            spans = [(each.node.start_byte, each.end(text)) for each in within]
            header = at_the_same_place(procedure, loop, bare := without(program, spot.source.path, spans))
            found = shared_directive(header, bare, may_round=context.may_round) if header is not None else None
            if header is None or found is None:
                continue
            done.append(loop)
            yield Change(
                {spot.source.path: (found[0], *(without_line(each.node, text) for each in within))},
                line_of(loop),
                f"shares the loop over {header.variable} among threads instead of opening a region in each of its iterations",
                found[1],
            )
            break


def _may_go(within: list[Directive], loop: Node) -> bool:
    """True if the directives of a loop's body may all go: the loop does the same without them."""
    for one in within:
        words = set(re.sub(r"\([^()]*(?:\([^()]*\)[^()]*)*\)", " ", one.words).replace(",", " ").split())
        if not words & _PLAIN or one.listed("firstprivate", "lastprivate", "linear", "copyin", "copyprivate"):
            return False
        if words & {
            "task",
            "taskloop",
            "taskwait",
            "sections",
            "section",
            "ordered",
            "target",
            "teams",
            "distribute",
            "cancel",
            "scan",
        }:
            return False
        private = one.listed("private")
        if any(
            text_of(each) in private and not any(inside(each, other.statement) for other in within)
            for each in nodes(loop, "identifier")
        ):
            return False
    return True
