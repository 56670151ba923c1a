"""Moving all the rest for each item: lists that grow or shrink at the front, in the middle or by few items, texts searched for their end."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chathpc.diagnosis.source import affine
from chathpc.diagnosis.source.layout import declaration_of, trips
from chathpc.diagnosis.source.model import Does, Expr, Function, Kind, Loop, Statement, Unit, expressions, root
from chathpc.diagnosis.source.sign import UNROLLED, Sign

#: What advice against moving items says.
_MOVED = "first item|from the front"
_SUMMARY = "moves or walks through all items for each one"
#: Containers whose items lie side by side, so that all behind an item move when it goes.
_SIDE_BY_SIDE = ("vector", "string")
_BEGINNINGS = frozenset({"begin", "cbegin"})
_ENDS = frozenset({"end", "cend", "size", "length", "back"})


def shifting(function: Function, unit: Unit, line: int, *, in_loop: bool) -> Sign | None:
    """A statement at the line that moves all items behind one, or walks to the end of a text, in a loop of its function (`in_loop`) or of
    a caller.

    Inserting and erasing before the end of a vector or string, a `memmove` of an array onto itself one item further, and Fortran's
    `a(1:n - 1) = a(2:n)` where n changes. At the end of a container nothing moves; lists of constant length cost what they cost.
    """
    for one in function.statements:
        if one.expr is None or one.line != line:
            continue
        for expr in one.expr.walk():
            what = _of_call(expr, function, unit, in_loop=in_loop) if expr.kind == Kind.CALL else _of_section(expr)
            if what and (expr.kind == Kind.CALL or _is_whole(expr) or _is_resized(function, expr.names())):
                return Sign(
                    "quadratic-algorithm", line, line, line, what, _SUMMARY, calls=True, fits=_MOVED if "moves" in what else ""
                )  # fmt: skip
    return None


def _of_call(call: Expr, function: Function, unit: Unit, *, in_loop: bool) -> str:
    """What a call moves; empty for nothing."""
    if call.base is not None:
        name = f"{call.base}.{call.short}"
        if call.short in ("insert", "erase") and call.parts and _is_side_by_side(call.base, function, unit):
            at = call.parts[0]
            if _is_begin(at, call.base):
                return f"{name}({at}) moves all other items each time"
            if at.kind == Kind.BINARY and at.text == "+" and _is_begin(at.parts[0], call.base) and not _at_end(at):
                return f"{name}({at}) moves all items behind it each time"
            if at.kind == Kind.NUMBER and at.text == "0" and len(call.parts) > 1:
                return f"{name}({at}, …) moves all that follows each time"
        return ""
    if call.short == "strcat" and in_loop:
        return "strcat looks for the end of the text from its beginning each time"
    if call.short == "memmove" and len(call.parts) == 3 and _is_resized(function, call.parts[2].names()):
        scope = affine.scope_of(function, unit)
        to, origin = (_address(part, scope) for part in call.parts[:2])
        if to is not None and origin is not None and to[0] == origin[0] and to[1] != origin[1]:
            return f"memmove moves all items of {to[0]} behind one each time"
    return ""


def _is_side_by_side(base: Expr, function: Function, unit: Unit) -> bool:
    """True for a vector or string, and for a container of which the file does not tell the type."""
    if base.kind == Kind.MEMBER and str(base.base) == "this":
        base = Expr(Kind.NAME, base.text)
    declared = declaration_of(base, function, unit)
    if declared is None and base.kind == Kind.NAME:  # a member of the object
        declared = declaration_of(Expr(Kind.MEMBER, base.text), function, unit)
    return declared is None or any(word in declared.type.split("<", 1)[0] for word in (*_SIDE_BY_SIDE, "auto"))


def _is_begin(expr: Expr, base: Expr) -> bool:
    if expr.kind != Kind.CALL or expr.short not in _BEGINNINGS:
        return False
    return str(expr.base) == str(base) or (expr.base is None and [str(part) for part in expr.parts] == [str(base)])


def _at_end(expr: Expr) -> bool:
    return any(each.short in _ENDS for each in expr.calls())


def _address(expr: Expr, scope: affine.Scope) -> tuple[str, tuple[tuple[tuple[str, ...], int], ...]] | None:
    """An address as array and index: `a + i + 1`, `&a[i + 1]` → a, i + 1."""
    index: Expr | None = None
    if expr.kind == Kind.UNARY and expr.text == "&" and expr.parts and expr.parts[0].kind == Kind.INDEX:
        element = expr.parts[0]
        if element.base is None or len(element.parts) != 1:
            return None
        name, index = str(element.base), element.parts[0]
    elif expr.kind == Kind.BINARY and expr.text == "+":
        first = expr
        while first.kind == Kind.BINARY and first.text in ("+", "-"):
            first = first.parts[0]
        name = str(first)
        terms = affine.linear(expr, scope, frozenset())
        own = affine.linear(first, scope, frozenset())
        rest = affine.add(terms, own, -1) if terms is not None and own is not None else None
        return None if rest is None else (name, tuple(sorted(rest.items())))
    else:
        return str(expr), ()
    terms = affine.linear(index, scope, frozenset())
    return None if terms is None else (name, tuple(sorted(terms.items())))


def _of_section(expr: Expr) -> str:
    """What an assignment of a section of an array to another section of it moves; empty for nothing."""
    if expr.kind != Kind.ASSIGN or expr.text != "=":
        return ""
    target, value = expr.parts
    if value.kind == Kind.CALL and value.short == "substr" and str(value.base) == str(target) and value.parts:
        return f"{target} = {value} copies all the rest each time" if value.parts[0].text != "0" else ""
    if value.kind != Kind.INDEX or len(value.parts) != 1 or value.parts[0].text != "extent_specifier":
        return ""
    array = target.base if target.kind == Kind.INDEX else target
    if str(array) != str(value.base):
        return ""
    low = _low(value.parts[0])
    if target.kind == Kind.INDEX:
        other = target.parts[0]
        moved = len(target.parts) == 1 and other.text == "extent_specifier" and _low(other) != low
        return f"{expr.written(fortran=True)} moves all other items each time" if moved else ""
    return "" if low == "1" else f"{array} loses its first item, for which all others are copied each time"


def _low(extent: Expr) -> str:
    """The first index of a section; 1 where it is left out."""
    return str(extent.parts[0]) if extent.parts and extent.parts[0].text else "1"


def _is_whole(expr: Expr) -> bool:
    """True for an assignment to a whole list or text, which thereby gets another length."""
    return expr.parts[0].kind != Kind.INDEX


def _is_resized(function: Function, names: frozenset[str]) -> bool:
    """True if the function adds a constant to one of the names, or takes it away: the number of items."""
    return any(one in names for one in counted(function))


def counted(function: Function) -> Iterator[str]:
    """Names of what the function makes larger or smaller by a constant, outside headers of loops."""
    for one in expressions(function.statements):
        if one.kind != Kind.ASSIGN:
            continue
        target, value = one.parts
        name = target.text if target.kind in (Kind.NAME, Kind.MEMBER) else root(target).text
        by = one.text in ("+=", "-=") and value.kind == Kind.NUMBER
        plus = value.kind == Kind.BINARY and value.text in ("+", "-") and str(value.parts[0]) == str(target)
        if by or (one.text == "=" and plus and value.parts[1].kind == Kind.NUMBER):
            yield name


def shift_loop(function: Function, unit: Unit, loop: Loop) -> Sign | None:
    """A loop that does nothing but move the items of an array by a constant number of places, where the number of items changes by one."""
    inside = [one for one in function.inside(loop.index) if one.does != Does.CONDITION]
    if len(inside) != 1 or inside[0].branch or not loop.counted or trips(loop, unit.constants) is not None:
        return None
    expr = inside[0].expr
    if inside[0].does != Does.EVALUATE or expr is None or expr.kind != Kind.ASSIGN or expr.text != "=":
        return None
    target, value = expr.parts
    if target.kind != Kind.INDEX or value.kind != Kind.INDEX or str(target.base) != str(value.base):
        return None
    if len(target.parts) != 1 or len(value.parts) != 1 or loop.variable not in target.parts[0].names():
        return None
    scope = affine.scope_of(function, unit)
    one, other = (affine.linear(part, scope, frozenset({loop.variable})) for part in (target.parts[0], value.parts[0]))
    apart = affine.add(one, other, -1) if one is not None and other is not None else None
    if not apart or not affine.number(apart):
        return None
    bounds = [each for each in (loop.condition, loop.start) if each is not None]
    if not _is_resized(function, frozenset(name for each in bounds for name in each.names()) - {loop.variable}):
        return None
    return Sign(
        "quadratic-algorithm", loop.first, loop.first, loop.last,
        f"moves all items of {target.base} behind one by a place each time", _SUMMARY, fits=_MOVED,
    )  # fmt: skip


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
