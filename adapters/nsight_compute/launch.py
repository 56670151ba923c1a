"""One profiled launch of a kernel as reports and exports describe it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Rule:
    """A result of one of NVIDIA's rules, as it stands in the report: `type` 0 none, 1 ok, 2 optimization, 3 warning, 4 error.

    `speedup` is in percent, None without an estimate; `scope` is local, global or empty.
    """

    rule: str
    name: str
    type: int
    title: str
    text: str
    speedup: float | None = None
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Instruction:
    """A machine instruction of a kernel: `offset` in bytes from its beginning."""

    offset: int
    sass: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch: its metrics by NVIDIA's name, in SI units, without those that have no value.

    `ranges` are the NVTX ranges around the launch, outermost first. `located` are values per instruction: metric name →
    offset → value,
    without zeros. `base` is the address at which the kernel's code stood. `failed` is True if counters were to be
    collected and none has a value. `count` is the number of launches that were averaged where only that is known.
    `identity` tells a launch from others of the same run where the file says which it is. `process` numbers the processes of one source in order of appearance.
    """

    kernel: str
    metrics: Mapping[str, float]
    texts: Mapping[str, str] = field(default_factory=dict)
    grid: Triple | None = None
    block: Triple | None = None
    device: int = 0
    context: int = -1
    stream: int = -1
    process: int = 0
    kind: int = 0
    ranges: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    instructions: tuple[Instruction, ...] = ()
    located: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    base: int = 0
    failed: bool = False
    count: float = 1.0
    identity: tuple[str, str] | None = None

    def value(self, *names: str) -> float | None:
        """The value of the first of `names` that has one."""
        for name in names:
            found = self.metrics.get(name)
            if found is not None:
                return found
        return None

    @property
    def seconds(self) -> float | None:
        """How long the launch ran (the mean of several), where that was measured."""
        found = self.value("gpu__time_duration.sum", "gpu__time_duration.avg", "gpu__time_duration.max")
        return found if found is not None and found >= 0 else None

    @property
    def configuration(self) -> tuple[Triple | None, Triple | None, float | None]:
        """Grid, block and dynamic shared memory per block: launches that share these and the name are averaged."""
        return self.grid, self.block, self.value("launch__shared_mem_per_block_dynamic")


def failed(metrics: Mapping[str, float], *, empty: int, zero: int, measured: int) -> bool:
    """True if profiling of a launch failed: counters were asked for, and nearly all have no value, none another than zero.

    `empty`, `zero` and `measured` count the counters without a value, with zero and with another one.
    """
    return measured == 0 and empty > zero and "gpu__time_duration.sum" not in metrics


def one_dimension(metrics: Mapping[str, float], name: str) -> Triple | None:
    """The grid or block of one dimension that has the size which metric `name` says."""
    size = metrics.get(name)
    return None if size is None else (int(size), 1, 1)


def plausible(gain: float | None) -> float | None:
    """An estimated speedup in percent; None for one that is none."""
    return gain if gain is not None and 0 < gain <= 100 else None


@dataclass(frozen=True, slots=True)
class Report:
    """The launches of one file, and the source text that it carries by file name."""

    launches: tuple[Launch, ...]
    sources: Mapping[str, str] = field(default_factory=dict)
    exported: bool = False  #: from CSV: rounded values, no instructions
    cut_off: bool = False  #: rows are shorter than the table
