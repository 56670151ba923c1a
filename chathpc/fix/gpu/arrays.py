"""The arrays of a harness: drawn, poisoned, between guard zones, and compared.

Every array lies between two zones of random bytes in one allocation. What is only written is filled with a byte before each run: 0xFF
is NaN in single and double precision (IEEE 754-2019, 3.4: all ones in the exponent, a fraction other than 0).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chathpc.fix.gpu.device import Bytes, Device
from chathpc.fix.gpu.plan import Argument, Plan

#: Bytes of a zone on each side: what a block of 1024 threads writes behind the end in 16-byte elements, four times.
GUARD = 64 << 10
#: Two fillings: what an answer owes to the one it does not owe to the other. The second is a small number (4.8e-4 in double precision,
#: 0.75 in single), which a sum does not swallow.
POISONS = (0xFF, 0x3F)
Values = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a run left: all arrays that it may write, by name, and what it wrote where it must not, in sentences."""

    arrays: Mapping[str, Values]
    faults: tuple[str, ...]


def drawn(plan: Plan, random: np.random.Generator) -> dict[str, Values]:
    """Contents of the arrays that are read."""
    found: dict[str, Values] = {}
    for one in plan.arguments:
        if not one.is_array or one.role == "out":
            continue
        kind = np.dtype(one.dtype)
        if kind.kind == "f":
            found[one.name] = random.uniform(float(one.low), float(one.high), one.elements).astype(kind)
        else:
            bounds = np.iinfo(kind)
            low, high = max(int(one.low), int(bounds.min)), min(int(one.high), int(bounds.max))
            found[one.name] = random.integers(low, max(low, high), one.elements, dtype=kind, endpoint=True)
    return found


class Arrays:
    """The memory of one launch: allocated once, filled anew for every run."""

    def __init__(self, device: Device, plan: Plan, random: np.random.Generator) -> None:
        self.device = device
        self.plan = plan
        self._zones = {
            one.name: random.integers(0, 256, 2 * GUARD, dtype=np.uint8) for one in plan.arguments if one.is_array
        }
        self._memory = {one.name: device.allocate(_bytes(one) + 2 * GUARD) for one in plan.arguments if one.is_array}
        self._contents: dict[str, Values] = {}
        self._pristine: dict[str, Any] = {}

    def address(self, name: str) -> int:
        """Where the first element lies."""
        return int(self._memory[name]) + GUARD

    def fill(self, contents: Mapping[str, Values], poison: int) -> None:
        """Prepare a run: inputs, poison, zones."""
        self._contents = dict(contents)
        for one in self._arrays():
            start, zone = int(self._memory[one.name]), self._zones[one.name]
            self.device.upload(start, zone[:GUARD])
            if one.role == "out":
                self.device.fill(start + GUARD, poison, _bytes(one))
            else:
                self.device.upload(start + GUARD, contents[one.name])
            self.device.upload(start + GUARD + _bytes(one), zone[GUARD:])

    def arguments(self) -> list[np.generic]:
        """The arguments of a launch, each a number of its own size, as pycuda takes them."""
        return [
            np.uintp(self.address(one.name)) if one.is_array else np.dtype(one.dtype).type(one.value)
            for one in self.plan.arguments
        ]

    def result(self) -> Result:
        """What lies in memory after a run."""
        arrays, faults = {}, []
        for one in self._arrays():
            start, size = int(self._memory[one.name]), _bytes(one)
            whole = self.device.download(start, size + 2 * GUARD)
            faults += _outside(one, whole, self._zones[one.name])
            values = whole[GUARD : GUARD + size].view(one.dtype)
            if one.role == "in":
                wrong = int(np.count_nonzero(values.view(np.uint8) != self._contents[one.name].view(np.uint8)))
                faults += [f"changes the read-only {one.name}"] if wrong else []
            else:
                arrays[one.name] = values.copy()
        return Result(arrays, tuple(faults))

    def restores(self) -> list[tuple[int, int, int]]:
        """Copies (target, source, bytes) that give what is read and written its first contents, for launches in a row."""
        found = []
        for one in self._arrays():
            if one.role == "inout":
                if one.name not in self._pristine:
                    self._pristine[one.name] = self.device.allocate(_bytes(one))
                self.device.upload(int(self._pristine[one.name]), self._contents[one.name])
                found.append((self.address(one.name), int(self._pristine[one.name]), _bytes(one)))
        return found

    def poisons(self, poison: int) -> list[tuple[int, int, int]]:
        """Fillings (target, byte, bytes) of what is only written."""
        return [(self.address(one.name), poison, _bytes(one)) for one in self._arrays() if one.role == "out"]

    def pristine_faults(self) -> list[str]:
        """Whether the copies that launches are restored from were changed."""
        return [
            f"writes to memory that is not its own (the copy of {name})"
            for name, memory in self._pristine.items()
            if not np.array_equal(
                self.device.download(int(memory), self._contents[name].nbytes), self._contents[name].view(np.uint8)
            )
        ]

    def _arrays(self) -> list[Argument]:
        return [one for one in self.plan.arguments if one.is_array]


def _bytes(one: Argument) -> int:
    return one.elements * np.dtype(one.dtype).itemsize


def _outside(one: Argument, whole: Bytes, zone: Bytes) -> list[str]:
    found = []
    for side, changed in (
        ("before the start", (whole[:GUARD] != zone[:GUARD])[::-1]),
        ("behind the end", whole[-GUARD:] != zone[GUARD:]),
    ):
        if changed.any():
            count, away = int(np.count_nonzero(changed)), int(np.argmax(changed)) + side.startswith("before")
            found.append(f"writes {side} of {one.name} ({count} bytes, the nearest {away} bytes away)")
    return found


def untouched(values: Values, poison: int) -> NDArray[np.bool_]:
    """Elements in which every byte is the poison's."""
    width = values.dtype.itemsize
    return np.asarray((values.view(np.uint8).reshape(-1, width) == poison).all(axis=1))


def disagreement(plan: Plan, expected: Mapping[str, Values], found: Mapping[str, Values], poison: int) -> str:
    """Where the answers differ by more than the tolerance, in words; empty where they do not. In the order of the arguments."""
    for one in plan.arguments:
        if one.name in expected:
            said = _differs(one, expected[one.name], found[one.name], plan, poison)
            if said:
                return said
    return ""


def _differs(one: Argument, expected: Values, found: Values, plan: Plan, poison: int) -> str:
    if one.role == "out":
        left = untouched(found, poison) & ~untouched(expected, poison)
        if left.any():
            return (
                f"leaves {int(left.sum()):,} of {int((~untouched(expected, poison)).sum()):,} elements of {one.name} unwritten, "
                f"the first at {int(np.argmax(left))}"
            )
        more = ~untouched(found, poison) & untouched(expected, poison)
        if more.any():
            return f"writes {int(more.sum()):,} elements of {one.name} that the original leaves alone"
    wrong = found != expected
    if expected.dtype.kind == "f":
        same = found.view(f"u{expected.itemsize}") == expected.view(f"u{expected.itemsize}")
        both = np.isnan(found) & np.isnan(expected)
        with np.errstate(all="ignore"):
            away = np.abs(found.astype(np.float64) - expected.astype(np.float64))
            size = np.maximum(np.abs(found), np.abs(expected)).astype(np.float64)
            near = away <= plan.absolute + plan.relative * size
        wrong = ~(same | both | (near & np.isfinite(found) & np.isfinite(expected)))
    if not wrong.any():
        return ""
    at = int(np.argmax(wrong))
    return (
        f"gives {int(wrong.sum()):,} of {wrong.size:,} elements of {one.name} another value, the first at {at}: "
        f"{found[at]:.17g} for {expected[at]:.17g}"
    )


def depends_on_poison(plan: Plan, results: Sequence[Mapping[str, Values]]) -> str:
    """The name of an array whose written elements depend on what it held before; empty if none does. One result for each of POISONS."""
    first, second = results
    for one in plan.arguments:
        if one.role == "out" and one.is_array:
            written = ~untouched(first[one.name], POISONS[0]) | ~untouched(second[one.name], POISONS[1])
            width = np.dtype(one.dtype).itemsize
            unlike = (first[one.name].view(np.uint8) != second[one.name].view(np.uint8)).reshape(-1, width).any(axis=1)
            sides = first[one.name], second[one.name]
            if sides[0].dtype.kind == "f":
                with np.errstate(all="ignore"):
                    unlike &= ~np.isclose(*sides, rtol=max(plan.relative, 1e-15), atol=plan.absolute, equal_nan=True)
            if (written & unlike).any():
                return one.name
    return ""
