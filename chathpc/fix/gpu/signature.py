"""What a kernel takes: its parameters as the source declares them, with the element types of numpy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.text import SourceFile, parsed
from chathpc.profile.kernel_names import base_key
from chathpc.profile.text import clean

if TYPE_CHECKING:
    from chathpc.diagnosis.source.model import Function

#: Types of CUDA C++ on 64-bit Linux (LP64; CUDA C++ Programming Guide, "Built-in Vector Types": floatN are N floats) → numpy's, and how many.
_TYPES: Mapping[str, tuple[str, int]] = {
    "float": ("float32", 1), "double": ("float64", 1),
    "char": ("int8", 1), "signed char": ("int8", 1), "unsigned char": ("uint8", 1), "bool": ("uint8", 1),
    "short": ("int16", 1), "unsigned short": ("uint16", 1), "int": ("int32", 1), "unsigned": ("uint32", 1), "unsigned int": ("uint32", 1),
    "long": ("int64", 1), "unsigned long": ("uint64", 1), "long long": ("int64", 1), "unsigned long long": ("uint64", 1),
    "long int": ("int64", 1), "unsigned long int": ("uint64", 1), "long long int": ("int64", 1), "unsigned long long int": ("uint64", 1),
    "short int": ("int16", 1), "signed": ("int32", 1), "signed int": ("int32", 1),
    "size_t": ("uint64", 1), "ptrdiff_t": ("int64", 1), "ssize_t": ("int64", 1), "uint": ("uint32", 1),
    **{f"{sign}int{bits}_t": (f"{sign}int{bits}", 1) for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"{name}{count}": (dtype, count) for name, dtype in (("float", "float32"), ("double", "float64"), ("int", "int32"), ("uint", "uint32"))
       for count in (2, 4)},
}  # fmt: skip
_QUALIFIER = re.compile(r"\b(?:const|volatile|__restrict__|__restrict|restrict|__grid_constant__)\b")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_CHANGED = re.compile(r"(?:[-+*/%&|^]|<<|>>)=|\+\+|--")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `dtype` is numpy's name of its elements, `lanes` how many of them one element of a vector type has.

    `const` is as declared; of a pointer it means that what it points to is only read.
    """

    name: str
    type: str
    dtype: str
    lanes: int = 1
    pointer: bool = False
    const: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """A kernel's name, file, first line and parameters; names of pointers that it reads, and that it writes.

    `planar`: it asks for more than the first dimension. `dynamic`: the launch decides how much shared memory it has. `body` is its text
    in braces without comments.
    """

    name: str
    file: str
    line: int
    parameters: tuple[Parameter, ...]
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    planar: bool = False
    dynamic: bool = False
    body: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there can be no harness: one sentence, and what to do about it."""

    statement: str
    hint: str = ""


def signature(path: str, text: str, kernel: str) -> Signature | Refusal:
    """The signature of `kernel` in a file. Never raises for what the file holds: all that is not understood is a Refusal."""
    name = base_key(kernel)
    source = parsed(path, text.encode("utf-8", "surrogateescape"))
    if source is None:
        return Refusal(f"{clean(path)} cannot be read as CUDA source.", "Name a .cu file of at most 400 kB.")
    found = [one for one in source.functions_named(name) if "global" in one.marks]
    if not found:
        known = sorted({one.name for one in source.everything() if "global" in one.marks})
        return Refusal(
            f"There is no kernel {clean(name)} in {clean(path)}.",
            f"Kernels there: {', '.join(map(clean, known[:8]))}." if known else "It has no __global__ function.",
        )
    if len(found) > 1:
        return Refusal(f"{clean(path)} has {len(found)} kernels called {clean(name)}.", "Give them unique names.")
    if found[0].broken:
        return Refusal(
            f"The text of {clean(name)} could not be parsed at line {found[0].broken[0]} of {clean(path)}.",
            "Macros that hide brackets or types are not followed.",
        )
    return _signature(source, found[0], path)


def _signature(source: SourceFile, function: Function, path: str) -> Signature | Refusal:
    parameters = []
    for one in function.parameters:
        pointers = one.pointers + (1 if one.dims else 0)
        what = f"The parameter {clean(one.name)} of {clean(function.name)}"
        if pointers > 1 or len(one.dims) > 1:
            return Refusal(
                f"{what} is a pointer to pointers; its targets are unknown.", "Pass one array and its sizes."
            )
        if one.reference:
            return Refusal(f"{what} is a reference.", "A kernel's arguments are passed by value.")
        words = " ".join(_QUALIFIER.sub(" ", one.type.replace("std::", "")).split())
        known = _TYPES.get(words)
        if known is None:
            return Refusal(
                f"{what} has the type {clean(one.type)[:60]}, for which no values can be generated.",
                "Harnesses support numbers and vectors of them (float4), but not structs, templates or half precision.",
            )
        if known[1] > 1 and not pointers:
            return Refusal(f"{what} is a vector by value.", "Pass its numbers one by one.")
        parameters.append(
            Parameter(one.name, words, *known, pointer=bool(pointers), const=bool(pointers) and one.const)
        )
    arrays = frozenset(one.name for one in parameters if one.pointer)
    body = _COMMENT.sub(" ", _body(source, function))
    reads, writes = _use(body, arrays)
    return Signature(
        function.name, path, function.first, tuple(parameters), reads, writes,
        re.search(r"\b(?:threadIdx|blockIdx)\s*\.\s*[yz]\b", body) is not None,
        re.search(r"\bextern\s+(?:__align__\s*\([^)]*\)\s*)?__shared__\b", body) is not None, body,
    )  # fmt: skip


def _body(source: SourceFile, function: Function) -> str:
    """The text of a function in its braces."""
    bodies = (node.child_by_field_name("body") for node, one in source.procedures() if one is function)
    body = next(bodies, None)
    return "" if body is None else source.text[body.start_byte : body.end_byte].decode("utf-8", "replace")


def _use(body: str, pointers: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Names of the pointers that are read, and written, each too many rather than too few.

    `p[…] = …` writes and reads not; every other use may do both.
    """
    reads: set[str] = set()
    writes: set[str] = set()
    for name in pointers:
        for match in re.finditer(rf"(?<![\w.])(?<!->){re.escape(name)}\b", body):
            end = _behind_index(body, match.end())
            after = body[end : end + 3].lstrip()
            if end > match.end() and after.startswith("=") and not after.startswith("=="):
                writes.add(name)
            elif end > match.end() and not _CHANGED.match(after) and not _handed(body, match.start()):
                reads.add(name)
            else:
                reads.add(name)
                writes.add(name)
    return frozenset(reads), frozenset(writes)


def _behind_index(text: str, at: int) -> int:
    """Where the text goes on behind `[…]`, with a member of a vector type; `at` itself where there is no index."""
    start = at
    while at < len(text) and text[at].isspace():
        at += 1
    if text[at : at + 1] != "[":
        return start
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] == "[") - (text[end] == "]")
        if depth == 0:
            member = re.match(r"\s*\.\s*[xyzw]\b", text[end + 1 :])
            return end + 1 + (member.end() if member else 0)
    return start


def _handed(text: str, at: int) -> bool:
    """Its address is taken, or it is counted up before it is used."""
    before = text[:at].rstrip()
    return before.endswith(("++", "--")) or (before.endswith("&") and not before.endswith("&&"))
