"""What chathpc computed for labelled launches: a file of JSON, one launch a line.

A line has `target`, `kernelName`, `language`, where there are several of that name also `signature`, and the fields of
chathpc.predict.counts.Counts, beside them or under `counts`. A range is a number, [value, low, high] or an object with these names.
For times also `launch` (chathpc.predict.counts.Launch) and `chain` (chathpc.predict.warp_chain.Chain). A line with `failure` counts nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chathpc.bench.predict.labels import Label
from chathpc.bench.predict.rooflines import Machine
from chathpc.errors import UsageError
from chathpc.predict.counts import Counts, Launch, Range
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
            found[key] = Launched(_counts(row.get("counts", row)), _launch(row.get("launch")), _chain(row.get("chain")))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            why = clean(str(error))[:80]
            raise UsageError(f"{clean(str(path))}, line {number}: no counts of a launch ({why}).") from None
    return Counted(found)


def _counts(row: Mapping[str, object]) -> Counts:
    assumptions = row.get("assumptions") or ()
    if not isinstance(assumptions, list | tuple):
        raise TypeError("assumptions are no list")
    return Counts(
        operations={name: _range(value) for name, value in _mapping(row["operations"]).items()},
        issued=_numbers(row.get("issued")),
        requests=_numbers(row.get("requests")),
        requested=_numbers(row.get("requested")),
        sectors=_numbers(row.get("sectors")),
        footprint_read=_number(row.get("footprint_read", 0.0)),
        footprint_written=_number(row.get("footprint_written", 0.0)),
        dram_read=_range(row["dram_read"]),
        dram_written=_range(row["dram_written"]),
        longest=_number(row.get("longest", 0.0)),
        emulated=_number(row.get("emulated", 1.0)),
        warps=_number(row.get("warps", 0.0)),
        most_atomics=_number(row.get("most_atomics", 0.0)),
        passes=_numbers(row.get("passes")),
        instructions=_numbers(row.get("instructions")),
        assumptions=tuple(map(str, assumptions)),
    )


def _launch(value: object) -> Launch | None:
    if value is None:
        return None
    row = _mapping(value)
    shared, registers, local, occurrence = (
        int(_number(row.get(name, 0))) for name in ("shared", "registers", "local", "occurrence")
    )
    return Launch(str(row["kernel"]), _three(row["grid"]), _three(row["block"]), shared, registers, local, occurrence)


def _three(value: object) -> tuple[int, int, int]:
    if not isinstance(value, list):
        raise TypeError("no extent in three dimensions")
    x, y, z = (int(_number(each)) for each in value)
    return x, y, z


def _chain(value: object) -> Chain | None:
    if value is None:
        return None
    row = _mapping(value)
    return Chain(_number(row["cycles"]), _numbers(row.get("waits")))


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise TypeError("an object is missing")
    return value


def _numbers(value: object) -> dict[str, float]:
    return {str(name): _number(each) for name, each in _mapping(value or {}).items()}


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or value < 0:
        raise TypeError(f"no count: {value!r}")
    return float(value)


def _range(value: object) -> Range:
    if isinstance(value, Mapping):
        return Range(_number(value["value"]), _number(value["low"]), _number(value["high"]))
    if isinstance(value, list):
        middle, low, high = map(_number, value)
        return Range(middle, low, high)
    return Range(_number(value), _number(value), _number(value))


def count_lines(counts: Counts, machine: Machine) -> list[str]:
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
