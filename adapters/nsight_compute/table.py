"""The rows of an export to CSV: what stands before and between them, quoting, and how numbers are written.

Two pages are exported: `ncu --page raw --csv` is wide, a row for each launch and a column for each metric, units in the first
row; `--page details --csv` is long, a row for each metric or rule of each launch; `--print-summary` makes a long form with the
average over launches. Lines of the profiler (`==PROF== …`) and the
program's own output come before, and where several processes were profiled also between.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from chathpc.adapters.nsight_compute.launch import Triple
from chathpc.errors import AdapterError

#: How metrics are named in the wide form: unit of the GPU, two underscores, what it counts.
_METRIC = re.compile(r"[a-z][a-z0-9]*__[a-z0-9_]+(\.[a-z0-9_.]+)?")
#: Most characters of a row; template names of kernels reach tens of thousands.
_CELL = 8 << 20
_LINE = 64 << 20

#: How lines of the profiler itself begin.
OWN = ("==PROF== ", "==ERROR== ", "==WARNING== ")

#: Columns that say who and where; never read, since they are nobody's business.
PRIVATE = frozenset({"Process Name", "Host Name"})


@dataclass(frozen=True, slots=True)
class Header:
    """Columns by name, and whether it is the wide form."""

    columns: dict[str, int]
    wide: bool


def header_of(line: str) -> Header | None:
    """The header that a line is, if it is one."""
    if "Kernel Name" not in line or len(line) > _LINE:
        return None
    try:
        cells = [cell.strip().lstrip("\ufeff") for cell in next(csv.reader([line]), [])]
    except csv.Error:
        return None
    columns = {name: index for index, name in reversed(list(enumerate(cells))) if name and name not in PRIVATE}
    if "Kernel Name" not in columns or not columns.keys() & {"ID", "Invocations"}:
        return None
    if "Metric Name" in columns and columns.keys() & {"Metric Value", "Average"}:
        return Header(columns, wide=False)
    return Header(columns, wide=True) if any(_METRIC.fullmatch(name) for name in columns) else None


def rows(lines: Iterable[str], path: Path) -> Iterator[tuple[int, Header, list[str]]]:
    """Each row below a header: (number of the header, the header, cells). AdapterError if the quoting is damaged."""
    header: Header | None = None
    count = -1
    before = csv.field_size_limit(_CELL)
    try:
        reader = csv.reader(_of_tables(lines))
        while True:
            try:
                cells = next(reader, None)
            except csv.Error as error:
                raise AdapterError(f"damaged CSV: {error}", path=path, hint="Export the report again.") from None
            if cells is None:
                return
            if "Kernel Name" in cells:
                found = header_of(_joined(cells))
                if found is not None:
                    header, count = found, count + 1
                    continue
            if header is not None and cells:
                yield count, header, cells
    finally:
        csv.field_size_limit(before)


def _joined(cells: list[str]) -> str:
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)


def _of_tables(lines: Iterable[str]) -> Iterator[str]:
    """The lines from the first header on, without the profiler's own."""
    inside = False
    for line in lines:
        inside = inside or header_of(line) is not None
        if inside and not line.startswith("=="):
            yield line + "\n"


def cell(cells: list[str], header: Header, *names: str) -> str:
    """The cell in the first of the named columns that the header has; empty where the row is shorter."""
    for name in names:
        index = header.columns.get(name)
        if index is not None:
            return cells[index].strip() if index < len(cells) else ""
    return ""


def whole(text: str, otherwise: int) -> int:
    """A small whole number in a cell; `otherwise` for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else otherwise


def triple(text: str) -> Triple | None:
    """`(224, 1, 1)` → (224, 1, 1); None for anything else."""
    parts = [part.strip() for part in text.strip("() ").split(",")]
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) <= 10 for part in parts):
        return None
    return int(parts[0]), int(parts[1]), int(parts[2])
