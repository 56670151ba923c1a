"""What chathpc computed for labelled launches: a file of JSON, one launch a line.

A line has `target`, `kernelName`, `language`, where there are several of that name also `signature`, and the fields of
chathpc.predict.counts.Counts, beside them or under `counts`. A range is a number, [value, low, high] or an object with these names.
For times also `launch` (chathpc.predict.counts.Launch) and `chain` (chathpc.predict.warp_chain.Chain). A line with `failure` counts nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from chathpc.bench.predict.labels import Label
from chathpc.errors import UsageError
from chathpc.predict.counts import Counts, Launch, Range
from chathpc.predict.devices import Device
from chathpc.predict.warp_chain import Chain
from chathpc.profile.text import clean

#: Operations that have a roofline, as questions name them.
KINDS = {
    "fp32": "single-precision operations",
    "fp64": "double-precision operations",
    "integer": "integer instructions",
}


@dataclass(frozen=True, slots=True)
class Launched:
    """A launch that was followed: its counts, and where they were told its shape and the waits of its warps."""

    counts: Counts
    launch: Launch | None = None
    chain: Chain | None = None


class Counted:
    """What was followed, by launch."""

    def __init__(self, found: Mapping[tuple[str, str, str], Launched]) -> None:
        self._found = dict(found)

    def __len__(self) -> int:
        return len(self._found)

    def get(self, label: Label) -> Launched | None:
        """What was followed of a launch, by its types if they are told, else by its name."""
        exact = self._found.get(label.key)
        return exact if exact is not None else self._found.get((label.program, label.kernel, ""))


def read_counts(path: Path) -> Counted:
    """The counts in a file; of two for one launch the last. UsageError, with the line, for what has not this form."""
    found: dict[tuple[str, str, str], Launched] = {}
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise UsageError(f"{clean(str(path))} cannot be read: {error}.") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if row.get("failure"):
                continue
            key = str(row["target"]), str(row["kernelName"]), str(row.get("signature") or "")
            told = {"counts": _counts(row.get("counts", row)), "launch": row.get("launch"), "chain": row.get("chain")}
            if wrong := [each for each in _numbers(told) if isinstance(each, bool) or not each >= 0]:
                raise TypeError(f"no count: {wrong[0]!r}")
            found[key] = _launched().validate_python(told)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            why = clean(str(error))[:80]
            raise UsageError(f"{clean(str(path))}, line {number}: no counts of a launch ({why}).") from None
    return Counted(found)


@cache
def _launched() -> TypeAdapter[Launched]:
    return TypeAdapter(Launched)


def _counts(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of Counts, ranges in one form, with what need not be told."""
    absent: dict[str, Any] = {name: {} for name in ("issued", "requests", "requested", "sectors")}
    absent |= {"footprint_read": 0.0, "footprint_written": 0.0, "longest": 0.0, "emulated": 1.0, "warps": 0.0}
    ranges = {name: _range(row[name]) for name in ("dram_read", "dram_written")}
    operations = {name: _range(value) for name, value in row["operations"].items()}
    return (
        absent | {name: value for name, value in row.items() if value is not None} | ranges | {"operations": operations}
    )


def _range(value: Any) -> Any:
    ends = [value] * 3 if isinstance(value, int | float) else value
    return dict(zip(("value", "low", "high"), ends, strict=True)) if isinstance(ends, list) else ends


def _numbers(value: Any) -> Iterator[float]:
    """All numbers, however deep."""
    for each in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from [each] if isinstance(each, int | float) else _numbers(each)


def count_lines(counts: Counts, machine: Device) -> list[str]:
    """What a question tells of counts: operations, bytes, intensities beside their balance points, and what was not known.

    Two digits, so that a question stays the same where counting is refined a little, and with it its recorded answer.
    """
    lines = [f"{title}: {_ranged(counts.operations.get(kind, Range(0, 0, 0)))}" for kind, title in KINDS.items()]
    lines.append(f"bytes read from device memory: {_ranged(counts.dram_read)}")
    lines.append(f"bytes written to device memory: {_ranged(counts.dram_written)}")
    if counts.dram_bytes > 0:
        for kind, title in KINDS.items():
            intensity = counts.total(kind) / counts.dram_bytes
            lines.append(f"{title} a byte: {intensity:.2g}; balance point {machine.balance(kind):.2g}")
    if counts.emulated < 1:
        lines.append(f"share of the blocks that were followed: {counts.emulated:.2g}")
    return lines + [f"not known: {each}" for each in counts.assumptions]


def _ranged(found: Range) -> str:
    if found.low == found.high:
        return f"{found.value:.2g}"
    return f"{found.value:.2g} (between {found.low:.2g} and {found.high:.2g})"
