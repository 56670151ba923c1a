"""What is known beside the measurements: what the tool itself concluded, where tools disagree, facts about devices; and of kernels and
functions what else was recorded, predicted, or seen at other sizes of the problem.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Remark:
    """A result of a tool's own rule about a node of the tree (−1: the whole run).

    `kind` is ok, optimization, warning or error; `speedup` what the tool estimates could be won, as a part (0..1) of the
    kernel's time (`scope` global) or of the unit's (`scope` local); None where it gives no estimate.
    """

    tool: str
    rule: str
    kind: str
    title: str
    text: str
    node: int = -1
    speedup: float | None = None
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What two tools measured differently: `values` by tool, in `unit`; `subject` is the kernel or function at `node`."""

    subject: str
    quantity: str
    metric: str
    unit: str
    values: tuple[tuple[str, float], tuple[str, float]]
    node: int = -1


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU as the tool describes it; None where it does not say.

    `bandwidth` is the peak of the device's memory in bytes per second, `memory` its size in bytes, `clock` in hertz.
    """

    name: str
    multiprocessors: int | None = None
    memory: int | None = None
    bandwidth: float | None = None
    clock: float | None = None
    capability: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class AccessDensity:
    """Accesses of one launch over its time, in bins of equal length.

    `accesses[i]` and `pages[i]` (distinct pages) in bin i; the bins are `cycles` of the device's clock long,
    counted from the beginning of each thread.
    """

    kernel: str
    node: int
    cycles: float
    accesses: NDArray[np.int64]
    pages: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GrownPlace:
    """A function whose cost grows as a power of `parameter`: the exponent with its 80 % interval, and its costs in `unit` at the sizes
    that were measured.

    `name` is what grows, where that is a call in the function; `rest` is the exponent of the rest of the program's time, None where
    there is hardly a rest, `data` that of the data.
    """

    function: str
    file: str | None
    line: int | None
    parameter: str
    exponent: tuple[float, float, float]
    sizes: tuple[float, ...]
    costs: tuple[float, ...]
    unit: str
    rest: float | None = None
    name: str = ""
    data: float = 1.0


@dataclass(frozen=True, slots=True)
class PredictedKernel:
    """One launch of a kernel on a device: its class by the roofline model ("bandwidth" or "compute") with the probability of that, what
    its time is most for (`limiter`), the seconds with their bounds, and of the class of operations that decides (`kind`) the
    operations per byte of device memory and the balance point. `used`: part (0..1) of the sectors of global accesses that threads ask
    for; None without such accesses.
    """

    kernel: str
    device: str
    bound: str
    probability: float
    limiter: str
    seconds: tuple[float, float, float]
    kind: str = ""
    intensity: float = 0.0
    balance: float = 0.0
    used: float | None = None
