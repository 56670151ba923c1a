"""What a harness runs: grid, block and every argument of a kernel, from what is declared, else from what can be derived.

Derived is only what the source says itself: a whole number that bounds the index of a thread is the number of threads of the launch, and
an array that is indexed with that index alone has so many elements. Everything else is refused with the line to write in chathpc.yaml.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import Any, Literal

from chathpc.fix.gpu.signature import Parameter, Refusal, Signature
from chathpc.fix.project import Kernel, KernelArgument
from chathpc.profile.kernel_names import base_key
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean

#: Means over launches are whole numbers where all launches are the same; what floating point adds is less.
_WHOLE = 1e-6


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """Blocks of the grid, threads of a block."""

    blocks: int
    threads: int


def launch_facts(profile: Profile, kernel: str) -> LaunchFacts | Refusal:
    """What the table of kernels says of the one called `kernel` (its own name, without scopes and parameters).

    The table has means over the launches: where blocks or threads are no whole number, launches differ and no one of them is known.
    """
    table = profile.kernels
    rows = [row for row in table.to_dict("records") if base_key(str(row["name"])) == base_key(kernel)]
    shown = clean(kernel)
    if not rows:
        return Refusal(f"The profile has no kernel {shown}.", "Profile with nsys, ncu or HPCToolkit's GPU measurement.")
    if len(rows) > 1:
        return Refusal(
            f"The profile has {len(rows)} kernels called {shown}: {', '.join(clean(str(row['name']))[:60] for row in rows[:3])}.",
            "Declare grid and block in chathpc.yaml.",
        )
    row = rows[0]
    blocks, threads = (_measured(row.get(f"gpu.kernel.{what}")) for what in ("blocks", "threads-per-block"))
    if blocks is None or threads is None:
        return Refusal(
            f"The profile lacks the launch configuration of {shown}.",
            "Declare grid and block in chathpc.yaml, or profile with nsys or ncu.",
        )
    if not (_is_whole(blocks) and _is_whole(threads)):
        return Refusal(
            f"{shown} was launched with varying sizes ({blocks:.6g} blocks of {threads:.6g} threads on average).",
            "Declare grid and block in chathpc.yaml.",
        )
    return LaunchFacts(round(blocks), round(threads))


def _measured(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) and value >= 0 else None


def _is_whole(value: float) -> bool:
    return value >= 1 and abs(value - round(value)) <= _WHOLE * value


Role = Literal["in", "out", "inout"]
#: Threads of a block (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
MOST_THREADS = 1024
#: Bytes of all arrays of a harness: both sides and a copy fit on devices of 16 GB.
MOST_BYTES = 4 << 30
#: How the global index of a thread is written.
_INDEX = tuple(
    re.escape(text).replace(r"\ ", r"\s*")
    for text in (
        "blockIdx.x * blockDim.x + threadIdx.x",
        "blockDim.x * blockIdx.x + threadIdx.x",
        "threadIdx.x + blockIdx.x * blockDim.x",
        "threadIdx.x + blockDim.x * blockIdx.x",
    )
)
#: Small whole numbers, so that an index made of them stays small, where nothing is declared.
_DRAWN: Mapping[str, tuple[float, float]] = {"f": (0.0, 1.0), "i": (0, 100), "u": (0, 100)}


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the harness: a number (`value`) or an array of `elements` (numbers, each lane of a vector counted) of `dtype`."""

    name: str
    dtype: str
    value: float | int | None = None
    elements: int = 0
    role: Role = "in"
    low: float | int = 0
    high: float | int = 1

    @property
    def is_array(self) -> bool:
        """True for an array."""
        return self.elements > 0


@dataclass(frozen=True, slots=True)
class Plan:
    """A launch with all of its arguments; tolerances per element."""

    kernel: str
    file: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    arguments: tuple[Argument, ...]
    relative: float
    absolute: float

    def data(self) -> dict[str, Any]:
        """As JSON takes it."""
        return asdict(self)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Plan:
        """From what `data` gave."""
        return cls(
            data["kernel"], data["file"], _three(data["grid"]) or (1, 1, 1), _three(data["block"]) or (1, 1, 1), data["shared"],
            tuple(Argument(**one) for one in data["arguments"]), data["relative"], data["absolute"],
        )  # fmt: skip


def plan(
    declared: Kernel, signature: Signature, facts: LaunchFacts | Refusal, relative: float, absolute: float
) -> Plan | Refusal:
    """The launch of a declared kernel; a Refusal that names the first thing that neither is declared nor can be derived."""
    known = {one.name: one for one in declared.arguments}
    for name in known:
        if name not in {one.name for one in signature.parameters}:
            return Refusal(
                f"The kernel {clean(signature.name)} has no argument {clean(name)}.",
                f"Its arguments are {', '.join(clean(one.name) for one in signature.parameters)}.",
            )
    if signature.dynamic and not declared.shared:
        return Refusal(
            f"{clean(signature.name)} has dynamic shared memory.",
            "Declare its bytes per block, for example: shared: 2048",
        )
    sizes = _sizes(declared, signature, facts)
    if isinstance(sizes, Refusal):
        return sizes
    grid, block = sizes
    bounded = _bounds(signature) if grid[1:] == (1, 1) and block[1:] == (1, 1) else _Bounds(None, frozenset())
    count = grid[0] * block[0]
    if bounded.number is not None:
        # One of the numbers that give this grid, and none that fills the last block: the bound is then needed.
        count -= block[0] // 3
    given = known.get(bounded.number or "")
    if given is not None and given.value is not None and given.value >= 1:
        count = int(given.value)
    arguments: list[Argument] = []
    for one in signature.parameters:
        made = _argument(one, known.get(one.name), signature, bounded, count)
        if isinstance(made, Refusal):
            return made
        arguments.append(made)
    if sum(one.elements * 8 for one in arguments) > MOST_BYTES:
        return Refusal(
            f"The arrays of {clean(signature.name)} are larger than {MOST_BYTES >> 30} GiB.", "Declare less."
        )
    if not any(one.is_array and one.role != "in" for one in arguments):
        return Refusal(
            f"{clean(signature.name)} does not write to any of its arguments.", "It has no output to compare."
        )
    single = any(one.dtype == "float32" and one.role != "in" for one in arguments)
    tolerance = declared.relative if declared.relative is not None else max(relative, _SINGLE if single else 0.0)
    return Plan(
        signature.name, signature.file, grid, block, declared.shared, tuple(arguments), tolerance,
        absolute if declared.absolute is None else declared.absolute,
    )  # fmt: skip


#: Sixteen units in the last place of single precision (2^-24 each): what another order of a few operations changes.
_SINGLE = 16 * 2.0**-24


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The number that bounds a thread's global index, and the arrays that are indexed with that index alone."""

    number: str | None
    arrays: frozenset[str]


def _sizes(
    declared: Kernel, signature: Signature, facts: LaunchFacts | Refusal
) -> tuple[tuple[int, int, int], tuple[int, int, int]] | Refusal:
    grid, block = _three(declared.grid), _three(declared.block)
    if grid is None or block is None:
        if isinstance(facts, Refusal):
            return facts
        if (grid is not None and prod(grid) != facts.blocks) or (block is not None and prod(block) != facts.threads):
            return Refusal(
                f"Only one of grid and block of {clean(signature.name)} is declared, and it is not the profile's.",
                "Declare both.",
            )
        if signature.planar and ((grid is None and facts.blocks > 1) or (block is None and facts.threads > 1)):
            return Refusal(
                f"{clean(signature.name)} uses more than one dimension, and the profile only has {facts.blocks} blocks of "
                f"{facts.threads} threads.",
                f"Declare its sizes, for example: block: [{min(facts.threads, 32)}, {max(1, facts.threads // 32)}]",
            )
        grid, block = grid or (facts.blocks, 1, 1), block or (facts.threads, 1, 1)
    if prod(block) > MOST_THREADS or block[2] > 64:
        return Refusal(
            f"A block of {' × '.join(map(str, block))} threads is larger than {MOST_THREADS}.", "Declare a smaller one."
        )
    if grid[1] > 65535 or grid[2] > 65535:
        return Refusal("A grid has at most 65535 blocks in y and z.", "Declare a smaller one.")
    return grid, block


def _three(sizes: Sequence[int]) -> tuple[int, int, int] | None:
    x, y, z = (*sizes, 1, 1, 1)[:3]
    return (x, y, z) if sizes else None


def _argument(
    one: Parameter, declared: KernelArgument | None, signature: Signature, bounds: _Bounds, threads: int
) -> Argument | Refusal:
    kernel = clean(signature.name)
    if not one.pointer:
        if declared is not None and declared.elements is not None:
            return Refusal(
                f"The argument {clean(one.name)} of {kernel} is a number, not an array.", "Declare its value."
            )
        if declared is not None and declared.value is not None:
            return _number(one, declared.value)
        if one.name == bounds.number:
            return _number(one, threads)  # it bounds a thread's index
        value = "1.0" if one.dtype.startswith("float") else "1000"
        return Refusal(
            f"Unknown value of {clean(one.name)} of {kernel}.",
            f"Declare it, for example: arguments: [{{name: {clean(one.name)}, value: {value}}}]",
        )
    if declared is not None and declared.value is not None:
        return Refusal(f"The argument {clean(one.name)} of {kernel} is an array.", "Declare its elements.")
    elements = None if declared is None else declared.elements
    if elements is None:
        if one.name not in bounds.arrays:
            return Refusal(
                f"Unknown number of elements: {clean(one.name)} of {kernel} has.",
                f"Declare it, for example: arguments: [{{name: {clean(one.name)}, elements: {threads}}}]",
            )
        elements = threads
    role: Role
    if declared is not None and declared.role is not None:
        role = declared.role
    elif one.const or one.name not in signature.writes:
        role = "in"
    else:
        role = "inout" if one.name in signature.reads else "out"
    low, high = _DRAWN["f" if one.dtype.startswith("float") else "i"]
    low = low if declared is None or declared.low is None else declared.low
    high = high if declared is None or declared.high is None else declared.high
    return Argument(one.name, one.dtype, None, elements * one.lanes, role, low, max(low, high))


def _number(one: Parameter, value: float | int) -> Argument | Refusal:
    import numpy as np

    kind = np.dtype(one.dtype)
    if kind.kind in "iu":
        if value != int(value) or not np.iinfo(kind).min <= int(value) <= np.iinfo(kind).max:
            return Refusal(f"The value {value} of {clean(one.name)} is not of type {one.type}.", "Declare another.")
        value = int(value)
    return Argument(one.name, one.dtype, value)


def _bounds(signature: Signature) -> _Bounds:
    """What the kernel's own text says of a thread's global index, where that is used as it is."""
    body = signature.body
    found = re.findall(rf"\b(\w+)\s*=\s*(?:\(\s*\w+\s*\)\s*)?(?:{'|'.join(_INDEX)})\s*;", body)
    if len(found) != 1 or "gridDim" in body:
        return _Bounds(None, frozenset())
    index = re.escape(found[0])
    if re.search(
        rf"\b{index}\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+\s*{index}\b|\b{index}\s*(?:\+\+|--)|--\s*{index}\b",
        body[_end_of(found[0], body) :],
    ):
        return _Bounds(None, frozenset())
    numbers = set(re.findall(rf"\bif\s*\(\s*{index}\s*(?:<|>=)\s*(\w+)\s*\)", body))
    whole = {one.name for one in signature.parameters if not one.pointer and not one.dtype.startswith("float")}
    arrays = {
        one.name
        for one in signature.parameters
        if one.pointer
        and (uses := re.findall(rf"(?<![\w.]){re.escape(one.name)}\b\s*(\[\s*{index}\s*\])?", body))
        and all(uses)
    }
    return _Bounds(numbers.pop() if len(numbers) == 1 and numbers <= whole else None, frozenset(arrays))


def _end_of(name: str, body: str) -> int:
    """Behind the first assignment to `name`."""
    found = re.search(rf"\b{re.escape(name)}\s*=[^;]*;", body)
    return found.end() if found else 0
