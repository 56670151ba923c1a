"""Moving all the rest for each item: lists that grow or shrink at the front or in the middle, texts that are searched for their end."""

from __future__ import annotations

from collections.abc import Iterator

from chathpc.diagnosis.source import affine
from chathpc.diagnosis.source.layout import declaration_of, trips
from chathpc.diagnosis.source.model import Does, Expr, Function, Kind, Loop, Unit, expressions, root
from chathpc.diagnosis.source.sign import Sign

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
                return Sign("quadratic-algorithm", line, line, line, what, _SUMMARY, calls=True)
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
        f"moves all items of {target.base} behind one by a place each time", _SUMMARY,
    )  # fmt: skip
