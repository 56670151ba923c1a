"""How much memory a chain or an array takes, as far as the source tells: what fits into a cache has no latency to wait for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chathpc.diagnosis.source.affine import scope_of
from chathpc.diagnosis.source.layout import array_bytes, element, product_of, size_of, trips, type_size, value
from chathpc.diagnosis.source.model import Declaration, Does, Expr, Function, Kind, Unit, root
from chathpc.diagnosis.source.sign import Sign
from chathpc.diagnosis.source.strides import CACHE
from chathpc.diagnosis.source.text import SourceFile
from chathpc.profile import numbers

#: Last-level caches of servers have up to some hundred megabytes, of which a core seldom has more than this to itself.
LARGE = 64 << 20
#: What malloc of 64-bit Linux adds to each small block, and its step (glibc: 16 bytes).
_HEAD, _STEP = 8, 16
_POINTER = 8
#: A pointer is followed through so many calls in the same file.
_MOST_CALLS = 3
_ALLOCATE = frozenset({"malloc", "aligned_alloc", "memalign", "valloc", "_mm_malloc"})
_RESIZE = frozenset({"resize", "assign", "reserve"})
_MAY_HOLD = "which the last-level cache may hold: the wait is then shorter by some factor."
_UNKNOWN = (
    "The source does not show how much memory that is: data in the cache would cause little waiting.",
    "In the cache the chain of dependent instructions would take the time instead; cache misses would distinguish the two.",
)


def weighed(sign: Sign, function: Function, file: SourceFile, held: float | None = None) -> Sign | None:
    """A sign of waiting for memory in the light of how much memory it is about; None where that fits into the second-level cache.

    `held`: what the whole run held at most, where the last-level cache has room for that.
    """
    if not sign.memory:
        return sign
    size = footprint(sign.memory, function, file)
    if size is None:
        size_unknown, chain = _UNKNOWN
        size_doubt = f"The whole run held {numbers.size(held)} at most, {_MAY_HOLD}" if held else size_unknown
        return replace(sign, against=(size_doubt, chain, *sign.against))
    if size <= CACHE:
        return None
    if size >= LARGE:
        return replace(sign, says=f"{sign.says}, in {numbers.size(size)} of memory")
    doubt = f"By its source that is {numbers.size(size)}, {_MAY_HOLD}"
    return replace(sign, against=(doubt, *sign.against))


def footprint(name: str, function: Function, file: SourceFile) -> int | None:
    """Bytes of an array, or of the items of a list, that a variable of the function names; None where the file does not tell."""
    unit = file.unit
    known = array_bytes(Expr(Kind.NAME, name), function, unit)
    if known is not None:
        return known
    declared = function.declared(name) or unit.variables.get(name)
    if declared is None:
        return None
    record = declared.type.removeprefix("struct ").removeprefix("const ")
    if declared.pointers == 1 and record in unit.records and _is_linked(record, unit):
        return _of_items(record, file)
    return _of_array(name, function, file, _MOST_CALLS)


def _is_linked(record: str, unit: Unit) -> bool:
    """True for a record that points to one of its kind."""
    return any(each.pointers and each.type.removeprefix("struct ") == record for each in unit.records[record].fields)


def _of_array(name: str, function: Function, file: SourceFile, calls: int) -> int | None:
    """Bytes that all allocations of a pointer, vector or allocatable array take at most; None if one is not a constant."""
    unit = file.unit
    sizes = [_allocated(each, one, function, unit) for each, one in _given(name, function)]
    declared = function.declared(name)
    if declared is not None and any(one.name == name for one in function.parameters):
        at = next(n for n, one in enumerate(function.parameters) if one.name == name)
        given = file.calls_of(function.name) if calls else ()
        callers = [(caller, call.parts[at]) for caller, _, call in given if at < len(call.parts)]
        sizes += [
            array_bytes(part, caller, unit)
            or (_of_array(root(part).text, caller, file, calls - 1) if root(part).kind == Kind.NAME else None)
            for caller, part in callers
        ]
    elif declared is None and name in unit.variables:
        sizes += [
            _allocated(each, one, other, unit)
            for other in file.everything()
            if other is not function and other.declared(name) is None
            for each, one in _given(name, other)
        ]
    known = [size for size in sizes if size is not None]
    return max(known) if known and len(known) == len(sizes) else None


def _given(name: str, function: Function) -> Iterator[tuple[Expr, Declaration | None]]:
    """What a pointer is set to, what a vector or array is made with: calls that allocate, with the declaration of the name."""
    declared = function.declared(name)
    for one in function.statements:
        for each in one.walk() if one.does != Does.CONDITION else ():
            if each.kind == Kind.ASSIGN and each.text == "=" and str(each.parts[0]) == name:
                made = each.parts[1]
                is_sized = made.kind == Kind.OTHER and made.text == "argument_list"  # `vector<int> v(n)`
                yield (Expr(Kind.CALL, "resize", None, made.parts[:1]) if is_sized else made), declared
            elif each.kind == Kind.CALL and each.text in _RESIZE and str(each.base) == name and each.parts:
                yield Expr(Kind.CALL, "resize", None, each.parts[:1]), declared
            elif each.kind == Kind.CALL and each.text == "allocate":
                for part in each.parts:
                    if part.text == "sized_allocation" and len(part.parts) == 2 and str(part.parts[0]) == name:
                        yield Expr(Kind.CALL, "allocate", None, part.parts[1].parts), declared


def _allocated(made: Expr, declared: Declaration | None, function: Function, unit: Unit) -> int | None:
    """Bytes of an allocation; None where they are not constant, or where it is none."""
    if made.kind != Kind.CALL:
        return None
    if made.short in _ALLOCATE and made.parts:
        aligned = made.short in ("aligned_alloc", "memalign") and len(made.parts) == 2
        return _number(made.parts[1 if aligned else 0], function, unit)
    if made.short == "calloc" and len(made.parts) == 2:
        return product_of(_number(part, function, unit) for part in made.parts)
    if made.text in ("new", "resize", "allocate") and made.parts and declared is not None:
        size = size_of(
            replace(element(declared), pointers=max(element(declared).pointers - (made.text == "new"), 0), dims=()),
            unit,
        )
        return product_of((size, *(_number(part, function, unit) for part in made.parts)))
    return None


def _number(expr: Expr, function: Function, unit: Unit, depth: int = 0) -> int | None:
    """A constant number, also of `sizeof` and of variables that are set once."""
    known = value(expr, unit.constants)
    if known is not None or depth > 8:
        return known
    if expr.kind == Kind.NAME:
        outside = unit.variables.get(expr.text)
        known_value = scope_of(function, unit).values.get(expr.text) or (
            outside.value if outside is not None and outside.const else None
        )
        return None if known_value is None else _number(known_value, function, unit, depth + 1)
    if expr.kind == Kind.BINARY and len(expr.parts) == 2 and expr.text in ("*", "+", "-", "<<"):
        one, other = (_number(part, function, unit, depth + 1) for part in expr.parts)
        if one is None or other is None:
            return None
        match expr.text:
            case "*":
                return one * other
            case "<<":
                return one << min(max(other, 0), 62)
            case _:
                return one + other if expr.text == "+" else one - other
    if expr.kind == Kind.OTHER and expr.text == "sizeof" and len(expr.parts) == 1:
        return _size_of_part(expr.parts[0], function, unit)
    return None


def _size_of_part(part: Expr, function: Function, unit: Unit) -> int | None:
    """`sizeof` of a type, or of what a pointer points to (`sizeof *a`, `sizeof a[0]`)."""
    named = root(part)
    declared = function.declared(named.text) if named.kind == Kind.NAME else None
    if declared is not None:
        inner = replace(declared, pointers=max(declared.pointers - 1, 0), dims=())
        return size_of(declared if part is named else inner, unit)
    return _POINTER if part.text.endswith("*") else type_size(part.text, unit)


def _of_items(record: str, file: SourceFile) -> int | None:
    """Bytes of all items of a linked record that the file allocates; None where their number is not constant."""
    unit = file.unit
    size = type_size(record, unit)
    if size is None:
        return None
    total = 0
    for function in file.everything():
        for one in function.declarations:
            if one.dims and not one.pointers and one.type.removeprefix("struct ") == record:
                total += array_bytes(Expr(Kind.NAME, one.name), function, unit) or 0
        for statement in function.statements:
            for call in statement.calls():
                if not _makes(call, record):
                    continue
                if not _is_called_once(function, file):
                    return None
                known = {**unit.constants, **_constants(function, unit)}
                count = product_of(trips(loop, known) for loop in function.chain(statement.loop))
                many = _number(call.parts[0], function, unit) if call.text == "new" and call.parts else None
                if count is None or (many is None and (statement.loop < 0 or (call.text == "new" and call.parts))):
                    return None
                each = -(-(size + _HEAD) // _STEP) * _STEP if many is None else size * many
                total += count * each
    for one in unit.variables.values():
        if one.dims and not one.pointers and one.type.removeprefix("struct ") == record:
            total += array_bytes(Expr(Kind.NAME, one.name), file.everything()[0], unit) or 0
    return total or None


def _is_called_once(function: Function, file: SourceFile) -> bool:
    """True for the main program, and for a function that the file calls in one place outside loops."""
    return function.name == "main" or [one.loop for _, one, _ in file.calls_of(function.name)] == [-1]


def _constants(function: Function, unit: Unit) -> dict[str, int]:
    """Variables of a function that are set once, to a constant."""
    found = {}
    for name, one in scope_of(function, unit).values.items():
        number = _number(one, function, unit)
        if number is not None:
            found[name] = number
    return found


def _makes(call: Expr, record: str) -> bool:
    """True for an allocation of records of that type."""
    if call.text == "new":
        return call.base is not None and call.base.text == record
    return call.short in (*_ALLOCATE, "calloc") and any(
        each.kind == Kind.NAME and each.text.removeprefix("struct ") == record
        for part in call.parts
        for each in part.walk()
    )
