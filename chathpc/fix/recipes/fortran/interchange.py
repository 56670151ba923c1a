"""The order of loops in free-form Fortran: the innermost runs over the first index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import permutations
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.affine import Scope, factor, linear
from chathpc.diagnosis.source.model import Function, Kind, Loop
from chathpc.fix.recipes.analysis.dependences import keeps_order
from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.program import Procedure, Spot
from chathpc.fix.recipes.analysis.syntax import children, line_of, text_of
from chathpc.fix.recipes.fortran.accesses import are_same, is_safe, path, uses
from chathpc.fix.recipes.fortran.loops import control, dependences, do_node, is_index_free_after, nest
from chathpc.fix.recipes.fortran.openmp import fortran_directives
from chathpc.fix.recipes.recipe import Change, Context, Semantics

if TYPE_CHECKING:
    from tree_sitter import Node


def interchanged(context: Context, spot: Spot) -> Iterator[Change]:
    """Loops of a perfect nest change places so that the innermost runs over the first index."""
    procedure, function = spot.procedure, spot.procedure.model
    if not is_safe(procedure):
        return
    done: set[int] = set()
    for loop in function.loops:
        if loop.index in done or not loop.counted:
            continue
        loops = nest(function, loop)
        change = _best_order(loops, procedure, context) if len(loops) > 1 else None
        if change is not None:
            done.update(one.index for one in loops)
            yield change


def _best_order(loops: list[Loop], procedure: Procedure, context: Context) -> Change | None:
    function, text = procedure.model, procedure.source.text
    constants = procedure.source.file.unit.constants
    found, private = dependences(loops, function, context.program, constants)
    variables = {one.variable for one in loops}
    moving = variables | {one.name for one in uses(function, loops[-1], context.program) or [] if one.write}
    if not found.is_known or any(
        not _is_steady(one, moving - {one.variable}) or not is_index_free_after(one.variable, loops[0], function)
        for one in loops
    ):
        return None
    exact = all(one.exact for one in found.reductions.values())
    controls = [_head(procedure, one) for one in loops]
    kinds = {one.type for one in controls if one is not None}
    if any(one is None for one in controls) or len(kinds) != 1 or (not exact and not context.may_round):
        return None
    directive = _directive_before(loops[0], procedure)
    if directive and (
        not set(private) <= _private_in(directive)
        or "nowait" in text_of(procedure.node)  # a later loop may count on who did what
        or found.reductions
        or any(each != 0 for vector in found.vectors for each in vector)
    ):
        return None
    costs = [_cost(one.variable, function, loops[-1], constants) for one in loops]
    identity = tuple(range(len(loops)))
    legal = [
        order
        for order in permutations(identity)
        if order != identity and costs[order[-1]] <= 0.6 * costs[-1] and keeps_order(found.vectors, order)
    ]
    if not legal:
        return None
    order = min(
        legal, key=lambda each: (costs[each[-1]], costs[each[-2]], sum(abs(new - old) for new, old in enumerate(each)))
    )
    edits = []
    for place, old in enumerate(order):
        here, there = controls[place], controls[old]
        if place != old and here is not None and there is not None:
            edits.append(Edit(here.start_byte, here.end_byte, text[there.start_byte : there.end_byte]))
    semantics: Semantics = "exact" if exact else "reassociates floating point"
    names = ", ".join(loops[old].variable for old in order)
    return Change(
        {procedure.source.path: tuple(edits)},
        loops[0].first,
        f"interchanges the loops to the order {names}, so that the innermost runs over the first index",
        semantics,
    )


def _is_steady(loop: Loop, moving: set[str]) -> bool:
    sides = [each for each in (loop.start, loop.condition) if each is not None]
    if any(each.kind in (Kind.CALL, Kind.INDEX) for side in sides for each in side.walk()):
        return False
    names = [path(each) for side in sides for each in side.walk() if each.kind in (Kind.NAME, Kind.MEMBER)]
    bases = [each.base for side in sides for each in side.walk() if each.kind == Kind.MEMBER]
    named = [name for name in names if name not in {path(each) for each in bases if each is not None}]
    return (
        loop.counted and loop.start is not None and not any(are_same(one, other) for one in named for other in moving)
    )


def _head(procedure: Procedure, loop: Loop) -> Node | None:
    """`i = 1, n`, or `i = 1:n` of a `do concurrent` with one index and nothing else."""
    for node in procedure.all("do_loop"):
        if line_of(node) != loop.first:
            continue
        plain = control(node)
        if plain is not None:
            return plain
        statement = next(iter(children(next(iter(children(node)), None))), None)
        header = children(statement)
        if statement is not None and statement.type == "concurrent_statement" and len(header) == 1:
            inner = children(header[0])
            return inner[0] if len(inner) == 1 and inner[0].type == "concurrent_control" else None
    return None


def _directive_before(loop: Loop, procedure: Procedure) -> str:
    """The words of the OpenMP directive right before a loop; "" without one."""
    node = do_node(procedure, loop)
    previous = node.prev_named_sibling if node is not None else None
    if previous is None or previous.type != "comment" or not text_of(previous).startswith("!$omp"):
        return ""
    return next((words for _, words, one in fortran_directives(procedure) if one is loop), text_of(previous))


def _private_in(directive: str) -> set[str]:
    """Variables that each thread has for its own, without the values of before or for after."""
    lists = re.findall(r"(?<!first)(?<!last)\bprivate\s*\(([^()]*)\)", directive)
    return {name.strip() for each in lists for name in each.split(",")}


def _cost(variable: str, function: Function, loop: Loop, constants: dict[str, int]) -> float:
    cost, seen = 0.0, set()
    for statement in function.inside(loop.index):
        for one in statement.expr.walk() if statement.expr is not None else ():
            if one.kind != Kind.INDEX or str(one) in seen:
                continue
            seen.add(str(one))
            for at, part in enumerate(one.parts):
                terms = linear(part, Scope({}, constants), frozenset({variable}))
                step = factor(terms, variable) if terms is not None else None
                if terms is None or step is None:
                    cost += 1.0
                    break
                if step:  # the further back the index, the further apart the elements
                    cost += 0.25 if at == 0 and set(step) == {()} and abs(step[()]) <= 4 else 1.0 + 0.01 * at
                    break
    return cost
