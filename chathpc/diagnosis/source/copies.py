"""Copies that C++ makes without a word for it, and memory asked for in every iteration."""

from __future__ import annotations

import re

from chathpc.diagnosis.source.model import Declaration, Does, Function, Kind, Loop, Statement, changed, expressions
from chathpc.diagnosis.source.sign import Sign
from chathpc.diagnosis.source.text import SourceFile

#: Types whose copies have memory of their own.
_OWNING = re.compile(
    r"(?:std::)?(?:__cxx11::)?(vector|string|basic_string|map|unordered_map|set|unordered_set|list|deque)\b"
)
_OF_ITEMS = re.compile(r"(?:std::)?(?:vector|list|deque|set)<\s*(.+?)\s*>")
_MUTATING = frozenset(
    {
        "push_back", "emplace_back", "pop_back", "insert", "erase", "clear", "resize", "reserve", "assign", "append", "swap",
        "sort", "reverse", "unique", "remove", "emplace", "merge", "fill", "shrink_to_fit",
    }
)  # fmt: skip
#: Functions that keep what they are handed.
_KEEPING = frozenset({"move", "push_back", "emplace_back", "insert"})
_ALLOCATING = frozenset({
    "malloc", "calloc", "realloc", "aligned_alloc", "new", "allocate", "strdup", "make_unique", "make_shared",
    "posix_memalign",
})  # fmt: skip


def owns_memory(one: Declaration) -> bool:
    """True for a variable by value whose copy allocates."""
    return not one.pointers and not one.reference and bool(_OWNING.match(one.type))


def value_parameter(function: Function, file: SourceFile, line: int) -> Sign | None:
    """A call at the line that hands a container over by value to a function of the file that only reads it."""
    for one in function.calls_at(line):
        for callee in file.functions_named(one.short):
            for parameter, argument in zip(callee.parameters, one.parts, strict=False):
                if (
                    not owns_memory(parameter)
                    or argument.kind not in (Kind.NAME, Kind.MEMBER, Kind.INDEX)
                    or _is_changed(callee, parameter.name)
                ):
                    continue
                return Sign(
                    "redundant-copies", line, line, line,
                    f"passes {argument} to {callee.name} by value ({parameter.type} {parameter.name}), a copy at each call, though {callee.name} only reads it",
                    f"copies {argument} at each call of {callee.name}, which takes it by value",
                    calls=True, callee=callee.name,
                )  # fmt: skip
    return None


def _is_changed(function: Function, name: str) -> bool:
    """True if the function changes, moves or hands on the variable."""
    if _is_mutated(function.statements, name):
        return True
    for one in function.statements:
        if one.does == Does.RETURN and one.expr is not None and one.expr.kind == Kind.NAME and one.expr.text == name:
            return True
        for call, part in ((each, part) for each in one.calls() for part in each.parts):
            if (part.kind == Kind.NAME and part.text == name) or (call.short in _MUTATING and name in part.names()):
                return True
    return False


def _is_mutated(inside: tuple[Statement, ...], name: str) -> bool:
    """True if statements change the variable, or call a member that does."""
    calls = (one for one in expressions(inside) if one.kind == Kind.CALL and one.short in _MUTATING)
    return bool(changed(inside) & {name, f"{name}."}) or any(str(one.base) == name for one in calls)


def range_copy(function: Function, file: SourceFile, line: int) -> Sign | None:
    """A range-for at the line whose variable is a copy of each element, though the body only reads it."""
    for loop in function.loops:
        element = loop.element
        if loop.first != line or element is None or element.reference or element.pointers or loop.container is None:
            continue
        kind = element.type
        if kind == "auto":
            fields = file.unit.fields(loop.container.text)
            declared = function.declared(str(loop.container)) or next(iter(fields), None)
            match = _OF_ITEMS.fullmatch(declared.type if declared is not None else "")
            kind = match[1] if match else ""
        record = file.unit.records.get(kind)
        owning = _OWNING.match(kind) or (record is not None and any(owns_memory(each) for each in record.fields))
        if not owning or _changed_in(function, loop, element.name):
            continue
        return Sign(
            "redundant-copies", line, line, line,
            f"copies each {kind} of {loop.container} into {element.name}, which is only read; const auto& would not",
            f"copies each element of {loop.container} in a range-for",
            calls=True,
        )  # fmt: skip
    return None


def _changed_in(function: Function, loop: Loop, name: str) -> bool:
    inside = function.inside(loop.index)
    kept = (call for one in inside for call in one.calls() if call.short in _KEEPING)
    return _is_mutated(inside, name) or any(str(part) == name for call in kept for part in call.parts)


def returned_copy(function: Function, file: SourceFile, line: int) -> Sign | None:
    """A call at the line of a method that returns a container of its object by value."""
    for one in function.calls_at(line):
        for callee in file.functions_named(one.short):
            returns = callee.returns
            if returns is None or not owns_memory(returns) or len(callee.statements) != 1:
                continue
            value = callee.statements[0].expr
            if value is None or value.kind not in (Kind.NAME, Kind.MEMBER) or callee.declared(value.text) is not None:
                continue
            return Sign(
                "redundant-copies", line, line, line,
                f"calls {callee.name}, which returns {value} by value: a copy at each call",
                f"copies {value} at each call of {callee.name}",
                calls=True,
            )  # fmt: skip
    return None


def rebuilt(function: Function, line: int) -> Sign | None:
    """A text or array that is built anew, longer by some, at the line: `s = s + x`, Fortran's `a = [a, x]`."""
    for statement in function.statements:
        one = statement.expr
        if one is None or statement.line != line or one.kind != Kind.ASSIGN or one.text != "=":
            continue
        if one.parts[0].kind not in (Kind.NAME, Kind.MEMBER):
            continue
        name, value = str(one.parts[0]), one.parts[1]
        declared = function.declared(name)
        first = value
        while first.kind == Kind.BINARY and first.text == "+":
            first = first.parts[0]
        text = declared is not None and "string" in declared.type and value.kind == Kind.BINARY and value.text == "+"
        array = function.fortran and value.kind == Kind.OTHER and value.text.startswith("array") and bool(value.parts)
        if (text and str(first) == name) or (array and any(str(part) == name for part in value.parts)):
            return Sign(
                "redundant-copies", line, line, line, f"rebuilds {name} from {name} each time, which copies all of it",
                f"copies all of {name} to make it longer", calls=True,
            )  # fmt: skip
    return None


def allocation(function: Function, loop: Loop, line: int) -> Sign | None:
    """Memory asked for at the line in a loop; only supports what was measured of the allocator."""
    for statement in function.inside(loop.index):
        for one in statement.walk() if statement.line == line else ():
            if one.kind == Kind.CALL and one.short in _ALLOCATING and (one.base is None or one.text == "new"):
                return _churn(line, f"allocates memory ({one.short}) in the loop over {loop.variable or 'items'}")
    for each in function.declarations:
        if each.line == line and each.loop >= 0 and owns_memory(each) and not each.static:
            return _churn(line, f"makes a new {each.type} {each.name} in each iteration")
    return None


def _churn(line: int, says: str) -> Sign:
    return Sign("allocation-churn", line, line, line, says, "allocates memory in a loop", alone=False, calls=True)
