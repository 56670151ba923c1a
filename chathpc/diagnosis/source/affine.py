"""Indices as sums of products of names: by how much they change from one iteration of a loop to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from chathpc.diagnosis.source.c_family import constant
from chathpc.diagnosis.source.model import Does, Expr, Function, Kind, Loop, Unit, changed

#: Products of names with a whole number each: `j*n + i` is {(j, n): 1, (i,): 1}.
Sum = Mapping[tuple[str, ...], int]
#: An index longer than this is not followed.
_MOST_TERMS = 32
_DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Scope:
    """What names stand for: variables that are set once, and constants."""

    values: Mapping[str, Expr]
    constants: Mapping[str, int]


@lru_cache(maxsize=16)
def scope_of(function: Function, unit: Unit) -> Scope:
    """Local variables that are set in one place only, and so stand for their value there."""
    times: Counter[str] = Counter()
    values: dict[str, Expr] = {}
    for one in function.statements:
        for expr in one.walk():
            if expr.kind == Kind.ASSIGN and expr.parts[0].kind == Kind.NAME:
                name = expr.parts[0].text
                times[name] += 1
                if expr.text == "=" and one.does in (Does.DECLARE, Does.EVALUATE):
                    values[name] = expr.parts[1]
                else:
                    times[name] += 1
            elif expr.kind == Kind.UNARY and expr.text == "&":
                times.update(dict.fromkeys(expr.names(), 2))
    counted = {name for loop in function.loops for name in loop.updated}
    given = {one.name for one in function.parameters}
    kept = {
        name: value
        for name, value in values.items()
        if times[name] == 1 and name not in counted and name not in given and name not in value.names()
    }
    return Scope(kept, unit.constants)


def linear(expr: Expr, scope: Scope, moving: frozenset[str], depth: int = 0) -> Sum | None:
    """The expression as a sum of products; None where a name in `moving` enters it in another way (`a[i % n]`)."""
    if depth > _DEEPEST:
        return None
    if expr.kind == Kind.NUMBER:
        value = constant(expr.text)
        return {(expr.text,): 1} if value is None else {(): value}
    if expr.kind == Kind.NAME:
        if expr.text in moving:
            return {(expr.text,): 1}
        if expr.text in scope.constants:
            return {(): scope.constants[expr.text]}
        if expr.text in scope.values:
            return linear(scope.values[expr.text], scope, moving, depth + 1)
        return {(expr.text,): 1}
    if expr.kind == Kind.BINARY and expr.text in ("+", "-", "*") and len(expr.parts) == 2:
        one, other = (linear(part, scope, moving, depth + 1) for part in expr.parts)
        if one is None or other is None:
            return None
        return product(one, other) if expr.text == "*" else add(one, other, 1 if expr.text == "+" else -1)
    if expr.kind == Kind.UNARY and expr.text in ("-", "+") and expr.parts:
        inner = linear(expr.parts[0], scope, moving, depth + 1)
        return None if inner is None else add({}, inner, -1 if expr.text == "-" else 1)
    if depends(expr, scope, moving):
        return None
    return {(str(expr),): 1}


def depends(expr: Expr, scope: Scope, moving: frozenset[str]) -> bool:
    """True if a name in `moving` is in the expression, or in what its names stand for."""
    todo, seen = list(expr.names()), set()
    while todo:
        name = todo.pop()
        if name in moving:
            return True
        if name not in seen and name in scope.values:
            todo.extend(scope.values[name].names())
        seen.add(name)
    return False


def add(one: Sum, other: Sum, sign: int = 1) -> Sum | None:
    """One sum and `sign` times the other; None where that has too many terms to be followed."""
    total = dict(one)
    for key, value in other.items():
        total[key] = total.get(key, 0) + sign * value
    return None if len(total) > _MOST_TERMS else {key: value for key, value in total.items() if value}


def product(one: Sum, other: Sum) -> Sum | None:
    """The product of two sums; None where that has too many terms to be followed."""
    if len(one) * len(other) > _MOST_TERMS:
        return None
    total: dict[tuple[str, ...], int] = {}
    for left, x in one.items():
        for right, y in other.items():
            key = tuple(sorted((*left, *right)))
            total[key] = total.get(key, 0) + x * y
    return {key: value for key, value in total.items() if value}


def factor(terms: Sum, name: str) -> Sum | None:
    """What `name` is multiplied with in the sum; None where it is multiplied with itself."""
    found: dict[tuple[str, ...], int] = {}
    for key, value in terms.items():
        count = key.count(name)
        if count > 1:
            return None
        if count:
            found[tuple(each for each in key if each != name)] = value
    return found


@dataclass(frozen=True, slots=True)
class Advance:
    """Names that a loop moves on, and by how much in each iteration."""

    by: Mapping[str, Sum]

    @property
    def names(self) -> frozenset[str]:
        """The names."""
        return frozenset(self.by)


def advance(function: Function, loop: Loop, scope: Scope) -> Advance:
    """The loop's variable with its step, and other variables to which the loop adds the same amount each time."""
    by: dict[str, Sum] = {}
    if loop.counted and loop.step is not None:
        by[loop.variable] = {(): loop.step}
    inside = function.inside(loop.index)
    adding: Counter[str] = Counter()
    amounts: dict[str, Sum] = {}
    for one in inside:
        for expr in one.walk():
            if expr.kind == Kind.ASSIGN and expr.parts[0].kind == Kind.NAME:
                adding[expr.parts[0].text] += 1
                if expr.text in ("+=", "-=") and one.loop == loop.index and one.branch == 0:
                    amount = linear(expr.parts[1], scope, changed(inside))
                    if amount is not None and not any(set(key) & changed(inside) for key in amount):
                        amounts[expr.parts[0].text] = add({}, amount, 1 if expr.text == "+=" else -1) or {}
    for name, amount in amounts.items():
        if adding[name] == 1 and name not in by:
            by[name] = amount
    return Advance(by)


def stride(expr: Expr, scope: Scope, moves: Advance) -> Sum | None:
    """By how much an index changes from one iteration to the next; {} for not at all, None where that is not known."""
    terms = linear(expr, scope, moves.names)
    if terms is None:
        return None
    total: Sum | None = {}
    for name, amount in moves.by.items():
        times = factor(terms, name)
        if times is None or total is None:
            return None
        part = product(times, amount)
        total = None if part is None else add(total, part, 1)
    return total


def number(terms: Sum) -> int | None:
    """The sum as a whole number; None where names are in it."""
    return terms.get((), 0) if not any(terms.keys()) else None


def words(terms: Sum) -> str:
    """The sum as it would be written: `n`, `2*a.cols`."""
    parts = []
    for key, value in terms.items():
        names = "*".join(key)
        parts.append(names if value == 1 and names else f"{value}*{names}" if names else str(value))
    return " + ".join(parts) or "0"
