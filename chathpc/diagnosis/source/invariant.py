"""Calls in a loop whose arguments and whose function's inputs stay the same from one iteration to the next."""

from __future__ import annotations

import re

from chathpc.diagnosis.source.model import (
    Does,
    Expr,
    Function,
    Kind,
    Loop,
    Statement,
    changed,
    expressions,
    root,
    target_names,
)
from chathpc.diagnosis.source.sign import Sign
from chathpc.diagnosis.source.text import SourceFile

#: Functions of their arguments alone, by their C names; `f` and `l` may follow. Fortran's are among them.
PURE = frozenset(
    {
        "abs", "fabs", "min", "max", "fmin", "fmax", "sqrt", "cbrt", "exp", "exp2", "log", "log2", "log10", "log1p", "expm1",
        "pow", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "erf", "erfc", "tgamma", "lgamma",
        "floor", "ceil", "round", "trunc", "fmod", "hypot", "fma", "mod", "real", "dble", "int", "nint", "sign", "merge", "labs",
        "gamma", "bessel_j0", "bessel_j1", "sum", "size", "dot_product", "maxval", "minval", "move", "swap_bytes",
    }
)  # fmt: skip
#: Names of functions that give something else each time; only asked where what the function does is not in the file.
_STATEFUL = re.compile(
    r"rand|rng|next|draw|sample|uniform|gauss|read|recv|get|pop|poll|wait|time|clock|tick|tok|alloc|new|create|make|open",
    re.IGNORECASE,
)
#: Functions that walk through a text or list for their result, and change nothing.
LENGTHS = frozenset({"strlen", "wcslen"})
_DEEPEST = 3


def is_pure(function: Function, file: SourceFile, *, recursive: bool = False, depth: int = 0) -> bool:
    """True if a function changes nothing but its own variables and calls only such functions."""
    if depth > _DEEPEST or function.broken or function.regions:
        return False
    local = {one.name for one in function.declarations if not one.static and not one.pointers and not one.reference}
    local |= {
        one.name
        for one in function.parameters
        if not one.pointers and not one.reference and not one.dims and not function.fortran
    }
    if function.returns is not None and function.fortran:
        local |= {function.returns.name, function.name}
    if any(one.static for one in function.declarations):
        return False
    for one in expressions(function.statements):
        if one.kind == Kind.ASSIGN:
            base = root(one.parts[0])
            if base.kind != Kind.NAME or base.text not in local:
                return False
        elif one.kind == Kind.CALL:
            if one.base is not None and not (recursive and one.short == function.name):
                return False
            if pure_name(one.short) or one.short in LENGTHS or (recursive and one.short == function.name):
                continue
            named = file.functions_named(one.short)
            if one.short == function.name or len(named) != 1 or not is_pure(named[0], file, depth=depth + 1):
                return False
        elif one.kind == Kind.OTHER and one.text in ("lambda", "co_await_expression"):
            return False
    return True


def pure_name(name: str) -> bool:
    """True for a function of a mathematical library."""
    return name in PURE or (name[-1:] in ("f", "l") and name[:-1] in PURE)


def invariant(function: Function, file: SourceFile, loop: Loop, line: int, callee: str | None = None) -> Sign | None:
    """A call at the line (of `callee`, where that is told) whose result is the same in every iteration of the loop.

    A function of the program's own counts if it changes nothing and the loop writes to nothing that it may read.
    """
    inside = function.inside(loop.index)
    moving = function.changing(loop.index)
    rewritten: frozenset[str] = frozenset()
    if callee in LENGTHS or (callee is not None and _measures(callee, file)):
        rewritten = _rewritten(inside)
        moving -= rewritten
    for statement in inside:
        if statement.expr is None or statement.does == Does.OTHER:
            continue
        for call in statement.expr.calls():
            if call.line != line or call.base is not None or not call.parts:
                continue
            if callee is not None and call.short not in (callee, f"{callee}f", f"{callee}l"):
                continue
            conflict = call.reads() & moving
            if _is_own(call, file):  # which members it reads is asked below
                conflict = frozenset(name for name in conflict if not name.endswith("."))
            if conflict or any(each.kind in (Kind.ASSIGN, Kind.OTHER) for each in call.walk()):
                continue
            if function.name == "main" and sum(one.does == Does.EVALUATE for one in inside) == 1:
                continue  # a benchmark repeats its work on purpose
            doubt = _same_result(call, function, file, inside, used=statement.expr is not call)
            if doubt is None:
                continue
            stays = "its result does not change" if call.reads() & rewritten else "nothing in it changes"
            return Sign(
                "loop-invariant-work", line, line, line,
                f"calls {_shown(call)}, and {stays} in the loop over {loop.variable or f'line {loop.first}'}",
                f"calls {call.short} in a loop with arguments that do not change there",
                doubt, calls=True,
            )  # fmt: skip
    return None


def _is_own(call: Expr, file: SourceFile) -> bool:
    """True for a call of the one function of that name in the file, if it changes nothing."""
    named = file.functions_named(call.short)
    return len(named) == 1 and is_pure(named[0], file)


def _measures(name: str, file: SourceFile) -> bool:
    """True for a function whose only look at memory is the length of a text."""
    named = file.functions_named(name)
    calls = [each.short for one in named for each in expressions(one.statements) if each.kind == Kind.CALL]
    return len(named) == 1 and bool(calls) and set(calls) <= LENGTHS and not named[0].loops


#: How the end of a text may be written.
_ENDS = ("0", "'\\0'", "L'\\0'")


def _rewritten(inside: tuple[Statement, ...]) -> frozenset[str]:
    """Names of texts whose characters are replaced one by one, none of them by the end of a text: that changes no length."""
    elements: set[str] = set()
    whole: set[str] = set()
    for one in expressions(inside):
        if one.kind == Kind.ASSIGN:
            target, value = one.parts[0], one.parts[1]
            is_character = target.kind == Kind.INDEX and one.text == "=" and value.text not in _ENDS
            (elements if is_character else whole).update(target_names(target))
        elif one.kind == Kind.UNARY and one.text == "&":
            whole.update(name for part in one.parts for name in target_names(part))
    return frozenset(elements - whole)


def _is_of_numbers(call: Expr) -> bool:
    """True if all arguments are numbers."""
    return all(not one.names() and not any(one.calls()) for one in call.parts)


def _keeps_state(function: Function) -> bool:
    """True if a function reads something that it has changed and that outlives it: a generator of random numbers."""
    local = {one.name for one in (*function.declarations, *function.parameters) if not one.static}
    kept = {name for name in changed(function.statements) if not name.endswith(".")} - local
    read = {
        name
        for one in expressions(function.statements)
        if one.kind == Kind.ASSIGN
        for name in one.parts[1].names() | (one.parts[0].names() if one.text != "=" else frozenset())
    }
    return bool(kept & read)


def _shown(call: Expr) -> str:
    text = str(call)
    return text if len(text) <= 80 else f"{call.text}(…)"


def _same_result(
    call: Expr, function: Function, file: SourceFile, inside: tuple[Statement, ...], *, used: bool
) -> tuple[str, ...] | None:
    """None if the call may give another result each time, else what speaks against it."""
    for inner in call.calls():
        if inner is not call and not pure_name(inner.short) and not function.fortran:  # there it may be an array
            return None
    if pure_name(call.short):
        return ()
    if call.short in LENGTHS:
        return ("If the loop changes the text's length, the call must stay.",)
    named = file.functions_named(call.short)
    if any(one.returns is None or one.name == function.name for one in named):
        return None
    if len(named) != 1 or not is_pure(named[0], file):
        if not used or not _is_of_numbers(call) or any(_keeps_state(one) for one in named):
            return None
        if not named and _STATEFUL.search(call.short):
            return None
        return (f"{call.short} may do more than compute its result; then the call must stay.",)
    callee = named[0]
    local = {one.name for one in (*callee.declarations, *callee.parameters)} | {callee.name}
    if callee.returns is not None:
        local.add(callee.returns.name)
    read = {
        name
        for one in expressions(callee.statements)
        if one.kind == Kind.NAME
        for name in (one.text,)
        if name not in local and not pure_name(name)
    } - set(file.unit.constants)
    fields = {one.text for one in expressions(callee.statements) if one.kind == Kind.MEMBER}
    written = changed(inside)
    if _measures(call.short, file):
        written -= _rewritten(inside)
    if (read | fields) & written:
        return None
    through = any(one.pointers or one.reference or one.dims for one in callee.parameters)
    writes = [one for one in expressions(inside) if one.kind == Kind.ASSIGN and one.parts[0].kind != Kind.NAME]
    other_calls = [
        one
        for one in expressions(inside)
        if one.kind == Kind.CALL and one.short != call.short and not pure_name(one.short)
    ]
    if (through or read) and other_calls:
        return None
    if through and writes:
        return ("What the loop writes may be what the call reads, if both are the same memory.",)
    return ()
