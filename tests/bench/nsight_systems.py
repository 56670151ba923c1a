"""The figures of Nsight Systems: large exports explained, and columns read from their pages beside SQLite's own ways.

Exports are written into a temporary folder and removed. `python -m tests.bench.nsight_systems` prints these rows alone.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.processes import Run, command, measured, median
from tests.bench.rows import Row, linear_rows, noted, progress, seconds, table

#: Kernels of the export of about 1 GB, with two API calls each, and of the one of about 100 MB that has nothing else.
KERNELS, KERNELS_ONLY = 5_000_000, 1_000_000
#: Of the large export: time and memory of the process that explains it.
EXPLAIN_SECONDS, EXPLAIN_BYTES = 10.0, 2 << 30
#: How much faster columns are than sqlite3 with numpy.fromiter, and than Arrow's reader.
OVER_FROMITER, OVER_ADBC = 5.0, 1.5
#: Columns of the API's table that are read.
API_TABLE, API_COLUMNS = "CUPTI_ACTIVITY_KIND_RUNTIME", ("start", "end", "globalTid", "correlationId", "nameId")


def write(path: Path) -> float:
    """Write the export that the name of `path` stands for: KERNELS.sqlite or KERNELS-only.sqlite."""
    from tests.synthetic.nsight_systems_large import write_kernels_only, write_large

    count, _, only = path.stem.partition("-")
    (write_kernels_only if only else write_large)(path, int(count))
    return 0.0


def columns(path: Path) -> float:
    """chathpc's reader of columns; returns the sum of all numbers."""
    from chathpc.adapters.sqlite import open_database
    from chathpc.adapters.sqlite_columns import integer_columns

    with open_database(path) as database:
        found = integer_columns(database, API_TABLE, API_COLUMNS)
    return float(sum(column.values.sum() for column in found.values()))


def fromiter(path: Path) -> float:
    """Python's sqlite3 and numpy.fromiter, one value after the other; returns the sum of all numbers."""
    import itertools
    import sqlite3
    from contextlib import closing

    import numpy as np

    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
        rows = database.execute(f"SELECT {', '.join(API_COLUMNS)} FROM {API_TABLE}")
        flat = np.fromiter(itertools.chain.from_iterable(rows), np.int64)
    return float(flat.reshape(-1, len(API_COLUMNS)).sum(axis=0).sum())


def arrow(path: Path) -> float:
    """adbc-driver-sqlite, which fetches Arrow tables; returns the sum of all numbers."""
    import adbc_driver_sqlite.dbapi  # type: ignore[import-not-found]

    with adbc_driver_sqlite.dbapi.connect(str(path)) as database, database.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(API_COLUMNS)} FROM {API_TABLE}")
        found = cursor.fetch_arrow_table()
    return float(sum(found[name].to_numpy().sum() for name in API_COLUMNS))


MEASURES: dict[str, Callable[[Path], float]] = {
    "nsight-write": write,
    "nsight-columns": columns,
    "nsight-fromiter": fromiter,
    "nsight-arrow": arrow,
}


@contextmanager
def written(name: str) -> Iterator[Path]:
    """The export of that name, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="chathpc-bench-") as folder:
        path = Path(folder) / name
        run = noted(f"write {name}", measured("nsight-write", path))
        if run.failure:
            raise OSError(run.failure)
        yield path


def explain(path: Path, repeats: int) -> Run:
    """Whole process of `chathpc explain` without a model."""
    report = path.with_suffix(".json")
    arguments = ["-m", "chathpc", "explain", str(path), "--llm", "none", "--format", "json", "-o", str(report)]

    def once() -> Run:
        report.unlink(missing_ok=True)
        return command(arguments)

    return noted(f"explain {path.name}", median(once, repeats))


def explain_rows(what: str, size: str, path: Path, run: Run, *, judged: bool) -> list[Row]:
    """Time and memory of explaining, with targets if `judged`."""
    megabytes = path.stat().st_size / 1e6
    judged = judged and not run.failure
    goals = (f"<= {EXPLAIN_SECONDS:.0f} s", f"<= {EXPLAIN_BYTES >> 20} MiB") if judged else ("", "")
    met = (run.seconds <= EXPLAIN_SECONDS, run.bytes <= EXPLAIN_BYTES) if judged else (None, None)
    memory = "" if run.failure else f"{run.bytes >> 20} MiB"
    return [
        Row(f"{what}, {megabytes:.0f} MB: time", size, seconds(run), target=goals[0], met=met[0]),
        Row(f"{what}, {megabytes:.0f} MB: peak memory", size, memory, target=goals[1], met=met[1]),
    ]


def column_rows(size: str, path: Path, repeats: int) -> list[Row]:
    """Five columns of the API's table, beside Python's sqlite3 and beside Arrow."""
    ours = noted("columns", median(lambda: measured("nsight-columns", path), repeats))
    rows = []
    for what, name, least in (
        ("sqlite3 and fromiter", "nsight-fromiter", OVER_FROMITER),
        ("adbc-driver-sqlite", "nsight-arrow", OVER_ADBC),
    ):
        if name == "nsight-arrow" and not all(map(importlib.util.find_spec, ("adbc_driver_sqlite", "pyarrow"))):
            continue
        other = noted(what, median(lambda name=name: measured(name, path), repeats))  # type: ignore[misc]
        if ours.failure or other.failure:
            rows.append(Row(f"5 columns, beside {what}", size, seconds(ours), seconds(other)))
            continue
        ratio = other.seconds / ours.seconds
        rows.append(
            Row(
                f"5 columns, beside {what}", size, seconds(ours), seconds(other),
                f"{ratio:.1f}x", f">= {least:g}x", ratio >= least,
            )
        )  # fmt: skip
        if abs(other.figure - ours.figure) > 1e-9 * abs(ours.figure):
            rows.append(Row("  SUMS DIFFER", size, f"{ours.figure:.9g}", f"{other.figure:.9g}", met=False))
    return rows


def nsight_rows(*, quick: bool, repeats: int) -> list[Row]:
    """All rows of Nsight Systems; `quick` leaves out the largest export."""
    if shutil.disk_usage(tempfile.gettempdir()).free < 4e9:
        sys.stderr.write("Nsight Systems: less than 4 GB free in the temporary folder, left out\n")
        return []
    rows: list[Row] = []
    runs: dict[int, Run] = {}
    for kernels in (KERNELS // 100, KERNELS // 10, *([] if quick else [KERNELS])):
        progress(f"Nsight Systems, {kernels:,} kernels")
        size = f"{kernels:,} kernels"
        with written(f"{kernels}.sqlite") as path:
            times = 1 if kernels == KERNELS else min(3, repeats)
            runs[kernels] = explain(path, times)
            judged = kernels == KERNELS
            rows += explain_rows("Nsight Systems, explain", size, path, runs[kernels], judged=judged)
            if kernels == KERNELS // 10:
                rows += column_rows(f"{2 * kernels:,} API rows", path, min(3, repeats))
    if not quick:
        progress("Nsight Systems, kernels only")
        with written(f"{KERNELS_ONLY}-only.sqlite") as path:
            run = explain(path, min(3, repeats))
            rows += explain_rows("Nsight Systems, kernels only", f"{KERNELS_ONLY:,} kernels", path, run, judged=False)
    return rows + linear_rows("Nsight Systems, explain", runs)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.nsight_systems", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without the export of 1 GB")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rows = nsight_rows(quick=options.quick, repeats=options.repeats)
    progress("")
    sys.stdout.write(table(rows) + "\n")


if __name__ == "__main__":
    main()
