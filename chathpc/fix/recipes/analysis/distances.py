"""How many iterations apart two subscripts are equal."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.diagnosis.source.affine import Scope, Sum, add, factor, linear, product
from chathpc.fix.recipes.analysis.loops import Counted


def solved_distances(
    first: Sum, second: Sum, nest: Sequence[Counted], changing: set[str]
) -> dict[int, int] | str | None:
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
    start, bound = (linear(one.procedure.expression(side), scope, frozenset()) for side in (one.start, one.bound))
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
        if len(following) > 1 and all(set(coefficients[at]) == {()} for at in following):
            following = [min(following, key=lambda at: abs(coefficients[at][()]))]
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
    start = linear(one.procedure.expression(one.start), nothing, frozenset())
    bound = linear(one.procedure.expression(one.bound), nothing, frozenset())
    if start is None or bound is None or set(start) - {()} or start.get((), 0) < 0:
        return None
    return add(bound, {(): 1}) if one.operator == "<=" else bound
