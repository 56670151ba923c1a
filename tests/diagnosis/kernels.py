"""Reports of GPU kernels with counters, for the tests of their diagnosis: each kernel is a name, a time and its facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from chathpc.diagnosis.records import Finding
from chathpc.profile.build import TreeBuilder
from chathpc.profile.gpu_counters import COUNTERS, counter
from chathpc.profile.location import Locations
from chathpc.profile.metric import Metric, Unit
from chathpc.profile.profile import Profile, Source
from chathpc.profile.remark import Device, Remark
from chathpc.profile.tree import NodeKind
from tests.diagnosis.parts import diagnosed

#: Launch and speed of light of a kernel with many waves on a device of 100 multiprocessors, far from every limit.
LAUNCH = {
    "blocks": 8000.0,
    "threads-per-block": 256.0,
    "multiprocessors": 100.0,
    "waves": 10.0,
    "registers": 32.0,
    "occupancy": 100.0,
    "achieved-occupancy": 90.0,
}
#: Stall reasons that are small in a kernel in which none stands out.
FEW_STALLS = dict.fromkeys(
    ("long-scoreboard", "barrier", "wait", "short-scoreboard", "no-instruction", "math-pipe-throttle", "not-selected"),
    0.1,
)


@dataclass(frozen=True)
class One:
    """A kernel: facts by id without "gpu.kernel.", stall reasons in cycles, samples by (file, line) and metric; `instructions`
    has samples of waiting for memory by machine instruction.
    """

    name: str = "void solve<float>(float*, int)"
    seconds: float | None = 1.0
    facts: Mapping[str, float] = field(default_factory=dict)
    launches: float = 1.0
    samples: Mapping[tuple[str, int], Mapping[str, float]] = field(default_factory=dict)
    said: tuple[Remark, ...] = ()
    instructions: Mapping[str, float] = field(default_factory=dict)


def one(name: str = "void solve<float>(float*, int)", seconds: float | None = 1.0, **facts: float) -> One:
    """A kernel with the launch of LAUNCH and some facts: `sm_throughput=40` is gpu.kernel.sm-throughput; `drop` nothing."""
    return One(name, seconds, LAUNCH | {_id(key): value for key, value in facts.items()})


def bare(name: str = "void solve<float>(float*, int)", seconds: float | None = 1.0, **facts: float) -> One:
    """A kernel with these facts only."""
    return One(name, seconds, {_id(key): value for key, value in facts.items()})


def stalls(issue: float = 1.0, **cycles: float) -> dict[str, float]:
    """Facts of stall reasons in cycles between two instructions: the given ones, a little of all others, and their sum."""
    found = FEW_STALLS | {key.replace("_", "-"): value for key, value in cycles.items()} | {"selected": issue}
    return {f"stall.{key}": value for key, value in found.items()} | {"latency-per-issue": sum(found.values())}


#: Facts of a kernel that uses nothing well, memory a little more.
LATENCY = {"sm_throughput": 20.0, "memory_throughput": 30.0, "dram_throughput": 25.0, "l2_throughput": 30.0}


def with_stalls(kernel: One, **cycles: float) -> One:
    """The kernel with stall reasons in cycles between two instructions."""
    return replace(kernel, facts={**kernel.facts, **stalls(**cycles)})


def found(*kernels: One) -> list[Finding]:
    """The findings about a report of these kernels, after checking what must hold for any diagnosis."""
    return list(diagnosed(report(*kernels)).findings)


def causes(*kernels: One) -> list[str]:
    """Their causes, the most worthwhile first."""
    return [each.cause for each in found(*kernels)]


def first(*kernels: One) -> Finding:
    """The most worthwhile of them."""
    return found(*kernels)[0]


def _id(key: str) -> str:
    for dotted in ("pipe", "limit", "flops", "peak_flops", "sectors_per_request", "sector_use"):
        if key.startswith(dotted + "_"):
            return f"{dotted}.{key.removeprefix(dotted + '_')}".replace("_", "-")
    return key.replace("_", "-")


def report(
    *kernels: One, tool: str = "Nsight Compute", devices: Mapping[int, Device] | None = None, insufficient: str = ""
) -> Profile:
    """The profile of a report that holds these kernels."""
    builder = TreeBuilder()
    times = {
        "gpu.kernel.time": Metric("gpu.kernel.time", Unit.SECONDS, "time of kernels", "gpu__time_duration.sum"),
        "gpu.time": Metric("gpu.time", Unit.SECONDS, "time of the device", "gpu__time_duration.sum"),
        "gpu.kernel.count": Metric("gpu.kernel.count", Unit.COUNT, "launches", "launches"),
    }
    metrics: dict[str, Metric] = {}
    numbers = []
    for index, kernel in enumerate(kernels):
        node = builder.node(-1, NodeKind.GPU_KERNEL, kernel.name, apart=index)
        numbers.append(node)
        known = {f"gpu.kernel.{key}": value for key, value in kernel.facts.items()}
        metrics |= {identifier: counter(identifier, identifier) for identifier in known}
        assert known.keys() <= set(COUNTERS)
        if kernel.seconds is not None:
            known |= {"gpu.kernel.time": kernel.seconds, "gpu.time": kernel.seconds}
            metrics |= {name: times[name] for name in ("gpu.kernel.time", "gpu.time")}
        known["gpu.kernel.count"] = kernel.launches
        metrics["gpu.kernel.count"] = times["gpu.kernel.count"]
        for identifier, value in known.items():
            builder.add(identifier, node, value)
        below = [
            (builder.node(node, NodeKind.LINE, None, file=file, line=line), values)
            for (file, line), values in kernel.samples.items()
        ]
        below += [
            (builder.node(node, NodeKind.INSTRUCTION, sass), {"gpu.instructions": count, "gpu.stall.memory": count})
            for sass, count in kernel.instructions.items()
        ]
        for place_, values in below:
            for identifier, value in values.items():
                metrics.setdefault(identifier, Metric(identifier, Unit.SAMPLES, identifier, identifier))
                builder.add(identifier, place_, value)
    tree, values_, place = builder.finish(metrics.values())
    remarks = tuple(
        Remark(said.tool, said.rule, said.kind, said.title, said.text, int(place[node]), said.speedup, said.scope)
        for node, kernel in zip(numbers, kernels, strict=True)
        for said in kernel.said
    )
    return Profile(
        format=tool,
        title="report.ncu-rep",
        tree=tree,
        metrics=metrics,
        values=values_,
        where=Locations.single(),
        sources=(Source(Path("report.ncu-rep"), tool),),
        timed=True,
        devices=devices or {},
        remarks=remarks,
        insufficient=insufficient,
    )
