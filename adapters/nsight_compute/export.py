"""Exports of Nsight Compute to CSV: the launches of a wide (raw page) or a long file (details page)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from chathpc.adapters.lines import lines
from chathpc.adapters.nsight_compute.child import NO_COUNTER
from chathpc.adapters.nsight_compute.facts import DEVICE, WANTED
from chathpc.adapters.nsight_compute.launch import Launch, Report, Rule, failed, one_dimension, plausible
from chathpc.adapters.nsight_compute.roofline import PATTERN
from chathpc.adapters.nsight_compute.table import OWN, Header, Numerals, cell, normal, rows, triple, whole
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

_PCT_ELAPSED, _PCT_ACTIVE = ".avg.pct_of_peak_sustained_elapsed", ".avg.pct_of_peak_sustained_active"

#: label → metric. Labels changed over the years: `SOL SM`, `SM [%]` and `Compute (SM) Throughput` are one metric.
_LABELS = {
    "Duration": "gpu__time_duration.sum",
    "Compute (SM) Throughput": "sm__throughput" + _PCT_ELAPSED,
    "SM [%]": "sm__throughput" + _PCT_ELAPSED,
    "Compute (SM) [%]": "sm__throughput" + _PCT_ELAPSED,
    "SOL SM": "sm__throughput" + _PCT_ELAPSED,
    "Memory [%]": "gpu__compute_memory_throughput" + _PCT_ELAPSED,
    "SOL Memory": "gpu__compute_memory_throughput" + _PCT_ELAPSED,
    "DRAM Throughput": "gpu__dram_throughput" + _PCT_ELAPSED,
    "SOL DRAM": "gpu__dram_throughput" + _PCT_ELAPSED,
    "SOL FB": "gpu__dram_throughput" + _PCT_ELAPSED,
    "L1/TEX Cache Throughput": "l1tex__throughput" + _PCT_ACTIVE,
    "SOL L1/TEX Cache": "l1tex__throughput" + _PCT_ACTIVE,
    "SOL TEX": "l1tex__throughput" + _PCT_ACTIVE,
    "L2 Cache Throughput": "lts__throughput" + _PCT_ELAPSED,
    "SOL L2 Cache": "lts__throughput" + _PCT_ELAPSED,
    "SOL L2": "lts__throughput" + _PCT_ELAPSED,
    "SM Frequency": "sm__cycles_elapsed.avg.per_second",
    "SM Active Cycles": "sm__cycles_active.avg",
    "Elapsed Cycles": "gpc__cycles_elapsed.max",
    "Memory Frequency": "dram__cycles_elapsed.avg.per_second",
    "DRAM Frequency": "dram__cycles_elapsed.avg.per_second",
    "L1/TEX Hit Rate": "l1tex__t_sector_hit_rate.pct",
    "L2 Hit Rate": "lts__t_sector_hit_rate.pct",
    "Theoretical Occupancy": "sm__maximum_warps_per_active_cycle_pct",
    "Achieved Occupancy": "sm__warps_active" + _PCT_ACTIVE,
    "Block Limit Registers": "launch__occupancy_limit_registers",
    "Block Limit Shared Mem": "launch__occupancy_limit_shared_mem",
    "Block Limit Warps": "launch__occupancy_limit_warps",
    "Block Limit SM": "launch__occupancy_limit_blocks",
    "Block Limit Barriers": "launch__occupancy_limit_barriers",
    "Registers Per Thread": "launch__registers_per_thread",
    "Waves Per SM": "launch__waves_per_multiprocessor",
    "# SMs": "launch__sm_count",
    "Grid Size": "launch__grid_size",
    "Block Size": "launch__block_size",
    "Static Shared Memory Per Block": "launch__shared_mem_per_block_static",
    "Dynamic Shared Memory Per Block": "launch__shared_mem_per_block_dynamic",
    "One or More Eligible": "smsp__issue_active" + _PCT_ACTIVE,
    "No Eligible": "smsp__issue_inst0" + _PCT_ACTIVE,
    "Issued Warp Per Scheduler": "smsp__issue_active.avg.per_cycle_active",
    "Eligible Warps Per Scheduler": "smsp__warps_eligible.avg.per_cycle_active",
    "Warp Cycles Per Issued Instruction": "smsp__average_warp_latency_per_inst_issued.ratio",
    "Avg. Active Threads Per Warp": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "Executed Instructions": "smsp__inst_executed.sum",
    "Branch Efficiency": "smsp__sass_average_branch_targets_threads_uniform.pct",
    "Selected": "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio",
    # Pipes, in the long form of the page (--print-details all)
    "ALU": "sm__inst_executed_pipe_alu" + _PCT_ACTIVE,
    "FMA": "sm__inst_executed_pipe_fma" + _PCT_ACTIVE,
    "FP16": "sm__inst_executed_pipe_fp16" + _PCT_ACTIVE,
    "FP64": "sm__inst_executed_pipe_fp64" + _PCT_ACTIVE,
    "LSU": "sm__inst_executed_pipe_lsu" + _PCT_ACTIVE,
    "XU": "sm__inst_executed_pipe_xu" + _PCT_ACTIVE,
    "Tensor (All)": "sm__pipe_tensor_cycles_active" + _PCT_ACTIVE,
    "Local Memory Loads": "sass__inst_executed_local_loads",
    "Local Memory Stores": "sass__inst_executed_local_stores",
}  # fmt: skip
_THROUGHPUT = "Memory Throughput"
_STALL = "Stall "


def metric_named(label: str, unit: str) -> str | None:
    """The metric behind a label of the details page; None for labels that nothing is known of, and for metric names.

    `Memory Throughput` is a percentage of the peak in the section Speed Of Light, and bytes per second in Memory Workload
    Analysis.
    """
    if label == _THROUGHPUT:
        if unit.strip() == "%":
            return "gpu__compute_memory_throughput" + _PCT_ELAPSED
        return "dram__bytes.sum.per_second" if "byte" in unit else None
    if label.startswith(_STALL):
        reason = label.removeprefix(_STALL).lower().replace(" ", "_")
        return f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"
    return _LABELS.get(label)


_WANTED = WANTED | DEVICE
_PATTERN = re.compile(PATTERN)
_TYPES = {"OK": 1, "INF": 1, "OPT": 2, "WRN": 3, "ERR": 4}
#: What tells the kernels of a summary apart.
_CONFIGURATION = ("Kernel Name", "Block Size", "Grid Size", "Device", "Invocations")
_RANGES = "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
#: One range in that column: its domain, its name, and six words on its payload, colour and message.
_RANGE = re.compile(r'"[^":]*:([^"]*?)(?::[^":]*){6}"')


@dataclass(slots=True)
class _Row:
    """A launch that is being put together. Numbers stay text until all of the file has shown how it writes them."""

    launch: Launch  #: what does not depend on that
    count: str
    values: dict[str, tuple[str, str]] = field(default_factory=dict)
    rules: list[tuple[Rule, str]] = field(default_factory=list)
    empty: int = 0
    zero: int = 0
    measured: int = 0

    def put(self, name: str, text: str, unit: str) -> None:
        """Take the metric `name`, as it is written."""
        if not self.measured:
            self.count_in(name, text)
        if _is_wanted(name):
            self.values.setdefault(name, (text, unit))

    def count_in(self, name: str, text: str) -> None:
        """Take a counter as a sign that profiling worked, or did not; nothing more is needed once one was measured."""
        if not name.startswith(NO_COUNTER) and not name.endswith("peak_sustained"):
            digits = any(character.isdigit() for character in text)
            value = any(character in "123456789" for character in text)
            self.measured += value
            self.zero += digits and not value
            self.empty += not digits

    def finish(self, numerals: Numerals) -> Launch:
        """The launch as it is known at the end."""
        metrics: dict[str, float] = {}
        texts = dict(self.launch.texts)
        for name, (text, unit) in self.values.items():
            amount = numerals.number(text)
            value = None if amount is None else normal(amount, unit)
            if value is not None:
                metrics[name] = value
            elif name in DEVICE and text:
                texts[name] = clean(text)
        grid, block = self.launch.grid, self.launch.block
        for sizes, name in ((grid, "launch__grid_size"), (block, "launch__block_size")):
            if sizes is not None:
                metrics.setdefault(name, float(sizes[0] * sizes[1] * sizes[2]))
        return replace(
            self.launch, metrics=metrics, texts=texts,
            grid=grid or one_dimension(metrics, "launch__grid_size"), block=block or one_dimension(metrics, "launch__block_size"),
            rules=tuple(replace(rule, speedup=plausible(numerals.number(gain))) for rule, gain in self.rules),
            failed=failed(metrics, empty=self.empty, zero=self.zero, measured=self.measured),
            count=max(numerals.number(self.count) or 1.0, 1.0),
        )  # fmt: skip


def read_export(path: Path) -> Report:
    """All launches of an export; AdapterError if there is no table of Nsight Compute in it."""
    found: dict[tuple[object, ...], _Row] = {}
    processes: dict[tuple[int, str], int] = {}
    wide: dict[int, _Wide] = {}
    numerals = Numerals()
    headers, cut_off = 0, False
    for table, header, cells in rows(lines(path), path):
        headers = max(headers, table + 1)
        identifier, process = cell(cells, header, "ID"), cell(cells, header, "Process ID")
        if header.wide and table not in wide:
            wide[table] = _Wide(header, [] if identifier else cells)
        if not _is_row(cells, header, identifier):
            continue  # the units, or output of the program
        # Rows of a long table may end early; in a wide one, what stands last may be half a number.
        if header.wide and len(cells) <= max(header.columns.values()):
            cut_off = True
            continue
        names = ("ID",) if "ID" in header.columns else _CONFIGURATION
        key = (table, process, *(cell(cells, header, name) for name in names))
        row = found.get(key)
        if row is None:
            number_of = processes.setdefault((table, process), len(processes))
            row = found[key] = _row(cells, header, number_of)
        if header.wide:
            wide[table].take(row, cells, numerals)
        else:
            _take_long(row, header, cells, numerals)
    if cut_off and not found:
        raise AdapterError("cut off in its first row", path=path, hint="Export the report again.")
    if not found:
        what = "a table of Nsight Compute without rows" if headers else "no table of Nsight Compute in it"
        raise AdapterError(what, path=path, hint=_without_table(path))
    return Report(tuple(row.finish(numerals) for row in found.values()), exported=True, cut_off=cut_off)


def _without_table(path: Path) -> str:
    """What to do about output of ncu that holds no table."""
    for line in lines(path):
        if line.startswith(OWN) and "ERR_NVGPUCTRPERM" in line:
            return "ncu was not allowed to read the counters: see https://developer.nvidia.com/ERR_NVGPUCTRPERM, and profile again."
        if line.startswith(OWN) and "No kernels were profiled" in line:
            return "ncu profiled no kernel: check its filters (--kernel-name, --launch-skip, --target-processes all)."
    return "Write it with: ncu --csv --page raw …, or export a report with: ncu --import REPORT --page raw --csv."


def _is_row(cells: list[str], header: Header, identifier: str) -> bool:
    numbered = cell(cells, header, "Invocations") if "ID" not in header.columns else identifier
    return whole(numbered.replace(",", ""), -1) >= 0 and bool(cell(cells, header, "Kernel Name"))


def _row(cells: list[str], header: Header, process: int) -> _Row:
    capability = cell(cells, header, "CC")
    launch = Launch(
        kernel=clean(cell(cells, header, "Kernel Name")),
        metrics={},
        texts={"capability": capability} if re.fullmatch(r"\d{1,2}\.\d", capability) else {},
        grid=triple(cell(cells, header, "Grid Size")),
        block=triple(cell(cells, header, "Block Size")),
        device=whole(cell(cells, header, "Device"), 0),
        context=whole(cell(cells, header, "Context"), -1),
        stream=whole(cell(cells, header, "Stream"), -1),
        process=process,
        ranges=tuple(_RANGE.findall(cell(cells, header, _RANGES))),
        identity=(cell(cells, header, "Process ID"), cell(cells, header, "ID")),
    )
    return _Row(launch, cell(cells, header, "Invocations"))


def _is_wanted(name: str) -> bool:
    return name in _WANTED or _PATTERN.fullmatch(name) is not None


class _Wide:
    """The columns of a wide table: those that hold a wanted metric, and all that hold one."""

    def __init__(self, header: Header, units: list[str]) -> None:
        metrics = [(name, index) for name, index in header.columns.items() if "__" in name]
        self._all = metrics
        self._wanted = [(n, i, units[i] if i < len(units) else "") for n, i in metrics if _is_wanted(n)]

    def take(self, row: _Row, cells: list[str], numerals: Numerals) -> None:
        """Put the cells of one launch into `row`."""
        for name, index, unit in self._wanted:
            if index < len(cells):
                text = cells[index].strip()
                numerals.see(text)
                row.values.setdefault(name, (text, unit))
        for name, index in self._all:
            if row.measured:
                return
            if index < len(cells):
                row.count_in(name, cells[index].strip())


def _take_long(row: _Row, header: Header, cells: list[str], numerals: Numerals) -> None:
    name, unit = cell(cells, header, "Metric Name"), cell(cells, header, "Metric Unit")
    if name:
        text = cell(cells, header, "Metric Value", "Average")
        numerals.see(text)
        row.put(metric_named(name, unit) or name, text, unit)
    rule = cell(cells, header, "Rule Name")
    if rule:
        scope = cell(cells, header, "Estimated Speedup Type").lower()
        gain = cell(cells, header, "Estimated Speedup")
        numerals.see(gain)
        told = Rule(
            rule=rule,
            name=rule,
            type=_TYPES.get(cell(cells, header, "Rule Type").upper()[:3], 0),
            title="",
            text=cell(cells, header, "Rule Description"),
            scope=scope if scope in ("local", "global") else "",
        )
        row.rules.append((told, gain))
