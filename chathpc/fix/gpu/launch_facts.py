"""How a kernel was launched, as its profile tells."""

from __future__ import annotations

import math
from dataclasses import dataclass

from chathpc.fix.gpu.signature import Refusal
from chathpc.profile.kernel_names import base_key
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean

#: Means over launches are whole numbers where all launches are the same; what floating point adds is less.
_WHOLE = 1e-6


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """Blocks of the grid, threads of a block, and, where the profile has them, registers a thread and shared memory a block in bytes."""

    kernel: str
    blocks: int
    threads: int
    registers: int | None = None
    shared: int | None = None
    launches: int | None = None

    @property
    def total(self) -> int:
        """Threads of the whole grid."""
        return self.blocks * self.threads


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
    blocks, threads = (_number(row.get(f"gpu.kernel.{what}")) for what in ("blocks", "threads-per-block"))
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
    return LaunchFacts(
        str(row["name"]),
        round(blocks),
        round(threads),
        _rounded(_number(row.get("gpu.kernel.registers"))),
        _rounded(_number(row.get("gpu.kernel.shared-memory-per-block"))),
        _rounded(_number(row.get("launches"))),
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) and value >= 0 else None


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def _is_whole(value: float) -> bool:
    return value >= 1 and abs(value - round(value)) <= _WHOLE * value
