"""Which report a table is, told by the names of its columns; several may stand in one file, with other text between."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from chathpc.adapters.content import DAMAGED
from chathpc.errors import AdapterError

_UNIT = re.compile(r"\s*\(([^()]*)\)$")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0}
_SIZES = {
    "b": 1.0, "bytes": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1024.0, "mib": 1024.0**2, "gib": 1024.0**3,
}  # fmt: skip


class Report(StrEnum):
    """The reports that are read, under the names that nsys gives them."""

    KERNELS = "cuda_gpu_kern_sum"
    KERNELS_BY_SHAPE = "cuda_gpu_kern_gb_sum"
    OPERATIONS = "cuda_gpu_sum"
    COPY_TIMES = "cuda_gpu_mem_time_sum"
    COPY_SIZES = "cuda_gpu_mem_size_sum"
    CALLS = "cuda_api_sum"
    RANGES = "nvtx_sum"
    GPU_TRACE = "cuda_gpu_trace"
    CALL_TRACE = "cuda_api_trace"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name in lower case without unit, and the factor to seconds or bytes (1 for anything else)."""

    name: str
    scale: float


@dataclass(frozen=True, slots=True)
class Table:
    """One report: rows by the names of its columns."""

    report: Report
    columns: tuple[Column, ...]
    rows: list[list[str]]

    def cells(self) -> Iterator[dict[str, str]]:
        """The rows, cells by column."""
        names = [column.name for column in self.columns]
        for row in self.rows:
            yield dict(zip(names, row, strict=False))

    def scale(self, name: str) -> float:
        """The factor that brings numbers of a column to seconds or bytes."""
        return next((column.scale for column in self.columns if column.name == name), 1.0)


def columns_of(cells: list[str]) -> tuple[Column, ...]:
    """The columns of a line of names."""
    found = []
    for cell in cells:
        unit = _UNIT.search(cell)
        words = (unit[1] if unit else "").strip().lower()
        name = _UNIT.sub("", cell).strip().lower()
        found.append(Column("share" if words == "%" else name, _SECONDS.get(words, _SIZES.get(words, 1.0))))
    return tuple(found)


def report_of(columns: tuple[Column, ...]) -> Report | None:
    """The report with these columns; None if it is none that is read."""
    names = {column.name for column in columns}
    if {"start", "duration", "corrid", "name"} <= names and names & {"strm", "grdx"}:
        return Report.GPU_TRACE
    if {"start", "duration", "corrid", "name", "tid"} <= names:
        return Report.CALL_TRACE
    if {"total", "operation"} <= names and "share" not in names:
        return Report.COPY_SIZES
    if not {"share", "total time"} <= names:
        return None
    if {"category", "operation"} <= names:
        return Report.OPERATIONS
    if "operation" in names:
        return Report.COPY_TIMES
    if "range" in names:
        return Report.RANGES
    if "name" not in names:
        return None
    if "num calls" in names or "calls" in names:
        return Report.CALLS
    if "instances" not in names:
        return None
    return Report.KERNELS_BY_SHAPE if {"gridxyz", "blockxyz"} <= names else Report.KERNELS


def holds_report(text: str) -> bool:
    """True if one of the first lines names the columns of a report."""
    for line in text.splitlines()[:200]:
        if line.count(",") >= 4 and "(" in line and len(line) < 4000:
            try:
                cells = next(csv.reader([line]), [])
            except csv.Error:
                continue
            if report_of(columns_of(cells)) is not None:
                return True
    return False


def tables_of(text: str, path: Path) -> list[Table]:
    """All reports in a file; AdapterError for damaged CSV."""
    found: list[Table] = []
    current: Table | None = None
    reader = csv.reader(text.splitlines(keepends=True))
    try:
        for row in reader:
            if not row or not any(row):
                current = None
                continue
            if len(row) >= 5:
                columns = columns_of(row)
                report = report_of(columns)
                if report is not None:
                    current = Table(report, columns, [])
                    found.append(current)
                    continue
            if current is not None:
                current.rows.append(row)
    except csv.Error as error:
        raise AdapterError(f"damaged CSV in line {reader.line_num}: {error}", path=path, hint=DAMAGED) from None
    return found
