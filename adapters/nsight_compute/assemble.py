"""The profile of one or several files of Nsight Compute: launches grouped, averaged and hung into a tree."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from chathpc.adapters.nsight_compute.facts import SOURCES, facts
from chathpc.adapters.nsight_compute.launch import Instruction, Launch, Report
from chathpc.adapters.nsight_compute.located import PERIOD, located_metrics, located_values
from chathpc.adapters.nsight_compute.remarks import TOOL, remarks_of
from chathpc.errors import AdapterError
from chathpc.profile.build import TreeBuilder
from chathpc.profile.gpu_counters import counter
from chathpc.profile.location import Locations
from chathpc.profile.machine_code import CodeLine, MachineCode
from chathpc.profile.metric import Metric, Unit
from chathpc.profile.profile import Profile, Source
from chathpc.profile.remark import Device, Remark
from chathpc.profile.source_text import held
from chathpc.profile.stalls import sampling_caveat
from chathpc.profile.text import clean
from chathpc.profile.tree import IntArray, NodeKind

#: What is missing → (one of these ids is enough to have it, options of ncu that collect it).
_PARTS: dict[str, tuple[tuple[str, ...], str]] = {
    "kernel times": (("gpu.kernel.time",), "--section SpeedOfLight"),
    "speed of light": (("gpu.kernel.sm-throughput", "gpu.kernel.memory-throughput"), "--section SpeedOfLight"),
    "launch configuration": (("gpu.kernel.blocks",), "--section LaunchStats"),
    "occupancy": (("gpu.kernel.occupancy", "gpu.kernel.achieved-occupancy"), "--section Occupancy"),
    "stall reasons": (("gpu.kernel.stall.long-scoreboard", "gpu.kernel.stall.wait"), "--section WarpStateStats"),
    "scheduler statistics": (("gpu.kernel.eligible-warps", "gpu.kernel.issue-active"), "--section SchedulerStats"),
    "cache hit rates": (("gpu.kernel.l1-hit-rate", "gpu.kernel.l2-hit-rate"), "--section MemoryWorkloadAnalysis"),
    "memory tables (sectors per request, bank conflicts)": (
        ("gpu.kernel.sectors-per-request.global-load", "gpu.kernel.sectors-per-request.global-store", "gpu.kernel.shared-wavefronts"),
        "--section MemoryWorkloadAnalysis_Tables",
    ),
    "use of the pipes": (
        tuple(f"gpu.kernel.pipe.{pipe}" for pipe in ("fma", "alu", "lsu", "xu", "fp64", "tensor")),
        "--section ComputeWorkloadAnalysis",
    ),
    "bytes of device memory": (("gpu.kernel.dram-rate",), "--section MemoryWorkloadAnalysis"),
    "floating point operations (roofline)": (
        ("gpu.kernel.flops.fp32", "gpu.kernel.flops.fp64"),
        "--section SpeedOfLight_RooflineChart",
    ),
    "instruction counts": (("gpu.kernel.instructions",), "--section InstructionStats"),
    "samples per source line": (("gpu.instructions",), "--section SourceCounters --import-source yes"),
}  # fmt: skip


def not_collected(
    measured: Collection[str], launches: Sequence[Launch], *, lines: bool, exported: bool
) -> Mapping[str, str]:
    """What is missing → the command that collects it. `measured` are the ids that have a value; `lines`: source lines are known.

    An export to CSV has no values per line whatever was collected.
    """
    if insufficient(launches):
        return {"counters of the kernels": "ncu --set full -o report ./app"}
    missing = {what: how for what, (ids, how) in _PARTS.items() if not any(one in measured for one in ids)}
    found = {what: f"ncu {how} -o report ./app" for what, how in missing.items()}
    if "gpu.instructions" in measured and not lines:
        how = _PARTS["samples per source line"][1]
        found["source lines"] = f"ncu {how} -o report ./app (of a program compiled with nvcc -lineinfo)"
    if exported and "samples per source line" in found:
        found["samples per source line"] += " (and give the .ncu-rep file: exports to CSV have none)"
    return found


#: Names in caveats are cut to this, and so many are named.
_NAME, _NAMED = 80, 3

CLOCKS = (
    "Kernel times were taken one kernel at a time, at the clock that Nsight Compute sets (the base clock unless "
    "--clock-control none was given): they are not comparable with times of Nsight Systems or of the program."
)
CHOSEN = (
    "Only the profiled kernel launches are included: their share of the run, and what happens between them, is unknown."
)


def insufficient(launches: Sequence[Launch]) -> str:
    """Why nothing can be concluded, as a sentence; empty if something can."""
    if all(launch.failed for launch in launches):
        count = "the one kernel launch" if len(launches) == 1 else f"the {len(launches)} kernel launches"
        return f"Profiling failed: no counter of {count} in the report has a value."
    return ""


def _names(names: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(name if len(name) <= _NAME else name[: _NAME - 1] + "…" for name in names))
    more = f" and {len(distinct) - _NAMED} more" if len(distinct) > _NAMED else ""
    return ", ".join(distinct[:_NAMED]) + more


def caveats(launches: Sequence[Launch], metrics: Collection[str], *, averaged: bool, exported: bool) -> Iterable[str]:
    """What the report cannot tell, as sentences; `averaged` if entries stand for several launches each."""
    if "gpu.kernel.time" in metrics:
        yield CLOCKS
    yield CHOSEN
    if insufficient(launches):
        return
    failed = [launch for launch in launches if launch.failed]
    if failed:
        yield (
            f"Nothing was measured for {len(failed)} of {len(launches)} launches, so these could not be assessed: "
            f"{_names(launch.kernel for launch in failed)}."
        )
    untimed = [launch for launch in launches if launch.seconds is None and not launch.failed]
    if untimed:
        yield f"No time was measured for {len(untimed)} of {len(launches)} launches: {_names(launch.kernel for launch in untimed)}."
    if "gpu.kernel.sm-throughput" not in metrics and "gpu.kernel.memory-throughput" not in metrics:
        known = "times and launch configurations" if "gpu.kernel.time" in metrics else "launch configurations"
        yield f"The report has no utilisation of multiprocessors or memory: besides selected counters, only {known} can be used."
    if any(launch.kind not in (0, 4) for launch in launches):
        yield "Some results are for ranges or graphs of several kernels: statements about them cover all their kernels together."
    if averaged:
        yield (
            "Launches of one kernel with the same grid, block and shared memory are merged; their counters are "
            "time-weighted averages."
        )
    yield from sampling_caveat(metrics)
    if exported:
        yield "Read from an export: values are rounded as printed, and there is no per-instruction data."


def hardware_of(launches: Iterable[Launch]) -> dict[str, str]:
    """The names of the GPUs, as a fact about the machine."""
    names = dict.fromkeys(clean(launch.texts.get("device__attribute_display_name", "")) for launch in launches)
    found = [name for name in names if name]
    return {"gpu": ", ".join(found)} if found else {}


def devices_of(launches: Iterable[Launch]) -> dict[int, Device]:
    """The GPUs by ordinal, as the first launch on each that does describes it."""
    found: dict[int, Device] = {}
    for launch in launches:
        if launch.device not in found and (device := _device(launch)) is not None:
            found[launch.device] = device
    return found


def _device(launch: Launch) -> Device | None:
    def attribute(*names: str) -> float | None:
        value = launch.value(*(f"device__attribute_{name}" for name in names))
        return value if value is not None and value > 0 else None

    name = clean(launch.texts.get("device__attribute_display_name", ""))
    major, minor = attribute("compute_capability_major"), launch.value("device__attribute_compute_capability_minor")
    capability = f"{major:.0f}.{minor or 0:.0f}" if major is not None else launch.texts.get("capability", "")
    if not name and not capability:
        return None
    memory, count = attribute("total_memory"), attribute("multiprocessor_count")
    clock, width = (
        attribute("memory_clock_rate", "max_mem_frequency_khz"),
        attribute("global_memory_bus_width", "fb_bus_width"),
    )
    cycles = attribute("clock_rate")
    return Device(
        name=name or f"GPU of compute capability {clean(capability)}",
        multiprocessors=None if count is None else int(count),
        memory=None if memory is None else int(memory),
        # Two transfers a clock on every line of the bus: the rule of NVIDIA's deviceQuery.
        bandwidth=None if clock is None or width is None else 2 * clock * 1e3 * width / 8,
        clock=None if cycles is None else cycles * 1e3,
        capability=clean(capability),
    )


#: PyTorch appends numbers to the names of its ranges, other ones for every call.
_NUMBERED = re.compile(r"(?:, (?:op_id|seq) = \d+)+$")

_DURATION = "gpu__time_duration.sum"
_TIMES = (
    Metric("gpu.time", Unit.SECONDS, "time of the profiled GPU operations", _DURATION),
    Metric(
        "gpu.kernel.time", Unit.SECONDS, "time of GPU kernels, under the clocks that Nsight Compute sets", _DURATION
    ),
    Metric("gpu.kernel.count", Unit.COUNT, "profiled kernel launches", "launches"),
)


@dataclass(frozen=True, slots=True)
class Part:
    """A file of Nsight Compute, and what is known of its place in the run: the rank, −1 if not known."""

    path: Path
    report: Report
    rank: int = -1


@dataclass(slots=True)
class _Group:
    """Launches of one kernel and launch configuration below the same ranges of one process."""

    node: int
    launches: list[Launch] = field(default_factory=list)
    locations: list[int] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)  #: offset of an instruction → its node
    names: dict[int, str] = field(default_factory=dict)  #: offset → what a person calls the place

    @property
    def weights(self) -> list[float]:
        """How much each launch counts in an average: its time, or the same for all where times are missing."""
        seconds = [(launch.seconds or 0.0) * launch.count for launch in self.launches]
        return seconds if sum(seconds) > 0 else [launch.count for launch in self.launches]

    def longest(self) -> Launch:
        """The launch that took most time."""
        return max(self.launches, key=lambda launch: launch.seconds or 0.0)


class _Assembly:
    """Builds the tree and remembers what was put where."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.builder = TreeBuilder()
        self.groups: dict[tuple[object, ...], _Group] = {}
        self.locations: dict[tuple[int, int, int], int] = {}
        self.measured: set[str] = set()
        self.lines = False
        for number, part in enumerate(parts):
            for launch in part.report.launches:
                self._add(number, part, launch, several=len(parts) > 1)

    def _add(self, number: int, part: Part, launch: Launch, *, several: bool) -> None:
        builder = self.builder
        if part.rank >= 0:
            root = f"rank {part.rank}"
        elif several:
            root = clean(part.path.stem)
        else:
            root = "process" if launch.process == 0 else f"process {launch.process + 1}"
        node = builder.node(-1, NodeKind.ENTRY, root)
        for name in launch.ranges:
            node = builder.node(node, NodeKind.REGION, _NUMBERED.sub("", clean(name)) or "unnamed range")
        key = (number, node, launch.kernel, launch.configuration)
        group = self.groups.get(key)
        if group is None:
            kernel = launch.kernel or "unnamed kernel"
            group = self.groups[key] = _Group(builder.node(node, NodeKind.GPU_KERNEL, kernel, apart=len(self.groups)))
        where = (part.rank, launch.context if launch.context >= 0 else launch.device, launch.stream)
        group.launches.append(launch)
        group.locations.append(self.locations.setdefault(where, len(self.locations)))

    def put(self, metric: str, node: int, value: float, location: int) -> None:
        """Add a value, and remember that the metric has one."""
        self.measured.add(metric)
        self.builder.add(metric, node, value, location)

    def instructions(self, group: _Group) -> None:
        """Nodes for the lines and instructions of a group, and their values."""
        for launch, location in zip(group.launches, group.locations, strict=True):
            known = {one.offset: one for one in launch.instructions}
            sampled = False
            for identifier, values in located_values(launch):
                sampled = sampled or identifier == "gpu.instructions"
                for offset, value in values.items():
                    self.put(identifier, self._place(group, known.get(offset), offset), value, location)
                if identifier not in self.measured:  # measured, and nothing of the kind happened
                    self.put(identifier, group.node, 0.0, location)
            if sampled:
                self.put(PERIOD, group.node, 1.0, location)

    def _place(self, group: _Group, code: Instruction | None, offset: int) -> int:
        found = group.places.get(offset)
        if found is None:
            found = group.node
            file, line = (code.file, code.line) if code is not None else ("", 0)
            if file:
                self.lines = True
                found = self.builder.node(found, NodeKind.LINE, file=file, line=line)
            sass = (code.sass if code is not None else "") or "unknown instruction"
            found = self.builder.node(found, NodeKind.INSTRUCTION, sass, file=file, line=line, offset=max(offset, 0))
            group.places[offset] = found
            group.names[offset] = f"{file.rsplit('/', 1)[-1]}:{line}" if file else f"instruction +{offset:#x} ({sass})"
        return found


def profile_of(parts: Sequence[Part], path: Path) -> Profile:
    """One profile of the launches in all `parts`; `path` is what the user gave. AdapterError if there is no launch."""
    if not any(part.report.launches for part in parts):
        raise AdapterError(
            "no kernel launch in it: nothing was profiled",
            path=path,
            hint="Check the filters of ncu (--kernel-name, --launch-skip, --nvtx-include), and --target-processes all.",
        )
    assembly = _Assembly(parts)
    builder, groups = assembly.builder, list(assembly.groups.values())
    sources: dict[str, str] = {}
    for group in groups:
        for launch, location in zip(group.launches, group.locations, strict=True):
            assembly.put("gpu.kernel.count", group.node, launch.count, location)
            if launch.seconds is not None:
                assembly.put("gpu.kernel.time", group.node, launch.seconds * launch.count, location)
                assembly.put("gpu.time", group.node, launch.seconds * launch.count, location)
        for identifier, value in _averages(group):
            assembly.put(identifier, group.node, value, group.locations[0])
            sources[identifier] = SOURCES[identifier]
        assembly.instructions(group)
    metrics = _metrics(assembly.measured, sources)
    tree, values, place = builder.finish(metrics.values(), len(assembly.locations))
    launches = [launch for group in groups for launch in group.launches]
    exported = any(part.report.exported for part in parts)
    averaged = any(len(group.launches) > 1 or group.launches[0].count > 1 for group in groups)
    return Profile(
        format="Nsight Compute",
        title=clean(path.name),
        tree=tree,
        metrics=metrics,
        values=values,
        where=_where(list(assembly.locations)),
        sources=tuple(Source(part.path, TOOL) for part in parts),
        caveats=(
            *(
                f"{part.path.name} is cut off in the middle of a row: what followed is missing."
                for part in parts
                if part.report.cut_off
            ),
            *caveats(launches, metrics, averaged=averaged, exported=exported),
        ),
        not_collected=not_collected(metrics, launches, lines=assembly.lines, exported=exported),
        hardware=hardware_of(launches),
        timed=True,
        insufficient=insufficient(launches),
        devices=devices_of(launches),
        remarks=tuple(_remarks(groups, place)),
        code=tuple(_code(launches)),
        read_source=held({name: text for part in parts for name, text in part.report.sources.items()}),
    )


def _averages(group: _Group) -> Iterable[tuple[str, float]]:
    """Each fact of the group's launches, averaged over those that have it with their time as weight."""
    sums: dict[str, list[tuple[float, float]]] = {}
    for launch, weight in zip(group.launches, group.weights, strict=True):
        for identifier, value in facts(launch):
            sums.setdefault(identifier, []).append((value, weight))
    for identifier, pairs in sums.items():
        total = sum(weight for _, weight in pairs)
        if total > 0:
            yield identifier, sum(value * weight for value, weight in pairs) / total
        else:
            yield identifier, sum(value for value, _ in pairs) / len(pairs)


def _metrics(measured: Collection[str], sources: Mapping[str, str]) -> dict[str, Metric]:
    """The metrics that have a value."""
    known = {metric.id: metric for metric in _TIMES} | located_metrics()
    known |= {identifier: counter(identifier, source) for identifier, source in sources.items()}
    return {identifier: metric for identifier, metric in known.items() if identifier in measured}


def _code(launches: Iterable[Launch]) -> Iterable[MachineCode]:
    """The machine code of each kernel, from the first launch that shows it."""
    seen = set()
    for launch in launches:
        if launch.instructions and launch.kernel not in seen:
            seen.add(launch.kernel)
            yield MachineCode(
                launch.kernel,
                tuple(CodeLine(one.offset, one.sass, one.file, one.line) for one in launch.instructions),
                base=launch.base,
            )


def _where(places: Sequence[tuple[int, int, int]]) -> Locations:
    columns = np.array(places, dtype=np.int64).T
    return Locations.of(len(places), rank=columns[0], gpu_context=columns[1], stream=columns[2])


def _remarks(groups: Iterable[_Group], place: IntArray) -> Iterable[Remark]:
    """The rules' results for the longest launch of each group."""
    for group in groups:
        launch = group.longest()

        def places(address: int, group: _Group = group, base: int = launch.base) -> tuple[int, str]:
            offset = address - base
            node = group.places.get(offset)
            if node is None:
                return -1, f"instruction +{offset:#x}" if 0 <= offset < 1 << 32 else "an instruction"
            return int(place[node]), group.names[offset]

        yield from remarks_of(launch, int(place[group.node]), places)
