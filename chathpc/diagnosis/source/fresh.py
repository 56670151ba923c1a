"""Large memory that is asked for and given back each time, so that its pages are fresh ones again and again."""

from __future__ import annotations

from dataclasses import replace

from chathpc.diagnosis.source.affine import advance, scope_of, stride
from chathpc.diagnosis.source.footprint import footprint
from chathpc.diagnosis.source.model import Expr, Function, Kind, Loop, expressions, root
from chathpc.diagnosis.source.sign import Sign
from chathpc.diagnosis.source.text import SourceFile
from chathpc.profile import numbers

#: What glibc keeps for the next call at most; what is larger always comes from the kernel and goes back to it (man 3 mallopt,
#: M_MMAP_THRESHOLD: the threshold moves with what is freed, up to 4*1024*1024*sizeof(long)).
KEPT = 32 << 20
_ALLOCATE = frozenset({"malloc", "calloc", "aligned_alloc", "new"})


def touched(function: Function, file: SourceFile, loop: Loop) -> tuple[Sign, bool] | None:
    """A loop that is the first to write to an array that the function allocates before it and frees behind it.

    A finding where the array's size is known to be more than the allocator keeps, a suspicion where it is not known, nothing where it is
    less. With it whether a loop of the function repeats that; else whoever asks must know that the function is called again and again.
    """
    scope = scope_of(function, file.unit)
    moves = advance(function, loop, scope)
    for one in expressions(function.inside(loop.index)):
        if one.kind != Kind.ASSIGN or one.parts[0].kind != Kind.INDEX:
            continue
        target = one.parts[0]
        name = str(target.base)
        if not any(stride(part, scope, moves) for part in target.parts):
            continue
        lines = _lifetime(function, name, loop)
        if lines is None or not all(
            _moves(target, function, file, each) for each in _between(function, loop, lines[2])
        ):
            continue
        size = footprint(name, function, file)
        if size is not None and size <= KEPT:
            continue
        sign = Sign(
            "page-faults", loop.first, loop.first, loop.last,
            f"is the first to write to {name}, which line {lines[0]} allocates and line {lines[1]} frees each time: memory of more than "
            f"{numbers.size(KEPT)} then comes from the kernel page by page",
            f"fills {name}, whose memory is fresh each time", ("The kernel's own time for the pages was not measured.",), calls=True,
        )  # fmt: skip
        return (sign if size is not None else replace(sign, alone=False, suspected=True)), lines[2] >= 0
    return None


def _between(function: Function, loop: Loop, outer: int) -> list[Loop]:
    """The loops around a loop that stand inside another one (−1: the function)."""
    above = {each.index for each in function.chain(outer)}
    return [each for each in function.chain(loop.parent) if each.index not in above]


def _moves(target: Expr, function: Function, file: SourceFile, loop: Loop) -> bool:
    """True if a loop goes on to other elements: together with the loop inside it it writes each once."""
    scope = scope_of(function, file.unit)
    return any(stride(part, scope, advance(function, loop, scope)) for part in target.parts)


def _lifetime(function: Function, name: str, loop: Loop) -> tuple[int, int, int] | None:
    """Lines that allocate and free a local array around a loop, and the loop in which that is done (−1: none); None where it is kept,
    handed out, made under a condition, or written to before the loop.
    """
    declared = next((one for one in function.declarations if one.name == name), None)
    if declared is None or declared.static or declared.reference:
        return None
    outside = {each.index for each in function.chain(loop.parent)} | {-1}
    made: list[tuple[int, int]] = []
    freed: list[int] = []
    for one in function.statements:
        for expr in one.walk():
            if expr.kind == Kind.ASSIGN and expr.text == "=" and str(expr.parts[0]) == name:
                value = expr.parts[1]
                allocates = value.kind == Kind.CALL and value.short in _ALLOCATE
                if not allocates or one.branch or one.loop not in outside:
                    return None
                made.append((one.line, one.loop))
            elif expr.kind == Kind.CALL and expr.text == "allocate" and _names(expr, name):
                if one.branch or one.loop not in outside:
                    return None
                made.append((one.line, one.loop))
            elif expr.kind == Kind.CALL and expr.short in ("free", "delete", "deallocate") and _names(expr, name):
                freed.append(one.line)
            elif expr.kind == Kind.ASSIGN and one.line < loop.first and expr.parts[0].kind == Kind.INDEX:
                if root(expr.parts[0]).text == name and one.loop >= 0 and one.loop not in outside:
                    return None  # an earlier loop has touched it
            elif expr.kind == Kind.ASSIGN and str(expr.parts[1]) == name:
                return None
    if len(made) != 1 or not freed or not made[0][0] <= loop.first <= max(freed):
        return None
    return made[0][0], max(freed), made[0][1]


def _names(call: Expr, name: str) -> bool:
    return any(
        str(part.parts[0] if part.text == "sized_allocation" and part.parts else part) == name for part in call.parts
    )
