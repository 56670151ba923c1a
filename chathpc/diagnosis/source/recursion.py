"""Functions that call themselves several times with overlapping arguments and remember nothing."""

from __future__ import annotations

from functools import lru_cache

from chathpc.diagnosis.source.invariant import is_pure
from chathpc.diagnosis.source.model import Expr, Function, Kind, expressions
from chathpc.diagnosis.source.sign import Sign
from chathpc.diagnosis.source.text import SourceFile


@lru_cache(maxsize=32)
def redundant(function: Function, file: SourceFile) -> Sign | None:
    """A function of its arguments alone that calls itself twice or more, each time with arguments moved on by differences.

    `f(n - 1) + f(n - 2)` comes to the same arguments by many ways. Halves (`f(lo, mid)`), children (`f(2*i + 1)`,
    `f(node->left)`) and searches that change something on the way (backtracking) do not; nor does a function that keeps results.
    """
    if function.returns is None:
        return None
    parameters = [one.name for one in function.parameters]
    calls = [
        one
        for one in expressions(function.statements)
        if one.kind == Kind.CALL and one.short == function.name and one.base is None
    ]
    different = {str(call): call for call in calls}
    if len(calls) < 2 or any(len(call.parts) != len(parameters) for call in calls):
        return None
    if any(
        one.kind == Kind.CALL and one.short == function.name
        for call in calls
        for part in call.parts
        for one in part.walk()
    ):
        return None
    moves = [
        [_moved(part, name) for part, name in zip(call.parts, parameters, strict=True)] for call in different.values()
    ]
    if not all(all(move is not None for move in call) and any(move for move in call) for call in moves):
        return None
    if not is_pure(function, file, recursive=True):
        return None
    line = calls[0].line
    shown = " and ".join(list(different)[:2]) if len(different) > 1 else f"{calls[0]} twice"
    return Sign(
        "redundant-recursion", line, function.first, function.last,
        f"calls {shown}: the same arguments come up again and again, and no result is kept",
        "calls itself again and again with the same arguments",
        calls=True,
    )  # fmt: skip


def _moved(expr: Expr, name: str) -> str | None:
    """What is added to the parameter: `""` for nothing, `-1`, `-w[i]`; None where it is something else than a difference."""
    if expr.kind == Kind.NAME and expr.text == name:
        return ""
    if expr.kind == Kind.BINARY and expr.text in ("+", "-") and len(expr.parts) == 2:
        one, other = expr.parts
        if one.kind == Kind.NAME and one.text == name and name not in other.names():
            return f"{expr.text}{other}"
        if other.kind == Kind.NAME and other.text == name and expr.text == "+" and name not in one.names():
            return f"+{one}"
        inner = _moved(one, name)
        if inner and other.kind == Kind.NUMBER:
            return f"{inner}{expr.text}{other}"
    return None
