"""What one launch of a kernel does: operations by class, requests and bytes by space, summed over all its threads.

Operations are those of single threads, as a profiler's `smsp__sass_thread_inst_executed_op_*` counts them: threads that are
switched off by a predicate or a branch do not count. A fused multiply-add is two operations, integer instructions are one each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import isinf


@dataclass(frozen=True, slots=True)
class Range:
    """A value with the bounds that hold it in about four of five cases; `high` is infinite where nothing bounds it."""

    value: float
    low: float
    high: float

    @classmethod
    def total(cls, parts: Collection[Range]) -> Range:
        """The sum of values whose errors go together: bounds are added."""
        return cls(sum(each.value for each in parts), sum(each.low for each in parts), sum(each.high for each in parts))


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel's launch: its name (demangled, without parameters), blocks and threads per block by dimension, shared memory of a block in
    bytes, registers of a thread, bytes of a thread's own memory, and which launch of that kernel it was, from 0.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int = 0
    registers: int = 0
    local: int = 0
    occurrence: int = 0
    arguments: tuple[str, ...] = ()

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        """Threads of all blocks."""
        return self.blocks * self.block[0] * self.block[1] * self.block[2]


@dataclass(frozen=True, slots=True)
class Counts:
    """Work of a launch.

    `operations`: by class (fp16, fp32, fp64, integer, tensor, special, conversion, control, other) of all threads.
    `issued`: instructions of warps by the pipe that takes them (fp32, fp64, integer, fp16, tensor, special, memory, control).
    `requests`: warp instructions by space and way, such as "global load", of which a lane asks; `requested`: bytes that their threads ask for;
    `instructions`: the same with those of which all lanes are switched off, which take their turn all the same;
    `sectors`: 32-byte sectors that those of global memory touch, each request alone; for shared memory the passes.
    `footprint`: bytes of distinct sectors read and written; `dram_read` and `dram_written`: bytes moved between device memory and the
    L2 cache, caches cold at the beginning and not written back at the end. `longest`: instructions on the longest warp's way.
    `passes`: cycles that these keep L1 and shared memory busy: one for each line of a request, for shared memory more where words share a bank;
    those of atomic operations keep L2 busy: a sector each, and more where lanes meet at an address. `most_atomics`: those at the 512 bytes that
    have most. `emulated`: share of the blocks that were followed; `assumptions`: what was not known, in sentences.
    """

    operations: Mapping[str, Range]
    issued: Mapping[str, float]
    requests: Mapping[str, float]
    requested: Mapping[str, float]
    sectors: Mapping[str, float]
    footprint_read: float
    footprint_written: float
    dram_read: Range
    dram_written: Range
    longest: float
    emulated: float
    warps: float
    most_atomics: float = 0.0
    passes: Mapping[str, float] = field(default_factory=dict)
    instructions: Mapping[str, float] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        """True if the launch does at least this, and nothing bounds how much more."""
        return any(isinf(each.high) for each in self.operations.values())

    @property
    def dram_bytes(self) -> float:
        """Bytes moved to and from device memory."""
        return self.dram_read.value + self.dram_written.value

    def total(self, name: str) -> float:
        """Operations of a class; 0 if there are none."""
        found = self.operations.get(name)
        return found.value if found else 0.0
