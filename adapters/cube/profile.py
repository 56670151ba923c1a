"""A CUBE4 profile as a Profile."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.content import DAMAGED
from chathpc.adapters.cube import FILES, FLUSHED, FOR_FUNCTIONS, FOR_WAITING
from chathpc.adapters.cube.archive import Anchor, Archive, CubeMetric, Region, read_anchor, stored
from chathpc.adapters.hpctoolkit.vocabulary import UNITS, metric_for
from chathpc.errors import AdapterError
from chathpc.profile.build import TreeBuilder
from chathpc.profile.location import Locations
from chathpc.profile.metric import Clock, Metric, Unit, slug, unused
from chathpc.profile.profile import RANKS, Profile, Source
from chathpc.profile.sparse import SparseValues, own_values
from chathpc.profile.tree import CallTree, FloatArray, IntArray, NodeKind

#: Name in the file → id, unit, what it is.
_KNOWN = {
    "visits": ("calls.count", Unit.COUNT, "visits of regions"),
    "bytes_sent": ("mpi.sent.bytes", Unit.BYTES, "bytes sent in messages"),
    "bytes_received": ("mpi.received.bytes", Unit.BYTES, "bytes received in messages"),
    "bytes_put": ("mpi.put.bytes", Unit.BYTES, "bytes sent in one-sided communication"),
    "bytes_get": ("mpi.get.bytes", Unit.BYTES, "bytes received in one-sided communication"),
    "io_bytes_read": ("io.read.bytes", Unit.BYTES, "bytes read"),
    "io_bytes_written": ("io.write.bytes", Unit.BYTES, "bytes written"),
}
#: Extremes of single visits, and counts of samples: neither adds up to anything that is asked for.
_LEFT_OUT = ("min_time", "max_time", "hits")
#: Paradigms of regions that are the program's own code.
_OWN = ("user", "compiler", "sampling", "unknown", "")
_KERNELS = ("CUDA_KERNEL", "HIP_KERNEL", "OPENCL_KERNEL", "GPU_KERNEL")

Cells = tuple[NDArray[np.int64], FloatArray]


def read(path: Path) -> Profile:
    """Read the .cubex file at `path`, or the one of a measurement folder that tells most.

    AdapterError for damage and for a profile without any stored numbers.
    """
    file = path if path.is_file() else next(path / name for name in FILES if (path / name).is_file())
    archive = Archive(file)
    anchor = read_anchor(archive.anchor(), file)
    tree, place = _tree(anchor, file)
    where, kept, device = _locations(anchor)
    metrics: dict[str, Metric] = {}
    values = SparseValues(tree, len(where))
    lacking: list[str] = []
    for metric in anchor.metrics:
        if metric.name in _LEFT_OUT:
            continue
        cells = stored(metric, archive, anchor)
        if cells is None:
            continue
        host = np.flatnonzero(kept & ~device) if metric.name == "time" else np.flatnonzero(kept)
        _put(values, metrics, _metric(metric, metrics), metric, cells, place, host, kept, lacking)
        if metric.name == "time" and device.any():
            _put(values, metrics, _DEVICE_TIME, metric, cells, place, np.flatnonzero(device & kept), kept, lacking)
    if not metrics:
        raise AdapterError("has no stored numbers of any metric", path=file, hint=DAMAGED)
    ranks = len({rank for rank in where.rank.tolist() if rank >= 0})
    root = anchor.regions.get(anchor.callees[0])
    return Profile(
        format="Score-P CUBE4"
        if anchor.creator.startswith("Score-P") or not anchor.creator
        else f"CUBE4 ({anchor.creator})",
        title=(root.name.rsplit("/", 1)[-1] if root and root.role == "artificial" else "") or path.resolve().name,
        tree=tree,
        metrics=metrics,
        values=values,
        where=where,
        sources=(Source(path, anchor.creator.split(" ")[0] or "Score-P", anchor.creator.partition(" ")[2]),),
        caveats=tuple(_caveats(lacking, anchor)),
        not_collected=_not_collected(metrics, ranks, anchor),
        run={RANKS: str(ranks)} if ranks > 1 else {},
        timed=True,
        insufficient="" if "cpu.time" in metrics or "gpu.kernel.time" in metrics else "The profile has no times.",
    )


_DEVICE_TIME = Metric("gpu.kernel.time", Unit.SECONDS, "time of regions on GPU streams", "time (GPU locations)", "sec")


def _tree(anchor: Anchor, file: Path) -> tuple[CallTree, IntArray]:
    """The call tree, and the node of each call node of the file."""
    builder = TreeBuilder()
    nodes: list[int] = []
    for number, (parent, callee) in enumerate(zip(anchor.parents, anchor.callees, strict=True)):
        region = anchor.regions.get(callee)
        if region is None:
            raise AdapterError(f"a call node is of region {callee}, which does not exist", path=file, hint=DAMAGED)
        source = _source(region)
        kind = _kind(region)
        name = region.name or "[unnamed]"
        if number in anchor.parameters:
            name += f" ({anchor.parameters[number]})"
        at = nodes[parent] if parent >= 0 else -1
        label = None if kind == NodeKind.LOOP else name
        nodes.append(builder.node(at, kind, label, file=source, line=region.line if source else 0))
    tree, _, place = builder.finish(())
    return tree, place[np.array(nodes, dtype=np.int64)]


def _source(region: Region) -> str | None:
    """The source file of a region of the program's own; Score-P names the library there for others."""
    if region.paradigm.lower() not in (*_OWN, "openmp", "openacc") or region.module in _KERNELS:
        return None
    return region.module if re.search(r"[./]", region.module) else None


def _kind(region: Region) -> NodeKind:
    if region.module in _KERNELS:
        return NodeKind.GPU_KERNEL
    if region.role == "loop" and region.paradigm in _OWN and _source(region) and region.line:
        return NodeKind.LOOP
    if region.role in ("function", "artificial", "wrapper") or region.name.startswith(("MPI_", "PMPI_")):
        return NodeKind.FUNCTION
    return (
        NodeKind.REGION if region.paradigm.lower() in (*_OWN, "openmp", "openacc", "measurement") else NodeKind.FUNCTION
    )


def _locations(anchor: Anchor) -> tuple[Locations, NDArray[np.bool_], NDArray[np.bool_]]:
    """The locations, and for each of the file whether it has times and whether it is a GPU's."""
    kinds = [location.kind.lower() for location in anchor.locations]
    kept = np.array(["metric" not in kind for kind in kinds], dtype=bool)
    device = np.array(["gpu" in kind or "accelerator" in kind for kind in kinds], dtype=bool)
    if not kept.any():
        kept[:] = True
    process = np.array([location.process for location in anchor.locations], dtype=np.int64)[kept]
    rank = np.array(anchor.processes or [-1], dtype=np.int64)[process]
    thread = np.array([location.rank for location in anchor.locations], dtype=np.int64)[kept]
    if not thread[~device[kept]].any():
        thread = np.where(device[kept], thread, -1)
    stream = np.where(device[kept], thread, -1)
    if len(anchor.processes) == 1:
        rank = np.full(len(rank), -1, dtype=np.int64)
    machine = np.array(anchor.nodes or [-1], dtype=np.int64)[process]
    where = Locations.of(
        int(kept.sum()), node=machine, rank=rank, thread=np.where(device[kept], -1, thread), stream=stream,
        gpu_context=np.where(device[kept], 0, -1),
    )  # fmt: skip
    return where, kept, device


def _metric(metric: CubeMetric, taken: Mapping[str, Metric]) -> Metric:
    unit, scale = UNITS.get(metric.unit.lower(), (Unit.COUNT, 1.0))
    words = metric.title or metric.name
    if metric.name == "time":
        found = Metric("cpu.time", unit, "time of the locations", metric.name, metric.unit, scale, clock=Clock.WALL)
    elif metric.name in _KNOWN:
        identifier, known_unit, words = _KNOWN[metric.name]
        found = Metric(identifier, known_unit, words, metric.name, metric.unit)
    elif metric.name.startswith("PAPI_"):
        counter = metric_for(metric.name)
        found = Metric(
            counter.id, counter.unit, counter.description.replace(" (sampled)", ""), metric.name, metric.unit
        )
    else:
        identifier = "other." + slug(metric.name)
        found = Metric(identifier, unit, words, metric.name, metric.unit, scale)
    return replace(found, id=unused(found.id, taken))


def _put(
    values: SparseValues,
    metrics: dict[str, Metric],
    metric: Metric,
    stored_as: CubeMetric,
    cells: Cells,
    place: IntArray,
    chosen: NDArray[np.int64],
    kept: NDArray[np.bool_],
    lacking: list[str],
) -> None:
    """Put in the values of the `chosen` locations of the file, those that are zero left out."""
    nodes, numbers = cells
    if not len(chosen) or not (np.nan_to_num(numbers[:, chosen]) != 0).any():
        metrics[metric.id] = replace(metric, has_values=False)
        return
    position = np.cumsum(kept) - 1
    whole = np.full((len(values.tree), len(chosen)), np.nan)
    at = place[nodes]
    order = np.argsort(at, kind="stable")
    at, numbers = at[order], numbers[order][:, chosen] * metric.scale
    distinct, first = np.unique(at, return_index=True)
    whole[distinct] = np.add.reduceat(np.nan_to_num(numbers), first, axis=0)  # equal call paths are one node
    if stored_as.kind == "INCLUSIVE":
        found = own_values(values.tree, whole)
        total = float(np.nansum(found.values))
        if found.excess > 1e-3 * abs(total):
            lacking.append(metric.source_name)
        whole = found.values
    row, column = np.nonzero(np.nan_to_num(whole))
    values.put(metric, row.astype(np.int32), whole[row, column], position[chosen[column]].astype(np.int32))
    metrics[metric.id] = metric


def _caveats(lacking: Sequence[str], anchor: Anchor) -> Iterable[str]:
    for name in lacking:
        yield f"{name}: call paths have less than their children; the larger numbers were used."
    if any(
        "TRACE BUFFER FLUSH" in region.name for number, region in anchor.regions.items() if number in anchor.callees
    ):
        yield FLUSHED


def _not_collected(metrics: Mapping[str, Metric], ranks: int, anchor: Anchor) -> dict[str, str]:
    missing = {}
    if not any(name.startswith("other.mpi-late") or "wait" in name for name in metrics) and ranks > 1:
        missing["waiting times and their causes"] = FOR_WAITING
    if not any(name in metrics for name in ("cpu.cycles", "cpu.instructions")):
        missing["hardware counters"] = "SCOREP_METRIC_PAPI=PAPI_TOT_CYC,PAPI_TOT_INS ./app"
    own = [anchor.regions[callee] for callee in anchor.callees if anchor.regions[callee].paradigm.lower() in _OWN]
    if not [region for region in own if region.role != "artificial"]:
        missing["functions of the program"] = FOR_FUNCTIONS
    return missing
