"""Calls at hot places that say more about a measured cost: synchronous output, powers, divisions, accessors, and those that wait."""

from __future__ import annotations

from collections.abc import Collection

from chathpc.diagnosis.source.invariant import pure_name
from chathpc.diagnosis.source.model import Does, Expr, Function, Kind, Loop, Unit, expressions
from chathpc.diagnosis.source.sign import Sign, body
from chathpc.diagnosis.source.text import SourceFile
from chathpc.profile.activity import Activity, activity_of_name

_SYNCING = frozenset(
    {"fsync", "fdatasync", "fflush", "sync", "fopen", "fclose", "open", "close", "flush", "syncfs", "msync"}
)
_TRANSCENDENTAL = frozenset({
    "exp", "exp2", "log", "log2", "log10", "pow", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh",
    "cosh", "tanh", "erf", "cbrt",
})  # fmt: skip
_POWERS = {
    "2": "x*x",
    "3": "x*x*x",
    "4": "(x*x)*(x*x)",
    "0.5": "sqrt(x)",
    "1.5": "x*sqrt(x)",
    "-1": "1/x",
    "0.25": "sqrt(sqrt(x))",
}
#: Statements of one line that a compiler inlines at -O1 and above.
_MOST_NODES = 24


def synchronous(function: Function, loop: Loop, line: int) -> Sign | None:
    """Opening, closing or flushing a file in a loop; only supports what was measured of file operations."""
    for statement in function.inside(loop.index):
        for one in statement.calls() if statement.line == line else ():
            if one.short in _SYNCING:
                return Sign(
                    "io-bound", line, line, line, f"calls {one.short} in each iteration of the loop over {loop.variable or 'items'}",
                    "flushes or opens files in a loop", alone=False, calls=True,
                )  # fmt: skip
    return None


def simple_power(function: Function, line: int) -> Sign | None:
    """A power with an exponent that multiplications or a square root do; only supports measured time in libm."""
    for one in function.calls_at(line):
        if one.short not in ("pow", "powf", "powl") or len(one.parts) != 2:
            continue
        exponent = one.parts[1]
        text = exponent.text if exponent.kind == Kind.NUMBER else ""
        plain = _plain(text)
        if plain in _POWERS:
            return Sign(
                "expensive-math", line, line, line, f"calls {one} where {_POWERS[plain]} would do",
                "calls pow for simple powers", alone=False, calls=True,
            )  # fmt: skip
    return None


def _plain(text: str) -> str:
    try:
        number = float(text.rstrip("fFlL"))
    except ValueError:
        return ""
    return f"{number:g}"


def functions_in_loop(function: Function, unit: Unit, loop: Loop, line: int) -> Sign | None:
    """Transcendental functions at a hot line of an inner loop, for profiles that show nothing of a mathematical library."""
    inside = body(function, loop, unit)
    if inside is None:
        return None
    calls = [
        one
        for one in expressions(inside)
        if one.kind == Kind.CALL and one.line == line and one.base is None and _is_transcendental(one)
    ]
    powers = [
        one
        for one in expressions(inside)
        if function.fortran
        and one.kind == Kind.BINARY
        and one.text == "**"
        and one.line == line
        and _is_real_power(one)
    ]
    if not calls and not powers:
        return None
    names = list(dict.fromkeys([*(one.short for one in calls), *("**" for _ in powers[:1])]))
    return Sign(
        "expensive-math", line, loop.first, loop.last,
        f"calls {', '.join(names[:4])} in the innermost loop over {loop.variable or 'items'}",
        f"calls {', '.join(names[:4])} in its innermost loop",
        ("Which part of the time these functions have was not measured.",), calls=True,
    )  # fmt: skip


def chained(function: Function, loop: Loop, line: int, callees: Collection[str]) -> Sign | None:
    """A call (of one of `callees`) at the line with an argument that the same statement computed in the iteration before: no two run at once."""
    inside = tuple(expressions(function.inside(loop.index)))
    stores = [one for one in inside if one.kind == Kind.ASSIGN and one.parts[0].kind == Kind.NAME]
    for store in stores:
        name = store.parts[0].text
        own = [one for one in stores if one.parts[0].text == name]
        if any(one.text == "=" and name not in one.parts[1].names() for one in own):
            continue  # begins anew in each iteration
        for call in store.parts[1].calls():
            if call.line == line and name in call.names() and {call.short, call.short.rstrip("fl")} & {*callees}:
                return Sign(
                    "expensive-math", line, loop.first, loop.last,
                    f"calls {call.short} with {name} of the iteration before, so that each call waits for the last and vector versions do not help",
                    "calls functions of their own last result", alone=False, calls=True,
                )  # fmt: skip
    return None


def _is_transcendental(one: Expr) -> bool:
    name = one.short
    return name in _TRANSCENDENTAL or (name[-1:] == "f" and name[:-1] in _TRANSCENDENTAL)


def _is_real_power(one: Expr) -> bool:
    exponent = one.parts[1]
    return not (exponent.kind == Kind.NUMBER and exponent.text.isdigit()) and exponent.kind != Kind.UNARY


def invariant_division(function: Function, unit: Unit, loop: Loop) -> Sign | None:
    """An innermost loop that mostly divides by the same values in every iteration.

    Without -ffast-math a compiler must divide each time: x/d is not exactly x*(1/d). Divisions must be half of the
    operations at least: a division takes as long as several additions, and other work hides what is less.
    """
    inside = body(function, loop, unit)
    if inside is None:
        return None
    moving = function.changing(loop.index)
    operations = [one for one in _values(inside) if one.kind == Kind.BINARY and one.text in ("+", "-", "*", "/", "%")]
    divisions = [one for one in operations if one.text in ("/", "%")]
    same = [one for one in divisions if _stays(one.parts[1], moving) and not _integers(one, function)]
    if len(same) < 2 or 2 * len(divisions) < len(operations) or 2 * len(same) < len(divisions):
        return None
    shown = str(same[0].parts[1])
    return Sign(
        "expensive-math", same[0].line, loop.first, loop.last,
        f"divides {len(same)} times by values that stay the same in the loop over {loop.variable or 'items'} ({shown[:40]})",
        "divides by the same values again and again in its innermost loop",
        ("With -ffast-math the compiler multiplies by the reciprocal already.",),
    )  # fmt: skip


def _values(inside) -> list[Expr]:  # type: ignore[no-untyped-def]
    found, todo = [], [one.expr for one in inside if one.expr is not None and one.does != Does.CONDITION]
    while todo:
        expr = todo.pop()
        found.append(expr)
        if expr.kind != Kind.INDEX:
            todo.extend(expr.parts)
    return found


def _stays(expr: Expr, moving: frozenset[str]) -> bool:
    return bool(expr.names()) and not expr.reads() & moving and not any(expr.calls())


def _integers(one: Expr, function: Function) -> bool:
    declared = [function.declared(name) for name in one.parts[1].names()]
    return any(each is None or not each.type.startswith(("double", "float", "real")) for each in declared)


def accessor(callee: Function, file: SourceFile) -> bool:
    """True for a function that any optimising compiler puts in place of its call: one short statement, visible and not virtual."""
    if callee.marks & {"virtual", "noinline"} or not callee.marks & {"static", "inline", "member"}:
        return False
    if len(callee.statements) != 1 or callee.loops or callee.broken or callee.fortran:
        return False
    only = callee.statements[0]
    nodes = list(only.expr.walk()) if only.expr is not None else []
    if not 0 < len(nodes) <= _MOST_NODES or only.does not in (Does.RETURN, Does.EVALUATE):
        return False
    for one in nodes:
        if one.kind == Kind.CALL and (one.short == callee.name or one.short in ("new", "malloc")):
            return False
        if one.kind == Kind.CALL and pure_name(one.short) and one.short not in ("abs", "fabs", "min", "max"):
            return False
    return True


_WAITING = (Activity.SLEEP, Activity.BLOCKED, Activity.JOIN, Activity.LOCK)
#: Of file operations only these wait for the device in any case: others mostly copy to and from the system's memory.
_FORCING = frozenset({"fsync", "fdatasync", "msync", "sync", "syncfs", "sync_file_range"})


def waiting(function: Function, file: SourceFile) -> list[tuple[Function, Expr, Activity]]:
    """Calls that sleep, wait for something or force data to a device, each with the function that holds it and what it does."""
    found, todo, seen = [], [function], {function.first}
    while todo:
        holder = todo.pop()
        for one in expressions(holder.statements):
            if one.kind != Kind.CALL:
                continue
            own = file.functions_named(one.short)
            todo += [each for each in own if each.first not in seen]
            seen.update(each.first for each in own)
            activity = Activity.IO if one.short in _FORCING else activity_of_name(one.text)
            if not own and activity is not None and (activity in _WAITING or one.short in _FORCING):
                found.append((holder, one, activity))
    return found
