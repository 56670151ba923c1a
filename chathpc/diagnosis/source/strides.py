"""In which steps a loop walks through arrays, against the order in which they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.source import affine
from chathpc.diagnosis.source.layout import array_bytes, declaration_of, element, size_of, trips, type_size, value
from chathpc.diagnosis.source.model import Expr, Function, Kind, Loop, Statement, Unit
from chathpc.diagnosis.source.sign import Sign, body

#: Bytes that memory delivers at once on every current CPU.
LINE = 64
#: An array that fits into the second-level cache of most CPUs (256 KiB and more) can be walked in any order.
CACHE = 256 * 1024
#: Lines that fit into the first-level cache of most CPUs (32 KiB) are still there in the next iteration around.
NEAREST = 32 * 1024
#: Of each line fetched less than this part is used.
USED = 0.25


class Step(StrEnum):
    """How an access moves from one iteration to the next."""

    STILL = "still"
    NEAR = "near"  #: to the neighbour, or within a line
    ROWS = "rows"  #: by a row (C) or column (Fortran), whose length is no constant
    FAR = "far"  #: by a constant distance of a line or more
    UNKNOWN = "unknown"  #: through another array, a call, a remainder


@dataclass(frozen=True, slots=True)
class Walk:
    """An access to an array in a loop; `by` is the distance in elements as it would be written, `elements` as a number."""

    access: Expr
    step: Step
    by: str = ""
    elements: int | None = None


def walks(function: Function, unit: Unit, loop: Loop, statements: Sequence[Statement]) -> list[Walk]:
    """How each different access of the statements moves with the loop."""
    scope = affine.scope_of(function, unit)
    moves = affine.advance(function, loop, scope)
    if not moves.by:
        return []
    found: dict[str, Walk] = {}
    for one in statements:
        for expr in one.walk():
            if expr.kind == Kind.INDEX and expr.base is not None and str(expr) not in found:
                found[str(expr)] = _walk(expr, function, unit, scope, moves)
    return list(found.values())


def _walk(expr: Expr, function: Function, unit: Unit, scope: affine.Scope, moves: affine.Advance) -> Walk:
    if function.fortran and expr.parts and expr.parts[0].text == "extent_specifier":
        return Walk(expr, Step.NEAR)  # a(:, j): what is contiguous, each time
    # Fortran stores the first index next to each other, C the last.
    indices = tuple(reversed(expr.parts)) if function.fortran else expr.parts
    steps = [affine.stride(part, scope, moves) for part in indices]
    if not steps or any(step is None for step in steps):
        return Walk(expr, Step.UNKNOWN)
    if expr.base is not None and affine.depends(expr.base, scope, moves.names):
        return Walk(expr, Step.UNKNOWN)  # a[i].b[j]: an array inside each element
    last = steps[-1] or {}
    if not any(steps[:-1]):
        return _by(expr, last)
    rows = _row_elements(expr, function, unit, len(indices))
    moving = next(at for at, step in enumerate(steps) if step)
    distance = affine.number(steps[moving] or {})
    length = rows[moving] if rows is not None else None
    if distance is not None and length is not None:
        return _by(expr, {(): distance * length})
    by = ("a column" if function.fortran else "a row") if moving == len(steps) - 2 else "a plane"
    return Walk(expr, Step.ROWS, by)


def _by(expr: Expr, terms: affine.Sum) -> Walk:
    if not terms:
        return Walk(expr, Step.STILL)
    elements = affine.number(terms)
    if elements is None:
        return Walk(expr, Step.ROWS, affine.words(terms))
    return Walk(expr, Step.NEAR if abs(elements) == 1 else Step.FAR, str(elements), elements)


def _row_elements(expr: Expr, function: Function, unit: Unit, count: int) -> list[int] | None:
    """Elements between neighbours of each index (the slowest first), where the declaration tells all of them."""
    declared = declaration_of(expr.base, function, unit) if expr.base is not None else None
    if declared is None or len(declared.dims) < count:
        return None
    dims = tuple(reversed(declared.dims)) if function.fortran else declared.dims
    sizes = [value(dim, unit.constants) for dim in dims]
    if any(size is None for size in sizes[1:]):
        return None
    return [prod(size for size in sizes[at + 1 :] if size is not None) for at in range(count)]


def strided(function: Function, unit: Unit, loop: Loop) -> Sign | None:
    """An inner loop of which at least half of the arrays are walked by rows or whole lines.

    Where the distance is no constant an enclosing loop must be there that would walk the array by neighbours, or a loop
    whose bound is that distance: else it may be 1 (the increment of a BLAS routine).
    """
    inside = body(function, loop, unit)
    if inside is None:
        return None
    found = walks(function, unit, loop, inside)
    moving = [walk for walk in found if walk.step != Step.STILL]
    far = [walk for walk in moving if _is_far(walk, moving, function, unit, loop)]
    arrays = {_array(walk): walk for walk in moving}
    strided_arrays = {_array(walk): walk for walk in far}
    if not far or 2 * len(strided_arrays) < len(arrays):
        return _structures(function, unit, loop, moving)
    walk = far[0]
    better = next(
        (outer for outer in function.chain(loop.parent) if _near_in(walk.access, function, unit, outer)), None
    )
    size = element_size(walk.access, function, unit)
    by = f"{walk.elements * size:,} bytes" if walk.elements is not None and size else walk.by
    by = by.lstrip("-")
    language, order = ("Fortran", "columns") if function.fortran else ("C", "rows")
    says = (
        f"steps through {function.show(walk.access)} by {by} in the innermost loop over {loop.variable or 'it'}, "
        f"though {language} stores arrays by {order}"
    )
    if better is not None:
        says += f"; the loop over {better.variable} around it would access contiguous elements"
    declared = declaration_of(walk.access.base, function, unit) if walk.access.base is not None else None
    advice = cause("strided-access").advice_for("fortran" if function.fortran else "c")
    if declared is not None and type_size(element(declared).type, Unit()) is not None:  # of numbers, not of structures
        advice = tuple(each for each in advice if "structures" not in each)
    return Sign(
        "strided-access", walk.access.line or loop.first, loop.first, loop.last, says,
        f"steps through {function.show(walk.access.base)} by {by} in its innermost loop",
        advice=advice,
    )  # fmt: skip


def _array(walk: Walk) -> str:
    return f"{walk.access.base}"


def _is_far(walk: Walk, moving: list[Walk], function: Function, unit: Unit, loop: Loop) -> bool:
    if walk.access.base is None:
        return False
    total = array_bytes(walk.access.base, function, unit)
    if total is not None and total <= CACHE:
        return False
    if walk.step == Step.FAR and walk.elements is not None:
        size = element_size(walk.access, function, unit)
        if size is None or abs(walk.elements) * size < LINE:
            return False
        if loop.step is not None and abs(walk.elements) == abs(loop.step) and not _starts_outside(function, loop):
            return False  # `i += 16` alone takes samples, which no other order of loops would change
        # Unrolled loops and records stored in a row use what lies between as well.
        used = sum(other.elements == walk.elements and _array(other) == _array(walk) for other in moving)
        for inner in function.loops_in(loop.index):
            if _moves_near(walk.access, function, unit, inner):
                used *= trips(inner, unit.constants) or 1
        if used > USED * abs(walk.elements):
            return False
        return not _is_short(loop, function, unit)
    if walk.step != Step.ROWS or _is_short(loop, function, unit):
        return False
    if any(_near_in(walk.access, function, unit, outer) for outer in function.chain(loop.parent)):
        return True
    bounds = {
        str(each.condition.parts[1])
        for each in function.loops
        if each.condition is not None and len(each.condition.parts) == 2
    }
    return walk.by in bounds and len(walk.access.parts) == 1


def _is_short(loop: Loop, function: Function, unit: Unit) -> bool:
    """True if lines that an array gives to one run of the loop are still near in the next: it is a block of a few rows."""
    count = trips(loop, unit.constants)
    if count is None:
        return loop.condition is not None and not loop.condition.names().isdisjoint(function.fixed)
    return count * LINE <= NEAREST


def _starts_outside(function: Function, loop: Loop) -> bool:
    """True if the loop begins at the variable of a loop around it: together they visit all elements."""
    names = loop.start.names() if loop.start is not None else frozenset()
    return any(outer.variable in names for outer in function.chain(loop.parent))


def _near_in(access: Expr, function: Function, unit: Unit, loop: Loop) -> bool:
    """True if the loop alone would walk the access with unit stride."""
    count = trips(loop, unit.constants)
    return (count is None or count > LINE // 8) and _moves_near(access, function, unit, loop)


def _moves_near(access: Expr, function: Function, unit: Unit, loop: Loop) -> bool:
    scope = affine.scope_of(function, unit)
    if not loop.counted or loop.step is None:
        return False
    return _walk(access, function, unit, scope, affine.Advance({loop.variable: {(): loop.step}})).step == Step.NEAR


def element_size(access: Expr, function: Function, unit: Unit) -> int | None:
    """Bytes of what an index names; None where the type is not known."""
    declared = declaration_of(access.base, function, unit) if access.base is not None else None
    return None if declared is None else size_of(element(declared), unit)


def _structures(function: Function, unit: Unit, loop: Loop, moving: list[Walk]) -> Sign | None:
    """A loop over an array of large structures of which it uses a small part."""
    inside = body(function, loop, unit) or ()
    near = {str(walk.access): walk for walk in moving if walk.step == Step.NEAR}
    used: dict[str, dict[str, int]] = {}
    whole: set[str] = set()
    for one in inside:
        for expr in one.walk():
            if expr.kind == Kind.MEMBER and expr.base is not None and str(expr.base) in near:
                array = str(expr.base.base)
                fields = unit.fields(expr.text)
                size = size_of(fields[0], unit) if len(fields) == 1 and not fields[0].dims else None
                if size is None:
                    whole.add(array)
                else:
                    used.setdefault(array, {})[expr.text] = size
            elif expr.kind in (Kind.CALL, Kind.ASSIGN) or (expr.kind == Kind.UNARY and expr.text == "&"):
                whole.update(str(part.base) for part in expr.parts if str(part) in near and part.base is not None)
    for walk in near.values():
        array = str(walk.access.base)
        size = element_size(walk.access, function, unit)
        if array in whole or array not in used or size is None or size < 2 * LINE:
            continue
        share = sum(used[array].values())
        total = array_bytes(walk.access.base, function, unit) if walk.access.base is not None else None
        if (
            share > USED * min(size, LINE)
            or (total is not None and total <= CACHE)
            or 2 * len(used) < len({_array(each) for each in moving})
        ):
            continue
        fields_text = ", ".join(used[array])
        return Sign(
            "strided-access", walk.access.line or loop.first, loop.first, loop.last,
            f"uses {share} bytes ({fields_text}) of each of the structures of {size} bytes in {array}",
            f"reads {share} bytes of each structure of {size} bytes",
            bounded=False,  # whatever else walks the structures is faster, too, where they are taken apart
        )  # fmt: skip
    return None
