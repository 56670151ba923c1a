"""Which iterations of a loop nest must stay in their order: distances between accesses of the same memory, by their subscripts.

The test is for subscripts that are sums of loop variables with coefficients that are equal in both accesses (the uniform case of
Banerjee, Dependence Analysis, 1997); everything else counts as a dependence in all directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from itertools import product as combinations
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.affine import Scope, Sum, add, factor, linear, product
from chathpc.diagnosis.source.c_expressions import expression
from chathpc.diagnosis.source.model import Expr, Kind
from chathpc.fix.recipes.aliases import is_fresh, may_overlap
from chathpc.fix.recipes.effects import Access, Effects, effects
from chathpc.fix.recipes.loops import Counted, counted
from chathpc.fix.recipes.program import Procedure, Program
from chathpc.fix.recipes.syntax import bare, children, enclosing, field, inside, nodes, text_of
from chathpc.fix.recipes.types import WIDE, declared, type_of, written_type

if TYPE_CHECKING:
    from tree_sitter import Node

#: Distance in each loop of the nest; None where it may be any.
Vector = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Reduction:
    """A scalar that every iteration adds to, and nothing else in the nest uses."""

    name: str
    operator: str
    exact: bool  #: of whole numbers: any order gives the same


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
    *,
    directives: bool = False,
) -> Dependences:
    """Of all iterations of the loops of `nest` (outer first), whose innermost holds `body`; each iteration has its own `private`.

    OpenMP directives in the body are only looked through if `directives` says so: the caller knows what they are.
    """
    found = Dependences()
    procedure = nest[0].procedure
    inner = effects(body, procedure, program)
    inner = replace(inner, declared=inner.declared | private)
    if not inner.is_known or (inner.pragmas and not directives):
        found.why = ", ".join(inner.opaque) or "calls or directives"
        return found
    if inner.jumps - {"continue", "break"} or _leaves(body):
        found.why = "it may be left early"
        return found
    variables = [one.variable for one in nest]
    if len(set(variables)) != len(variables) or any(
        one.write and not one.memory and one.name in variables for one in inner.accesses
    ):
        found.why = "a loop variable is changed"
        return found
    nest = [*nest, *_inner_loops(body, inner, set(variables), procedure, program)]
    found.reductions = reductions(body, inner, procedure, program)
    scope = scope_of(body, inner, procedure)
    outer = [one for one in inner.accesses if not (not one.memory and one.name in inner.declared)]
    outer = [one for one in outer if not (one.memory and _is_local(one, inner))]
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
    for node in nodes(body, "for_statement"):
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
    whole = [
        one
        for one in found.values()
        if one is not None
        and not {text_of(each) for side in (one.start, one.bound) for each in nodes(side, "identifier")} & moving
        and all(_is_steady(side, inner, procedure, program) for side in (one.start, one.bound))
    ]
    # A name that is also declared in another way, or whose bound changes from one iteration of the nest to the next, has no range.
    return [
        one
        for one in whole
        if all(
            _is_in_loop_over(each, one.variable, body, procedure)
            for each in nodes(body, "identifier")
            if text_of(each) == one.variable
        )
    ]


def _is_in_loop_over(node: Node, variable: str, body: Node, procedure: Procedure) -> bool:
    """True if a loop that counts the variable stands around the node."""
    loop = enclosing(node, frozenset({"for_statement"}), body)
    while loop is not None:
        one = counted(loop, procedure)
        if one is not None and one.variable == variable:
            return True
        loop = enclosing(loop, frozenset({"for_statement"}), body)
    return False


def _limits(one: Counted) -> tuple[str, str, str, int]:
    return text_of(one.start), text_of(one.bound), one.operator, one.step


def _leaves(body: Node) -> bool:
    """True if a `break` in the body belongs to a loop of the nest; those of inner loops do no harm."""
    loops = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})
    return any(enclosing(node, loops, body) is None for node in nodes(body, "break_statement"))


def _is_local(one: Access, inner: Effects) -> bool:
    """True for an array or record that the body declares."""
    node: Node | None = one.node
    while node is not None and node.type in ("subscript_expression", "field_expression"):
        if node.type == "field_expression" and text_of(field(node, "operator")) != ".":
            return False
        node = field(node, "argument")
    if node is None or node.type != "identifier" or text_of(node) not in inner.declared:
        return False
    own = one.procedure.declarations.get(text_of(node))
    return own is not None and not own.pointers and not own.reference and not own.static and node != one.node


def scope_of(body: Node, inner: Effects, procedure: Procedure) -> Scope:
    """What names stand for that the body declares once and never changes: whole numbers only."""
    values: dict[str, Expr] = {}
    written = [one.name for one in inner.writes if not one.memory]
    for node in nodes(body, "init_declarator"):
        name, value = field(node, "declarator"), field(node, "value")
        if name is None or value is None or name.type != "identifier" or node.parent is None:
            continue
        kind = text_of(field(node.parent, "type"))
        label = text_of(name)
        times = procedure.times_declared.get(label, 0)
        if label in written or label in procedure.addressed or not WIDE.match(kind) or times != 1:
            continue
        if is_whole(value, procedure):
            values[label] = expression(value)
    return Scope(values, procedure.source.file.unit.constants)


def is_whole(value: Node, procedure: Procedure) -> bool:
    """True for arithmetic of whole numbers without conversions that lose something."""
    for node in nodes(value, "cast_expression", "number_literal", "call_expression", "conditional_expression"):
        if node.type == "cast_expression":
            kind = written_type(field(node, "type"))
            if kind is None or kind.depth or not WIDE.match(kind.name):
                return False
        elif node.type == "number_literal":
            if not text_of(node).rstrip("uUlL").isdigit():
                return False
        else:
            return False
    for node in nodes(value, "identifier"):
        one = procedure.declarations.get(text_of(node))
        if one is not None and one.type in ("float", "double", "long double", "char", "unsigned char", "short"):
            return False
    return True


def subscripts(node: Node) -> tuple[Node, list[Node]] | None:
    """The base of an access and its indices, the first first; a member of an element counts by the element."""
    found: list[Node] = []
    one: Node | None = node
    while one is not None and one.type == "field_expression" and text_of(field(one, "operator")) == ".":
        one = field(one, "argument")
    while one is not None and one.type == "subscript_expression":
        index = field(one, "index") or field(one, "indices")
        index = (
            bare(children(index)[0])
            if index is not None and index.type == "subscript_argument_list" and len(children(index)) == 1
            else index
        )
        if index is None:
            return None
        found.append(index)
        one = field(one, "argument")
    return (one, found[::-1]) if one is not None and found else None


def _distance(
    write: Access, other: Access, nest: Sequence[Counted], scope: Scope, inner: Effects, program: Program
) -> Vector | None:
    """How far apart iterations are that touch the same element; None if none do. All None where that is not known."""
    anywhere: Vector = (None,) * len(nest)
    left, right = _resolved(write, inner), _resolved(other, inner)
    if left is None or right is None or len(left[1]) != len(right[1]) or other.procedure is not write.procedure:
        return anywhere
    renamed = _same_array(left[0], right[0], write.procedure, program)
    if renamed is None:
        return anywhere
    moving = frozenset(one.variable for one in nest)
    if {text_of(each) for each in nodes(left[0], "identifier")} & (moving | inner.declared):
        return anywhere
    changing = inner.declared | {one.name for one in inner.writes if not one.memory}
    fixed: list[int | None] = [None] * len(nest)
    impossible = False
    for mine, its in zip(left[1], right[1], strict=True):
        if not all(
            is_whole(each, write.procedure) and _is_steady(each, inner, write.procedure, program)
            for each in (*mine, *its)
        ):
            continue  # tells nothing; the other indices may
        first, second = _summed(mine, {}, scope, moving), _summed(its, renamed, scope, moving)
        if first is None or second is None:
            continue
        solved = _solve(first, second, nest, changing - set(scope.values) - moving)
        if solved is None:
            continue
        if solved == "never":
            impossible = True
            continue
        for at, value in solved.items() if isinstance(solved, dict) else ():
            if fixed[at] is not None and fixed[at] != value:
                impossible = True
            fixed[at] = value
    return None if impossible else tuple(fixed)


def _summed(parts: list[Node], renamed: dict[str, str], scope: Scope, moving: frozenset[str]) -> Sum | None:
    total: Sum | None = {}
    for part in parts:
        one = linear(_renamed(expression(part), renamed), scope, moving)
        total = None if one is None or total is None else add(total, one)
    return total


def _resolved(one: Access, inner: Effects) -> tuple[Node, list[list[Node]]] | None:
    """Base and indices of an access, each index as parts to be added; a pointer that the body sets once to `base + offset` stands
    for that.
    """
    found = subscripts(one.node)
    if found is None:
        return None
    base, indices = found[0], [[each] for each in found[1]]
    name = text_of(base)
    if base.type != "identifier" or name not in inner.declared or len(indices) != 1:
        return base, indices
    own = one.procedure.declarations.get(name)
    set_at = [
        each
        for each in one.procedure.all("init_declarator", "assignment_expression", "update_expression")
        if name in _set_names(each)
    ]
    if (
        own is None
        or own.pointers != 1
        or len(set_at) != 1
        or name in one.procedure.addressed
        or set_at[0].type != "init_declarator"
    ):
        return base, indices
    value = bare(field(set_at[0], "value"))
    while value is not None and value.type == "binary_expression" and text_of(field(value, "operator")) == "+":
        left, right = bare(field(value, "left")), field(value, "right")
        if left is None or right is None:
            return base, indices
        indices[0].append(right)
        value = left
    if value is not None and value.type == "pointer_expression" and text_of(field(value, "operator")) == "&":
        inner_found = subscripts(field(value, "argument") or value)
        if (
            inner_found is None
            or len(inner_found[1]) != 1
            or (field(value, "argument") or value).type != "subscript_expression"
        ):
            return base, [[each] for each in found[1]]
        indices[0].append(inner_found[1][0])
        value = inner_found[0]
    if value is None or value.type not in ("identifier", "field_expression"):
        return base, [[each] for each in found[1]]
    return value, indices


def _set_names(node: Node) -> set[str]:
    target = field(node, "declarator") or field(node, "left") or field(node, "argument")
    while target is not None and target.type == "pointer_declarator":
        target = field(target, "declarator")
    return {text_of(target)} if target is not None and target.type == "identifier" else set()


def _is_steady(index: Node, inner: Effects, procedure: Procedure, program: Program) -> bool:
    """True if an index changes nothing, and nothing that it reads from memory is written by the loop."""
    mine = effects(index, procedure, program)
    if not mine.is_known or mine.writes:
        return False
    return not any(
        read.memory and may_overlap(read, write, program) for read in mine.accesses for write in inner.writes
    )


def _same_array(one: Node, other: Node, procedure: Procedure, program: Program) -> dict[str, str] | None:
    """{} if both are written the same; a renaming if they are the same member of two records, each with memory of its own."""
    if text_of(one) == text_of(other):
        return {}
    if one.type == other.type == "identifier":
        return (
            {}
            if is_fresh(one, procedure, program)
            and is_fresh(other, procedure, program)
            and _starts(one, procedure, program)
            and _starts(other, procedure, program)
            else None
        )
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
    if any(text_of(field(each, "argument")) == name for each in procedure.all("update_expression")):
        return False
    if any(text_of(field(each, "left")) == name for each in procedure.all("assignment_expression")):
        return False
    if name not in procedure.parameters:
        return False
    at = [each.name for each in procedure.model.parameters].index(name)
    for _, call in program.calls.get(procedure.model.name, []):
        listed = children(field(call, "arguments"))
        if at >= len(listed) or listed[at].type not in ("identifier", "field_expression"):
            return False
    return True


def _renamed(expr: Expr, names: dict[str, str]) -> Expr:
    if not names:
        return expr
    text = names.get(expr.text, expr.text) if expr.kind == Kind.NAME else expr.text
    base = None if expr.base is None else _renamed(expr.base, names)
    return replace(expr, text=text, base=base, parts=tuple(_renamed(part, names) for part in expr.parts))


def _solve(first: Sum, second: Sum, nest: Sequence[Counted], changing: set[str]) -> dict[int, int] | str | None:
    """Distances (second's iteration behind first's) for which two subscripts are equal; "never", or None for what is not known."""
    loose = {name for key in (*first, *second) for part in key for name in _names_in(part)} & changing
    difference = add(first, second, -1)
    if loose or difference is None:
        return None
    solved = _with_ranges(first, second, difference, nest, narrow=False)
    return solved if solved is not None else _with_ranges(first, second, difference, nest, narrow=True)


def _with_ranges(
    first: Sum, second: Sum, difference: Sum, nest: Sequence[Counted], *, narrow: bool
) -> dict[int, int] | str | None:
    """The same. Variables that enter the two subscripts differently, and with `narrow` all whose range is told by numbers, only add
    something between two numbers; the others are solved for.
    """
    coefficients: list[Sum] = []
    low, high = difference.get((), 0), difference.get((), 0)
    rest = {key: value for key, value in difference.items() if key and not set(key) & {one.variable for one in nest}}
    involved: list[int] = []
    for at, one in enumerate(nest):
        mine, its = factor(first, one.variable), factor(second, one.variable)
        if mine is None or its is None:
            return None
        coefficients.append(mine)
        limits = _range(one)
        if dict(mine) == dict(its) and not (narrow and mine and limits is not None and set(mine) == {()}):
            if mine:
                involved.append(at)
            continue
        # A variable with a range of numbers: what it adds to the difference lies between two numbers.
        if limits is None or set(mine) - {()} or set(its) - {()}:
            return None
        ends = [mine.get((), 0) * left - its.get((), 0) * right for left in limits for right in limits]
        low, high = low + min(ends), high + max(ends)
    if low == high and len(involved) < 2:
        return _exactly(low, rest, involved, coefficients, nest)
    if rest:
        return None
    if not involved:
        return "never" if low > 0 or high < 0 else None
    radix = min(min(abs(value) for value in coefficients[at].values()) for at in involved)
    if (
        any(value % radix for at in involved for value in coefficients[at].values())
        or max(abs(low), abs(high)) >= radix
    ):
        return None
    reduced = [
        {key: value // radix for key, value in one.items()} if at in involved else one
        for at, one in enumerate(coefficients)
    ]
    if len(involved) == 1:
        return {involved[0]: 0} if set(reduced[involved[0]]) == {()} else None
    return _spans(involved, reduced, nest)


def _range(one: Counted) -> tuple[int, int] | None:
    """Smallest and greatest value of a loop's variable, where its bounds are numbers."""
    scope = Scope({}, one.procedure.source.file.unit.constants)
    start, bound = (linear(expression(side), scope, frozenset()) for side in (one.start, one.bound))
    if start is None or bound is None or set(start) | set(bound) > {()} or one.step < 1:
        return None
    last = bound.get((), 0) - (one.operator != "<=")
    return start.get((), 0), max(last, start.get((), 0))


def _exactly(
    constant_: int, rest: Sum, involved: list[int], coefficients: list[Sum], nest: Sequence[Counted]
) -> dict[int, int] | str | None:
    """The same for a difference that is one number."""
    if not involved:
        if rest:
            return None
        return "never" if constant_ else {}
    at = involved[0]
    if not rest:
        number = coefficients[at].get((), 0) if set(coefficients[at]) == {()} else None
        if number:
            return {at: constant_ // number} if constant_ % number == 0 else "never"
        # n*i = n*i' holds for i = i' alone where n is not 0: as the extent of a loop that has iterations it is not.
        positive = any((extent := _extent(one)) is not None and _covers(coefficients[at], extent) for one in nest)
        return {at: 0} if not constant_ and positive else None
    return None


def _names_in(part: str) -> set[str]:
    import re

    return set(re.findall(r"[A-Za-z_]\w*", part))


def _spans(involved: list[int], coefficients: list[Sum], nest: Sequence[Counted]) -> dict[int, int] | None:
    """{each: 0} if the subscript numbers the iterations: every coefficient is the extent of the loops with smaller ones."""
    unit = [at for at in involved if set(coefficients[at]) == {()} and abs(coefficients[at][()]) == 1]
    if len(unit) != 1:
        return None
    left = [at for at in involved if at != unit[0]]
    extent = _extent(nest[unit[0]])
    while left and extent is not None:
        following = [at for at in left if _covers(coefficients[at], extent)]
        if len(following) != 1:
            return None
        left.remove(following[0])
        more = _extent(nest[following[0]]) if left else extent
        extent = product(coefficients[following[0]], more) if more is not None else None
    return dict.fromkeys(involved, 0) if not left else None


def _covers(coefficient: Sum, extent: Sum) -> bool:
    """True if the coefficient is at least the extent, whatever its names stand for."""
    if dict(coefficient) == dict(extent):
        return True
    difference = add(coefficient, extent, -1)
    return difference is not None and set(difference) <= {()} and difference.get((), 0) >= 0


def _extent(one: Counted) -> Sum | None:
    """Upper bound of the variable, counted from 0: all its values are below; None where it may be negative."""
    nothing = Scope({}, one.procedure.source.file.unit.constants)
    if one.step < 1:
        return None
    start = linear(expression(one.start), nothing, frozenset())
    bound = linear(expression(one.bound), nothing, frozenset())
    if start is None or bound is None or set(start) - {()} or start.get((), 0) < 0:
        return None
    return add(bound, {(): 1}) if one.operator == "<=" else bound


def reductions(body: Node, inner: Effects, procedure: Procedure, program: Program) -> dict[str, Reduction]:
    """Scalars from outside that the body only adds to, subtracts from, multiplies or combines by bits, always the same way."""
    found: dict[str, Reduction] = {}
    names = {one.name for one in inner.writes if not one.memory} - inner.declared
    for name in sorted(names):
        uses = [one for one in inner.accesses if not one.memory and one.name == name]
        operators = {_adding(one.node, name) for one in uses}
        if len(operators) != 1 or None in operators:
            continue
        kind = type_of(uses[0].node, procedure, program)
        if kind is None or not kind.is_arithmetic or name in procedure.addressed:
            continue
        operator = operators.pop() or ""
        if operator in ("&", "|", "^") and not kind.is_integer:
            continue
        found[name] = Reduction(name, operator, kind.is_integer)
    return found


def _adding(node: Node, name: str) -> str | None:
    """`+` for the occurrence of a variable in `x += …`, `x++` and `x = x + …`; None for any other use."""
    parent = node.parent
    if parent is None:
        return None
    if (
        parent.type == "update_expression"
        and parent.parent is not None
        and parent.parent.type in ("expression_statement", "for_statement")
    ):
        return "+"
    statement = parent
    while statement.type in ("binary_expression",) and statement.parent is not None:
        statement = statement.parent
    if (
        statement.type != "assignment_expression"
        or statement.parent is None
        or statement.parent.type != "expression_statement"
    ):
        return None
    left, right, operator = field(statement, "left"), field(statement, "right"), text_of(field(statement, "operator"))
    if left is None or right is None or text_of(left) != name:
        return None
    if left == node or inside(node, left):
        if operator in ("+=", "-="):
            return "+" if not _mentions(right, name) else None
        if operator in ("*=", "&=", "|=", "^="):
            return operator[0] if not _mentions(right, name) else None
        return _plain_sum(right, name) if operator == "=" else None
    return _plain_sum(right, name) if operator == "=" else None


def _plain_sum(right: Node, name: str) -> str | None:
    if right.type != "binary_expression" or text_of(field(right, "operator")) not in ("+", "*"):
        return None
    one, other = field(right, "left"), field(right, "right")
    if one is None or other is None or text_of(one) != name or _mentions(other, name):
        return None
    return text_of(field(right, "operator"))


def _mentions(node: Node, name: str) -> bool:
    return any(text_of(each) == name for each in nodes(node, "identifier"))


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


def is_independent(vectors: set[Vector], at: int = 0) -> bool:
    """True if no dependence runs from one iteration of a loop to another, those of the loops around it being the same."""
    return all(vector[at] == 0 or any(value not in (0, None) for value in vector[:at]) for vector in vectors)
