"""Files of Nsight Compute as it writes them, with numbers of our choice: exports to CSV in all their forms, and reports for the
stand-in of NVIDIA's reader (the format of real reports is NVIDIA's own: the samples test those).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Where the stand-in for NVIDIA's reader lies: to be put in front of sys.path.
STUB = Path(__file__).with_name("ncu_stub")
MAGIC = b"NVR\0"

_NVTX = (
    "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
    "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
)
_WHO = ("ID", "Process ID", "Process Name", "Host Name")
_SIZES = ("Block Size", "Grid Size", "Device", "CC")
_LONG = ("Section Name", "Metric Name", "Metric Unit", "Metric Value")
_RULES = ("Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup")

#: metric → (section, what the details page calls it), for metrics that the page shows under another name.
_SHOWN = {
    "gpu__time_duration.sum": ("GPU Speed Of Light Throughput", "Duration"),
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": ("GPU Speed Of Light Throughput", "Compute (SM) Throughput"),
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": ("GPU Speed Of Light Throughput", "Memory Throughput"),
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": ("GPU Speed Of Light Throughput", "DRAM Throughput"),
    "dram__bytes.sum.per_second": ("Memory Workload Analysis", "Memory Throughput"),
    "sm__maximum_warps_per_active_cycle_pct": ("Occupancy", "Theoretical Occupancy"),
    "launch__registers_per_thread": ("Launch Statistics", "Registers Per Thread"),
    "launch__shared_mem_per_block_dynamic": ("Launch Statistics", "Dynamic Shared Memory Per Block"),
}  # fmt: skip
_STALL = "smsp__average_warps_issue_stalled_"

#: Units and the prefixes with which they are printed: (smallest value, divisor, unit).
_SCALES = {
    "ns": ((1e9, 1e9, "s"), (1e6, 1e6, "ms"), (1e3, 1e3, "us")),
    "nsecond": ((1e9, 1e9, "second"), (1e6, 1e6, "msecond"), (1e3, 1e3, "usecond")),
    "byte": ((1e9, 1e9, "Gbyte"), (1e6, 1e6, "Mbyte"), (1e3, 1e3, "Kbyte")),
    "byte/s": ((1e12, 1e12, "Tbyte/s"), (1e9, 1e9, "Gbyte/s"), (1e6, 1e6, "Mbyte/s")),
    "byte/block": ((1e3, 1e3, "Kbyte/block"),),
    "hz": ((1e9, 1e9, "Ghz"), (1e6, 1e6, "Mhz")),
}  # fmt: skip


@dataclass(frozen=True)
class Printed:
    """How numbers are printed: separators, decimals, and whether units carry prefixes (`--print-units auto`)."""

    decimal: str = "."
    grouping: str = ","
    decimals: int = 2
    scaled: bool = True

    def number(self, value: float | None) -> str:
        """`53,261,312` or `19.66`; `n/a` without a value."""
        if value is None:
            return "n/a"
        text = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.{self.decimals}f}"
        return text.translate({ord(","): self.grouping, ord("."): self.decimal})

    def measured(self, value: float | None, unit: str) -> tuple[str, str]:
        """The value as text and its unit, with a prefix where that is wanted."""
        if value is not None and self.scaled:
            for smallest, divisor, prefixed in _SCALES.get(unit, ()):
                if abs(value) >= smallest:
                    return self.number(value / divisor), prefixed
        return self.number(value), unit


@dataclass(frozen=True)
class Rule:
    """A result of a rule: `type` as in reports (1 ok, 2 optimization, 3 warning, 4 error)."""

    rule: str
    text: str
    type: int = 2
    title: str = ""
    speedup: float | None = None
    scope: str = "global"


@dataclass(frozen=True)
class Run:
    """A profiled launch: metrics as name → (value, unit); a value of None was asked for and not measured."""

    kernel: str
    metrics: Mapping[str, tuple[float | str | None, str]]
    grid: tuple[int, int, int] = (96, 1, 1)
    block: tuple[int, int, int] = (128, 1, 1)
    device: int = 0
    capability: str = "8.0"
    context: int = 1
    stream: int = 7
    process: int = 4711
    ranges: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    code: Mapping[int, tuple[str, str, int]] = field(default_factory=dict)  #: address → (instruction, file, line)
    located: Mapping[str, Mapping[int, float]] = field(default_factory=dict)  #: metric → address → value
    sources: Mapping[str, str] = field(default_factory=dict)
    base: int = 0x7F0000001000
    type: int = 0


def _quoted(cells: Iterable[object]) -> str:
    return ",".join('"' + str(cell).replace('"', '""') + '"' for cell in cells) + "\n"


def _ranges(run: Run) -> str:
    shown = "".join(f'  "<default domain>:{name}:none:none:none:none:none:none"' for name in run.ranges)
    return f"1{shown} " if shown else ""


def _who(number: int, run: Run, *, nvtx: bool, old: bool) -> list[object]:
    first: list[object] = [number, run.process, "planted-process", "planted-host"]
    if nvtx:
        first += [_ranges(run), ""]
    first.append(run.kernel)
    if old:
        return [*first, "2021-Mar-01 10:00:00", run.context, run.stream]
    return [*first, run.context, run.stream, _size(run.block), _size(run.grid), run.device, run.capability]


def _size(size: Sequence[int]) -> str:
    return "(" + ", ".join(str(one) for one in size) + ")"


def _header(*, nvtx: bool, old: bool) -> list[str]:
    first = [*_WHO, *(_NVTX if nvtx else ()), "Kernel Name"]
    return [*first, "Kernel Time", "Context", "Stream"] if old else [*first, "Context", "Stream", *_SIZES]


def raw_page(runs: Sequence[Run], *, printed: Printed = Printed(), nvtx: bool = False, old: bool = False) -> str:
    """`ncu --page raw --csv`: a row for each launch; the second row holds the units of the first launch that has the metric."""
    names = list(dict.fromkeys(name for run in runs for name in run.metrics))
    # One unit for a column: scaled by the largest value, as the tool does.
    units, divisors = {}, {}
    for name in names:
        found = [run.metrics[name] for run in runs if name in run.metrics]
        numbers = [abs(value) for value, _ in found if isinstance(value, float | int)]
        unit = found[0][1]
        units[name], divisors[name] = unit, 1.0
        for smallest, divisor, prefixed in _SCALES.get(unit, ()) if printed.scaled else ():
            if numbers and max(numbers) >= smallest:
                units[name], divisors[name] = prefixed, divisor
                break
    header = _header(nvtx=nvtx, old=old)
    text = _quoted([*header, *names]) + _quoted(["" for _ in header] + [units[name] for name in names])
    for number, run in enumerate(runs):
        cells: list[object] = []
        for name in names:
            value = run.metrics.get(name, ("", ""))[0]
            cells.append(
                value if isinstance(value, str) else printed.number(None if value is None else value / divisors[name])
            )
        text += _quoted([*_who(number, run, nvtx=nvtx, old=old), *cells])
    return text


def details_page(
    runs: Sequence[Run], *, printed: Printed = Printed(), nvtx: bool = False, old: bool = False, ragged: bool = True
) -> str:
    """`ncu --page details --csv`: a row for each metric and each rule; `old`: the columns of 2020; `ragged`: rows end early."""
    header = [*_header(nvtx=nvtx, old=old), *_LONG, *(() if old else _RULES)]
    text = _quoted(header)
    for number, run in enumerate(runs):
        who = _who(number, run, nvtx=nvtx, old=old)
        for name, (value, unit) in run.metrics.items():
            if isinstance(value, str):
                continue
            section, label = _SHOWN.get(name, ("Command line profiler metrics", name))
            if name.startswith(_STALL):
                reason = name.removeprefix(_STALL).partition("_per_issue")[0]
                section, label = "Warp State Statistics", "Stall " + reason.replace("_", " ").title()
            shown, scaled = printed.measured(value, unit)
            cells = [*who, section, label, scaled, shown]
            text += _quoted(cells)[:-1] + ("\n" if ragged or old else "," + _quoted([""] * 5))
        for rule in () if old else run.rules:
            kind = {1: "INF", 2: "OPT", 3: "WRN", 4: "ERR"}[rule.type]
            gain = ["", ""] if rule.speedup is None else [rule.scope, printed.number(rule.speedup)]
            text += _quoted([*who, "SpeedOfLight", "", "", "", rule.rule, kind, rule.text, *gain])
    return text


def summary_page(runs: Sequence[tuple[Run, int]], *, printed: Printed = Printed()) -> str:
    """`ncu --csv --print-summary per-kernel`: averages of (run, how many launches)."""
    header = [*_WHO[1:], "Kernel Name", *_SIZES, "Invocations", "Section Name", "Metric Name", "Metric Unit",
              "Minimum", "Maximum", "Average"]  # fmt: skip
    text = _quoted(header)
    for run, count in runs:
        for name, (value, unit) in run.metrics.items():
            shown, scaled = printed.measured(value if isinstance(value, float | int) else None, unit)
            section, label = _SHOWN.get(name, ("Command line profiler metrics", name))
            text += _quoted(
                [run.process, "planted-process", "planted-host", run.kernel, _size(run.block), _size(run.grid), run.device,
                 run.capability, count, section, label, scaled, shown, shown, shown]
            )  # fmt: skip
    return text


def report(runs: Sequence[Run], *, behaviour: str = "") -> bytes:
    """A report for the stand-in of NVIDIA's reader."""
    return MAGIC + json.dumps({"behaviour": behaviour, "ranges": [[_action(run) for run in runs]]}).encode()


def _action(run: Run) -> dict[str, Any]:
    metrics: dict[str, dict[str, Any]] = {
        name: {"value": value, "unit": unit} for name, (value, unit) in run.metrics.items()
    }
    if run.grid != (0, 0, 0):
        for what, sizes in (("grid", run.grid), ("block", run.block)):
            for axis, size in zip("xyz", sizes, strict=True):
                metrics[f"launch__{what}_dim_{axis}"] = {"value": size}
            metrics[f"launch__{what}_size"] = {"value": sizes[0] * sizes[1] * sizes[2]}
    for name, number in (("device", run.device), ("context", run.context), ("stream", run.stream)):
        metrics[f"launch__{name}_id"] = {"value": number}
    metrics["launch__function_pcs"] = {"value": run.base, "instances": [[0, run.base]]}
    for name, places in run.located.items():
        total = sum(places.values())
        metrics[name] = {"value": total, "instances": [[address, value] for address, value in places.items()]}
    return {
        "kernel": run.kernel,
        "type": run.type,
        "metrics": metrics,
        "nvtx": [list(run.ranges)] if run.ranges else None,
        "rules": [_rule(rule) for rule in run.rules],
        "code": {str(address): list(place) for address, place in run.code.items()},
        "sources": dict(run.sources),
    }


def _rule(rule: Rule) -> dict[str, Any]:
    result: dict[str, Any] = {
        "rule_identifier": rule.rule,
        "name": f"Name of {rule.rule}",
        "section_identifier": "SpeedOfLight",
        "rule_message": {"title": rule.title, "message": rule.text, "type": rule.type},
    }
    if rule.speedup is not None:
        result["speedup_estimation"] = {"type": 2 if rule.scope == "global" else 1, "speedup": rule.speedup}
    return result
