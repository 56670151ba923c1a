"""Which iterations of a loop nest must stay in their order: distances between accesses of the same memory, by their subscripts.

The test is for subscripts that are sums of loop variables with coefficients that are equal in both accesses (the uniform case of
Banerjee, Dependence Analysis, 1997); everything else counts as a dependence in all directions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from itertools import product as combinations
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.affine import Scope
from chathpc.fix.recipes.analysis.accesses import Access, Effects
from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.c_accesses import local_array
from chathpc.fix.recipes.analysis.distances import solved_distances
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import Counted, around, counted
from chathpc.fix.recipes.analysis.origins import is_fresh
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.scalars import Reduction, reductions
from chathpc.fix.recipes.analysis.subscripts import base_and_parts, is_steady, is_whole, scope_of, sum_of
from chathpc.fix.recipes.analysis.syntax import children, enclosing, field, nodes, text_of
from chathpc.fix.recipes.analysis.types import declared

if TYPE_CHECKING:
    from tree_sitter import Node

_BREAKS = ("break_statement", "keyword_statement")
#: Distance in each loop of the nest; None where it may be any.
Vector = tuple[int | None, ...]


@dataclass(slots=True)
class Dependences:
    """Distances between iterations that touch the same memory, and scalars that are added up; `why` says what is not known."""

    vectors: set[Vector] = attribute(default_factory=set)
    reductions: dict[str, Reduction] = attribute(default_factory=dict)
    why: str = ""

    @property
    def is_known(self) -> bool:
        """False where nothing may be moved."""
        return not self.why


def dependences(
    nest: Sequence[Counted],
    body: Node,
    program: Program,
    private: frozenset[str] = frozenset(),
) -> Dependences:
    """Of all iterations of the loops of `nest` (outer first), whose innermost holds `body`; each iteration has its own `private`."""
    found = Dependences()
    procedure = nest[0].procedure
    inner = effects(body, procedure, program)
    inner = replace(inner, declared=inner.declared | private)
    if not inner.is_known or inner.pragmas:
        found.why = ", ".join(inner.opaque) or "calls or directives"
        return found
    if inner.jumps - {"continue", "break"} or _leaves(nest[-1]):
        found.why = "it may be left early"
        return found
    variables = [one.variable for one in nest]
    if len(set(variables)) != len(variables) or any(
        one.write and not one.memory and one.name in variables for one in inner.accesses
    ):
        found.why = "a loop variable is changed"
        return found
    nest = [*nest, *_inner_loops(body, inner, set(variables), procedure, program)]
    found.reductions = reductions(inner, procedure, program)
    scope = scope_of(body, inner, procedure)
    outer = [one for one in inner.accesses if _owner(one) not in inner.declared]
    writes = [one for one in outer if one.write]
    for write in writes:
        for other in outer:
            if not may_overlap(write, other, program):
                continue
            if not write.memory and write.name in found.reductions and other.name == write.name:
                continue
            if not write.memory or not other.memory:
                found.why = f"{write.name} is carried from one iteration to the next"
                return found
            vector = _distance(write, other, nest, scope, inner, program)
            if vector is not None:
                found.vectors.add(vector[: len(variables)])
    return found


def _inner_loops(body: Node, inner: Effects, outer: set[str], procedure: Procedure, program: Program) -> list[Counted]:
    """Counted loops in the body that know the range of their variables: they are further loops of the nest for its subscripts."""
    found: dict[str, Counted | None] = {}
    for node in nodes(body, "for_statement", "do_loop"):
        one = counted(node, procedure)
        if one is None:
            continue
        known = found.get(one.variable, one)
        same = known is not None and _limits(known) == _limits(one)
        changed = any(
            each.write and not each.memory and each.name == one.variable
            for each in effects(one.body, procedure, program).accesses
        )
        found[one.variable] = one if same and not changed and one.variable not in outer else None
    moving = inner.declared | {one.name for one in inner.writes if not one.memory}
    # A name that is also declared in another way, or whose bound changes from one iteration of the nest to the next, has no range.
    return [
        one
        for one in found.values()
        if one is not None
        and not procedure.names(one.start, one.bound) & moving
        and all(is_steady(side, inner, procedure, program) for side in (one.start, one.bound))
        and all(
            any(loop is not None and loop.variable == one.variable for loop in _counted_around(each, body, procedure))
            for each in nodes(body, "identifier")
            if text_of(each) == one.variable
        )
    ]


def _counted_around(node: Node, body: Node, procedure: Procedure) -> Iterator[Counted | None]:
    return (counted(loop, procedure) for loop in around(node, procedure, body))


def _limits(one: Counted) -> tuple[str, str, str, int]:
    return text_of(one.start), text_of(one.bound), one.operator, one.step


def _leaves(loop: Counted) -> bool:
    """True if a `break` in the body belongs to the loop; those of inner loops do no harm."""
    kinds = loop.procedure.loop_kinds
    jumps = (each for each in nodes(loop.body, *_BREAKS) if each.type == _BREAKS[0] or text_of(each) == "exit")
    return any(enclosing(each, kinds) == loop.node for each in jumps)


def _owner(one: Access) -> str | None:
    """The variable that is accessed, or the local array or record of which a part is."""
    return local_array(one.node, one.procedure) if one.memory else one.name


def _distance(
    write: Access, other: Access, nest: Sequence[Counted], scope: Scope, inner: Effects, program: Program
) -> Vector | None:
    """How far apart iterations are that touch the same element; None if none do. All None where that is not known."""
    anywhere: Vector = (None,) * len(nest)
    left, right = base_and_parts(write, inner), base_and_parts(other, inner)
    if left is None or right is None or len(left[1]) != len(right[1]) or other.procedure is not write.procedure:
        return anywhere
    renamed = _same_array(left[0], right[0], write.procedure, program)
    if renamed is None:
        return anywhere
    moving = frozenset(one.variable for one in nest)
    if write.procedure.names(left[0]) & (moving | inner.declared):
        return anywhere
    changing = inner.declared | {one.name for one in inner.writes if not one.memory}
    fixed: list[int | None] = [None] * len(nest)
    impossible = False
    for mine, its in zip(left[1], right[1], strict=True):
        if not all(
            is_whole(each, write.procedure) and is_steady(each, inner, write.procedure, program)
            for each in (*mine, *its)
        ):
            continue  # tells nothing; the other indices may
        first = sum_of(mine, {}, scope, moving, write.procedure)
        second = sum_of(its, renamed, scope, moving, write.procedure)
        if first is None or second is None:
            continue
        solved = solved_distances(first, second, nest, changing - set(scope.values) - moving)
        if solved == "never":
            impossible = True
            continue
        for at, value in solved.items() if isinstance(solved, dict) else ():
            if fixed[at] is not None and fixed[at] != value:
                impossible = True
            fixed[at] = value
    return None if impossible else tuple(fixed)


def _same_array(one: Node, other: Node, procedure: Procedure, program: Program) -> dict[str, str] | None:
    """{} if both are written the same; a renaming if they are the same member of two records, each with memory of its own."""
    if text_of(one) == text_of(other):
        return {}
    if procedure.source.is_fortran:
        return None
    if one.type == other.type == "identifier":
        pair = (one, other)
        begins = all(is_fresh(each, procedure, program) and _starts(each, procedure, program) for each in pair)
        return {} if begins else None
    if one.type == other.type == "field_expression" and text_of(field(one, "field")) == text_of(field(other, "field")):
        mine, its = field(one, "argument"), field(other, "argument")
        named = mine is not None and its is not None and mine.type == its.type == "identifier"
        if named and is_fresh(one, procedure, program) and is_fresh(other, procedure, program):
            return {text_of(its): text_of(mine)}
    return None


def _starts(node: Node, procedure: Procedure, program: Program) -> bool:
    """True for a pointer that is never moved along inside its memory, as far as this function and its callers show."""
    name = text_of(node)
    one = declared(name, procedure, program)
    if one is None or (one.dims and name not in procedure.parameters):
        return one is not None
    changes = procedure.all("update_expression", "assignment_expression")
    if name not in procedure.parameters or name in (
        text_of(field(each, "argument") or field(each, "left")) for each in changes
    ):
        return False
    at = [each.name for each in procedure.model.parameters].index(name)
    for _, call in program.calls.get(procedure.model.name, []):
        listed = children(field(call, "arguments"))
        if at >= len(listed) or listed[at].type not in ("identifier", "field_expression"):
            return False
    return True


def keeps_order(vectors: set[Vector], order: Sequence[int]) -> bool:
    """True if the loops of a nest may be put into that order: every dependence still runs forwards.

    `order` names for each new place, outer first, the old one.
    """
    for vector in vectors:
        choices = [(-1, 0, 1) if value is None else ((value > 0) - (value < 0),) for value in vector]
        for signs in combinations(*choices):
            forwards = next((sign for sign in signs if sign), 0)
            if forwards == 0:
                continue
            towards = signs if forwards > 0 else tuple(-sign for sign in signs)
            if next((towards[at] for at in order if towards[at]), 0) < 0:
                return False
    return True


def is_independent(vectors: set[Vector]) -> bool:
    """True if no dependence runs from one iteration of the outermost loop to another."""
    return all(vector[0] == 0 for vector in vectors)
