"""Bounds of loops that give every process its block of all iterations, tried out with numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from chathpc.diagnosis.source.model import Expr, Kind
from chathpc.fix.recipes.analysis.whole_numbers import value

#: Numbers of iterations and processes for which bounds are tried out.
_TRIES = 80
_MOST_PROCESSES = 8
_MOST_ITERATIONS = 300
#: Iterations are counted from a number up to this one.
_MOST_FIRST = 9


@dataclass(frozen=True, slots=True)
class Setting:
    """`name = value` if the condition holds (or does not, as `holds` says); `at` is where in the text."""

    name: str
    value: Expr
    condition: Expr | None
    holds: bool
    at: int

    @property
    def names(self) -> frozenset[str]:
        """What the value depends on."""
        return names_in(self.value) | (names_in(self.condition) if self.condition is not None else frozenset())


def names_in(expr: Expr) -> frozenset[str]:
    """Variables and members of an expression, as they are written in C."""
    return frozenset(str(each) for each in expr.walk() if each.kind in (Kind.NAME, Kind.MEMBER))


def is_unknown(expr: Expr) -> bool:
    """True for a value that comes from a call, but for the smaller and larger of two, or from an array."""
    return any(
        each.kind in (Kind.INDEX, Kind.OTHER, Kind.STRING)
        or (each.kind == Kind.CALL and each.text not in ("min", "max", "mod", "merge", "int"))
        for each in expr.walk()
    )


def needed(before: list[Setting], low: Expr, high: Expr) -> list[Setting]:
    """Those settings that the bounds depend on, in their order."""
    names = set(names_in(low) | names_in(high))
    kept: list[Setting] = []
    for one in reversed(before):
        if one.name in names:
            kept.insert(0, one)
            names |= one.names
    return kept


def settled(
    kept: list[Setting], low: Expr, high: Expr, are_all: Callable[[str, list[Setting]], bool]
) -> list[Setting] | None:
    """Those settings whose values are known, `are_all` telling that a name has no others; what is read, asked for or broadcast stays as
    it is. None where a bound itself is set to what is not known.
    """
    bounds = names_in(low) | names_in(high)
    for name in sorted({one.name for one in kept}):
        mine = [one for one in kept if one.name == name]
        if any(is_unknown(one.value) for one in mine) or not are_all(name, mine):
            if name in bounds:
                return None
            kept = [one for one in kept if one.name != name]
    return kept


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a loop, with the settings that they come from and the names of the process and of how many there are."""

    low: Expr
    high: Expr
    inclusive: bool
    settings: tuple[Setting, ...]
    rank: str
    size: str

    @property
    def free(self) -> list[str]:
        """Names that may have any value."""
        names = names_in(self.low) | names_in(self.high)
        for one in self.settings:
            names |= one.names
        return sorted(names - {one.name for one in self.settings} - {self.rank, self.size})

    def shared(self) -> tuple[int, str] | None:
        """The first of all iterations and what is behind the last, as it is written; None where the blocks leave gaps or overlap."""
        free = self.free
        bounds = names_in(self.low) | names_in(self.high)
        set_here = {one.name for one in self.settings}
        if self.rank not in bounds.union(*(one.names for one in self.settings)):
            return None
        ends = {(each, more): True for more in (0, 1) for each in (*free, *sorted(set_here - bounds))}
        first: int | None = None
        for attempt in range(_TRIES):
            processes = 1 + attempt % _MOST_PROCESSES
            known = {each: (attempt * (attempt + 13) + 37 * at) % _MOST_ITERATIONS for at, each in enumerate(free)}
            blocks = [self._block({**known, self.rank: each, self.size: processes}) for each in range(processes)]
            found = [each for each in blocks if each is not None]
            if len(found) != len(blocks) or first not in (None, found[0][0]):
                return None
            first = end = found[0][0]
            for low, high, _ in found:
                if low < high and low != end:
                    return None
                end = max(end, high) if low < high else end
            for name, more in ends:
                told = {one[2].get(name, -1) for one in found}
                ends[name, more] = ends[name, more] and len(told) == 1 and max(told.pop() + more, first) == end
        whole = next((f"{name} + 1" if more else name for (name, more), good in ends.items() if good), None)
        return None if whole is None or first is None or not -1 <= first <= _MOST_FIRST else (first, whole)

    def _block(self, known: dict[str, int]) -> tuple[int, int, dict[str, int]] | None:
        """The block of one process, and what all names come to."""
        for one in self.settings:
            holds = 1 if one.condition is None else value(one.condition, known)
            if holds is None:
                return None
            if bool(holds) == one.holds:
                new = value(one.value, known)
                if new is None:
                    return None
                known[one.name] = new
        low, high = value(self.low, known), value(self.high, known)
        return None if low is None or high is None else (low, high + self.inclusive, known)
