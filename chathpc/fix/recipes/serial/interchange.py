"""Loop interchange: the innermost loop walks through memory in the order in which it is stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.affine import Scope, factor, linear
from chathpc.fix.recipes.analysis.accesses import Access, Effects
from chathpc.fix.recipes.analysis.dependences import dependences, keeps_order
from chathpc.fix.recipes.analysis.directives import directive_before
from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import Counted, counted, is_invariant, loops_of, used_after
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.scalars import own_scalars
from chathpc.fix.recipes.analysis.subscripts import scope_of, subscripts
from chathpc.fix.recipes.analysis.syntax import field, line_of, nodes, statements, text_of
from chathpc.fix.recipes.recipe import Change, Context, Semantics

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 4


def _nest_at(loop: Node, procedure: Procedure) -> list[Counted]:
    """The loop and those that are the only statement of the one around them."""
    found: list[Counted] = []
    node: Node | None = loop
    while node is not None and len(found) < _DEEPEST:
        one = counted(node, procedure)
        if one is None:
            break
        found.append(one)
        inner = statements(one.body)
        node = inner[0] if len(inner) == 1 and inner[0].type in ("for_statement", "do_loop") else None
    return found


def interchanged(context: Context, spot: Spot) -> Iterator[Change]:
    """The loops of a perfect nest change places where the new innermost one has the smaller steps through memory."""
    procedure = spot.procedure
    if procedure.is_broken:
        return
    done: set[int] = set()
    for loop in loops_of(procedure):
        if loop.start_byte in done:
            continue
        nest = _nest_at(loop, procedure)
        if len(nest) < 2:
            continue
        change = _best_order(nest, spot, context)
        if change is not None:
            done.update(one.node.start_byte for one in nest)
            yield change


def _best_order(nest: Sequence[Counted], spot: Spot, context: Context) -> Change | None:
    procedure, program = spot.procedure, context.program
    body = nest[-1].body
    inner = effects(body, procedure, program)
    whole = effects(nest[0].node, procedure, program)
    if whole.pragmas or directive_before(nest[0].node) or not _is_rectangular(nest, whole, procedure, program):
        return None
    own = own_scalars(body, nest[0].node, procedure, program)
    found = dependences(nest, body, program, frozenset(own))
    if not found.is_known:
        return None
    exact = all(one.exact for one in found.reductions.values())
    if not exact and not context.may_round:
        return None
    costs = [_step_cost(one.variable, body, inner, procedure) for one in nest]
    far = [reach(one.variable, body, inner, procedure) for one in nest]
    best: tuple[float, Sequence[int]] | None = None
    identity: Sequence[int] = tuple(range(len(nest)))
    for order in permutations(range(len(nest))):
        if order == identity or costs[order[-1]] > 0.6 * costs[-1] or not keeps_order(found.vectors, order):
            continue
        moved = sum(abs(new - old) for new, old in enumerate(order))
        # The innermost loop matters most, then the one around it; of equals the one that changes least.
        value = costs[order[-1]] * 100 + (costs[order[-2]] if len(order) > 2 else 0) * 10 + moved * 0.1
        value += sum(far[one] < far[other] for at, one in enumerate(order) for other in order[at + 1 :])
        if best is None or value < best[0]:
            best = value, order
    if best is None:
        return None
    chosen = best[1]
    text = spot.source.text
    edits = []
    for place, old in enumerate(chosen):
        if place != old:
            start, end = nest[place].header
            first, last = nest[old].header
            edits.append(Edit(start, end, text[first:last]))
    semantics: Semantics = "exact" if exact else "reassociates floating point"
    names = ", ".join(nest[old].variable for old in chosen)
    return Change(
        {spot.source.path: tuple(edits)},
        line_of(nest[0].node),
        f"Interchange the loops to the order {names}, so that the innermost has unit stride",
        semantics,
    )


def _is_rectangular(nest: Sequence[Counted], whole: Effects, procedure: Procedure, program: Program) -> bool:
    """True if the bounds of every loop stay the same in the whole nest, and no variable is used after it."""
    variables = {one.variable for one in nest}
    if procedure.source.is_fortran and len({one.own for one in nest}) > 1:
        return False  # the head of a `do concurrent` is written in another way
    for at, one in enumerate(nest):
        for value in (one.start, one.bound):
            if procedure.names(value) & variables:
                return False
            if not is_invariant(value, nest[0].node, procedure, program, whole):
                return False
            if at and any(True for _ in nodes(value, "call_expression", "subscript_expression")):
                # Evaluated where it would not have been: only what cannot fail.
                called = [field(each, "function") for each in nodes(value, "call_expression")]
                if any(each is None or each.type != "field_expression" for each in called):
                    return False
                if any(True for _ in nodes(value, "subscript_expression")):
                    return False
        if not one.own and used_after(one.variable, nest[0].node, procedure):
            return False
    return True


def _step_cost(variable: str, body: Node, inner: Effects, procedure: Procedure) -> float:
    """What the accesses of a body cost when `variable` is that of the innermost loop: 1 for each that jumps from line to line of
    memory, a quarter for a step to the next element, nothing for what stays.
    """
    scope = scope_of(body, inner, procedure)
    once = {text_of(one.node): one for one in reversed(inner.accesses) if one.memory}
    return sum(_access_cost(one, variable, scope) for one in once.values())


def _access_cost(access: Access, variable: str, scope: Scope) -> float:
    """The same of one access."""
    for behind, index in _indices(access):
        terms = linear(access.procedure.expression(index), scope, frozenset({variable}))
        step = factor(terms, variable) if terms is not None else None
        if step is None:
            return 1.0
        if step:
            number = step.get((), 0) if set(step) <= {()} else None
            return 1.0 if behind or number is None or abs(number) > 8 else 0.25 * min(abs(number), 4)
    return 0.0


def _indices(access: Access) -> list[tuple[int, Node]]:
    """The indices, those of elements far apart first, each with how many there are behind it: the first is Fortran's last."""
    found = subscripts(access.node, access.procedure) if access.memory else None
    listed = found[1] if found is not None else []
    return list(
        zip(
            reversed(range(len(listed))),
            reversed(listed) if access.procedure.source.is_fortran else listed,
            strict=True,
        )
    )


def reach(variable: str, body: Node, inner: Effects, procedure: Procedure) -> tuple[int, int]:
    """How far the accesses of a body jump at most with a step of the variable: dimensions or factors, and then numbers."""
    scope = scope_of(body, inner, procedure)
    far = (0, 0)
    for one in inner.accesses:
        for behind, index in _indices(one):
            terms = linear(procedure.expression(index), scope, frozenset({variable}))
            step = factor(terms, variable) if terms is not None else None
            for key, value in (step or {}).items():
                far = max(far, (behind + len(key), abs(value)))
    return far
