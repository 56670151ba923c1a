"""A kernel without a host program: its parameters by name, and the description of a launch that machine/alone.c starts.

Parameters are named as in the source. Types of a template come from the mangled name; what is not given has a stated default.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chathpc.diagnosis.source.text import parsed
from chathpc.errors import UsageError
from chathpc.predict.cubin import Kernel
from chathpc.predict.devices import Device
from chathpc.predict.program import title
from chathpc.profile.kernel_names import base_key, demangled
from chathpc.prompts.untrusted import quote

#: Bytes of a type as CUDA's compilers lay it out on 64-bit Linux; the first letter of a real's is f.
_WIDTHS = {
    "bool": 1, "char": 1, "signed char": 1, "unsigned char": 1, "int8_t": 1, "uint8_t": 1, "short": 2, "unsigned short": 2, "int16_t": 2,
    "uint16_t": 2, "half": 2, "__half": 2, "__nv_bfloat16": 2, "int": 4, "unsigned": 4, "unsigned int": 4, "int32_t": 4, "uint32_t": 4,
    "float": 4, "long": 8, "unsigned long": 8, "long long": 8, "unsigned long long": 8, "size_t": 8, "int64_t": 8, "uint64_t": 8,
    "double": 8, "float2": 8, "float4": 16, "double2": 16, "int2": 8, "int4": 16,
}  # fmt: skip
_REALS = frozenset({"float", "double"})
#: What a pointer that was not given points to (bytes of zeros): they take no memory until they are touched.
_BUFFER = 256 << 20
#: Largest buffer: that of the largest GPU's memory is not to be imitated here.
_LARGEST = 16 << 30
#: Threads of a block, all of them and along z, and blocks along y and z (CUDA C++ Programming Guide, technical specifications).
_THREADS, _DEEP, _BLOCKS = 1024, 64, 65535
#: What formulas are made of.
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: math.pow, ast.LShift: lambda left, right: int(left) << min(int(right), 62),
}  # fmt: skip
_FUNCTIONS: Mapping[str, tuple[int, Callable[..., float]]] = {
    "min": (2, min), "max": (2, max), "ceil": (1, math.ceil), "floor": (1, math.floor), "log2": (1, math.log2),
}  # fmt: skip
#: Longest formula; its tree is then no deeper than Python follows.
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: name and type as far as the source tells them, bytes of its value, and where it stands."""

    name: str
    type: str
    pointer: bool
    size: int
    file: str = ""
    line: int = 0

    @property
    def real(self) -> bool:
        """Whether the value, or each element that it points to, is a floating-point number."""
        return self.type in _REALS

    @property
    def width(self) -> int:
        """Bytes of an element that it points to; of single bytes where the type is not known."""
        return _WIDTHS.get(self.type, 1)


@dataclass(frozen=True, slots=True)
class Described:
    """The text for machine/alone.c, and what stands in it that the user did not say."""

    text: str
    assumptions: tuple[str, ...]


def refuse_impossible(grid: Sequence[int], block: Sequence[int], shared: int, device: Device) -> None:
    """UsageError for a launch that the driver refuses; `shared` are the bytes of a block, static and dynamic ones."""
    if math.prod(block) > _THREADS or block[2] > _DEEP:
        what = f"A block has at most {_THREADS:,} threads, {_DEEP} along z."
    elif max(grid[1:]) > _BLOCKS:
        what = f"A grid has at most {_BLOCKS:,} blocks along y and z."
    elif shared > device.shared_block > 0:
        what = f"A block has at most {device.shared_block:,.0f} bytes of shared memory on {device.name}, and would have {shared:,}."
    else:
        return
    raise UsageError(what, hint="Give another --grid, --block or --shared.")


def parameters(mangled: str, kernel: Kernel, sources: Sequence[Path]) -> tuple[Parameter, ...]:
    """The kernel's parameters in their order; p0, p1, … where no source names them."""
    written = _written(base_key(title(mangled)), len(kernel.parameters), sources)
    types = _types(demangled(mangled))
    found = []
    for number, (_, size) in enumerate(kernel.parameters):
        name, own, pointer, file, line = written[number] if written else (f"p{number}", "", False, "", 0)
        if len(types) == len(kernel.parameters):
            own, pointer = types[number]
        found.append(Parameter(name, own, pointer, size, file, line))
    return tuple(found)


def described(
    mangled: str, known: Sequence[Parameter], given: Mapping[str, str], grid: tuple[int, int, int], block: tuple[int, int, int],
    shared: int = 0,
) -> Described:  # fmt: skip
    """The launch of a kernel with `given` values by parameter: a number, for pointers how many elements and what is in them
    ("1048576", "n*n:random", "1<<20:iota"; else zeros). UsageError for names and values that cannot be.
    """
    names = [each.name for each in known]
    if unknown := [name for name in given if name not in names]:
        raise UsageError(f"{title(mangled)} has no parameter {unknown[0]}.", hint=f"It has: {', '.join(names)}.")
    lines = [f"kernel {mangled}", "grid {} {} {}".format(*grid), "block {} {} {}".format(*block), f"shared {shared}"]
    assumptions = []
    values: dict[str, float] = {}
    for each in known:
        if each.pointer:
            continue
        if each.name in given:
            values[each.name] = value = _value(given[each.name], {}, each.name)
            if not each.real and value % 1:
                raise UsageError(f"{given[each.name]} is no whole number, as {each.name} is.")
        elif each.size > 8 or (each.type and each.type not in _WIDTHS):
            values[each.name] = 0.0
            assumptions.append(f"{each.name} was not given: {each.size} bytes of zeros.")
        else:
            # Of an integer the threads along x: most kernels compare an index with it.
            values[each.name] = 1.0 if each.real else float(grid[0] * block[0])
            assumptions.append(f"{each.name} was not given: {values[each.name]:,.0f}.")
    for each in known:
        if not each.pointer:
            lines.append(f"value {_packed(each, values[each.name]).hex()}")
            continue
        size, _, content = given.get(each.name, "").partition(":")
        if content not in ("", "zero", "iota", "random"):
            raise UsageError(f"{content} is no content of {each.name}.", hint="There are zero, iota and random.")
        count = _value(size, values, each.name) if size else _BUFFER // each.width
        if not 0 < count * each.width <= _LARGEST:
            raise UsageError(
                f"{each.name} has {count:,.0f} elements.", hint=f"A buffer has between 1 and {_LARGEST:,} bytes."
            )
        if not size:
            assumptions.append(f"{each.name} was not given: a buffer of {_BUFFER >> 20} MiB of zeros.")
        below = max([1.0, *(values.values())]) if not each.real else 1.0
        lines.append(
            f"buffer {int(count) * each.width} {each.width} {'f' if each.real else 'i'} {content or 'zero'} {below:.17g}"
        )
    return Described("\n".join(lines) + "\n", tuple(assumptions))


def _packed(parameter: Parameter, value: float) -> bytes:
    if parameter.real and parameter.size in (4, 8):
        return struct.pack("<f" if parameter.size == 4 else "<d", value)
    try:
        return int(value).to_bytes(max(parameter.size, 8), "little", signed=value < 0)[: parameter.size]
    except OverflowError:
        raise UsageError(f"{value:g} does not fit into {parameter.name}.") from None


def _value(text: str, names: Mapping[str, float], parameter: str) -> float:
    """A number, or a small expression of numbers and other parameters."""
    try:
        return evaluate({"true": "1", "false": "0"}.get(text.strip().lower(), text), names)
    except ValueError:
        raise UsageError(
            f"{text} is no value of {parameter}.",
            hint="Give a number; for a pointer elements and content: --param x=n*n:random",
        ) from None


def evaluate(formula: str, names: Mapping[str, float], *, powers: bool = False) -> float:
    """The value of a formula of numbers, names, + - * / // % <<, with `powers` also **, min, max, ceil, floor and log2; ValueError for
    anything else.
    """
    if len(formula) > _LONGEST or (not powers and "**" in formula):
        raise ValueError("a formula is too long, or has a power")
    try:
        value = _evaluated(ast.parse(formula.strip(), mode="eval").body, names)
        float(value)
    except (SyntaxError, ArithmeticError, RecursionError, MemoryError):
        raise ValueError(f"{quote(formula)} has no value") from None
    return value


def _evaluated(node: ast.expr, names: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.UnaryOp(op=ast.USub()):
            return -_evaluated(node.operand, names)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_evaluated(node.left, names), _evaluated(node.right, names))
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _FUNCTIONS:
            count, function = _FUNCTIONS[name]
            if len(node.args) != count:
                raise ValueError(f"{name} has the wrong number of arguments")
            return function(*(_evaluated(each, names) for each in node.args))
    raise ValueError(
        f"a formula has only the names of values, numbers and simple arithmetic: {quote(ast.unparse(node))}"
    )


def _written(name: str, count: int, sources: Sequence[Path]) -> list[tuple[str, str, bool, str, int]]:
    """Names, types, whether they are pointers, file and line of the parameters of a kernel in the source; empty if it is not found."""
    for path in sources:
        file = parsed(str(path), path.read_bytes())
        for one in file.functions_named(name) if file is not None else ():
            if "global" in one.marks and len(one.parameters) == count:
                return [
                    (each.name, each.type, bool(each.pointers or each.dims), path.name, each.line or one.first)
                    for each in one.parameters
                ]
    return []


def _types(signature: str) -> list[tuple[str, bool]]:
    """Types of the parameters in a demangled name, and whether each is a pointer; empty where it tells none."""
    found = re.search(r"\((?!anonymous namespace\))([^()]*)\)$", signature)
    if found is None or found[1] in ("", "void"):
        return []
    parts = re.split(r",(?![^<]*>)", found[1])
    return [(re.sub(r"\b(const|volatile|__restrict__?)\b|[*&]", "", part).strip(), "*" in part) for part in parts]
