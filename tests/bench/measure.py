"""What is measured in a process of its own: `python -m tests.bench.measure WHAT PATH` prints seconds and a figure as JSON.

Imports, and a first reading (of the smallest database, or of the same columns) for what is imported late, come before the
clock starts.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from tests.bench import databases, nsight_systems


def chathpc_load(path: Path) -> float:
    """Load, and take both columns of the host's time, which is what hatchet gives; returns the total in seconds."""
    import chathpc

    profile = chathpc.load(path)
    metric = profile.time
    if metric is None:
        raise ValueError(f"{path} has no time")
    profile.exclusive(metric.id)
    profile.inclusive(metric.id)
    return float(profile.total(metric.id))


def hatchet_load(path: Path) -> float:
    """hatchet's reader with its defaults; returns the largest inclusive time, which is the total."""
    warnings.simplefilter("ignore")
    import hatchet

    return float(hatchet.GraphFrame.from_hpctoolkit_latest(str(path)).dataframe["time (inc)"].max())


def read_bytes(path: Path) -> float:
    """Read the bytes of meta.db and profile.db and do nothing with them; returns how many."""
    return float(sum(len((path / name).read_bytes()) for name in ("meta.db", "profile.db")))


def write(path: Path) -> float:
    """Write the database that `path`, `CONTEXTSxLOCATIONS` or `smallest`, stands for, unless the cache has it."""
    if path.name == "smallest":
        databases.smallest()
    else:
        databases.database(*map(int, path.name.split("x")))
    return 0.0


MEASURES: dict[str, Callable[[Path], float]] = {
    "chathpc": chathpc_load,
    "hatchet": hatchet_load,
    "bytes": read_bytes,
    "write": write,
    **nsight_systems.MEASURES,
}


def main() -> None:
    """Measure once and print."""
    what, path = sys.argv[1], Path(sys.argv[2])
    measure = MEASURES[what]
    if what in ("chathpc", "hatchet", "bytes"):
        measure(databases.smallest())
    elif what in ("nsight-columns", "nsight-fromiter", "nsight-arrow"):
        measure(path)
    began = time.perf_counter()
    figure = measure(path)
    seconds = time.perf_counter() - began
    sys.stdout.write(json.dumps({"seconds": seconds, "figure": figure}) + "\n")


if __name__ == "__main__":
    main()
