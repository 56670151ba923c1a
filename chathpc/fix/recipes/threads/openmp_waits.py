"""Waiting that an OpenMP region can do without: barriers behind barriers, and work that one thread does while the others wait."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.dependences import dependences, is_independent
from chathpc.fix.recipes.analysis.directives import THREADS, Directive, directive, directives, private_names, region_of
from chathpc.fix.recipes.analysis.edits import Edit, without_line
from chathpc.fix.recipes.analysis.effects import Access, effects
from chathpc.fix.recipes.analysis.loops import counted, is_invariant
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, statements, text_of
from chathpc.fix.recipes.recipe import Change, Context, Semantics

if TYPE_CHECKING:
    from tree_sitter import Node

_BARRIER = re.compile(r"#\s*pragma\s+omp\s+barrier\b")
#: What all threads of a region come by together.
_COMMON = frozenset({"compound_statement", "for_statement", "while_statement", "do_statement"})


def fewer_barriers(context: Context, spot: Spot) -> Iterator[Change]:
    """Barriers where threads have just waited go, and so do those at the end of loops that nothing before the next barrier depends on."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken:
        return
    gone = [
        node
        for node in procedure.all("preproc_call")
        if _BARRIER.match(text_of(node)) and (_has_just_waited(node) or _is_last(node, procedure))
    ]
    for node in gone:
        yield Change(
            {spot.source.path: (without_line(node, text),)},
            line_of(node),
            "leaves out a barrier where the threads wait for each other anyway",
        )
    for one in reversed(list(directives(procedure))):
        if not one.is_loop or one.has("parallel") or one.has("nowait") or one.has("ordered"):
            continue
        if one.listed("reduction", "lastprivate", "linear") or region_of(one.node, procedure) is None:
            continue
        if _goes_on(one, gone, procedure, program):
            gone.append(one.node)  # those before it must not count on it
            yield Change(
                {spot.source.path: (one.with_clause("nowait", text),)},
                line_of(one.statement),
                "lets threads go on behind the loop without waiting: what follows has nothing to do with it",
            )


def _before(node: Node) -> Node | None:
    one = node.prev_named_sibling
    while one is not None and one.type == "comment":
        one = one.prev_named_sibling
    return one


def _has_just_waited(node: Node) -> bool:
    """True behind another barrier, and behind what ends with one by itself."""
    before = _before(node)
    if before is None:
        return False
    if before.type == "preproc_call":
        return _BARRIER.match(text_of(before)) is not None
    above = _before(before)
    one = directive(above) if above is not None and above.type == "preproc_call" else None
    return (
        one is not None
        and one.statement == before
        and not one.has("parallel")
        and not one.has("nowait")
        and any(one.has(word) for word in ("for", "sections", "single"))
    )


def _is_last(node: Node, procedure: Procedure) -> bool:
    """True at the end of a parallel region."""
    region = region_of(node, procedure)
    parent = node.parent
    return (
        region is not None
        and not region.is_loop
        and parent == region.statement
        and parent is not None
        and children(parent)[-1:] == [node]
    )


def _goes_on(one: Directive, gone: list[Node], procedure: Procedure, program: Program) -> bool:
    """True if no statement up to the next barrier touches what the loop writes, or writes what it touches."""
    region = region_of(one.node, procedure)
    if region is None or one.statement.parent != region.statement or one.statement.parent is None:
        return False
    listed = children(one.statement.parent)
    following = listed[listed.index(one.statement) + 1 :]
    until = _until_barrier(following, gone)
    if until is None:
        return False
    private = private_names(one, procedure)
    mine = _shared_accesses(one.statement, private, procedure, program)
    if mine is None:
        return False
    for each in until:
        its = _shared_accesses(each, private, procedure, program)
        if its is None:
            return False
        for first in mine:
            for second in its:
                if (first.write or second.write) and may_overlap(first, second, program):
                    return False
    return bool(until)


def _until_barrier(following: list[Node], gone: list[Node]) -> list[Node] | None:
    """Statements up to and with the next one at whose end all threads wait, but for what is `gone`; None where one is not understood."""
    found: list[Node] = []
    for node in following:
        if node.type != "preproc_call":
            found.append(node)
            continue
        if _BARRIER.match(text_of(node)):
            if node in gone:
                continue
            return found
        one = directive(node)
        if one is None or not one.is_loop or one.has("parallel") or one.listed("reduction", "lastprivate"):
            return None
        if not one.has("nowait") and node not in gone:
            return [*found, one.statement]
    return found


def _shared_accesses(
    node: Node, private: frozenset[str], procedure: Procedure, program: Program
) -> list[Access] | None:
    found = effects(node, procedure, program)
    if not found.is_known or found.pragmas:
        return None
    own = private | found.declared
    header = counted(node, procedure)
    if header is not None:
        own |= {header.variable}
    return [one for one in found.accesses if one.memory or one.name not in own]


def shared_work(context: Context, spot: Spot) -> Iterator[Change]:
    """A loop that `single` or `master` leaves to one thread is shared among all of them."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or THREADS.search(text[procedure.node.start_byte : procedure.node.end_byte]):
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
            f"shares the loop over {header.variable} among the threads instead of leaving it to one",
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
