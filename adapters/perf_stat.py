"""perf stat: counters of a whole run, as `perf stat -x,` (any separator) or `perf stat -j` writes them.

Fields of -x (perf-stat(1), "CSV FORMAT"): optional columns of -I, -A or --per-…, then value, unit, event, optionally the
deviation of -r, the time that the event ran, the percentage of the time that it was counted, and optionally a derived value
with its unit. `<not supported>` and `<not counted>` are no values.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import Glance
from chathpc.adapters.lines import lines
from chathpc.adapters.linux_perf.events import event_of, unlike
from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile import numbers
from chathpc.profile.metric import Metric, Unit
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind

_NOT = ("<not supported>", "<not counted>")
_VALUE = re.compile(r"\d{1,20}(?:[.,]\d{1,9})?")
_UNIT = re.compile(r"[A-Za-z/%]{0,12}")
_EVENT = re.compile(r"[A-Za-z{][\w./:{}=,-]{1,200}")
#: Events of which at least one is in nearly every file, to recognise the format by.
_COMMON = re.compile(
    r"(?:task-clock|cpu-clock|cycles|instructions|context-switches|cpu-migrations|page-faults|branches|branch-misses"
    r"|cache-misses|cache-references|duration_time)(?::\w+)?"
)
_JSON = re.compile(r'\s*\{"(?:counter-value|interval|cpu|core|socket|node|die|thread|cgroup|event)"\s*:')
_SEPARATORS = ",;\t|"
#: Units in which perf prints clocks → seconds.
_UNITS = {"msec": 1e-3, "sec": 1.0, "ns": 1e-9, "usec": 1e-6}
#: Percentage of the time below which a counter was shared in turns, and its value is an estimate.
_COUNTED = 99.0
#: Processors in use below which even a program of one thread waited for something.
_BUSY = 0.9
_HOW = "Write it again: perf stat -x, -o counters.csv ./app"


@dataclass(frozen=True, slots=True)
class _Row:
    """A counter: its value (None if it was not counted), and `0.332`, `CPUs utilized` derived from it."""

    event: str
    value: float | None
    unit: str
    counted: float
    derived: tuple[float | None, str]


@dataclass(slots=True)
class _Counters:
    values: dict[str, float] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    estimated: list[str] = field(default_factory=list)
    utilised: list[float] = field(default_factory=list)


def recognises(glance: Glance) -> bool:
    """True for lines most of which have the fields of perf stat, with an event that is nearly always there."""
    rows = [row for row in glance.text[: 16 << 10].splitlines()[:60] if row.strip() and not row.startswith("#")]
    if not rows:
        return False
    if _JSON.match(rows[0]):
        return '"event"' in rows[0] and ('"counter-value"' in rows[0] or '"metric-value"' in rows[0])
    parsed = [found for row in rows if (found := _row(row)) is not None]
    return len(parsed) >= 0.6 * len(rows) and any(_COMMON.fullmatch(row.event) for row in parsed)


def _number(text: object) -> float | None:
    found = _VALUE.fullmatch(text) if isinstance(text, str) else None
    return float(found[0].replace(",", ".")) if found else None


def _row(line: str) -> _Row | None:
    """The counter of a line of -j or -x; None if it is none."""
    if line.lstrip().startswith("{"):
        return _json_row(line)
    for separator in _SEPARATORS:
        cells = [cell.strip() for cell in line.split(separator)]
        if not 3 <= len(cells) <= 24:
            continue
        for at in range(min(4, len(cells) - 2)):
            value, unit, event = _number(cells[at]), cells[at + 1], cells[at + 2]
            if (value is None and cells[at] not in _NOT) or not _UNIT.fullmatch(unit) or not _EVENT.fullmatch(event):
                continue
            rest = cells[at + 3 :]
            if rest and rest[0].endswith("%"):
                rest = rest[1:]
            counted = _number(rest[1]) if len(rest) > 1 else None
            derived = (_number(rest[2]), rest[3]) if len(rest) > 3 else (None, "")
            return _Row(event, value, unit, 100.0 if counted is None else counted, derived)
    return None


def _json_row(line: str) -> _Row | None:
    try:
        facts = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(facts, dict):
        return None
    event, value, unit = facts.get("event"), facts.get("counter-value"), facts.get("unit")
    if not isinstance(event, str) or not _EVENT.fullmatch(event) or not isinstance(value, str | int | float):
        return None
    number = _number(str(value))
    if number is None and value not in _NOT:
        return None
    counted, words = _number(str(facts.get("pcnt-running"))), facts.get("metric-unit")
    derived = (_number(str(facts.get("metric-value"))), words if isinstance(words, str) else "")
    return _Row(event, number, unit if isinstance(unit, str) else "", 100.0 if counted is None else counted, derived)


def read(path: Path) -> Profile:
    """The counters as a profile of one node; AdapterError if nothing was counted."""
    counters = _Counters()
    invalid = 0
    for line in lines(path, longest=1 << 16):
        if not line.strip() or line.startswith("#"):
            continue
        row = _row(line)
        if row is None:
            invalid += 1
        else:
            _add(counters, row)
    if not counters.values:
        what = "contains no counter that was counted" if counters.missing else "contains no counter of perf stat"
        raise AdapterError(what, path=path, hint=_HOW)
    metrics = _metrics(counters)
    stacks = Stacks()
    node = stacks.step(-1, stacks.frame(path.name.split(".")[0], kind=NodeKind.REGION))
    for event, value in counters.values.items():
        stacks.add(metrics[event].id, node, value * metrics[event].scale)
    known = {metric.id: counters.values[event] * metric.scale for event, metric in metrics.items()}
    used = fmean(counters.utilised) if counters.utilised else None
    return replace(
        stacks.profile(path, metrics.values(), format="perf stat", tool="perf stat"),
        caveats=_caveats(counters, known, used, invalid),
        not_collected=_not_collected(known),
        run={} if used is None else {"processors in use": f"{used:.3g}"},
        timed=True,
        insufficient=_insufficient(known, used),
    )


def _add(counters: _Counters, row: _Row) -> None:
    """Add a counter; those of several intervals or processors are summed."""
    if row.value is None:
        if row.event not in counters.missing:
            counters.missing.append(row.event)
        return
    counters.values[row.event] = counters.values.get(row.event, 0.0) + row.value
    counters.units.setdefault(row.event, row.unit)
    if row.counted < _COUNTED and row.event not in counters.estimated:
        counters.estimated.append(row.event)
    if row.derived[0] is not None and row.derived[1].startswith("CPUs util"):
        counters.utilised.append(row.derived[0])


def _metrics(counters: _Counters) -> dict[str, Metric]:
    found: dict[str, Metric] = {}
    for event in counters.values:
        metric = event_of(event).metric(sampled=False)
        unit = counters.units[event]
        if unit in _UNITS:
            metric = replace(metric, unit=Unit.SECONDS, scale=_UNITS[unit], source_unit=unit)
        found[event] = unlike(metric, event, found.values())
    return found


def _insufficient(known: dict[str, float], used: float | None) -> str:
    said = []
    if "cpu.time" in known:
        said.append(f"{numbers.seconds(known['cpu.time'])} of processor time")
    if used is not None:
        said.append(f"{numbers.number(used)} processors in use on average")
    if known.get("cpu.cycles") and "cpu.instructions" in known:
        said.append(f"{numbers.number(known['cpu.instructions'] / known['cpu.cycles'])} instructions per cycle")
    counted = f" ({', '.join(said)})" if said else ""
    return f"perf stat counts the run as a whole{counted}: it cannot show what costs time inside the program."


def _caveats(counters: _Counters, known: dict[str, float], used: float | None, invalid: int) -> tuple[str, ...]:
    said = []
    if used is not None and used < _BUSY:
        said.append(
            f"On average {numbers.number(used)} processors were in use, less than one: the program waited (for input, output or "
            "others) or other programs had its processor; these counters cannot show which."
        )
    if counters.missing:
        names = ", ".join(counters.missing[:8])
        said.append(f"Not counted, so not assessed: {names}.")
    for part, whole, words in (
        ("cpu.cache.misses", "cpu.cache.references", "of the references to the last-level cache miss"),
        ("cpu.branch.misses", "cpu.branches", "of the branches are mispredicted"),
    ):
        if part in known and known.get(whole):
            said.append(f"{numbers.percent(known[part] / known[whole])} {words}, over the whole run.")
    if counters.estimated:
        names = ", ".join(counters.estimated[:8])
        said.append(f"Counted only part of the time, so these are estimates: {names}.")
    if invalid:
        said.append(f"{invalid:,} lines contain no counter and were skipped.")
    return tuple(said)


def _not_collected(known: dict[str, float]) -> dict[str, str]:
    found = {
        "functions and call paths": "perf record -g ./app",
        "waiting (blocked and sleeping threads)": "perf record --switch-events -e cpu-clock,context-switches -g ./app",
    }
    if not {"cpu.cycles", "cpu.instructions", "cpu.cache.misses"} & set(known):
        found["hardware counters (cache misses, instructions per cycle)"] = (
            "perf stat -x, -e cycles,instructions,cache-references,cache-misses ./app (on a machine that lets you read its "
            "counters: not in most virtual machines)"
        )
    return found


ADAPTER = Adapter(
    name="perf-stat",
    reads="counters of perf stat -x, and perf stat -j",
    recognises=recognises,
    read=read,
    order=42,
)
