"""A trace folder of Neutrino as a profile: kernels with what the probes inside them recorded."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from chathpc.adapters.content import read_text
from chathpc.adapters.neutrino.probes import read_probes, refused
from chathpc.adapters.neutrino.result import MOST_PAGES, PAGE, Measures, Result, measure, read_result
from chathpc.errors import AdapterError
from chathpc.profile.build import TreeBuilder
from chathpc.profile.gpu_counters import counter
from chathpc.profile.kernel_names import demangled
from chathpc.profile.location import Locations
from chathpc.profile.metric import Metric, Unit
from chathpc.profile.profile import Profile, Source
from chathpc.profile.remark import AccessDensity
from chathpc.profile.text import clean
from chathpc.profile.tree import IntArray, NodeKind

LARGEST = 256 << 20

_NAMED = re.compile(r"\[\w+\] finish (0x[0-9a-f]+) name (\S+)|\[\w+\] find (0x[0-9a-f]+) name (\S+)", re.ASCII)
_RENAMED = re.compile(r"\[\w+\] rename (.+) \d+_[0-9a-f]{40}$", re.ASCII)
_FOUND = re.compile(r"\[exec\] funcmap-find (0x[0-9a-f]+) success", re.ASCII)
_GRID = re.compile(r"\[exec\] grid (\d{1,10}) (\d{1,10}) (\d{1,10}) block (\d{1,10}) (\d{1,10}) (\d{1,10})\b", re.ASCII)
_SAVED = re.compile(r"\[exec\] save (\S+) size (\d{1,18})$", re.ASCII)
_TIMES = re.compile(r"\[\w+\] prologue ([\d.]+) kernel ([\d.]+) epilogue ([\d.]+)(?: original ([\d.]+))?", re.ASCII)


@dataclass(slots=True)
class Launch:
    """One launch as the log tells it; times in seconds, None where it does not say.

    `seconds` is the time of the probed kernel, `original` that of the kernel without probes (benchmark mode only).
    """

    kernel: str | None = None
    shape: tuple[int, ...] = ()
    size: int | None = None
    seconds: float | None = None
    original: float | None = None


@dataclass(slots=True)
class Log:
    """Launches by the name of their result file, and how many launches failed or were not probed."""

    launches: dict[str, Launch] = field(default_factory=dict)
    failed: int = 0


def read_log(path: Path) -> Log:
    """What event.log says; lines that it does not know, it passes over. The command line in it is not read."""
    log = Log()
    names: dict[str, str] = {}
    renamed: str | None = None
    kernel: str | None = None
    shape: tuple[int, ...] = ()
    last: Launch | None = None
    for line in read_text(path, largest=LARGEST).splitlines():
        if line.startswith("[cmd]"):
            continue
        if found := _NAMED.match(line):
            names[found[1] or found[3]] = found[2] or found[4]
        elif found := _RENAMED.match(line):
            renamed = found[1]
        elif found := _FOUND.match(line):
            kernel = names.get(found[1], renamed)
            if kernel is not None:
                names.setdefault(found[1], kernel)
        elif found := _GRID.match(line):
            shape = tuple(int(number) for number in found.groups())
        elif found := _SAVED.match(line):
            last = Launch(kernel or renamed, shape, int(found[2]))
            log.launches[found[1].rsplit("/", 1)[-1]] = last
        elif (found := _TIMES.match(line)) and last is not None:
            last.seconds = _seconds(found[2])
            last.original = _seconds(found[4]) if found[4] else None
        elif line.startswith("[exec] failed") or (line.startswith("[exec] funcmap-find") and line.endswith("fail")):
            log.failed += 1
    return log


def _seconds(milliseconds: str) -> float | None:
    try:
        return float(milliseconds) * 1e-3
    except ValueError:
        return None


#: Launches of one trace that are read; more are counted and left out.
MOST_LAUNCHES = 10_000

_SUMMED = (
    Metric("gpu.kernel.time", Unit.SECONDS, "time of kernels, with probes unless benchmarked", "kernel", "ms", 1e-3),
    Metric("gpu.kernel.count", Unit.COUNT, "kernel launches", "launches"),
    Metric("gpu.memory.accesses", Unit.COUNT, "accesses of threads to global memory", "records with an address"),
)
_FACTS = (
    "gpu.kernel.blocks", "gpu.kernel.threads-per-block", "gpu.kernel.shared-memory-per-block", "gpu.kernel.unique-pages",
    "gpu.kernel.footprint", "gpu.kernel.accesses-per-page", "gpu.kernel.multiprocessors-used",
    "gpu.kernel.multiprocessor-imbalance",
)  # fmt: skip
_SLUG = re.compile(r"[^a-z0-9]+")


def read(path: Path) -> Profile:
    """Read the trace in folder `path`.

    Kernels hang below one root; launches of one kernel and launch configuration are one node, whose facts (footprint,
    reuse, imbalance) are those of its largest launch. AdapterError if probe.toml or a result file is damaged or does not
    fit; a missing event.log is a caveat: kernels have no names then.
    """
    probes = read_probes(path / "probe.toml") if (path / "probe.toml").is_file() else None
    if probes is None:
        raise refused("probe.toml is missing, so the records cannot be interpreted", path=path)
    caveats: list[str] = []
    if (path / "event.log").is_file():
        log = read_log(path / "event.log")
    else:
        log = Log()
        caveats.append("event.log is missing, so kernels have neither names nor times.")
    files = _results(path / "result")
    if len(files) > MOST_LAUNCHES:
        caveats.append(f"Only the first {MOST_LAUNCHES} of {len(files)} launches are read.")
    builder = TreeBuilder()
    root = builder.node(-1, NodeKind.ENTRY, "GPU")
    kinds: dict[str, Metric] = {}
    largest: dict[int, Measures] = {}
    for file in files[:MOST_LAUNCHES]:
        result = read_result(file, probes)
        launch = log.launches.get(file.name, Launch())
        _check(result, launch)
        node = _node(builder, root, launch, result, file)
        builder.add("gpu.kernel.count", node, 1.0)
        seconds = launch.original if launch.original is not None else launch.seconds
        if seconds is not None:
            builder.add("gpu.kernel.time", node, seconds)
        measures = measure(result)
        if measures.accesses is not None:
            builder.add("gpu.memory.accesses", node, measures.accesses)
        for kind, total in measures.bytes_by_kind.items():
            name = f"gpu.memory.{_SLUG.sub('-', kind)}.bytes"
            kinds.setdefault(
                name, Metric(name, Unit.BYTES, f"bytes of {clean(kind)} accesses to global memory", f"{kind}_bytes")
            )
            builder.add(name, node, total)
        before = largest.get(node)
        if before is None or (measures.accesses or 0) > (before.accesses or 0):
            largest[node] = measures
        if before is None:
            _shape(builder, node, result)
    for node, measures in largest.items():
        _facts(builder, node, measures)
    metrics = {metric.id: metric for metric in (*_SUMMED, *kinds.values(), *(counter(name, name) for name in _FACTS))}
    tree, values, place = builder.finish(metrics.values())
    for name in [name for name in metrics if not len(values.exclusive(name))]:
        del metrics[name]
    caveats += _caveats(log, largest, metrics)
    return Profile(
        format="Neutrino",
        title=path.name,
        tree=tree,
        metrics=metrics,
        values=values,
        where=Locations.single(),
        sources=(Source(path, "Neutrino"),),
        caveats=tuple(caveats),
        not_collected=_not_collected(metrics),
        timed=True,
        insufficient=_insufficient(files),
        accesses=_densities(largest, place, tree.function_name),
    )


def _results(folder: Path) -> list[Path]:
    """Result files in the order of their launches: their names are seconds since the start."""
    try:
        files = [file for file in folder.iterdir() if file.suffix == ".bin" and file.is_file()]
    except OSError as error:
        raise refused(error.strerror or "cannot be read", path=folder) from None

    def begin(file: Path) -> tuple[float, str]:
        try:
            return float(file.stem), file.name
        except ValueError:
            return float("inf"), file.name

    return sorted(files, key=begin)


def _check(result: Result, launch: Launch) -> None:
    """The header must agree with what the log says of the same launch."""
    if launch.shape and launch.shape != (*result.grid, *result.block):
        raise refused(
            f"the log says it was launched as {launch.shape[:3]} × {launch.shape[3:]}, its header {result.grid} × {result.block}",
            path=result.path, offset=0)  # fmt: skip
    size = result.path.stat().st_size
    if launch.size is not None and launch.size != size:
        raise AdapterError(f"has {size} bytes; event.log says {launch.size}", path=result.path, hint="Copy it again.")


def _node(builder: TreeBuilder, root: int, launch: Launch, result: Result, file: Path) -> int:
    """The kernel's node; launches of other shapes are nodes of their own."""
    name = clean(demangled(launch.kernel)) if launch.kernel else f"<kernel of {clean(file.name)}>"
    shape = hash((result.grid, result.block, result.shared))
    return builder.node(root, NodeKind.GPU_KERNEL, name, apart=shape)


def _shape(builder: TreeBuilder, node: int, result: Result) -> None:
    builder.add("gpu.kernel.blocks", node, float(np.prod(result.grid, dtype=np.int64)))
    builder.add("gpu.kernel.threads-per-block", node, float(np.prod(result.block, dtype=np.int64)))
    builder.add("gpu.kernel.shared-memory-per-block", node, float(result.shared))


def _facts(builder: TreeBuilder, node: int, measures: Measures) -> None:
    if measures.pages is not None and len(measures.pages):
        builder.add("gpu.kernel.unique-pages", node, float(len(measures.pages)))
        builder.add("gpu.kernel.footprint", node, float(len(measures.pages) * PAGE))
        builder.add("gpu.kernel.accesses-per-page", node, (measures.accesses or 0) / len(measures.pages))
    if measures.busy is not None and len(measures.busy) and measures.busy.mean() > 0:
        builder.add("gpu.kernel.multiprocessors-used", node, float(len(measures.busy)))
        builder.add("gpu.kernel.multiprocessor-imbalance", node, float(measures.busy.max() / measures.busy.mean()))


def _insufficient(files: Sequence[Path]) -> str:
    """A trace alone supports no conclusion; joined with another view of the run it is evidence."""
    if not files:
        return "The trace contains no launch: no kernel was probed."
    return (
        "Neutrino recorded what the kernels touch and how their blocks were scheduled, not what limits them: explain the "
        "trace together with a report of Nsight Compute or Nsight Systems of the same program."
    )


def _densities(
    largest: Mapping[int, Measures], place: IntArray, name_of: Callable[[int], str]
) -> tuple[AccessDensity, ...]:
    found = []
    for node, measures in largest.items():
        if measures.density is not None:
            index = int(place[node])
            found.append(AccessDensity(name_of(index), index, measures.cycles, *measures.density))
    return tuple(found)


def _caveats(log: Log, largest: Mapping[int, Measures], metrics: Mapping[str, Metric]) -> list[str]:
    caveats = []
    if "gpu.kernel.time" in metrics and not any(one.original is not None for one in log.launches.values()):
        caveats.append("Kernel times include the overhead of the probes; neutrino --benchmark measures them without.")
    if log.failed:
        caveats.append(f"{log.failed} launches could not be probed and are missing.")
    if any(one.pages is not None and len(one.pages) >= MOST_PAGES for one in largest.values()):
        caveats.append(f"More than {MOST_PAGES} pages were touched; the footprint is a lower bound.")
    return caveats


def _not_collected(metrics: Mapping[str, Metric]) -> dict[str, str]:
    wanted = {
        "gpu.memory.accesses": ("when which memory is touched", "neutrino -t dmat ./app"),
        "gpu.kernel.multiprocessor-imbalance": (
            "how blocks are distributed over multiprocessors",
            "neutrino -t block_sched ./app",
        ),
    }
    missing = {words: command for name, (words, command) in wanted.items() if name not in metrics}
    if not any(name.endswith(".bytes") and name.startswith("gpu.memory.") for name in metrics):
        missing["bytes of accesses by kind"] = "neutrino -t gmem_bytes ./app"
    missing["what limits the kernels (throughput, stalls, occupancy)"] = "ncu --set full -o report ./app"
    return missing
