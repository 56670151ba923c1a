"""A function as it stands in the loops that call it: what it does once is done in each of their iterations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from chathpc.diagnosis.source.model import Expr, Function, Kind, Loop, Statement, changed


def within(callee: Function, caller: Function, line: int) -> Function | None:
    """`callee` with the loops of `caller` around its call at `line`, and the caller's words for its parameters.

    None where no loop is around the call, the call is not found or not the only one, or the words would mean something else.
    """
    sites = [
        (one, call)
        for one in caller.statements
        if one.line == line and one.expr is not None
        for call in one.expr.calls()
        if _called(call) == callee.name.rsplit("::", 1)[-1] and len(call.parts) == len(callee.parameters)
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


def _given(callee: Function, call: Expr) -> dict[str, Expr]:
    """What the call gives for each parameter that the function does not set itself; of `&c` what it points to."""
    set_inside = changed(callee.statements)
    pairs = zip(callee.parameters, call.parts, strict=True)
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
