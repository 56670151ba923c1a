"""Records as they come, each kept once, within bounds."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import replace
from typing import TypeVar

from chathpc.adapters.compiler_records.messages import is_math
from chathpc.profile.compiler import Build, CompiledUnit, CompilerRecord, KernelResources, Obstacle, Outcome
from chathpc.profile.text import clean

_DIGITS = re.compile(r"(\d{6})\d{6,}")
_Item = TypeVar("_Item", CompilerRecord, KernelResources, CompiledUnit)
#: Records that are kept of each kind, some 60 MB of memory; what comes then is counted only.
MOST = 100_000
#: Characters of a file's or function's name, and of a compiler's message.
LONGEST_NAME, LONGEST_TEXT = 500, 160
#: Lines that an innermost loop rarely exceeds.
BODY = 40
#: Lines are numbered with 32 bits.
_LAST_LINE = 2**31 - 1
_COUNTED = {
    Outcome.VECTORISED: "loops vectorised",
    Outcome.NOT_VECTORISED: "loops not vectorised",
    Outcome.INLINED: "calls inlined",
    Outcome.NOT_INLINED: "calls not inlined",
}


class Collection:
    """What has been read so far."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.left_out = 0
        self._records: dict[CompilerRecord, None] = {}
        self._kernels: dict[KernelResources, None] = {}
        self._units: dict[CompiledUnit, None] = {}
        self._inlined: set[tuple[str, int, str]] = set()
        self._math: set[tuple[str, int]] = set()

    def __len__(self) -> int:
        return len(self._records) + len(self._kernels) + len(self._units)

    def record(
        self,
        outcome: Outcome,
        compiler: str,
        file: str,
        line: int,
        *,
        function: str = "",
        obstacle: Obstacle | None = None,
        text: str = "",
        callee: str = "",
        at: int = 0,
    ) -> None:
        """Take in a record; one without a place is counted only."""
        self.counts[_COUNTED[outcome]] += 1
        if not file or not 0 < line <= _LAST_LINE or file.startswith("<"):
            return
        name, callee = name_of(file), name_of(callee)
        if outcome == Outcome.INLINED:
            # Only needed to know that a call that was refused at first was inlined later.
            if len(self._inlined) < MOST:
                self._inlined.add((name, line, callee))
            return
        if outcome == Outcome.NOT_INLINED and is_math(callee):
            self.math_call(file, line)
        at = at if 0 < at <= _LAST_LINE and at != line else 0
        made = CompilerRecord(outcome, compiler, name, line, name_of(function), obstacle, text_of(text), callee, at)
        self._keep(self._records, made)

    def math_call(self, file: str, line: int) -> None:
        """A call of the mathematical library that may set errno."""
        if len(self._math) < MOST:
            self._math.add((name_of(file), line))

    def kernel(self, resources: KernelResources) -> None:
        """Take in what ptxas says of a kernel."""
        self.counts["kernels compiled"] += 1
        self._keep(self._kernels, resources)

    def unit(self, unit: CompiledUnit) -> None:
        """Take in how a file was compiled."""
        self._keep(self._units, unit)

    def _keep(self, known: dict[_Item, None], item: _Item) -> None:
        if item not in known and len(known) >= MOST:
            self.left_out += 1
        else:
            known[item] = None

    def _with_math(self, records: list[CompilerRecord]) -> list[CompilerRecord]:
        """`records`, loops with a call of a mathematical function named by that: also where the compiler only says "call", or "control flow".

        GCC makes `sqrt` an instruction and, for negative arguments, a call that sets errno: control flow that -fno-math-errno removes.
        """
        if not self._math:
            return records
        begins: dict[str, list[int]] = {}
        for record in records:
            if record.outcome in (Outcome.VECTORISED, Outcome.NOT_VECTORISED):
                begins.setdefault(record.file, []).append(record.line)
        calls: dict[str, list[int]] = {}
        for file, line in self._math:
            calls.setdefault(file, []).append(line)
        for numbers in (*begins.values(), *calls.values()):
            numbers.sort()
        found = []
        for record in records:
            if record.obstacle == Obstacle.CONTROL_FLOW and (lines := calls.get(record.file)):
                after = begins[record.file]
                at = bisect_right(after, record.line)
                end = min(record.line + BODY, after[at] if at < len(after) else _LAST_LINE)
                number = bisect_left(lines, record.line)
                if number < len(lines) and lines[number] < end:
                    record = replace(record, obstacle=Obstacle.MATH_CALL, at=lines[number])
            elif record.obstacle == Obstacle.CALL and (record.file, record.at or record.line) in self._math:
                record = replace(record, obstacle=Obstacle.MATH_CALL)
            found.append(record)
        return found

    def build(self) -> Build:
        """All of it; calls that were refused by one pass and inlined by a later one count as inlined."""
        kept = [
            record
            for record in self._records
            if record.outcome != Outcome.NOT_INLINED or (record.file, record.line, record.callee) not in self._inlined
        ]
        return Build(
            records=tuple(self._with_math(kept)),
            kernels=tuple(self._kernels),
            units=tuple(self._units),
            counts={words: number for words, number in self.counts.items() if number},
            left_out=self.left_out,
        )


def name_of(text: str) -> str:
    """A name as it is kept."""
    return clean(text[:LONGEST_NAME])


def text_of(text: str) -> str:
    """A message as it is kept: one line."""
    return clean(_DIGITS.sub(r"\1…", " ".join(text[: 4 * LONGEST_TEXT].split())))[:LONGEST_TEXT]
