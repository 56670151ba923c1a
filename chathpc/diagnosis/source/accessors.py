"""Functions of one expression put in place of their calls, as compilers do: `image.at(x, y)` is `image.v[y * image.n + x]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from chathpc.diagnosis.source.calls import accessor
from chathpc.diagnosis.source.model import Does, Expr, Function, Kind, Statement
from chathpc.diagnosis.source.text import SourceFile

#: Accessors that call accessors are followed so far, and an expression does not get longer than this.
_DEEPEST, _MOST_NODES = 3, 400


@lru_cache(maxsize=32)
def expanded(function: Function, file: SourceFile) -> Function:
    """The function with calls of accessors of its file replaced by what they return; the same function where there are none.

    Only what is certain is replaced: a function that all of its name and number of parameters agree about, with arguments that have no
    effects of their own.
    """
    if function.fortran:
        return function
    changed = False
    statements: list[Statement] = []
    for one in function.statements:
        expr = _expanded(one.expr, function, file, 0) if one.expr is not None else None
        changed = changed or expr is not one.expr
        statements.append(one if expr is one.expr else replace(one, expr=expr))
    return replace(function, statements=tuple(statements)) if changed else function


def _expanded(expr: Expr, function: Function, file: SourceFile, depth: int) -> Expr:
    base = _expanded(expr.base, function, file, depth) if expr.base is not None else None
    parts = tuple(_expanded(part, function, file, depth) for part in expr.parts)
    same = base is expr.base and all(one is other for one, other in zip(parts, expr.parts, strict=True))
    one = expr if same else replace(expr, base=base, parts=parts)
    if one.kind != Kind.CALL or depth >= _DEEPEST:
        return one
    returned = _returned(one, function, file)
    if returned is None or sum(1 for _ in returned.walk()) > _MOST_NODES:
        return one
    return _expanded(returned, function, file, depth + 1)


def _returned(call: Expr, function: Function, file: SourceFile) -> Expr | None:
    """What a call of an accessor returns, in the caller's words; None where that is not known."""
    if any(each.kind in (Kind.ASSIGN, Kind.CALL, Kind.OTHER) for part in call.parts for each in part.walk()):
        return None
    name, owner = call.short, call.base
    declared = function.declared(call.text) if owner is None else None
    if declared is not None:  # an object that is called: its operator()
        if declared.type.split("<", 1)[0].rsplit("::", 1)[-1] not in file.unit.records:
            return None
        name, owner = "operator", Expr(Kind.NAME, call.text, line=call.line)
    found: Expr | None = None
    for callee in file.functions_named(name):
        if len(callee.parameters) != len(call.parts) or not accessor(callee, file):
            if len(callee.parameters) == len(call.parts):
                return None
            continue
        only = callee.statements[0]
        if only.does != Does.RETURN or only.expr is None or ("member" in callee.marks) != (owner is not None):
            return None
        given = {one.name: part for one, part in zip(callee.parameters, call.parts, strict=True)}
        text = _substituted(only.expr, given, owner, file, call.line)
        if found is not None and str(found) != str(text):
            return None
        found = text
    return found


def _substituted(expr: Expr, given: Mapping[str, Expr], owner: Expr | None, file: SourceFile, line: int) -> Expr:
    """An expression of a callee with its parameters, and its object's members, as the caller has them."""
    if expr.kind == Kind.NAME:
        if expr.text in given:
            return given[expr.text]
        outside = expr.text in file.unit.variables or expr.text in file.unit.constants or "::" in expr.text
        if owner is None or outside:
            return expr
        return owner if expr.text == "this" else Expr(Kind.MEMBER, expr.text, owner, (), line)
    base = _substituted(expr.base, given, owner, file, line) if expr.base is not None else None
    parts = tuple(_substituted(part, given, owner, file, line) for part in expr.parts)
    return replace(expr, base=base, parts=parts, line=line)
