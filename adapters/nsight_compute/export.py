"""Exports of Nsight Compute to CSV: the launches of a wide (raw page) or a long file (details page)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from chathpc.adapters.lines import lines
from chathpc.adapters.nsight_compute.facts import DEVICE, PATTERN, WANTED
from chathpc.adapters.nsight_compute.labels import metric_named
from chathpc.adapters.nsight_compute.launch import Launch, Report, Rule, Triple, failed
from chathpc.adapters.nsight_compute.table import Header, cell, rows, triple, whole
from chathpc.adapters.nsight_compute.units import normal, number
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

_WANTED = WANTED | DEVICE
_PATTERN = re.compile(PATTERN)
_TYPES = {"OK": 1, "INF": 1, "OPT": 2, "WRN": 3, "ERR": 4}
#: What is known without running the kernel.
_NO_COUNTER = (
    "device__",
    "launch__",
    "profiler__",
    "breakdown:",
    "group:",
    "nvlink__",
    "c2clink__",
    "numa__",
    "smsp__maximum",
    "sm__maximum",
)


@dataclass(slots=True)
class _Row:
    """A launch that is being put together."""

    kernel: str
    process: int
    grid: Triple | None
    block: Triple | None
    device: int
    context: int
    stream: int
    capability: str
    metrics: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    empty: int = 0
    zero: int = 0
    measured: int = 0

    def put(self, name: str, text: str, unit: str) -> None:
        """Take the metric `name`, as it is written."""
        amount = number(text.partition(" (")[0])
        value = None if amount is None else normal(amount, unit)
        if not name.startswith(_NO_COUNTER) and not name.endswith("peak_sustained"):
            self.measured += bool(value)
            self.zero += value == 0
            self.empty += value is None
        if value is None:
            if text and name in DEVICE:
                self.texts[name] = clean(text)
        elif name in _WANTED or _PATTERN.fullmatch(name):
            self.metrics.setdefault(name, value)

    def launch(self) -> Launch:
        """The launch as it is known at the end."""
        metrics = self.metrics
        for axis_sizes, name in ((self.grid, "launch__grid_size"), (self.block, "launch__block_size")):
            if axis_sizes is not None:
                x, y, z = axis_sizes
                metrics.setdefault(name, float(x * y * z))
        texts = {**self.texts, **({"capability": self.capability} if self.capability else {})}
        return Launch(
            kernel=self.kernel, metrics=metrics, texts=texts,
            grid=self.grid or _line(metrics, "launch__grid_size"), block=self.block or _line(metrics, "launch__block_size"),
            device=self.device, context=self.context, stream=self.stream, process=self.process, rules=tuple(self.rules),
            failed=failed(metrics, empty=self.empty, zero=self.zero, measured=self.measured),
        )  # fmt: skip


def _line(metrics: dict[str, float], name: str) -> Triple | None:
    size = metrics.get(name)
    return None if size is None else (int(size), 1, 1)


def read_export(path: Path) -> Report:
    """All launches of an export; AdapterError if no row of it can be read."""
    found: dict[tuple[int, str, str], _Row] = {}
    processes: dict[tuple[int, str], int] = {}
    units: dict[int, list[str]] = {}
    headers = 0
    for table, header, cells in rows(lines(path), path):
        headers = max(headers, table + 1)
        identifier, process = cell(cells, header, "ID"), cell(cells, header, "Process ID")
        if header.wide and table not in units:
            units[table] = [] if identifier else cells
            if not identifier:
                continue
        if whole(identifier, -1) < 0 or not cell(cells, header, "Kernel Name"):
            continue  # output of the program
        key = (table, process, identifier)
        row = found.get(key)
        if row is None:
            number_of = processes.setdefault((table, process), len(processes))
            row = found[key] = _row(cells, header, number_of)
        if header.wide:
            _take_wide(row, header, cells, units[table])
        else:
            _take_long(row, header, cells)
    if not headers:
        raise AdapterError(
            "no table of Nsight Compute in it",
            path=path,
            hint="Export it with: ncu --import REPORT --page raw --csv.",
        )
    return Report(tuple(row.launch() for row in found.values()), exported=True)


def _row(cells: list[str], header: Header, process: int) -> _Row:
    return _Row(
        kernel=clean(cell(cells, header, "Kernel Name")),
        process=process,
        grid=triple(cell(cells, header, "Grid Size")),
        block=triple(cell(cells, header, "Block Size")),
        device=whole(cell(cells, header, "Device"), 0),
        context=whole(cell(cells, header, "Context"), -1),
        stream=whole(cell(cells, header, "Stream"), -1),
        capability=_capability(cell(cells, header, "CC")),
    )


def _capability(text: str) -> str:
    return text if re.fullmatch(r"\d{1,2}\.\d", text) else ""


def _take_wide(row: _Row, header: Header, cells: list[str], units: Iterable[str]) -> None:
    known = list(units)
    for name, index in header.columns.items():
        if "__" in name and index < len(cells):
            row.put(name, cells[index].strip(), known[index] if index < len(known) else "")


def _take_long(row: _Row, header: Header, cells: list[str]) -> None:
    name, unit = cell(cells, header, "Metric Name"), cell(cells, header, "Metric Unit")
    if name:
        section = cell(cells, header, "Section Name")
        text = cell(cells, header, "Metric Value")
        row.put(metric_named(name, unit, section) or name, text, unit)
    rule = cell(cells, header, "Rule Name")
    if rule:
        gain = number(cell(cells, header, "Estimated Speedup"))
        scope = cell(cells, header, "Estimated Speedup Type").lower()
        row.rules.append(
            Rule(
                rule=rule,
                name=rule,
                type=_TYPES.get(cell(cells, header, "Rule Type").upper()[:3], 0),
                title="",
                text=cell(cells, header, "Rule Description"),
                speedup=gain if gain is not None and 0 < gain <= 100 else None,
                scope=scope if scope in ("local", "global") else "",
            )
        )
