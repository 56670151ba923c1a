"""OpenMP in the source: counters of neighbouring threads, critical sections and atomics, regions inside loops."""

from __future__ import annotations

from functools import lru_cache

from chathpc.diagnosis.source.layout import declaration_of, element, size_of, value
from chathpc.diagnosis.source.model import Expr, Function, Kind, Loop, Region, Unit, expressions
from chathpc.diagnosis.source.sign import Sign

#: Bytes of a cache line; what lies closer is moved between cores together.
_LINE = 64
_THREAD = "omp_get_thread_num"


def _is_parallel(region: Region) -> bool:
    return "parallel" in region.words.split("(")[0].split()


@lru_cache(maxsize=32)
def false_sharing(function: Function, unit: Unit) -> tuple[Sign, ...]:
    """Loops in a parallel region in which each thread writes to its own element of an array, several to a cache line.

    Elements of a line or more, padded or aligned ones, and elements written once after a loop are none.
    """
    numbers = {
        one.parts[0].text
        for one in expressions(function.statements)
        if one.kind == Kind.ASSIGN
        and one.parts[0].kind == Kind.NAME
        and one.parts[1].kind == Kind.CALL
        and one.parts[1].short == _THREAD
    }
    found = []
    for region in (each for each in function.regions if _is_parallel(each)):
        inside = [one for one in function.statements if region.first <= one.line <= region.last]
        aliases: dict[str, Expr] = {}
        for statement in inside:
            for one in statement.expr.walk() if statement.expr is not None else ():
                if one.kind == Kind.ASSIGN and one.parts[0].kind == Kind.NAME:
                    mine = _own_element(one.parts[1], numbers)
                    if mine is not None and one.parts[1].kind == Kind.UNARY:
                        aliases[one.parts[0].text] = mine
        for statement in inside:
            loop = function.loops[statement.loop] if statement.loop >= 0 else None
            if loop is None or loop.first < region.first or statement.expr is None:
                continue
            mine = _written(statement.expr, numbers, aliases)
            size = _distance(mine, function, unit) if mine is not None else None
            if mine is None or size is None or size >= _LINE:
                continue
            many = max(_LINE // size, 2)
            says = f"writes to {function.show(mine)} in a loop: {size} bytes for each thread, so that {many} threads share a cache line of {_LINE} bytes"
            found.append(
                Sign(
                    cause="omp-false-sharing",
                    line=statement.line,
                    first=loop.first,
                    last=loop.last,
                    says=says,
                    summary=f"writes to neighbouring elements of {function.show(mine.base)} from several threads",
                    against=("The compiler may keep the value in a register until the loop ends.",),
                    alone=False,
                    suspected=True,
                    calls=True,
                )
            )
    return tuple(found)


def _own_element(expr: Expr, numbers: set[str]) -> Expr | None:
    """`array[thread]` in an address or access."""
    for one in expr.walk():
        if one.kind == Kind.INDEX and one.base is not None:
            first = one.parts[0]
            if (first.kind == Kind.NAME and first.text in numbers) or (
                first.kind == Kind.CALL and first.short == _THREAD
            ):
                return Expr(Kind.INDEX, "", one.base, one.parts, one.line)
    return None


def _written(expr: Expr, numbers: set[str], aliases: dict[str, Expr]) -> Expr | None:
    """The thread's own element if the expression writes to it, directly, by a pointer, or by handing that pointer on."""
    for one in expr.walk():
        if one.kind == Kind.ASSIGN:
            target = one.parts[0]
            mine = _own_element(target, numbers)
            if mine is not None:
                return mine
            for name in target.names() if target.kind != Kind.NAME else ():
                if name in aliases:
                    return aliases[name]
        if one.kind == Kind.CALL:
            for part in one.parts:
                if part.kind == Kind.NAME and part.text in aliases:
                    return aliases[part.text]
                if part.kind == Kind.UNARY and part.text == "&":
                    mine = _own_element(part, numbers)
                    if mine is not None:
                        return mine
    return None


def _distance(access: Expr, function: Function, unit: Unit) -> int | None:
    """Bytes from one thread's element to the next; None where the source does not tell, or it is aligned."""
    declared = declaration_of(access.base, function, unit) if access.base is not None else None
    if declared is None:
        return None
    size = size_of(element(declared), unit)
    dims = declared.dims
    if len(dims) > 1:
        rest = [value(dim, unit.constants) for dim in (dims[:-1] if function.fortran else dims[1:])]
        if size is None or any(each is None for each in rest):
            return None
        for each in rest:
            size *= each or 1
    return size


def atomic(function: Function, loop: Loop, line: int) -> Sign | None:
    """An atomic update or a critical section at the line, in a loop that threads share."""
    for region in function.regions:
        word = region.words.split()[0].split("(")[0]
        if word not in ("atomic", "critical") or not region.first <= line <= region.last or loop.first > region.first:
            continue
        if word == "atomic" and region.words.split()[1:2] in (["read"], ["write"]):
            continue
        what = "an atomic update" if word == "atomic" else "a critical section"
        return Sign(
            "omp-critical-contention", line, region.first, region.last,
            f"has {what} in the loop over {loop.variable or 'items'}: threads do it one after the other",
            f"has {what} in a loop that threads share",
            ("How long threads wait for each other there was not measured.",), alone=word == "atomic", calls=True,
        )  # fmt: skip
    return None


def region_in_loop(function: Function, line: int) -> Sign | None:
    """A parallel region inside a loop; only supports what was measured of the waiting."""
    for region in function.regions:
        if _is_parallel(region) and region.loop >= 0 and region.first <= line <= region.last:
            loop = function.loops[region.loop]
            return Sign(
                "omp-fine-grained-regions", line, region.first, region.last,
                f"opens a parallel region in each iteration of the loop at line {loop.first}",
                "opens parallel regions in a loop", alone=False, calls=True,
            )  # fmt: skip
    return None
