"""Sizes of types and arrays, as far as the source tells them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import prod

from chathpc.diagnosis.source.c_family import constant
from chathpc.diagnosis.source.model import Declaration, Expr, Function, Kind, Loop, Unit

#: Bytes of types on 64-bit Linux (System V ABI; libstdc++ for strings and vectors).
_SIZES = {
    "char": 1, "unsigned char": 1, "signed char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "short": 2, "int16_t": 2,
    "uint16_t": 2, "unsigned short": 2, "int": 4, "unsigned": 4, "unsigned int": 4, "int32_t": 4, "uint32_t": 4, "float": 4,
    "long": 8, "unsigned long": 8, "long long": 8, "unsigned long long": 8, "int64_t": 8, "uint64_t": 8, "size_t": 8,
    "double": 8, "long double": 16, "ptrdiff_t": 8, "intptr_t": 8, "uintptr_t": 8, "long int": 8, "std::string": 32,
    "string": 32, "real": 4, "integer": 4, "logical": 4, "doubleprecision": 8, "complex": 8, "float4": 16, "double2": 16,
    "float2": 8, "float3": 12, "std::complex<double>": 16, "double complex": 16,
}  # fmt: skip
_KIND = re.compile(r"(real|integer|logical|complex)\((?:kind=)?(\w+)\)")
#: Fortran before 1990: `real*8`, of `complex*16` both parts together.
_STARRED = re.compile(r"(?:real|integer|logical|complex)\*(\d{1,2})")
#: Names that authors give to the kind of double precision.
_DOUBLE = frozenset({"8", "dp", "real64", "r8", "rk", "wp", "double", "int64", "i8", "r_def"})
#: Atomic types, which lie in memory as what they hold does where the machine can do it without a lock.
_ATOMIC = re.compile(
    r"(?:std::)?atomic<\s*([\w: ]+?)\s*>|(?:std::)?atomic_(int|long|bool|size_t|u?int(?:8|16|32|64)_t)"
)
_POINTER = 8
_DEEPEST = 8


def size_of(one: Declaration, unit: Unit, depth: int = 0) -> int | None:
    """Bytes of one element of a declared variable; None where the type is not known."""
    if one.pointers > 1 or (one.pointers and one.dims):
        return _POINTER
    return type_size(one.type, unit, depth)


#: Containers whose elements lie side by side.
_ROWS = re.compile(r"(?:std::)?(?:vector|array|span|valarray)<\s*(.+?)\s*(?:,[^<>]*)?>")


def element(one: Declaration) -> Declaration:
    """What an index into the variable names: the element type of a vector, else the same declaration."""
    match = _ROWS.fullmatch(one.type) if not one.dims and not one.pointers else None
    if match is None:
        return one
    kind = match[1].removeprefix("const ")
    return Declaration(one.name, kind.rstrip("*& "), int(kind.endswith("*")))


def type_size(kind: str, unit: Unit, depth: int = 0) -> int | None:
    """Bytes of a type by its name; None where it is not known."""
    kind = kind.removeprefix("struct ").removeprefix("const ")
    if kind in _SIZES:
        return _SIZES[kind]
    if match := _KIND.fullmatch(kind):
        base = 8 if match[2] in _DOUBLE else 4 if match[2] in ("4", "sp", "real32", "int32") else None
        return None if base is None else base * (2 if match[1] == "complex" else 1)
    if match := _STARRED.fullmatch(kind):
        return int(match[1]) or None
    if match := _ATOMIC.fullmatch(kind):
        return type_size(match[1] or match[2], unit, depth + 1) if depth <= _DEEPEST else None
    if re.fullmatch(r"(?:std::)?vector<.*>", kind):
        return 24
    record = unit.records.get(kind.removeprefix("type(").removesuffix(")").rsplit("::", 1)[-1])
    if record is None or depth > _DEEPEST:
        return None
    total, widest = 0, 1
    for each in record.fields:
        own = _POINTER if each.pointers else type_size(each.type, unit, depth + 1)
        count = elements(each, unit)
        if own is None or count is None:
            return None
        align = max(min(own, 8) if own & (own - 1) == 0 else 8, each.aligned)
        widest = max(widest, align)
        total = -(-total // align) * align + own * count
    widest = max(widest, record.aligned)
    return -(-total // widest) * widest or None


def elements(one: Declaration, unit: Unit) -> int | None:
    """How many there are in all dimensions of a declared variable, 1 without any; None where a size is no constant."""
    return product_of(value(dim, unit.constants) for dim in one.dims)


def product_of(counts: Iterable[int | None]) -> int | None:
    """The product of numbers; None where one of them is not known."""
    listed = [*counts]
    known = [count for count in listed if count is not None]
    return prod(known) if len(known) == len(listed) else None


def value(expr: Expr | None, constants: Mapping[str, int]) -> int | None:
    """A constant's value: a number, a name of one, or products and sums of them."""
    if expr is None:
        return None
    if expr.kind == Kind.NUMBER:
        return constant(expr.text)
    if expr.kind == Kind.NAME:
        return constants.get(expr.text)
    if expr.kind == Kind.BINARY and expr.text in ("*", "+", "-") and len(expr.parts) == 2:
        one, other = value(expr.parts[0], constants), value(expr.parts[1], constants)
        if one is None or other is None:
            return None
        return one * other if expr.text == "*" else one + other if expr.text == "+" else one - other
    return None


#: Containers of the C++ standard library whose items are allocated one by one.
OF_NODES = re.compile(r"\b(forward_list|list|(unordered_)?(multi)?(map|set))\s*<")


def declaration_of(base: Expr, function: Function, unit: Unit) -> Declaration | None:
    """Where an array was declared: a local variable, one of the file, or a field that only one record has."""
    known = function.declared(base.text) or unit.variables.get(base.text) if base.kind == Kind.NAME else None
    if known is not None:
        return known
    if base.kind == Kind.MEMBER or (base.kind == Kind.NAME and "member" in function.marks):
        found = unit.fields(base.text)
        return found[0] if len(found) == 1 else None
    return None


def array_bytes(base: Expr, function: Function, unit: Unit) -> int | None:
    """Bytes of a whole array whose sizes are all constants; None otherwise."""
    declared = declaration_of(base, function, unit)
    if declared is None or not declared.dims or declared.pointers:
        return None
    size, count = size_of(declared, unit), elements(declared, unit)
    return None if size is None or count is None else size * count


def trips(loop: Loop, constants: Mapping[str, int]) -> int | None:
    """Number of iterations of a loop between constants; None otherwise."""
    condition = loop.condition
    if not loop.counted or condition is None or condition.kind != Kind.BINARY or loop.step is None:
        return None
    if condition.parts[0].text != loop.variable:
        return None
    start, end = value(loop.start, constants), value(condition.parts[1], constants)
    if start is None or end is None:
        return None
    inclusive = 1 if condition.text in ("<=", ">=") else 0
    return max((abs(end - start) + inclusive) // max(abs(loop.step), 1), 0)
