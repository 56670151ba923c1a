"""The tables of names, files and modules that all parts of a view share, and the groups that pages colour by."""

from __future__ import annotations

from typing import get_args

import numpy as np
from numpy.typing import NDArray

from chathpc.profile.activity import Activity
from chathpc.profile.kernel_names import demangled
from chathpc.profile.metric import Metric
from chathpc.profile.names import in_words, middle, shorten_path
from chathpc.profile.text import clean
from chathpc.profile.tree import FloatArray
from chathpc.view.records import DrawnMetric, Group

#: Characters of a name or path: those of C++ can have megabytes.
LONGEST_NAME, LONGEST_PATH = 300, 300
#: Significant digits of values.
_DIGITS = 5

GROUPS: tuple[Group, ...] = get_args(Group)
_GROUP_OF: dict[Activity, Group] = {
    Activity.COMPUTE: "own",
    Activity.MATH: "math",
    Activity.COPY: "memory",
    Activity.ALLOCATION: "memory",
    Activity.PAGE_FAULT: "memory",
    Activity.IO: "io",
    Activity.MPI: "mpi",
    Activity.MPI_SETUP: "mpi",
    Activity.OMP_WAIT: "openmp",
    Activity.OMP_LOCK: "openmp",
    Activity.OMP_OVERHEAD: "openmp",
    Activity.LOCK: "wait",
    Activity.SLEEP: "wait",
    Activity.BLOCKED: "wait",
    Activity.JOIN: "wait",
    Activity.GPU_LAUNCH: "runtime",
    Activity.GPU_SYNC: "runtime",
    Activity.GPU_COPY: "runtime",
    Activity.GPU_API: "runtime",
    Activity.GPU: "gpu",
    Activity.JIT: "library",
    Activity.HELPER: "other",
    Activity.PROFILER: "other",
    Activity.LIBRARY: "library",
}
#: By number of an activity the number of its group.
GROUP_NUMBERS: NDArray[np.int32] = np.array(
    [GROUPS.index(_GROUP_OF[activity]) for activity in Activity], dtype=np.int32
)
OTHER = GROUPS.index("other")


class Table:
    """Texts by their number; each is listed once."""

    def __init__(self, longest: int = LONGEST_NAME, *, paths: bool = False) -> None:
        self._number: dict[str, int] = {}
        self._known: dict[str, int] = {}
        self._longest, self._cut = longest, shorten_path if paths else middle

    def add(self, text: str | None) -> int:
        """The number of `text`, listed as it may be shown; -1 for None."""
        if text is None:
            return -1
        known = self._known.get(text)
        if known is None:
            shown = clean(in_words(demangled(text)))
            shown = shown if len(shown) <= self._longest else self._cut(shown, self._longest)
            known = self._known[text] = self._number.setdefault(shown, len(self._number))
        return known

    @property
    def texts(self) -> list[str]:
        """All texts in the order of their numbers."""
        return list(self._number)


class Tables:
    """The tables of one view."""

    def __init__(self) -> None:
        self.names = Table()
        self.files = Table(LONGEST_PATH, paths=True)
        self.modules = Table(LONGEST_PATH, paths=True)


def metric_drawn(metric: Metric, total: float) -> DrawnMetric:
    """A metric by what it counts."""
    title = clean((metric.description or metric.source_name).partition(":")[0])
    return DrawnMetric(id=metric.id, title=title, unit=metric.unit.value, total=total)


def rounded(values: FloatArray) -> list[float]:
    """Values to five significant digits, which JSON then writes in few characters; what is not finite becomes 0."""
    finite = np.where(np.isfinite(values), values, 0.0)
    size = np.abs(finite)
    with np.errstate(divide="ignore"):
        digits = np.where(size > 0, _DIGITS - 1 - np.floor(np.log10(np.where(size > 0, size, 1.0))), 0.0)
    # A whole number over a power of ten is the double that its decimal digits stand for.
    scale = 10.0 ** np.clip(np.abs(digits), 0, 300)
    down, up = np.round(finite / scale) * scale, np.round(finite * scale) / scale
    found: list[float] = np.where(digits < 0, down, up).tolist()
    return [int(value) if value.is_integer() and abs(value) < 1e15 else value for value in found]
