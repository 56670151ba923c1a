"""Work for each pair of items: searches by the library in a loop, joins, sorting by neighbours."""

from __future__ import annotations

from chathpc.diagnosis.source.layout import OF_NODES, declaration_of, trips
from chathpc.diagnosis.source.model import Does, Expr, Function, Kind, Loop, Unit, expressions
from chathpc.diagnosis.source.searches import COMPARING, is_front, shown
from chathpc.diagnosis.source.sign import UNROLLED, Sign

#: Searches of the C++ standard library from one end to the other, and Fortran's over whole arrays.
_SEARCHING = frozenset({"find", "find_if", "find_if_not", "count", "count_if", "search", "any_of", "none_of"})
#: Those that halve a range, which iterators of single nodes cannot: they step there one by one (clang-tidy,
#: performance-inefficient-algorithm).
_HALVING = frozenset({"lower_bound", "upper_bound", "equal_range", "binary_search"})
_FORTRAN_SEARCHING = frozenset({"any", "findloc", "count"})


def library_search(function: Function, unit: Unit, loop: Loop | None, line: int) -> Sign | None:
    """A call that looks through a whole range, `std::find`, Fortran's `any(list == x)`: in a loop, or with None in a function that is
    called in one.
    """
    moving = function.changing(loop.index) if loop is not None else frozenset()
    around = f"in the loop over {loop.variable or 'items'}" if loop is not None else f"in each call of {function.name}"
    for one in function.inside(loop.index) if loop is not None else function.statements:
        if one.expr is None or one.line != line:
            continue
        for call in one.expr.calls():
            if function.fortran:
                compared = [part for part in call.parts if part.kind == Kind.BINARY and part.text == "=="]
                hit = call.text in _FORTRAN_SEARCHING and (call.text == "findloc" or bool(compared))
            else:
                ranged = call.base is None and len(call.parts) >= 3 and _is_range(call)
                hit = ranged and call.short in _SEARCHING
                if ranged and call.short in _HALVING and _is_of_nodes(call, function, unit):
                    return Sign(
                        "quadratic-algorithm", line, line, line,
                        f"steps from node to node in {call.short} {around}: iterators of a set, map or list cannot jump",
                        f"steps through nodes one by one in {call.short}",
                        calls=True,
                    )  # fmt: skip
            if hit and (loop is None or call.names() & moving):
                return Sign(
                    "quadratic-algorithm", line, line, line,
                    f"searches a whole list with {call.short} {around}",
                    f"searches a list with {call.short} {'in a loop' if loop is not None else 'in each call'}",
                    ("The list may be short.",), calls=True,
                )  # fmt: skip
    return None


def _is_range(call: Expr) -> bool:
    first, second = call.parts[0], call.parts[1]
    return "begin" in str(first) and "end" in str(second)


def _is_of_nodes(call: Expr, function: Function, unit: Unit) -> bool:
    """True for a range of a container whose items are single nodes."""
    begin = call.parts[0]
    container = begin.base if begin.base is not None else next(iter(begin.parts), None)
    declared = declaration_of(container, function, unit) if container is not None else None
    return declared is not None and bool(OF_NODES.search(declared.type))


def pairs(function: Function, unit: Unit, loop: Loop) -> Sign | None:
    """Two nested loops that compare every item with every other for equality, and do nothing else."""
    if loop.parent < 0:
        return None
    outer = function.loops[loop.parent]
    known = [trips(each, unit.constants) for each in (loop, outer)]
    if not all(each.counted or each.container is not None for each in (loop, outer)) or any(
        count is not None for count in known
    ):
        return None
    if loop.start is not None and not is_front(loop.start, function):
        return None
    inside = function.inside(loop.index)
    if any(one.loop != loop.index for one in inside) or any(
        one.does in (Does.EVALUATE, Does.OTHER) and one.branch == 0 for one in inside
    ):
        return None
    for one in inside:
        for expr in one.expr.walk() if one.does == Does.CONDITION and one.expr is not None else ():
            equal = expr.kind == Kind.BINARY and expr.text == "=="
            sides = expr.parts if equal else ()
            if expr.kind == Kind.CALL and expr.short in COMPARING:
                sides = expr.parts[:2]
            if len(sides) == 2 and (_apart(sides[0], sides[1], loop, outer) or _apart(sides[1], sides[0], loop, outer)):
                return Sign(
                    "quadratic-algorithm", one.line, loop.first, loop.last,
                    f"compares every item with every other: {shown(function, expr)}",
                    "compares every item with every other",
                    ("All pairs may be needed, or the number of items small.",), calls=True,
                )  # fmt: skip
    return None


def _apart(one: Expr, other: Expr, inner: Loop, outer: Loop) -> bool:
    """True if one side is an item of the inner loop and the other one of the outer: `a[i].id == b[j].id`."""
    mine, others = inner.updated | {inner.variable}, outer.updated | {outer.variable}

    def is_item_of(expr: Expr, own: frozenset[str], far: frozenset[str]) -> bool:
        indexed = any(
            each.kind == Kind.INDEX and any(part.names() & own for part in each.parts) for each in expr.walk()
        )
        element = expr.kind == Kind.MEMBER and bool(expr.names() & own)
        return (indexed or element) and not expr.names() & far

    return is_item_of(one, mine, others) and is_item_of(other, others, mine)


def sorting(function: Function, unit: Unit, loop: Loop) -> Sign | None:
    """Sorting by exchanging neighbours (bubble sort) or by shifting items one place (insertion sort), inside another loop."""
    if loop.parent < 0:
        return None
    count = trips(loop, unit.constants)
    inside = function.inside(loop.index)
    if (count is not None and count <= UNROLLED) or any(one.loop != loop.index for one in inside):
        return None
    compared = any(
        each.kind == Kind.BINARY
        and each.text in ("<", ">", "<=", ">=")
        and any(part.kind == Kind.INDEX for part in each.walk())
        for one in inside
        if one.does == Does.CONDITION and one.expr is not None
        for each in one.expr.walk()
    )
    moves = [one for one in expressions(inside) if one.kind == Kind.ASSIGN and _is_shift(one.parts[0], one.parts[1])]
    swaps = [
        one
        for one in expressions(inside)
        if one.kind == Kind.CALL and one.short == "swap" and len(one.parts) == 2 and _is_shift(*one.parts)
    ]
    if not compared or not (moves or swaps):
        return None
    work = [one for one in inside if one.does == Does.EVALUATE and one.expr is not None and one.expr.kind == Kind.CALL]
    if len(work) > len(swaps):
        return None
    array = (moves[0].parts[0] if moves else swaps[0].parts[0]).base
    return Sign(
        "quadratic-algorithm", loop.first, loop.first, loop.last,
        f"sorts {array} by moving items one place at a time", f"sorts {array} by moving items one place at a time",
        ("The array may be short, or nearly sorted already.",), calls=True,
    )  # fmt: skip


def _is_shift(target: Expr, value: Expr) -> bool:
    """True for an item and its neighbour in the same array: `a[j + 1] = a[j]`."""
    if (
        target.kind != Kind.INDEX
        or value.kind != Kind.INDEX
        or str(target.base) != str(value.base)
        or len(target.parts) != 1
    ):
        return False
    one, other = target.parts[0], value.parts[0]

    def split(expr: Expr) -> tuple[str, int]:
        if (
            expr.kind == Kind.BINARY
            and expr.text in ("+", "-")
            and expr.parts[1].kind == Kind.NUMBER
            and expr.parts[1].text == "1"
        ):
            return str(expr.parts[0]), 1 if expr.text == "+" else -1
        return str(expr), 0

    (name, by), (same, also) = split(one), split(other)
    return name == same and abs(by - also) == 1
