"""What statements of Fortran read and write, by the model of the source. Names that differ are different memory.

That is Fortran's rule for dummy arguments (Fortran 2018, 15.5.2.13); procedures with pointers, targets or equivalences are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chathpc.diagnosis.source.model import Does, Expr, Function, Kind, Loop, Statement, root
from chathpc.fix.recipes.analysis.program import Procedure, Program

#: Intrinsic functions that take many times as long as an addition.
COSTLY = frozenset(
    {
        "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "erf",
        "erfc", "gamma",
    }
)  # fmt: skip
#: Those that only compute: nothing but their result comes of a call.
INTRINSICS = COSTLY | frozenset(
    {
        "abs", "min", "max", "sqrt", "mod", "modulo", "int", "nint", "floor", "ceiling", "real", "dble", "sign",
        "merge", "size", "aint", "anint", "hypot", "iand", "ior", "ieor", "ishft", "epsilon", "tiny", "huge", "kind",
        "ubound", "lbound", "dim",
    }
)  # fmt: skip
#: Those of whole arrays.
OF_ARRAYS = frozenset({"sum", "product", "maxval", "minval", "dot_product", "norm2", "matmul", "transpose"})
#: Those of them that give one number.
TO_NUMBERS = OF_ARRAYS - {"matmul", "transpose"}
_UNSAFE = re.compile(
    r"\b(?:pointer|target|equivalence|volatile|asynchronous|common|save|goto|go\s+to|entry|impure)\b|=>\s*\w+\s*\(|^\s*#",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """One access by name: a scalar, or an element with its indices; `parts` is None for an array as a whole or a member."""

    name: str
    write: bool
    parts: tuple[Expr, ...] | None
    line: int
    branch: int
    loop: int


def is_safe(procedure: Procedure) -> bool:
    """True for a procedure in which names that differ are different memory."""
    text = procedure.source.text[procedure.node.start_byte : procedure.node.end_byte].decode("utf-8", "replace")
    text = re.sub(r"!(?!\$)[^\n]*", "", text)
    return not procedure.model.broken and not procedure.node.has_error and _UNSAFE.search(text) is None


def uses(function: Function, loop: Loop, program: Program | None = None) -> list[Use] | None:
    """All accesses in a loop; None where something is called or done that is not known."""
    found: list[Use] = []
    for statement in function.inside(loop.index):
        if statement.does in (Does.OTHER, Does.RETURN, Does.BREAK):
            return None
        if statement.does == Does.CONTINUE or statement.expr is None:
            continue
        expr = statement.expr
        reading: list[Expr] = [expr]
        if statement.does == Does.EVALUATE:
            if expr.kind != Kind.ASSIGN:
                return None
            target = expr.parts[0]
            named = root(target)
            if named.kind != Kind.NAME:
                return None
            member = _member(target.base, program) if target.kind == Kind.INDEX else None
            if member is not None:
                found.extend(_reads([expr.parts[1], *target.parts], statement, program))
                found.append(Use(member, True, target.parts, statement.line, statement.branch, statement.loop))
                if _is_unknown(expr, program):
                    return None
                continue
            parts = (
                target.parts
                if target.kind == Kind.INDEX and target.base is named
                else None
                if target.kind != Kind.NAME
                else ()
            )
            reading = [expr.parts[1], *(parts or ())]
            if target.kind == Kind.MEMBER or (target.kind == Kind.INDEX and target.base is not named):
                reading.extend(part for each in target.walk() if each.kind == Kind.INDEX for part in each.parts)
            found.extend(_reads(reading, statement, program))
            found.append(Use(named.text, True, parts, statement.line, statement.branch, statement.loop))
        else:
            found.extend(_reads(reading, statement, program))
        if _is_unknown(expr, program):
            return None
    return found


def _is_unknown(expr: Expr, program: Program | None) -> bool:
    """True where the expression calls what is not known."""
    for each in expr.walk():
        known = each.kind != Kind.CALL or each.text in INTRINSICS | OF_ARRAYS
        if not known and (program is None or pure_function(each.text, program) is None):
            return True
        if each.kind == Kind.OTHER and each.text not in ("array_literal",):
            return True
    return False


def _member(expr: Expr | None, program: Program | None) -> str | None:
    """`cell%e` for an array that is a component of a variable: other memory than its other components, as long as none is a pointer."""
    names: list[str] = []
    while expr is not None and expr.kind == Kind.MEMBER:
        names.append(expr.text)
        expr = expr.base
    if expr is None or expr.kind != Kind.NAME or not names or program is None:
        return None
    if any(one.pointers for record in program.records.values() for one in record.fields):
        return None
    return "%".join([expr.text, *reversed(names)])


def path(expr: Expr) -> str:
    """The name of a variable or component: `cell%e`."""
    names: list[str] = []
    one: Expr | None = expr
    while one is not None and one.kind == Kind.MEMBER:
        names.append(one.text)
        one = one.base
    return "%".join([str(one) if one is not None else "", *reversed(names)])


def are_same(one: str, other: str) -> bool:
    """True if two names are of the same memory, or one is of a component of the other."""
    return one == other or one.startswith(f"{other}%") or other.startswith(f"{one}%")


def _reads(exprs: Sequence[Expr], statement: Statement, program: Program | None) -> list[Use]:
    found: list[Use] = []
    todo = list(exprs)

    def note(name: str, parts: tuple[Expr, ...] | None) -> None:
        found.append(Use(name, False, parts, statement.line, statement.branch, statement.loop))

    while todo:
        one = todo.pop()
        if one.kind == Kind.NAME:
            note(one.text, ())
        elif one.kind == Kind.INDEX:
            named, member = root(one), _member(one.base, program)
            todo.extend(one.parts)
            if member is not None:
                note(member, one.parts)
                continue
            note(named.text, one.parts if one.base is named else None)
            if one.base is not None and one.base is not named:
                todo.append(one.base)
        elif one.kind == Kind.MEMBER:
            note(_member(one, program) or root(one).text, None)
        else:
            todo.extend(one.parts)
    return found


def pure_function(name: str, program: Program, depth: int = 0) -> Procedure | None:
    """The function of that name, if it changes nothing but its own variables and result and calls only intrinsic functions."""
    named = [one for one in program.named(name) if one.source.is_fortran]
    if len(named) != 1 or depth > 3:
        return None
    one = named[0]
    model = one.model
    if model.returns is None or not is_safe(one) or model.regions:
        return None
    own = {each.name for each in model.declarations if each.value is None} | {model.returns.name, model.name}
    own -= {each.name for each in model.parameters}
    for statement in model.statements:
        if statement.does == Does.OTHER:
            return None
        if statement.expr is None:
            continue
        if statement.does == Does.EVALUATE and (
            statement.expr.kind != Kind.ASSIGN or root(statement.expr.parts[0]).text not in own
        ):
            return None
        if any(each.kind == Kind.CALL and each.text not in INTRINSICS | OF_ARRAYS for each in statement.expr.walk()):
            return None
    return one


def outside_names(procedure: Procedure) -> frozenset[str]:
    """Names that a function uses and that are not its own."""
    model = procedure.model
    own = {each.name for each in (*model.declarations, *model.parameters)} | {
        model.name,
        model.returns.name if model.returns else "",
    }
    return (
        frozenset(
            each.text
            for one in model.statements
            if one.expr is not None
            for each in one.expr.walk()
            if each.kind == Kind.NAME
        )
        - own
        - {loop.variable for loop in model.loops}
    )
