"""What compilers say they did to the program: facts beside the measurements, found by source line and kernel name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from chathpc.profile import numbers
from chathpc.profile.source_text import common_end
from chathpc.profile.text import clean


class Outcome(StrEnum):
    """What became of a loop or a call."""

    VECTORISED = "vectorised"
    NOT_VECTORISED = "not vectorised"
    INLINED = "inlined"
    NOT_INLINED = "not inlined"


class Obstacle(StrEnum):
    """Why a loop was not vectorised or a call not inlined, whatever words the compiler has for it."""

    ALIASING = "aliasing"
    DEPENDENCE = "dependence"
    TRIP_COUNT = "trip count"
    CALL = "call"
    MATH_CALL = "mathematical function"
    REDUCTION_ORDER = "floating-point order"
    ACCESS = "access pattern"
    CONTROL_FLOW = "control flow"
    COST = "cost model"
    LEVEL = "optimisation level"
    UNSTATED = "not stated"
    BODY_ELSEWHERE = "body elsewhere"
    TOO_LARGE = "too large"
    FORBIDDEN = "forbidden"
    RECURSIVE = "recursive"
    SELDOM = "seldom called"


@dataclass(frozen=True, slots=True)
class CompilerRecord:
    """One loop or call: where it is, what became of it, and why.

    `file` as the compiler was given it, `line` that of the loop or the call, `at` that of the statement which `obstacle` is
    about (0: none of its own), `function` the one that was compiled (mangled as recorded; empty: not said), `callee` the function
    that a call is to, `text` the compiler's own words.
    """

    outcome: Outcome
    compiler: str
    file: str
    line: int
    function: str = ""
    obstacle: Obstacle | None = None
    text: str = ""
    callee: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True)
class KernelResources:
    """What ptxas gave a kernel on one architecture: registers a thread; stack frame and spilled values in bytes a thread, shared
    memory in bytes a block; None where it does not say.
    """

    kernel: str
    architecture: str
    registers: int | None = None
    stack: int | None = None
    spill_stores: int | None = None
    spill_loads: int | None = None
    shared: int | None = None


#: GCC manual, "Options that control optimization": -Ofast has -ffast-math, and that -fassociative-math.
_REORDERING = ("-Ofast", "-ffast-math", "-fassociative-math")


@dataclass(frozen=True, slots=True)
class CompiledUnit:
    """How a source file was compiled: `optimised` is None where that is not known, `told_by` says what it was read from, `flags` are those of
    the processor and of floating-point arithmetic.
    """

    file: str
    compiler: str
    optimised: bool | None
    options: str = ""
    told_by: str = ""
    flags: str = ""

    @property
    def reorders_sums(self) -> bool:
        """True if sums of floating-point numbers may be added in another order."""
        return any(each in _REORDERING for each in (self.options, *self.flags.split()))

    @property
    def is_tuned(self) -> bool:
        """True if it has the highest level of optimisation for a processor that was chosen."""
        return self.options in ("-O3", "-Ofast") and any(each[:2] in ("-m", "-x") for each in self.flags.split())


@dataclass(frozen=True, slots=True)
class Build:
    """All that the records hold: `counts` by words ("loops vectorised"), also of records that are not kept (`left_out`)."""

    records: tuple[CompilerRecord, ...] = ()
    kernels: tuple[KernelResources, ...] = ()
    units: tuple[CompiledUnit, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    left_out: int = 0

    @property
    def compilers(self) -> tuple[str, ...]:
        """Names of the compilers, sorted."""
        names = {record.compiler for record in self.records} | {unit.compiler for unit in self.units}
        return tuple(sorted(names | ({"ptxas"} if self.kernels else set())))


def joined(builds: Iterable[Build]) -> Build:
    """The records of several builds or translation units as those of one, each once."""
    every = tuple(builds)
    counts: Counter[str] = Counter()
    for build in every:
        counts.update(build.counts)
    return Build(
        records=tuple(dict.fromkeys(record for build in every for record in build.records)),
        kernels=tuple(dict.fromkeys(kernel for build in every for kernel in build.kernels)),
        units=tuple(dict.fromkeys(unit for build in every for unit in build.units)),
        counts=dict(counts),
        left_out=sum(build.left_out for build in every),
    )


def summary(build: Build) -> str:
    """What the records hold, in a few words."""
    said = [
        f"{numbers.count(number)} {words if number != 1 else words.replace('s ', ' ', 1)}"
        for words, number in sorted(build.counts.items())
    ]
    spilling = sum(bool(kernel.spill_stores or kernel.spill_loads) for kernel in build.kernels)
    if spilling:
        said.append(f"{numbers.count(spilling)} kernel{' that spills' if spilling == 1 else 's that spill'} registers")
    without = sum(unit.optimised is False for unit in build.units)
    if without:
        said.append(f"{numbers.count(without)} {'files' if without != 1 else 'file'} compiled without optimisation")
    return ", ".join(said) or "how files were compiled"


def alone(build: Build, names: Sequence[str]) -> str:
    """Why records without a profile allow no conclusion, what they hold and what to do, as sentences; `names` are their files."""
    given = " ".join(clean(name) for name in names[:4])
    return (
        f"These are records of what the compiler did ({summary(build)}), not a profile: they do not tell what costs time. "
        f"Measure the program, and give both: chathpc explain database {given}"
    )


class FileIndex:
    """Finds a file of the records by the path that a profile has for it: folders may differ in front, base names may not."""

    def __init__(self, files: Iterable[str]) -> None:
        self._by_base: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for file in sorted(set(files)):
            parts = _parts(file)
            if parts:
                self._by_base.setdefault(parts[-1], []).append((parts, file))

    def find(self, path: str) -> Sequence[str]:
        """The files that may be `path`: those with most folders in common from the end; none if two of them differ otherwise.

        `src/heat.c` is `/opt/app/src/heat.c`. Files of one name in different folders are told apart by the folders; where
        these cannot tell, none is taken.
        """
        parts = _parts(path)
        known = self._by_base.get(parts[-1], []) if parts else []
        if not known:
            return ()
        best = max(common_end(parts, other) for other, _ in known)
        found = [(other, file) for other, file in known if common_end(parts, other) == best]
        # Spellings of one path: each is the end of the longest.
        longest = max((other for other, _ in found), key=len)
        if any(longest[len(longest) - len(other) :] != other for other, _ in found):
            return ()
        return tuple(file for _, file in found)


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.replace("\\", "/").split("/") if part not in ("", ".", ".."))
