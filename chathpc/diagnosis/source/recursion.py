"""Functions that call themselves several times with overlapping arguments and remember nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from chathpc.diagnosis.source.affine import Advance, number, scope_of, stride
from chathpc.diagnosis.source.invariant import is_pure
from chathpc.diagnosis.source.model import Does, Expr, Function, Kind, expressions, root
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
    calls = [one for one in _own_calls(function) if one.base is None]
    different = {str(call): call for call in calls}
    if len(calls) < 2 or any(len(call.parts) != len(parameters) for call in calls):
        return None
    if any(one.short == function.name for call in calls for part in call.parts for one in part.calls()):
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


#: Types of whole numbers, of which a table can be kept.
_WHOLE = re.compile(
    r"(?:(?:un)?signed |long |short )*(?:int|long|short|unsigned|char)|u?int(?:8|16|32|64)_t|std::u?int\d+_t|size_t|integer(?:\(.*\))?"
)
#: By these a number gets shorter by digits each time: the chain is as long as the number has digits, and hardly worth a table.
_SHORTER = frozenset({"/", ">>", "%", "&"})


@lru_cache(maxsize=32)
def chained(function: Function, file: SourceFile) -> Sign | None:
    """A function of its arguments alone that calls itself with another whole number each time and is called for one number after the other:
    the chains of different numbers run into each other, and what is known of one is computed anew for the next.

    No such function remembers anything, looks anything up by its number, or only divides it (digits, powers of two).
    """
    calls = [one for one in _own_calls(function) if one.base is None]
    names = [one.name for one in function.parameters]
    if function.returns is None or not calls or any(len(call.parts) != len(names) for call in calls):
        return None
    moving = {at for call in calls for at, part in enumerate(call.parts) if str(part) != names[at]}
    if len(moving) != 1:
        return None
    (at,) = moving
    parameter = function.parameters[at]
    arms = [arm for call in calls for arm in _arms(call.parts[at])]
    if (
        parameter.pointers
        or parameter.dims
        or not _WHOLE.fullmatch(parameter.type)
        or any(arm.names() - {parameter.name} for arm in arms)
    ):
        return None
    if all(arm.kind != Kind.BINARY or arm.text in _SHORTER for arm in arms) or _looks_up(function, parameter.name):
        return None
    caller = _goes_through(function, at, file)
    if caller is None or not is_pure(function, file, recursive=True):
        return None
    shown = " or ".join(dict.fromkeys(function.show(arm) for arm in arms[:2]))
    return Sign(
        "redundant-recursion", calls[0].line, function.first, function.last,
        f"calls itself with {shown}, for one number after the other in {caller}: the same numbers come up again and again, and no result is kept",
        "calls itself again and again with the same arguments",
        ("How often the same numbers come up was not measured; few if the range of numbers is short.",), calls=True,
    )  # fmt: skip


@lru_cache(maxsize=32)
def descending(function: Function, file: SourceFile) -> Sign | None:
    """A function of a node alone that goes on to all below it, called for one node after the other of the same tree.

    The caller has a loop over nodes and asks for what is below each (of trees, it would ask for the root's), or is a recursion over the tree
    itself. Neither a search that takes one branch nor a function that keeps something in the node is meant.
    """
    node = _goes_down(function, file)
    if function.returns is None or not node or not is_pure(function, file, recursive=True):
        return None
    own = _own_calls(function)[0]
    below = {one.name for one in file.unit.records[node].fields if _is_of(one.type, node)}
    for caller, one, call in file.calls_of(function.name):
        of = call.base or next(iter(call.parts), None)
        if caller.name == function.name or (call.base is None) != (own.base is None) or of is None:
            continue
        step = of.kind == Kind.MEMBER and of.text in below
        for loop in caller.chain(one.loop):
            moves = loop.updated | {loop.variable}
            typed = loop.element is not None and _is_of(loop.element.type, node) and of.kind == Kind.CALL
            if (step or typed) and moves & of.names():
                return _descends(function, own, caller)
        if (step or of.kind == Kind.NAME) and _goes_down(caller, file) == node:
            return _descends(function, own, caller)
    return None


_IN_NODES = (
    "Keep in each node what is asked of all below it, computed once from the leaves up, and update it where the tree changes.",
    "Let one recursion return it together with what its caller does at each node.",
)


def _descends(function: Function, call: Expr, caller: Function) -> Sign:
    return Sign(
        "redundant-recursion", call.line, function.first, function.last,
        f"goes through all below a node, for one node after the other in {caller.name}: each node is visited again for all above it, and no result "
        "is kept",
        "goes through the same nodes again and again",
        ("How deep the tree is was not measured; in a balanced one nodes have few above them.",), calls=True,
        title="Recursion that goes through the same nodes again", advice=_IN_NODES,
    )  # fmt: skip


def _own_calls(function: Function) -> list[Expr]:
    return [one for one in expressions(function.statements) if one.kind == Kind.CALL and one.short == function.name]


def _goes_down(function: Function, file: SourceFile) -> str:
    """The type of the nodes of a tree that a recursive function goes through, all below the one that it is given; empty for any other."""
    calls, loops = _own_calls(function), {loop.variable: loop for loop in function.loops if loop.container is not None}
    names = [one.name for one in function.parameters]
    nodes = set()
    for call in calls:
        of = call.base or (call.parts[0] if call.parts else None)
        if of is None or [str(each) for each in call.parts[call.base is None :]] != names[call.base is None :]:
            return ""
        if of.kind == Kind.NAME and of.text in loops:
            of = loops[of.text].container or of
        start = root(of)
        named = of.base if of.kind == Kind.INDEX else of if of.kind in (Kind.MEMBER, Kind.NAME) else None
        field = "" if named is None else named.text
        if call.base is None and (not names or start.text != names[0] or of is start):
            return ""
        nodes |= {
            one.name
            for one in file.unit.records.values()
            if any(each.name == field and _is_of(each.type, one.name) for each in one.fields)
        }
    whole = any(
        one.loop >= 0 and call in tuple(one.expr.calls()) for one in function.statements if one.expr for call in calls
    )
    return nodes.pop() if len(nodes) == 1 and (whole or _both(function, calls)) else ""


def _both(function: Function, calls: list[Expr]) -> bool:
    """True unless of two calls only one is made: in arms of a condition, or each in a statement that returns."""
    for one in expressions(function.statements):
        if one.kind == Kind.CONDITIONAL and all(
            any(call in tuple(arm.calls()) for call in calls) for arm in one.parts[1:]
        ):
            return False
    lines = [call.line for call in calls]
    for fork in function.forks:
        then, other = fork.then, fork.other or (0, -1)
        if any(then[0] <= at <= then[1] for at in lines) and any(other[0] <= at <= other[1] for at in lines):
            return False
    returned = sum(
        any(call in tuple(one.expr.calls()) for call in calls)
        for one in function.statements
        if one.expr is not None and one.does == Does.RETURN
    )
    return len(calls) > 1 and returned < 2


def _is_of(type_: str, name: str) -> bool:
    """True for a type that is the record or holds it: `struct node`, `std::vector<Node*>`."""
    return name in re.findall(r"\w+", type_)


def _arms(expr: Expr) -> Iterator[Expr]:
    """What an expression may be: both sides of a conditional one."""
    todo = [expr]
    while todo:
        one = todo.pop()
        if one.kind == Kind.CONDITIONAL and len(one.parts) == 3:
            todo.extend((one.parts[2], one.parts[1]))
        else:
            yield one


def _looks_up(function: Function, name: str) -> bool:
    """True if the function reads or writes an element with the number as index."""
    return any(
        one.kind == Kind.INDEX and any(name in part.names() for part in one.parts)
        for one in expressions(function.statements)
    )


def _goes_through(function: Function, at: int, file: SourceFile) -> str | None:
    """The function that calls it in a loop with a number that the loop counts on; None where none does."""
    for caller, one, call in file.calls_of(function.name):
        for loop in caller.chain(one.loop) if caller.name != function.name and at < len(call.parts) else ():
            if loop.counted and loop.step is not None:
                moves = Advance({loop.variable: {(): loop.step}})
                by = stride(call.parts[at], scope_of(caller, file.unit), moves)
                if by and number(by):
                    return caller.name
    return None


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
