"""Waiting that an OpenMP region can do without: work that one thread does while the others wait."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.dependences import dependences, is_independent
from chathpc.fix.recipes.analysis.directives import directives, private_names, region_of, tells_threads_apart
from chathpc.fix.recipes.analysis.edits import Edit, without_line
from chathpc.fix.recipes.analysis.loops import counted, is_invariant
from chathpc.fix.recipes.analysis.program import Spot
from chathpc.fix.recipes.analysis.syntax import field, line_of, statements
from chathpc.fix.recipes.recipe import Change, Context, Semantics

if TYPE_CHECKING:
    from tree_sitter import Node

#: What all threads of a region come by together.
_COMMON = frozenset({"compound_statement", "for_statement", "while_statement", "do_statement"})


def shared_work(context: Context, spot: Spot) -> Iterator[Change]:
    """A loop that `single` or `master` leaves to one thread is shared among all of them."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or tells_threads_apart(procedure):
        return
    for one in directives(procedure):
        word = next((each for each in ("single", "master", "masked") if one.has(each)), "")
        region = region_of(one.node, procedure)
        listed = statements(one.statement)
        header = counted(listed[0], procedure) if len(listed) == 1 else None
        if not word or region is None or header is None or one.has("parallel") or one.listed("copyprivate", "filter"):
            continue
        if not _is_come_by(one.node, region.statement) or header.operator == "!=":
            continue
        private = private_names(one, procedure)
        found = dependences([header], header.body, program, private - {header.variable})
        if not found.is_known or not is_independent(found.vectors):
            continue
        if not is_invariant(header.bound, header.node, procedure, program) or any(
            name in private for name in found.reductions
        ):
            continue
        exact = all(each.exact for each in found.reductions.values())
        if not exact and not context.may_round:
            continue
        words = text[one.node.start_byte : one.end(text)]
        at = re.search(rb"\b%s\b" % word.encode(), words)
        if at is None:
            continue
        sums = one.reducing({each.name: each.operator for each in found.reductions.values()}, text)
        semantics: Semantics = "exact" if exact else "reassociates floating point"
        edits = [Edit(one.node.start_byte + at.start(), one.node.start_byte + at.end(), b"for"), *sums]
        if one.statement.type == "compound_statement":
            opening, closing = one.statement.children[0], one.statement.children[-1]
            edits += [without_line(opening, text), without_line(closing, text)]
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(header.node),
            f"Share the loop over {header.variable} among the threads instead of leaving it to one",
            semantics,
        )


def _is_come_by(node: Node, region: Node) -> bool:
    """True if all threads of the region reach the directive: it stands under no condition."""
    one = node.parent
    while one is not None and one != region:
        if one.type not in _COMMON or (field(one, "condition") is None and one.type == "do_statement"):
            return False
        one = one.parent
    return one is not None
