"""Lists that grow by a few items at a time: new memory and a copy of all that is there for each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chathpc.diagnosis.source import affine
from chathpc.diagnosis.source.model import Expr, Function, Kind, Statement, Unit
from chathpc.diagnosis.source.shifts import counted
from chathpc.diagnosis.source.sign import UNROLLED, Sign

_CAUSE = "allocation-churn"
_ALLOCATE = frozenset({"malloc", "calloc", "aligned_alloc", "new", "make_unique", "make_shared"})
_COPY = frozenset({"memcpy", "memmove", "copy", "copy_n", "move", "uninitialized_copy", "uninitialized_move"})
#: What tells how many items a list has: a variable, a member, or its own size.
_LENGTH = re.compile(r"[\w.]+|size\([\w.]+\)|[\w.]+\.(size|length|count)\(\)")
#: How the end of a text is written: one more for that is no further item.
_NULL = ("0", "'\\0'", '"…"')


def grown(function: Function, unit: Unit, line: int) -> Sign | None:
    """Lines, around the one asked for, that make a larger array for a few more items than a list has, copy the list to it and put it in the
    list's place; or `reserve(size() + 1)`, by which a vector does the same.

    Room that doubles, or grows by as many items as are added, is no such growth, nor is the end of a text.
    """
    for one in function.statements:
        if one.expr is None:
            continue
        for name, size in _made(one):
            if size is None or not 0 <= line - one.line <= _LONGEST:
                continue
            found = _by_few(size, function, unit)
            last = _replaced(function, one, name, found) if found is not None else None
            if last is not None and one.line <= line <= last[0]:
                says = f"allocates memory for {function.show(size)} items, copies {last[1]} to it and replaces {last[1]} with it each time"
                return Sign(
                    _CAUSE, one.line, one.line, last[0], says, "copies a list to new memory for each item that is added", calls=True
                )  # fmt: skip
        for call in one.expr.calls() if one.line == line else ():
            own = call.short == "reserve" and call.base is not None and len(call.parts) == 1
            if own and _by_few(call.parts[0], function, unit) == f"{call.base}.size()":
                says = f"reserves room for {function.show(call.parts[0])} items each time, so that {call.base} is moved for each one"
                summary = "moves a list to new memory for each item that is added"
                return Sign(_CAUSE, line, line, line, says, summary, calls=True)
    return None


#: Lines from the new memory to where it takes the list's place.
_LONGEST = 40


def _made(one: Statement) -> Iterator[tuple[str, Expr | None]]:
    """Arrays that a statement allocates, with the number of their items."""
    expr = one.expr
    if expr is None:
        return
    if expr.kind == Kind.CALL and expr.text == "allocate":
        for part in expr.parts:
            if part.text == "sized_allocation" and len(part.parts) == 2 and len(part.parts[1].parts) == 1:
                size = part.parts[1].parts[0]
                if size.text == "extent_specifier":
                    from_one = len(size.parts) == 2 and size.parts[0].text == "1"
                    yield str(part.parts[0]), size.parts[1] if from_one else None
                else:
                    yield str(part.parts[0]), size
    elif expr.kind == Kind.ASSIGN and expr.text == "=":
        name, made = str(expr.parts[0]), expr.parts[1]
        if made.kind == Kind.OTHER and made.text == "argument_list" and made.parts:  # vector<int> larger(n + 1)
            made = made.parts[0]
            if made.kind != Kind.CALL or made.short not in _ALLOCATE:
                yield name, made
                return
        if made.kind == Kind.CALL and made.short in _ALLOCATE and made.parts:
            items = [each for part in made.parts for each in _factors(part) if not _is_size(each)]
            yield name, items[0] if len(items) == 1 else None


def _factors(expr: Expr) -> list[Expr]:
    if expr.kind == Kind.BINARY and expr.text == "*":
        return [each for part in expr.parts for each in _factors(part)]
    return [expr]


def _is_size(expr: Expr) -> bool:
    return expr.kind == Kind.NUMBER or (expr.kind == Kind.OTHER and expr.text == "sizeof")


def _by_few(size: Expr, function: Function, unit: Unit) -> str | None:
    """What a number of items is a little larger than: `n` of `n + 1`; None where it is larger by more, or by what is not known."""
    scope = affine.scope_of(function, unit)
    local = {
        one.name for one in function.declarations
    }  # what outlives the function has another value before it is set here
    scope = affine.Scope({name: value for name, value in scope.values.items() if name in local}, scope.constants)
    terms = dict(affine.linear(size, scope, frozenset()) or {})
    more = terms.pop((), 0)
    if not 0 < more <= UNROLLED or list(terms.values()) != [1]:
        return None
    (key,) = terms
    return key[0] if len(key) == 1 and _LENGTH.fullmatch(key[0]) else None


def _replaced(function: Function, made: Statement, name: str, length: str | None) -> tuple[int, str] | None:
    """Line at which an array takes the place of the list that was copied to it, and the list; None where that does not happen."""
    copied: set[str] = set()
    appended = False
    for one in function.statements:
        if one.expr is None or not made.line <= one.line <= made.line + _LONGEST:
            continue
        for expr in one.expr.walk():
            if (
                expr.kind == Kind.ASSIGN
                and expr.text == "="
                and _array(expr.parts[0]) == name
                and expr is not made.expr
            ):
                sources = {
                    _array(each) for each in expr.parts[1].walk() if each.kind in (Kind.INDEX, Kind.NAME, Kind.MEMBER)
                }
                if expr.parts[0].kind == Kind.INDEX or function.fortran:
                    copied |= sources - {name}
                    appended |= str(expr.parts[1]) not in _NULL and _is_one(expr.parts[0])
            elif expr.kind == Kind.CALL and expr.short in _COPY:
                arrays = {_array(part) for part in expr.parts}
                if name in arrays:
                    copied |= arrays - {name}
        to = _handed(one.expr, name)
        if to is not None and str(to) in copied and one.loop == made.loop:
            own = str(length) in (f"size({to})", f"{to}.size()")
            if own or appended or str(length).rsplit(".", 1)[-1] in set(counted(function)):
                return one.line, function.show(to)
    return None


def _is_one(target: Expr) -> bool:
    """True for one element, not a section."""
    return target.kind == Kind.INDEX and all(part.text != "extent_specifier" for part in target.parts)


def _array(expr: Expr) -> str:
    """The list that an expression names: `s%x(1:n)`, `l->at[i]`, `v.begin()`, `v + n` → s.x, l.at, v."""
    while True:
        within = expr.kind == Kind.CALL and expr.short in ("begin", "cbegin", "data", "get")
        if (expr.kind == Kind.INDEX or within) and expr.base is not None:
            expr = expr.base
        elif (expr.kind == Kind.UNARY and expr.text in ("*", "&")) or (
            expr.kind == Kind.BINARY and expr.text in ("+", "-")
        ):
            expr = expr.parts[0]
        else:
            return str(expr)


def _handed(expr: Expr, name: str) -> Expr | None:
    """What takes over the array: `list = larger`, `move_alloc(larger, list)`, `list.swap(larger)`."""
    if expr.kind == Kind.ASSIGN and expr.text == "=":
        value = expr.parts[1]
        if value.kind == Kind.CALL and value.short in ("move", "release"):
            value = value.base if value.base is not None else value.parts[0] if value.parts else value
        return expr.parts[0] if str(value) == name and expr.parts[0].kind in (Kind.NAME, Kind.MEMBER) else None
    if expr.kind != Kind.CALL:
        return None
    parts = [part.parts[1] if part.text == "keyword_argument" and len(part.parts) == 2 else part for part in expr.parts]
    if expr.text == "call move_alloc" and len(parts) == 2 and str(parts[0]) == name:
        return parts[1]
    if expr.short == "swap":
        pair = [*([expr.base] if expr.base is not None else []), *parts]
        others = [each for each in pair if str(each) != name]
        return others[0] if len(pair) == 2 and len(others) == 1 else None
    return None
