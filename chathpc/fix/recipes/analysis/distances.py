"""How many iterations apart two subscripts are equal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chathpc.diagnosis.source.affine import Scope, Sum, add, factor, linear, number, product
from chathpc.fix.recipes.analysis.loops import Counted

_NAME = re.compile(r"[A-Za-z_]\w*")


def solved_distances(
    first: Sum, second: Sum, nest: Sequence[Counted], changing: set[str]
) -> dict[int, int] | str | None:
    """Distances (second's iteration behind first's) for which two subscripts are equal; "never", or None for what is not known."""
    loose = {name for key in (*first, *second) for part in key for name in _NAME.findall(part)} & changing
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
    values = [value for at in involved for value in coefficients[at].values()]
    radix = min(map(abs, values))
    if any(value % radix for value in values) or max(abs(low), abs(high)) >= radix:
        return None
    reduced = [
        {key: value // radix for key, value in one.items()} if at in involved else one
        for at, one in enumerate(coefficients)
    ]
    if len(involved) == 1:
        return {involved[0]: 0} if set(reduced[involved[0]]) == {()} else None
    return _spans(involved, reduced, nest)


def _ends(one: Counted) -> tuple[Sum, Sum] | None:
    """Where a loop that counts upwards begins, and what all values of its variable are below."""
    scope = Scope({}, one.procedure.source.file.unit.constants)
    start, bound = (linear(one.procedure.expression(side), scope, frozenset()) for side in (one.start, one.bound))
    end = add(bound, {(): 1}) if bound is not None and one.operator == "<=" else bound
    return None if start is None or end is None or one.step < 1 else (start, end)


def _range(one: Counted) -> tuple[int, int] | None:
    """Smallest and greatest value of a loop's variable, where its bounds are numbers."""
    ends = _ends(one)
    if ends is None:
        return None
    first, end = number(ends[0]), number(ends[1])
    return None if first is None or end is None else (first, max(end - 1, first))


def _exactly(
    constant_: int, rest: Sum, involved: list[int], coefficients: list[Sum], nest: Sequence[Counted]
) -> dict[int, int] | str | None:
    """The same for a difference that is one number."""
    if rest:
        return None
    if not involved:
        return "never" if constant_ else {}
    at = involved[0]
    step = number(coefficients[at])
    if step:
        return {at: constant_ // step} if constant_ % step == 0 else "never"
    # n*i = n*i' holds for i = i' alone where n is not 0: as the extent of a loop that has iterations it is not.
    positive = any((extent := _extent(one)) is not None and _covers(coefficients[at], extent) for one in nest)
    return {at: 0} if not constant_ and positive else None


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
    difference = add(coefficient, extent, -1)
    more = None if difference is None else number(difference)
    return more is not None and more >= 0


def _extent(one: Counted) -> Sum | None:
    """Upper bound of the variable, counted from 0: all its values are below; None where it may be negative."""
    ends = _ends(one)
    first = None if ends is None else number(ends[0])
    return None if ends is None or first is None or first < 0 else ends[1]
