"""Functions in place of their calls: those of one expression as compilers do it, and any one as it stands in the loops that call it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from chathpc.diagnosis.source.calls import accessor
from chathpc.diagnosis.source.model import Does, Expr, Function, Kind, Loop, Statement, changed
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


def within(callee: Function, caller: Function, line: int) -> Function | None:
    """`callee` with the loops of `caller` around its call at `line`, and the caller's words for its parameters.

    None where no loop is around the call, the call is not found or not the only one, or the words would mean something else.
    """
    sites = [
        (one, call)
        for one in caller.statements
        if one.line == line and one.expr is not None
        for call in one.expr.calls()
        if _called(call) == callee.name.rsplit("::", 1)[-1] and len(_arguments(callee, call)) == len(callee.parameters)
    ]
    if not sites or any(one.loop != sites[0][0].loop for one, _ in sites):
        return None
    around = list(caller.chain(sites[0][0].loop))[::-1]
    if not around:
        return None
    given = _given(callee, sites[0][1])
    own = {one.name for one in callee.declarations} | {loop.variable for loop in callee.loops}
    if own & {name for part in given.values() for name in part.names()} or own & {loop.variable for loop in around}:
        return None
    numbers = {loop.index: number for number, loop in enumerate(around)}
    outer = [replace(loop, index=numbers[loop.index], parent=numbers.get(loop.parent, -1)) for loop in around]
    shift = len(outer)
    inner = [_moved(loop, shift, given) for loop in callee.loops]
    return replace(
        callee,
        loops=(*outer, *inner),
        statements=tuple(_put(one, shift, given) for one in callee.statements),
        declarations=(
            *(replace(one, loop=one.loop + shift) for one in callee.declarations),
            *(replace(one, loop=-1) for one in (*caller.declarations, *caller.parameters) if one.name not in own),
        ),
    )


def _called(call: Expr) -> str:
    """The name of what is called; Fortran's subroutines are called by `call`."""
    return call.short.removeprefix("call ")


def _arguments(callee: Function, call: Expr) -> tuple[Expr, ...]:
    """What the call gives, in the order of the parameters; the object of a type-bound procedure is the first (Fortran 2018, 15.5.1)."""
    bound = callee.fortran and call.base is not None and len(call.parts) + 1 == len(callee.parameters)
    return (call.base, *call.parts) if bound and call.base is not None else call.parts


def _given(callee: Function, call: Expr) -> dict[str, Expr]:
    """What the call gives for each parameter that the function does not set itself; of `&c` what it points to."""
    set_inside = changed(callee.statements)
    pairs = zip(callee.parameters, _arguments(callee, call), strict=True)
    plain = {Kind.NAME, Kind.NUMBER, Kind.MEMBER, Kind.INDEX, Kind.UNARY, Kind.BINARY, Kind.CALL}
    return {
        one.name: part.parts[0] if part.kind == Kind.UNARY and part.text == "&" and part.parts else part
        for one, part in pairs
        if one.name not in set_inside and all(each.kind in plain for each in part.walk())
    }


def _moved(loop: Loop, shift: int, given: Mapping[str, Expr]) -> Loop:
    return replace(
        loop,
        index=loop.index + shift,
        parent=loop.parent + shift,
        start=_said(loop.start, given),
        condition=_said(loop.condition, given),
        container=_said(loop.container, given),
    )


def _put(one: Statement, shift: int, given: Mapping[str, Expr]) -> Statement:
    return replace(one, loop=one.loop + shift, expr=_said(one.expr, given))


def _said(expr: Expr | None, given: Mapping[str, Expr]) -> Expr | None:
    """An expression in the caller's words."""
    if expr is None:
        return None
    if expr.kind == Kind.NAME and expr.text in given:
        return given[expr.text]
    return replace(
        expr,
        base=_said(expr.base, given),
        parts=tuple(part for part in (_said(one, given) for one in expr.parts) if part is not None),
    )
