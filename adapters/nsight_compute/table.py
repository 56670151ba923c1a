"""The rows of an export to CSV: what stands before and between them, quoting, how numbers and units are written."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from chathpc.adapters.nsight_compute.launch import Triple
from chathpc.errors import AdapterError

_PREFIXES = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
#: Units that are written with a prefix → how they are written.
_SCALED = ("second", "byte", "hz", "s", "inst", "sector", "warp", "thread", "cycle", "block", "request")
#: A value beyond this is damage: no counter of a GPU comes near it.
_LARGEST = 1e30


def factor(unit: str) -> float:
    """What a value in `unit` is multiplied with to be in SI units; 1 for a unit that carries no prefix.

    `usecond` and `us` → 1e-6, `Mbyte` → 1e6, `Gbyte/s` → 1e9, `cycle/nsecond` → 1e9, `Kbyte/block` → 1e3, `%` → 1.
    Prefixes count in powers of 1,000, bytes too.
    """
    above, _, below = unit.strip().partition("/")
    return _one(above) / (_one(below) or 1.0)


def _one(unit: str) -> float:
    word = unit.strip()
    for base in _SCALED:
        lowered = word.lower()
        if lowered.endswith(base):
            prefix = word[: len(word) - len(base)]
            if prefix in _PREFIXES:
                return _PREFIXES[prefix]
    return 1.0


def normal(value: float, unit: str) -> float | None:
    """`value` in SI units; None if it is not a number, or none that a counter could have."""
    scaled = value * factor(unit)
    return scaled if math.isfinite(scaled) and abs(scaled) <= _LARGEST else None


#: What can only be a number with a decimal point, or only with a decimal comma.
_POINT = re.compile(
    r"-?(?:\d+\.(?:\d{1,2}|\d{4,})|0\.\d+|\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,})(?:[eE][+-]?\d+)?"
)
_COMMA = re.compile(
    r"-?(?:\d+,(?:\d{1,2}|\d{4,})|0,\d+|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,})(?:[eE][+-]?\d+)?"
)
#: After so many signs the matter is settled.
_ENOUGH = 1000
#: Separators of thousands that mean nothing else: spaces of all widths and apostrophes.
_SPACES = re.compile(r"(?<=\d)[\s'\u2019](?=\d)")


class Numerals:
    """Collects what the numbers of a file look like, and reads them."""

    def __init__(self) -> None:
        self._points = self._commas = 0

    def see(self, text: str) -> None:
        """Take a cell as evidence for one way of writing."""
        if self._points + self._commas >= _ENOUGH:
            return
        text = _plain(text)
        self._points += _POINT.fullmatch(text) is not None
        self._commas += _COMMA.fullmatch(text) is not None

    def number(self, text: str) -> float | None:
        """The number in a cell; None for `n/a`, empty cells and words. Values per instance in brackets are left out."""
        text = _plain(text)
        decimal, grouping = (",", ".") if self._commas > self._points else (".", ",")
        try:
            value = float(text.replace(grouping, "").replace(decimal, "."))
        except ValueError:
            return None
        return value if math.isfinite(value) else None


def _plain(text: str) -> str:
    return _SPACES.sub("", text.partition(" (")[0].strip())


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
        return _header(next(csv.reader([line]), []))
    except csv.Error:
        return None


def _header(cells: list[str]) -> Header | None:
    cells = [cell.strip().lstrip("\ufeff") for cell in cells]
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
                found = _header(cells)
                if found is not None:
                    header, count = found, count + 1
                    continue
            if header is not None and cells:
                yield count, header, cells
    finally:
        csv.field_size_limit(before)


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
