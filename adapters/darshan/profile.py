"""A Darshan log as a profile: layer > file > reading, writing, metadata; times and bytes of all ranks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, inf
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from chathpc.adapters import native
from chathpc.errors import AdapterError
from chathpc.profile.build import TreeBuilder
from chathpc.profile.location import Locations
from chathpc.profile.metric import Aggregation, Clock, Metric, Unit
from chathpc.profile.profile import PROCESSES, Profile, Source
from chathpc.profile.sparse import SparseValues
from chathpc.profile.text import clean
from chathpc.profile.tree import NodeKind

#: Layers of libraries between a program and its files, the outermost first, with Darshan's modules and their counters' prefixes. Those
#: of the last layer do not call one another, each of the others calls the next ones.
LAYERS: tuple[Mapping[str, str], ...] = (
    {"H5F": "H5F", "H5D": "H5D"},
    {"PNETCDF_FILE": "PNETCDF_FILE", "PNETCDF_VAR": "PNETCDF_VAR"},
    {"MPI-IO": "MPIIO"},
    {"POSIX": "POSIX", "STDIO": "STDIO", "DFS": "DFS"},
)
DEPTH = {module: depth for depth, modules in enumerate(LAYERS) for module in modules}
_PREFIX = {module: prefix for modules in LAYERS for module, prefix in modules.items()}
SIZES = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS")
_COUNTERS = (
    "OPENS", "INDEP_OPENS", "COLL_OPENS", "CREATES", "READS", "WRITES", "STATS", "FSYNCS", "FDSYNCS", "INDEP_READS",
    "INDEP_WRITES", "COLL_READS", "COLL_WRITES", "SPLIT_READS", "SPLIT_WRITES", "NB_READS", "NB_WRITES", "USE_MPIIO_COLLECTIVE",
    "BYTES_READ", "BYTES_WRITTEN", "MAX_BYTE_READ", "MAX_BYTE_WRITTEN", "SEQ_READS", "SEQ_WRITES", "FILE_NOT_ALIGNED",
    "FASTEST_RANK", "SLOWEST_RANK", "FASTEST_RANK_BYTES", "SLOWEST_RANK_BYTES",
    "F_READ_TIME", "F_WRITE_TIME", "F_META_TIME", "F_WAIT_TIME", "F_FASTEST_RANK_TIME", "F_SLOWEST_RANK_TIME",
    *(f"SIZE_{way}_{size}" for way in ("READ", "WRITE") for size in SIZES),
    *(f"SIZE_{way}_AGG_{size}" for way in ("READ", "WRITE") for size in SIZES),
)  # fmt: skip
_STRIPES = ("STRIPE_SIZE", "EXT_START", "EXT_END")

#: Limits of the child, and so much more for each byte of the log (a log unpacks to some twenty times its size).
_MEMORY, _MEMORY_PER_BYTE = 2 << 30, 64
_ANSWER, _ANSWER_PER_BYTE = 256 << 20, 64
_SECONDS, _SECONDS_PER_BYTE = 20, 2e-6
#: Records of files that are read.
MOST_RECORDS = 1_000_000
DAMAGED = "Copy the log again."


@dataclass(frozen=True, slots=True)
class Record:
    """What one rank (−1: all ranks together) did to one file, or one data set `part` of it, through one module; counters without the
    module's prefix. `id` tells files apart whose names are equal, or missing.
    """

    module: str
    rank: int
    id: int
    file: str
    values: Mapping[str, float]
    part: str = ""


@dataclass(frozen=True, slots=True)
class Stripes:
    """How Lustre spreads the bytes `first` to `last` (inf: the end) of a file: pieces of `size` bytes on the targets in turn."""

    targets: tuple[int, ...]
    size: float
    first: float
    last: float


@dataclass(slots=True)
class Log:
    """Processes and seconds of the job, the log's version, modules that recorded only a part, the records, and the stripes of files by
    their ids.
    """

    processes: int
    seconds: float
    version: str
    partial: tuple[str, ...] = ()
    records: list[Record] = field(default_factory=list)
    stripes: dict[int, tuple[Stripes, ...]] = field(default_factory=dict)


def read_log(path: Path) -> Log:
    """All records of the modules that move data; AdapterError for damage or if the package is missing."""
    if not native.installed("darshan"):
        raise _missing(path)
    size = native.size_of(path)
    request = {
        "path": str(path.absolute()),
        "modules": [*_PREFIX, "LUSTRE"],
        "counters": [
            *(f"{prefix}_{name}" for prefix in _PREFIX.values() for name in _COUNTERS),
            *(f"LUSTRE_COMP_{name}" for name in _STRIPES),
        ],
        "records": MOST_RECORDS,
    }
    limits = native.Limits(
        memory=_MEMORY + _MEMORY_PER_BYTE * size,
        answer=_ANSWER + _ANSWER_PER_BYTE * size,
        seconds=int(_SECONDS + _SECONDS_PER_BYTE * size),
    )
    log: Log | None = None
    with native.run(Path(__file__).with_name("child.py"), request, limits, path) as child:
        for value in child.answers():
            if "missing" in value:
                raise _missing(path)
            if "error" in value:
                raise AdapterError(f"Darshan's library rejects it ({clean(value['error'])})", path=path, hint=DAMAGED)
            if "job" in value:
                log = _job(value, path)
            elif "module" in value and log is not None:
                _add(log, value)
            elif "end" in value and log is not None:
                return log
        ended = child.ended
    raise AdapterError(f"Darshan's library {ended} on it: it is damaged", path=path, hint=DAMAGED)


def _add(log: Log, row: Mapping[str, Any]) -> None:
    if row["module"] == "LUSTRE":
        log.stripes[row["id"]] = tuple(
            Stripes(tuple(part["osts"]), *(part.get(f"LUSTRE_COMP_{name}", 0.0) for name in _STRIPES))
            for part in row["components"]
        )
        return
    prefix = _PREFIX[row["module"]] + "_"
    values = {name.removeprefix(prefix).replace("_AGG", ""): amount for name, amount in row["values"].items()}
    log.records.append(Record(row["module"], row["rank"], row["id"], row["file"], values, row.get("part", "")))


def _job(value: Mapping[str, Any], path: Path) -> Log:
    processes, seconds = value["job"].get("nprocs", 0.0), value["job"].get("run_time", 0.0)
    if not 1 <= processes <= 1e8 or not 0 <= seconds < 1e10:
        raise AdapterError(f"a job of {processes:g} processes and {seconds:g} s is impossible", path=path, hint=DAMAGED)
    partial = tuple(name for name, is_partial in value["modules"] if is_partial)
    return Log(int(processes), float(seconds), clean(value["version"])[:20], partial)


def _missing(path: Path) -> AdapterError:
    return AdapterError(
        "a Darshan log, which the package darshan reads",
        path=path,
        hint="Install it: pip install 'chathpc[darshan]'.",
    )


# -- the log as a profile ------------------------------------------------------------------------------------------

#: What each layer is called; where it is one module, as that.
_LAYER = {"H5F": "HDF5", "H5D": "HDF5", "PNETCDF_FILE": "PnetCDF", "PNETCDF_VAR": "PnetCDF"}
_SYSTEM = len(LAYERS) - 1
#: Requests of these sizes are small, and large: Darshan's own histogram has borders there.
_SMALL, _LARGE = SIZES[:3], SIZES[5:]
#: Times of all ranks together beyond this multiple of the process time cannot be, unless threads open files side by side.
POSSIBLE = 1.05

METRICS = (
    Metric("io.time", Unit.SECONDS, "time in input and output of all ranks", "read, write and meta time", clock=Clock.WALL),
    Metric("io.read.time", Unit.SECONDS, "time of reads", "F_READ_TIME", clock=Clock.WALL),
    Metric("io.write.time", Unit.SECONDS, "time of writes", "F_WRITE_TIME", clock=Clock.WALL),
    Metric("io.meta.time", Unit.SECONDS, "time of opens, stats, seeks and closes", "F_META_TIME", clock=Clock.WALL),
    Metric("io.read.bytes", Unit.BYTES, "bytes read", "BYTES_READ"),
    Metric("io.write.bytes", Unit.BYTES, "bytes written", "BYTES_WRITTEN"),
    Metric("io.read.count", Unit.COUNT, "reads", "READS"),
    Metric("io.write.count", Unit.COUNT, "writes", "WRITES"),
    Metric("io.meta.count", Unit.COUNT, "opens and stats", "OPENS + STATS"),
    Metric("io.sync.count", Unit.COUNT, "flushes to the device (fsync, fdatasync)", "FSYNCS + FDSYNCS"),
    Metric("io.sized.count", Unit.COUNT, "requests of known size", "SIZE_READ/WRITE_…"),
    Metric("io.small.count", Unit.COUNT, "requests below 10 kB", "SIZE_READ/WRITE_0_100 … 1K_10K"),
    Metric("io.large.count", Unit.COUNT, "requests of 1 MB and more", "SIZE_READ/WRITE_1M_4M …"),
    Metric("io.sequential.count", Unit.COUNT, "requests at a higher offset than the one before", "SEQ_READS + SEQ_WRITES"),
    Metric("io.unaligned.count", Unit.COUNT, "requests not aligned to a file system block", "FILE_NOT_ALIGNED"),
    Metric("io.collective.count", Unit.COUNT, "collective calls of MPI-IO", "MPIIO_COLL_… + MPIIO_SPLIT_…"),
    Metric("io.independent.count", Unit.COUNT, "independent calls of MPI-IO on files that all ranks share",
           "MPIIO_INDEP_… + MPIIO_NB_…"),
    Metric("io.asked.count", Unit.COUNT, "collective accesses by HDF5 or PnetCDF",
           "H5D_USE_MPIIO_COLLECTIVE, PNETCDF_VAR_COLL_…"),
    Metric("io.system.time", Unit.SECONDS, "time in requests to the file system, below the libraries", "POSIX_F_…_TIME",
           clock=Clock.WALL),
    *(Metric(f"{prefix}.rank.{end}", Unit.SECONDS, f"time of the {end} rank on a shared file{below}, at that rank",
             f"F_{end.upper()}_RANK_TIME", aggregation=Aggregation.MAX)
      for end in ("slowest", "fastest") for prefix, below in (("io", ""), ("io.system", " below the libraries"))),
    *(Metric(f"io.rank.{end}.bytes", Unit.BYTES, f"bytes that the {end} rank on a shared file moved", f"{end.upper()}_RANK_BYTES",
             aggregation=Aggregation.MAX) for end in ("slowest", "fastest")),
    Metric("io.files", Unit.COUNT, "files", "records"),
    Metric("io.target.time", Unit.SECONDS, "time of the files on a storage target, spread evenly over their stripes",
           "LUSTRE_OST_IDS", clock=Clock.WALL),
    Metric("io.target.bytes", Unit.BYTES, "bytes of the files on a storage target, spread evenly over their stripes",
           "LUSTRE_OST_IDS"),
    Metric("io.target.files", Unit.COUNT, "files with a stripe on a storage target", "LUSTRE_OST_IDS"),
    Metric("run.time", Unit.SECONDS, "processes × run time", "nprocs × run_time", clock=Clock.WALL),
)  # fmt: skip


def read(path: Path) -> Profile:
    """Read the log at `path`.

    Each file's time is that of the outermost layer that was used for it: what a library takes is more than the requests below it, and
    nothing counts twice. Bytes, requests and their sizes are those that reach the file system, at the innermost layer. Negative times are
    impossible: they are left out, with a caveat. Ranks that Darshan added up over a shared file are one location; of these only the
    slowest and the fastest are known by themselves.
    """
    log = read_log(path)
    builder = TreeBuilder()
    root = builder.node(-1, NodeKind.ENTRY, "job")
    builder.add("run.time", root, log.processes * log.seconds)
    ends = [int(record.values.get(name, -1)) for record in log.records if record.rank < 0 for name in _ENDS.values()]
    ranks = sorted({rank for rank in (*ends, *(record.rank for record in log.records)) if 0 <= rank < log.processes})
    row = {rank: number + 1 for number, rank in enumerate(ranks)}
    targets: dict[int, list[float]] = {}
    files: dict[int, list[Record]] = {}
    for record in log.records:
        files.setdefault(record.id, []).append(record)
    for number, (file, records) in enumerate(files.items()):
        times, requests = _outermost(records), _innermost(records)
        _add_file(_File(builder, root, number, times[0], row), records, times, requests)
        amounts = _time(times), _sum(requests, *_BYTES), 1.0
        for target, part in _by_target(log.stripes.get(file, ()), records):
            sums = targets.setdefault(target, [0.0, 0.0, 0.0])
            targets[target] = [sums[0] + part * amounts[0], sums[1] + part * amounts[1], sums[2] + 1.0]
    for target, sums in sorted(targets.items()):
        node = builder.node(builder.node(root, NodeKind.REGION, "Lustre"), NodeKind.REGION, f"OST {target}")
        for name, amount in zip(("time", "bytes", "files"), sums, strict=True):
            builder.add(f"io.target.{name}", node, amount)
    where = Locations.of(
        len(ranks) + 1,
        rank=np.array([-1, *ranks], dtype=np.int64),
        thread=np.array([-1, *[0] * len(ranks)], dtype=np.int64),
    )
    tree, values, _ = builder.finish(METRICS, locations=len(where))
    metrics = {one.id: one for one in METRICS if len(values.exclusive(one.id))}
    return Profile(
        format=f"Darshan {log.version}".strip(),
        title=path.name.removesuffix(".darshan"),
        tree=tree,
        metrics=metrics,
        values=values,
        where=where,
        sources=(Source(path, "Darshan", log.version),),
        caveats=tuple(_caveats(log, values)),
        not_collected={
            "what the program does between its requests": "hpcrun -e REALTIME -t ./app",
            "each request with its time and offset": "DXT_ENABLE_IO_TRACE=1 LD_PRELOAD=libdarshan.so ./app",
        },
        run={PROCESSES: str(log.processes), "seconds": f"{log.seconds:g}"}
        | ({"partial": "yes"} if log.partial else {}),
        timed=True,
    )


#: Metrics of the two ranks on a shared file that are known by themselves, and the counters that name them.
_ENDS = {"slowest": "SLOWEST_RANK", "fastest": "FASTEST_RANK"}
_BYTES = ("BYTES_READ", "BYTES_WRITTEN")
_TIMES: Mapping[str, tuple[str, ...]] = {
    "read": ("F_READ_TIME",),
    "write": ("F_WRITE_TIME", "F_WAIT_TIME"),
    "meta": ("F_META_TIME",),
}


def _layers(records: Iterable[Record]) -> list[list[Record]]:
    """The records of one file by their layers, the outermost first."""
    layers: list[list[Record]] = [[] for _ in LAYERS]
    for record in records:
        layers[DEPTH[record.module]].append(record)
    return [layer for layer in layers if layer]


def _outermost(records: Iterable[Record]) -> list[Record]:
    """Those of the outermost layer that has seen all that was done: one contains the layers below it, so it has no less time than these,
    and no fewer ranks.
    """
    layers = _layers(records)
    most = max(map(_time, layers))
    ranks = [inf if any(record.rank < 0 for record in layer) else len({one.rank for one in layer}) for layer in layers]
    whole = (
        layer
        for layer, used in zip(layers, ranks, strict=True)
        if POSSIBLE * _time(layer) >= most and used >= max(ranks)
    )
    return next(whole, max(layers, key=_time))


def _innermost(records: Iterable[Record]) -> list[Record]:
    """Those of the innermost layer that moves bytes."""
    layers = _layers(records)
    return next((layer for layer in reversed(layers) if _sum(layer, *_BYTES)), layers[-1])


def _seconds(record: Record, *names: str) -> float:
    """Times of a record without those that cannot be."""
    return sum(amount for name in names if 0 < (amount := record.values.get(name, 0.0)) < inf)


def _time(records: Iterable[Record]) -> float:
    return sum(_seconds(record, *names) for record in records for names in _TIMES.values())


def _sum(records: Iterable[Record], *names: str) -> float:
    return sum(max(record.values.get(name, 0.0), 0.0) for record in records for name in names)


def _by_target(stripes: Sequence[Stripes], records: Iterable[Record]) -> Iterable[tuple[int, float]]:
    """What part (0..1) of a file lies on each storage target; where its size is not known it lies on all of its stripes."""
    size = 1 + max(record.values.get(name, 0.0) for record in records for name in ("MAX_BYTE_READ", "MAX_BYTE_WRITTEN"))
    lengths = [max(min(each.last if each.last > 0 else inf, size) - max(each.first, 0.0), 0.0) for each in stripes]
    parts: dict[int, float] = {}
    for each, length in zip(stripes, lengths, strict=True):
        used = each.targets[: ceil(length / each.size)] if each.size > 0 and size > 1 else each.targets
        for target in used:
            parts[target] = parts.get(target, 0.0) + length / (sum(lengths) or 1.0) / len(used)
    return parts.items()


def _short(path: str) -> str:
    """The last two parts of a file's path: where files lie names people and systems."""
    text = clean(path)
    if text.startswith("<"):
        return text
    parts = PurePosixPath(text).parts[-2:]
    return "/".join(part.strip("/") for part in parts) or "<unknown file>"


@dataclass(frozen=True, slots=True)
class _File:
    """Where the values of one file go: below the layer of `first`, the first record of its outermost layer."""

    builder: TreeBuilder
    root: int
    number: int
    first: Record
    row: Mapping[int, int]
    nodes: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def add(self, record: Record, metric: str, amount: float, operation: str = "", part: str = "") -> None:
        """Add what `record` has of a metric to the file, to a data set of it, or to what was done to that."""
        key = (record.module, part, operation)
        node = self.nodes.get(key)
        if node is None:
            node = self.nodes[key] = self._node(record, operation, part)
        self.builder.add(metric, node, amount, self.row.get(record.rank, 0))

    def _node(self, record: Record, operation: str, part: str) -> int:
        same = DEPTH[record.module] == DEPTH[self.first.module]
        module = record.module if same else self.first.module
        node = self.builder.node(self.root, NodeKind.REGION, _LAYER.get(module, module))
        node = self.builder.node(node, NodeKind.REGION, _short(record.file), apart=self.number)
        if part:
            node = self.builder.node(node, NodeKind.REGION, clean(part))
        return self.builder.node(node, NodeKind.FUNCTION, _CALLED.get(operation, operation)) if operation else node


def _add_file(file: _File, records: Sequence[Record], times: Sequence[Record], requests: Sequence[Record]) -> None:
    """Add a file: times of its outermost layer, what reaches the file system at its innermost one, and how MPI-IO was used between."""
    for record in times:
        for operation, names in _TIMES.items():
            if seconds := _seconds(record, *names):
                for metric in (f"io.{operation}.time", "io.time"):
                    file.add(record, metric, seconds, operation, record.part)
        _add_ends(file, record, "io")
    for record in requests:
        for operation, counts in _COUNTED.items():
            for metric, names in counts.items():
                if any(name in record.values for name in names) and (
                    (amount := _sum([record], *names)) or not operation
                ):
                    file.add(record, metric, amount, operation)
        if DEPTH[record.module] == _SYSTEM:
            file.add(record, "io.system.time", _time([record]))
            _add_ends(file, replace(record, part=""), "io.system")
    if _sum(records, *_BYTES, *_OPENS):
        file.add(times[0], "io.files", 1.0)
    calls = [record for record in records if record.module == "MPI-IO"]
    shared = len({record.rank for record in calls}) > 1 or any(record.rank < 0 for record in calls)
    for record in records:
        if record in calls:
            file.add(record, "io.collective.count", _sum([record], *_COLLECTIVE))
            file.add(record, "io.independent.count", _sum([record], *_INDEPENDENT) if shared else 0.0)
        elif record.module == "PNETCDF_VAR" or record.values.get("USE_MPIIO_COLLECTIVE", 0.0) > 0:
            file.add(record, "io.asked.count", _sum([record], "COLL_READS", "COLL_WRITES", "READS", "WRITES"))


def _add_ends(file: _File, record: Record, prefix: str) -> None:
    """Add the times of the slowest and the fastest rank on a shared file, at these ranks."""
    for end, name in _ENDS.items():
        if record.rank < 0 and (seconds := _seconds(record, f"F_{name}_TIME")):
            at = replace(record, rank=int(record.values.get(name, -1)))
            file.add(at, f"{prefix}.rank.{end}", seconds, part=record.part)
            if prefix == "io" and (moved := _sum([record], f"{name}_BYTES")):
                file.add(at, f"io.rank.{end}.bytes", moved, part=record.part)


def _sizes(sizes: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"SIZE_{way}_{size}" for way in ("READ", "WRITE") for size in sizes)


_OPENS = ("OPENS", "INDEP_OPENS", "COLL_OPENS", "CREATES")
_COLLECTIVE = ("COLL_READS", "COLL_WRITES", "SPLIT_READS", "SPLIT_WRITES")
_INDEPENDENT = ("INDEP_READS", "INDEP_WRITES", "NB_READS", "NB_WRITES")
_CALLED = {"meta": "open, stat, seek, close"}
#: What is counted of what was done to a file, and of the file as a whole.
_COUNTED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "read": {"io.read.bytes": ("BYTES_READ",), "io.read.count": ("READS", *_INDEPENDENT[::2], *_COLLECTIVE[::2])},
    "write": {
        "io.write.bytes": ("BYTES_WRITTEN",),
        "io.write.count": ("WRITES", *_INDEPENDENT[1::2], *_COLLECTIVE[1::2]),
        "io.sync.count": ("FSYNCS", "FDSYNCS"),
    },
    "meta": {"io.meta.count": ("STATS", *_OPENS)},
    "": {
        "io.sized.count": _sizes(SIZES),
        "io.small.count": _sizes(_SMALL),
        "io.large.count": _sizes(_LARGE),
        "io.sequential.count": ("SEQ_READS", "SEQ_WRITES"),
        "io.unaligned.count": ("FILE_NOT_ALIGNED",),
    },
}


def _caveats(log: Log, values: SparseValues) -> Iterable[str]:
    negative = {
        f"{record.module} {name.removeprefix('F_').replace('_', ' ').lower()}": amount
        for record in log.records
        for names in _TIMES.values()
        for name in names
        if not -1e-3 <= (amount := record.values.get(name, 0.0)) < inf and amount != -1  # which is: not recorded
    }
    for name, amount in negative.items():
        yield f"The {name} is {amount:g} s, which is impossible; it is excluded."
    if log.partial:
        yield f"Darshan ran out of memory for {', '.join(map(clean, log.partial))}: some files are missing."
    if len(log.records) >= MOST_RECORDS:
        yield f"Only the first {MOST_RECORDS} records are read."
    available = log.processes * log.seconds
    for operation in _TIMES:
        spent = float(values.exclusive(f"io.{operation}.time").values.sum())
        if available and spent > POSSIBLE * available:
            yield (
                f"The {operation} time of {spent:,.0f} s is more than the {available:,.0f} s of all processes: threads that "
                "wait concurrently, or a wrong counter."
            )
