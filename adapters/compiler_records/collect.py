"""Records as they come, each kept once, within bounds."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import replace
from typing import TypeVar

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


# -- messages in the words of the catalogue: which obstacle a text of GCC or LLVM is about ------------------------

_FUNCTION = (
    r"(?:__builtin_)?_{0,2}(?:sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|exp|exp2|expm1|log|log2|log10|log1p|pow|cbrt|hypot"
    r"|fmod|sqrt|erf|erfc|lgamma|tgamma|round|floor|ceil|rint|nearbyint|sincos|cexpi)[fl]?(?:_finite)?"
)
#: Calls of the mathematical library that stand in a message of GCC: `= exp (_76)`.
_MATH = re.compile(rf"= {_FUNCTION} \(")
_MATH_NAME = re.compile(_FUNCTION)
#: Text of a message about a loop (lower case) → obstacle; the first that matches. GCC 9 to 15, LLVM 11 to 20.
_LOOP = tuple(
    (re.compile(pattern), obstacle)
    for pattern, obstacle in (
        (r"library call cannot be vectorized", Obstacle.MATH_CALL),
        (r"reorder (?:floating-point|memory) operations|unsafe fp math|strict fp|in-order fp reduction|reduction: not commutative"
         r"|changes? (?:the )?order of (?:summation|operations)", Obstacle.REDUCTION_ORDER),
        (r"cannot identify array bounds|cannot check memory dependencies at runtime|too many memory checks|memory checks needed"
         r"|can't determine dependence|versioning for alias (?:will not|not|failed)|no alias checks|alias (?:run-?time )?tests"
         r"|cannot prove (?:that )?(?:the )?pointers", Obstacle.ALIASING),
        (r"unsafe dependent memory|loop carried (?:data )?dependence|possible dependence|bad data dependence|dependence distance"
         r"|not identified as reduction|could not be identified as reduction|unsupported use in stmt|value used outside loop"
         r"|unsupported phi|data dependencies exist|found an unidentified phi", Obstacle.DEPENDENCE),
        (r"number of (?:loop )?iterations", Obstacle.TRIP_COUNT),
        (r"statement clobbers memory|function calls? or data references|call instruction cannot be vectorized|contains (?:a )?function call"
         r"|not inlined function call|function call in loop|call cannot be vectorized", Obstacle.CALL),
        (r"control flow|loop contains a switch|substituted for a select|multiple exits|early exit|more than one exit|latch block"
         r"|not ending with a branch|abnormal edge|goto", Obstacle.CONTROL_FLOW),
        (r"evolution of (?:base|offset) is not affine|complicated access pattern|not consecutive access|gather|scatter|non-consecutive"
         r"|not suitable for (?:gather|scatter)|unsupported (?:data-ref|access)|non-unit stride|strided (?:load|store)|indirect access"
         r"|cannot analyze data ref", Obstacle.ACCESS),
        (r"iterations would need to be peeled", Obstacle.LEVEL),
        (r"not (?:be )?(?:profitable|beneficial)|vectorization is not|cost[- ]model"
         r"|iteration count too small|trip count too small|not vectorized: vectorization is disabled|low-trip", Obstacle.COST),
    )
)  # fmt: skip
#: Messages that say of an outer loop only that it has others inside.
_OUTER = re.compile(r"two or more consecutive inner loops|multiple nested loops|not the innermost loop|inner[- ]loop count not invariant"
                    r"|loop nest containing")  # fmt: skip
#: Why a call was not inlined (lower case) → obstacle.
_CALL = tuple(
    (re.compile(pattern), obstacle)
    for pattern, obstacle in (
        (r"recursi", Obstacle.RECURSIVE),
        (r"body not available|definition is unavailable|unavailable definition|cross-module|could not be resolved|overwrit|interpos",
         Obstacle.BODY_ELSEWHERE),
        (r"noinline|never be inlined|not inlinable|not inline candidate|mismatch|target specific|attribute|setjmp|varargs|alloca|eh "
         r"|optimization level|disabled|fixed params", Obstacle.FORBIDDEN),
        (r"cold|unlikely|seldom|called once", Obstacle.SELDOM),
        (r"too costly|growth|grow|limit|too large|max-inline|size|cost=|insns", Obstacle.TOO_LARGE),
    )
)  # fmt: skip


def loop_obstacle(text: str) -> Obstacle | None:
    """The obstacle that a message about a loop names; None if it names none."""
    lower = text.lower()
    if "interleaving is not beneficial" in lower:
        return None  # said of loops that are vectorised
    found = next((obstacle for pattern, obstacle in _LOOP if pattern.search(lower)), None)
    return Obstacle.MATH_CALL if found == Obstacle.CALL and _MATH.search(text) else found


def is_math(function: str) -> bool:
    """True for a function of the mathematical library."""
    return _MATH_NAME.fullmatch(function) is not None


def is_math_call(text: str) -> bool:
    """True for GCC's message about a call of the mathematical library."""
    return "clobbers memory" in text and _MATH.search(text) is not None


def is_outer(text: str) -> bool:
    """True for a message that says no more than that a loop has other loops inside."""
    return _OUTER.search(text.lower()) is not None


def call_obstacle(text: str) -> Obstacle:
    """Why a call was not inlined."""
    lower = text.lower()
    return next((obstacle for pattern, obstacle in _CALL if pattern.search(lower)), Obstacle.UNSTATED)
