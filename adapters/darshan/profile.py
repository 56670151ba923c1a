"""A Darshan log as a profile: layer > file > reading, writing, metadata; times and bytes of all ranks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import numpy as np

from chathpc.adapters.darshan.log import MOST_RECORDS, Log, Record, read_log
from chathpc.profile.build import TreeBuilder
from chathpc.profile.location import Locations
from chathpc.profile.metric import Aggregation, Clock, Metric, Unit
from chathpc.profile.profile import Profile, Source
from chathpc.profile.text import clean
from chathpc.profile.tree import NodeKind

#: Requests below this size are small: Darshan's own histogram has a border there.
SMALL = ("0_100", "100_1K", "1K_10K")
LARGE = ("1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS")
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
    Metric("io.sync.count", Unit.COUNT, "forced writes to the device (fsync, fdatasync)", "FSYNCS + FDSYNCS"),
    Metric("io.small.count", Unit.COUNT, "requests below 10 kB", "SIZE_READ/WRITE_0_100 … 1K_10K"),
    Metric("io.large.count", Unit.COUNT, "requests of 1 MB and more", "SIZE_READ/WRITE_1M_4M …"),
    Metric("io.sequential.count", Unit.COUNT, "requests behind the one before in the file", "SEQ_READS + SEQ_WRITES"),
    Metric("io.unaligned.count", Unit.COUNT, "requests that do not begin at a block of the file system", "FILE_NOT_ALIGNED"),
    Metric("mpi.io.time", Unit.SECONDS, "time in MPI-IO calls (the layer above POSIX)", "MPIIO_F_…_TIME", clock=Clock.WALL),
    Metric("io.rank.slowest", Unit.SECONDS, "time of the slowest rank on a shared file", "F_SLOWEST_RANK_TIME",
           aggregation=Aggregation.MAX),
    Metric("io.rank.fastest", Unit.SECONDS, "time of the fastest rank on a shared file", "F_FASTEST_RANK_TIME",
           aggregation=Aggregation.DERIVED),
    Metric("io.files", Unit.COUNT, "files", "records"),
    Metric("run.time", Unit.SECONDS, "processes × run time", "nprocs × run_time", clock=Clock.WALL),
)  # fmt: skip


def read(path: Path) -> Profile:
    """Read the log at `path`.

    POSIX and STDIO are counted in `io.*`; MPI-IO, which calls POSIX, has a metric of its own so that nothing counts twice
    (where only MPI-IO was recorded it counts in `io.*`). Negative times are impossible: they are left out, with a caveat.
    Ranks that Darshan added up over a shared file are one location.
    """
    log = read_log(path)
    builder = TreeBuilder()
    root = builder.node(-1, NodeKind.ENTRY, "job")
    builder.add("run.time", root, log.processes * log.seconds)
    ranks = sorted({record.rank for record in log.records if record.rank >= 0})
    row = {rank: number + 1 for number, rank in enumerate(ranks)}
    below = any(record.module != "MPI-IO" and _moves(record) for record in log.records)
    negative: dict[str, float] = {}
    files: set[str] = set()
    for record in log.records:
        base = record.module != "MPI-IO" or not below
        layer = builder.node(root, NodeKind.REGION, record.module)
        file = builder.node(layer, NodeKind.REGION, _short(record.file))
        location = row.get(record.rank, 0)
        _add(builder, file, record, location, base=base, negative=negative)
        if record.file not in files and _moves(record):
            files.add(record.file)
            builder.add("io.files", file, 1.0, location)
    where = Locations.of(
        len(ranks) + 1,
        rank=np.array([-1, *ranks], dtype=np.int64),
        thread=np.array([-1, *[0] * len(ranks)], dtype=np.int64),
    )
    tree, values, _ = builder.finish(METRICS, locations=len(where))
    metrics = {one.id: one for one in METRICS if len(values.exclusive(one.id))}
    profile = Profile(
        format=f"Darshan {log.version}".strip(),
        title=f"{path.name.removesuffix('.darshan')}, {log.processes:,} processes, {log.seconds:g} s",
        tree=tree,
        metrics=metrics,
        values=values,
        where=where,
        sources=(Source(path, "Darshan", log.version),),
        caveats=tuple(_caveats(log, negative)),
        not_collected={
            "what the program does between its requests": "hpcrun -e REALTIME -t ./app",
            "each single request with its time and offset": "DXT_ENABLE_IO_TRACE=1 LD_PRELOAD=libdarshan.so ./app",
        },
        run={"processes": str(log.processes), "seconds": f"{log.seconds:g}"},
        timed=True,
    )
    return profile


def _moves(record: Record) -> bool:
    names = ("BYTES_READ", "BYTES_WRITTEN", "OPENS", "INDEP_OPENS", "COLL_OPENS")
    return any(record.values.get(name, 0) > 0 for name in names)


def _short(path: str) -> str:
    """The last two parts of a file's path: where files lie names people and systems."""
    text = clean(path)
    if text.startswith("<"):
        return text
    parts = PurePosixPath(text).parts[-2:]
    return "/".join(part.strip("/") for part in parts) or "<unknown file>"


def _add(
    builder: TreeBuilder, file: int, record: Record, location: int, *, base: bool, negative: dict[str, float]
) -> None:
    values = record.values

    def total(*names: str) -> float:
        return sum(max(values.get(name, 0.0), 0.0) for name in names)

    def time(name: str) -> float:
        amount = values.get(name, 0.0)
        if not amount >= -1e-3 or amount == float("inf"):  # also not a number
            negative[f"{record.module} {name.removeprefix('F_').replace('_', ' ').lower()}"] = amount
            return 0.0
        return max(amount, 0.0)

    every = (
        ("read", time("F_READ_TIME"), {
            "io.read.bytes": total("BYTES_READ"), "io.read.count": total("READS", "INDEP_READS", "COLL_READS")}),
        ("write", time("F_WRITE_TIME"), {
            "io.write.bytes": total("BYTES_WRITTEN"), "io.write.count": total("WRITES", "INDEP_WRITES", "COLL_WRITES"),
            "io.sync.count": total("FSYNCS", "FDSYNCS")}),
        ("meta", time("F_META_TIME"), {"io.meta.count": total("OPENS", "STATS", "INDEP_OPENS", "COLL_OPENS")}),
    )  # fmt: skip
    for name, seconds, counts in every:
        if not seconds and not any(counts.values()):
            continue
        node = builder.node(file, NodeKind.FUNCTION, {"meta": "open, stat, seek, close"}.get(name, name))
        if not base:
            builder.add("mpi.io.time", node, seconds, location)
            continue
        builder.add(f"io.{name}.time", node, seconds, location)
        builder.add("io.time", node, seconds, location)
        for metric, amount in counts.items():
            builder.add(metric, node, amount, location)
    if not base:
        return
    for metric, names in _COUNTED:
        present = [name for name in names if name in values]
        if present:
            builder.add(metric, file, total(*present), location)
    if record.rank < 0:
        for metric, name in (("io.rank.slowest", "F_SLOWEST_RANK_TIME"), ("io.rank.fastest", "F_FASTEST_RANK_TIME")):
            if values.get(name, 0.0) > 0:
                builder.add(metric, file, values[name], location)


def _sizes(sizes: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"SIZE_{way}_{size}" for way in ("READ", "WRITE") for size in sizes)


_COUNTED = (
    ("io.small.count", _sizes(SMALL)),
    ("io.large.count", _sizes(LARGE)),
    ("io.sequential.count", ("SEQ_READS", "SEQ_WRITES")),
    ("io.unaligned.count", ("FILE_NOT_ALIGNED",)),
)


def _caveats(log: Log, negative: dict[str, float]) -> Iterable[str]:
    for name, amount in negative.items():
        yield f"The {name} is {amount:g} s, which cannot be; it is left out."
    if log.partial:
        yield f"Darshan ran out of memory for {', '.join(map(clean, log.partial))}: some files are missing."
    if len(log.records) >= MOST_RECORDS:
        yield f"Only the first {MOST_RECORDS} records are read."
    available = log.processes * log.seconds
    for name in ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME"):
        spent = sum(max(r.values.get(name, 0.0), 0.0) for r in log.records if r.module != "MPI-IO")
        if available and spent > POSSIBLE * available:
            words = name.removeprefix("F_").replace("_", " ").lower()
            yield (
                f"The {words} of {spent:,.0f} s is more than the {available:,.0f} s of all processes: threads that "
                "wait side by side, or a counter that went wrong."
            )
