"""The vocabulary of metrics: one canonical id, one unit and one way of adding up for what many tools call by many
names.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, count

import numpy as np

from chathpc.profile.tree import BoolArray, FloatArray, IntArray


class Unit(StrEnum):
    """Units used inside chathpc: SI, seconds and bytes; everything else is a plain count or ratio."""

    SECONDS = "s"
    BYTES = "bytes"
    COUNT = "count"
    CYCLES = "cycles"
    SAMPLES = "samples"
    RATIO = "ratio"
    PERCENT = "percent"


class Aggregation(StrEnum):
    """How values of one metric combine over nodes and locations."""

    SUM = "sum"
    MAX = "max"
    DERIVED = "derived"  #: computed from other metrics after these were added up (a ratio, a mean, a maximum)


class Clock(StrEnum):
    """Which clock a time was taken from; only wall-clock time sees waiting."""

    CPU = "cpu"  #: runs only while the thread runs
    WALL = "wall"  #: runs always


@dataclass(frozen=True, slots=True)
class Metric:
    """One measured or derived quantity.

    `scale` turns the source's unit into `unit`: value in `unit` = value in the source × `scale`.
    `has_values` is False for a metric that the tool was told to collect and that has no value anywhere: nothing of the
    kind happened, or the event did not work; a profile cannot tell which. `tool` names what measured it where a profile
    joins views of several tools.
    """

    id: str
    unit: Unit
    description: str
    source_name: str
    source_unit: str = ""
    scale: float = 1.0
    aggregation: Aggregation = Aggregation.SUM
    clock: Clock | None = None
    hidden: bool = False
    has_values: bool = True
    tool: str = ""

    @property
    def title(self) -> str:
        """What people call it: the time of threads by its clock, all else by its id."""
        return _TIMES.get(self.clock, self.id) if self.id == TIME else self.id


#: Time of threads of the host, by whichever clock.
TIME = "cpu.time"
_TIMES: dict[Clock | None, str] = {Clock.CPU: "CPU time", Clock.WALL: "wall-clock time"}


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Values of one metric at the nodes that have one: `nodes` ascending, `values` of the same length, unit of the
    metric.

    A node that is not in `nodes` was not measured; whether that means zero depends on the metric, and is never assumed
    here.
    """

    nodes: IntArray
    values: FloatArray

    def __len__(self) -> int:
        return len(self.nodes)

    def dense(self, size: int, *, missing: float = 0.0) -> FloatArray:
        """All `size` nodes as one array, `missing` where there is no value."""
        full = np.full(size, missing, dtype=np.float64)
        full[self.nodes] = self.values
        return full

    def mask(self, size: int) -> BoolArray:
        """True for each of `size` nodes that has a value."""
        mask = np.zeros(size, dtype=bool)
        mask[self.nodes] = True
        return mask

    def at(self, node: int) -> float | None:
        """Value at `node`, or None where there is none."""
        position = int(np.searchsorted(self.nodes, node))
        if position < len(self.nodes) and int(self.nodes[position]) == node:
            return float(self.values[position])
        return None

    def sum(self) -> float:
        """Sum of all values, in extended precision."""
        return float(np.sum(self.values, dtype=np.longdouble))


#: Time in which a thread could run and had no core, beside what it did: at the place where it was.
NO_CORE = "cpu.time.no-core"
#: The part of a thread's time in which another one of its process could run and had no core.
OTHERS_WITHOUT = "cpu.time.others-without-core"
EMPTY_COLUMN = Column(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float64))


def slug(name: str, *, longest: int | None = None, otherwise: str = "unnamed") -> str:
    """`name` as part of a metric's id: small letters, digits and hyphens, at most `longest` characters."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:longest] or otherwise


def unused(identifier: str, taken: Container[str], between: str = ".") -> str:
    """`identifier`, with the lowest number from 2 on behind it where it is one of `taken`."""
    numbered = (f"{identifier}{between}{number}" for number in count(2))
    return next(each for each in chain((identifier,), numbered) if each not in taken)


def column_of(values: FloatArray, present: BoolArray | None = None) -> Column:
    """The column of a dense array; without `present`, nodes with a value other than zero count as measured."""
    nodes = np.flatnonzero(values if present is None else present).astype(np.int32)
    return Column(nodes, np.ascontiguousarray(values[nodes], dtype=np.float64))
