"""Values of whole-number expressions, as C and Fortran compute them, to try out what bounds of loops come to."""

from __future__ import annotations

from collections.abc import Mapping

from chathpc.diagnosis.source.c_family import constant
from chathpc.diagnosis.source.model import Expr, Kind

_DEEPEST = 30


def value(expr: Expr | None, names: Mapping[str, int], depth: int = 0) -> int | None:
    """The number that the expression comes to with these values of names and members; None where something else is in it.

    Division rounds towards zero (C11 6.5.5, Fortran 2018 10.1.5.2.2); products are not cut off at the width of a type.
    """
    if expr is None or depth > _DEEPEST:
        return None
    if expr.kind in (Kind.NAME, Kind.MEMBER):
        return names.get(str(expr))
    if expr.kind == Kind.NUMBER:
        return constant(expr.text)
    parts = [value(each, names, depth + 1) for each in expr.parts]
    known = [each for each in parts if each is not None]
    if expr.kind == Kind.CONDITIONAL:
        return None if parts[0] is None else parts[1] if parts[0] else parts[2]
    if len(known) != len(parts) or not parts:
        return None
    if expr.kind == Kind.UNARY:
        return {"-": -known[0], "+": known[0], "!": int(not known[0])}.get(expr.text)
    if expr.kind == Kind.CALL:
        return _called(expr.text.lower(), known)
    return _combined(expr.text, known[0], known[1]) if expr.kind == Kind.BINARY and len(known) == 2 else None


def _called(name: str, known: list[int]) -> int | None:
    if name in ("min", "max") and len(known) > 1:
        return min(known) if name == "min" else max(known)
    if name == "mod" and len(known) == 2 and known[1]:
        return _combined("%", known[0], known[1])
    if name == "merge" and len(known) == 3:
        return known[0] if known[2] else known[1]
    return known[0] if name in ("int", "long") and len(known) == 1 else None


def _combined(operator: str, one: int, other: int) -> int | None:
    if operator in ("/", "%"):
        if other == 0:
            return None
        whole = abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)
        return whole if operator == "/" else one - whole * other
    plain = {"+": one + other, "-": one - other, "*": one * other}
    compared = {
        "<": one < other,
        ">": one > other,
        "<=": one <= other,
        ">=": one >= other,
        "==": one == other,
        "!=": one != other,
    }
    logical = {"&&": bool(one and other), "||": bool(one or other)}
    if operator in plain:
        return plain[operator]
    found = compared.get(operator, logical.get(operator))
    return None if found is None else int(found)
