"""Speed and memory of chathpc, beside hatchet's reader and beside merely reading the bytes, in one table.

    python -m tests.bench [--quick] [--no-hatchet] [--no-nsight-systems] [--sizes 10000 100000 1000000] [--repeats 5]

Databases are synthetic and written once. Loading is measured on databases of 2 locations, since neither reader takes values
per location when it loads; explaining on databases of 16. Files are in the page cache. Times are medians of fresh processes.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path

from tests.bench import databases
from tests.bench.nsight_systems import nsight_rows
from tests.bench.processes import Run, command, measured, median
from tests.bench.rows import Row, linear_rows, noted, progress, seconds, table

LOAD_LOCATIONS, EXPLAIN_LOCATIONS = 2, 16
#: hatchet's reader is run once from this many contexts on (20 s and more).
ONCE_FROM = 500_000

#: Targets: contexts → speed-up over hatchet; and the others as they stand in the table.
SPEEDUP = {100_000: 40.0, 1_000_000: 50.0}
BYTES_RATIO, BYTES_FROM, EXPLAIN_SECONDS, EXPLAIN_BYTES, HELP_SECONDS, SMALLEST_SECONDS, PAGE_SECONDS = (
    4.0,
    100_000,
    2.5,
    1 << 30,
    0.2,
    1.0,
    1.2,
)
EXPLAIN_SIZE = 1_000_000
#: A measured database with its source.
SMALL = Path(__file__).parents[2] / "examples" / "omp-triangle" / "database"


def load_rows(size: int, options: argparse.Namespace) -> tuple[Run, list[Row]]:
    """Loading: beside hatchet's reader and beside reading the bytes."""
    path = databases.database(size, LOAD_LOCATIONS)
    count, rows = f"{size:,}", []
    ours = noted(f"load {count}", median(lambda: measured("chathpc", path), options.repeats))
    if options.hatchet:
        repeats = 1 if size >= ONCE_FROM else min(3, options.repeats)
        hatchet = noted(f"hatchet {count}", median(lambda: measured("hatchet", path), repeats))
        ratio = "" if ours.failure or hatchet.failure else f"{hatchet.seconds / ours.seconds:.0f}x"
        target = SPEEDUP.get(size)
        met = None if target is None or not ratio else hatchet.seconds / ours.seconds >= target
        goal = "" if target is None else f">= {target:.0f}x"
        rows.append(Row("load, beside hatchet's reader", count, seconds(ours), seconds(hatchet), ratio, goal, met))
        if ratio and abs(hatchet.figure - ours.figure) > 1e-9 * abs(ours.figure):
            rows.append(Row("  TOTALS DIFFER", count, f"{ours.figure:.9g}", f"{hatchet.figure:.9g}", met=False))
    plain = median(lambda: measured("bytes", path), options.repeats)
    ratio = "" if ours.failure else f"{ours.seconds / plain.seconds:.1f}x"
    judged = size >= BYTES_FROM and not ours.failure  # below, fixed costs are all there is
    goal, met = (f"<= {BYTES_RATIO:.0f}x", ours.seconds / plain.seconds <= BYTES_RATIO) if judged else ("", None)
    rows.append(
        Row(f"load, beside reading {plain.figure / 1e6:.0f} MB", count, seconds(ours), seconds(plain), ratio, goal, met)
    )
    return ours, rows


def explain(path: Path, repeats: int, form: str = "json") -> Run:
    """Whole process of `chathpc explain` without a model, report as JSON, or as a page, into a file."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["-m", "chathpc", "explain", str(path), "--llm", "none", "--format", form]
        count = iter(range(repeats))
        run = median(lambda: command([*arguments, "-o", f"{folder}/report{next(count)}"]), repeats)
    return noted(f"explain {path.name}", run)


def explain_rows(size: int, options: argparse.Namespace) -> tuple[Run, list[Row]]:
    """Explaining: time and peak memory of the process."""
    run = explain(databases.database(size, EXPLAIN_LOCATIONS), min(3, options.repeats))
    count, judged = f"{size:,}", size == EXPLAIN_SIZE and not run.failure
    goals = (f"<= {EXPLAIN_SECONDS} s", f"<= {EXPLAIN_BYTES >> 20} MiB") if size == EXPLAIN_SIZE else ("", "")
    what = f"explain, {EXPLAIN_LOCATIONS} locations"
    memory = "" if run.failure else f"{run.bytes >> 20} MiB"
    return run, [
        Row(
            f"{what}: time",
            count,
            seconds(run),
            target=goals[0],
            met=run.seconds <= EXPLAIN_SECONDS if judged else None,
        ),
        Row(f"{what}: peak memory", count, memory, target=goals[1], met=run.bytes <= EXPLAIN_BYTES if judged else None),
    ]


def diff_rows(size: int, options: argparse.Namespace) -> list[Row]:
    """Comparing: time and peak memory of the process, both databases read and diagnosed in it."""
    one, other = (databases.database(size, locations) for locations in (LOAD_LOCATIONS, EXPLAIN_LOCATIONS))
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["-m", "chathpc", "diff", str(one), str(other), "--format", "json", "-o", f"{folder}/diff.json"]
        run = noted(f"diff {size:,}", median(lambda: command(arguments), min(3, options.repeats)))
    what = f"diff, {LOAD_LOCATIONS} and {EXPLAIN_LOCATIONS} locations"
    memory = "" if run.failure else f"{run.bytes >> 20} MiB"
    return [Row(f"{what}: time", f"{size:,}", seconds(run)), Row(f"{what}: peak memory", f"{size:,}", memory)]


def start_rows(options: argparse.Namespace) -> list[Row]:
    """What every user waits for: the help page, and the smallest database."""
    repeats = 2 * options.repeats + 1
    help_page = noted("help", median(lambda: command(["-m", "chathpc", "--help"]), repeats))
    bare = median(lambda: command(["-c", "pass"]), repeats)
    smallest = explain(databases.smallest(), options.repeats)
    page = explain(SMALL, options.repeats, "html")
    limits = ((help_page, HELP_SECONDS), (smallest, SMALLEST_SECONDS), (page, PAGE_SECONDS))
    met = [None if r.failure else r.seconds <= t for r, t in limits]
    return [
        Row(
            "chathpc --help, beside python -c pass",
            "",
            seconds(help_page),
            seconds(bare),
            "",
            f"<= {HELP_SECONDS} s",
            met[0],
        ),
        Row("explain the smallest database", "18", seconds(smallest), "", "", f"<= {SMALLEST_SECONDS:.0f} s", met[1]),
        Row("explain a small database, with its page", "128", seconds(page), "", "", f"<= {PAGE_SECONDS} s", met[2]),
    ]


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="sizes 10,000 and 100,000, two repeats")
    parser.add_argument("--no-hatchet", dest="hatchet", action="store_false", help="without hatchet's reader")
    parser.add_argument(
        "--no-nsight-systems", dest="nsight", action="store_false", help="without large exports of Nsight Systems"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=None, metavar="CONTEXTS")
    parser.add_argument("--repeats", type=int, default=None)
    options = parser.parse_args()
    options.sizes = options.sizes or ([10_000, 100_000] if options.quick else [10_000, 100_000, 1_000_000])
    options.repeats = options.repeats or (2 if options.quick else 5)
    return options


def main() -> None:
    """Measure everything and print the table."""
    options = parse()
    loads: dict[int, Run] = {}
    explains: dict[int, Run] = {}
    rows: list[Row] = []
    progress("writing the smallest database")
    measured("write", "smallest")
    for size in options.sizes:
        for locations in (LOAD_LOCATIONS, EXPLAIN_LOCATIONS):
            progress(f"writing {size:,} contexts × {locations} locations")
            measured("write", f"{size}x{locations}")
        progress(f"loading {size:,} contexts")
        loads[size], found = load_rows(size, options)
        rows += found
    for size in options.sizes:
        progress(f"explaining {size:,} contexts")
        explains[size], found = explain_rows(size, options)
        rows += found
    for size in options.sizes:
        progress(f"comparing {size:,} contexts")
        rows += diff_rows(size, options)
    rows += linear_rows("load", loads) + linear_rows("explain", explains)
    if options.nsight:
        rows += nsight_rows(quick=options.quick, repeats=options.repeats)
    progress("starting up")
    rows += start_rows(options)
    progress("")
    cores = len(os.sched_getaffinity(0))
    sys.stdout.write(
        f"{platform.machine()}, {cores} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}\n"
    )
    sys.stdout.write(table(rows) + "\n")


if __name__ == "__main__":
    main()
