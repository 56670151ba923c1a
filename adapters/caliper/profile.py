"""A Caliper profile as a Profile: which of its columns are the time, whose, and what they cannot tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from chathpc.adapters.caliper.columns import Columns, add_columns
from chathpc.adapters.caliper.files import KERNEL_LABELS, Region, Row, Table, read_cali, read_split
from chathpc.adapters.content import read_text
from chathpc.errors import AdapterError
from chathpc.profile.build import TreeBuilder
from chathpc.profile.location import Locations
from chathpc.profile.profile import RANKS, RANKS_ADDED, Profile, Source
from chathpc.profile.sparse import SparseValues
from chathpc.profile.text import clean
from chathpc.profile.tree import CallTree, NodeKind

#: Files of one run, one for each rank.
MOST_FILES = 100_000
#: Name of the node that holds what was measured outside all regions.
OUTSIDE = "[outside of annotated regions]"

#: Parts of the time outside of regions from which it is worth a measurement, and from which nothing can be said.
_MUCH, _NEARLY_ALL = 0.2, 0.9

_RANK, _THREADS = "mpi.rank", ("omp.thread.id", "pthread.id", "thread", "thread.id")
#: Facts about a run that name nobody; only numbers are taken from the file.
_FACTS = {
    "jobsize": RANKS,
    "mpi.world.size": RANKS,
    "numhosts": "nodes",
    "threads": "threads per rank",
    "problem_size": "problem size",
    "iterations": "iterations",
    "elapsed_time": "elapsed seconds",
}
#: Channels of a SPOT file, the one to read first.
_CHANNELS = ("regionprofile", "region_profile", "timeseries")
_PROGRAM = ("executablepath", "executable", "program")


def read(path: Path) -> Profile:
    """Read `path`: a .cali file, a json-split file, or a folder with the .cali files of the ranks of one run.

    AdapterError for damage, for a file without values, and for a folder that holds several runs.
    """
    if path.is_dir():
        return _profile(path, _folder(path))
    table = read_cali(path) if read_text(path)[:4096].lstrip().startswith("__rec=") else read_split(path)
    return _profile(path, table)


def _folder(path: Path) -> Table:
    """The .cali files of a folder as one table if they are ranks of one run; AdapterError if they are several runs."""
    files = sorted(path.glob("*.cali"))[:MOST_FILES]
    tables = [read_cali(file) for file in files]
    if len(tables) == 1:
        return tables[0]
    ranks = [{row.values[_RANK] for row in table.rows if _RANK in row.values} for table in tables]
    owners = [next(iter(one)) for one in ranks if len(one) == 1]
    worlds = {table.facts.get("mpi.world.size", "") for table in tables}
    if len(owners) != len(tables) or len(set(owners)) != len(tables) or len(worlds) != 1:
        shown = ", ".join(clean(file.name)[:40] for file in files[:4])
        raise AdapterError(
            f"holds {len(files)} runs ({shown}{', …' if len(files) > 4 else ''}), not one",
            path=path,
            hint=f"Give one of them, such as {files[0]}; a series is for chathpc scale.",
        )
    return _joined(tables, owners)


def _joined(tables: Sequence[Table], owners: Sequence[float]) -> Table:
    """Tables of ranks as one; equal paths are one region."""
    whole = Table(facts=dict(tables[0].facts), complete=all(table.complete for table in tables))
    index: dict[Region, int] = {}
    for table, owner in zip(tables, owners, strict=True):
        place: list[int] = []
        for parent, kind, name in table.regions:
            entry = place[parent] if parent >= 0 else -1, kind, name
            found = index.setdefault(entry, len(whole.regions))
            if found == len(whole.regions):
                whole.regions.append(entry)
            place.append(found)
        whole.attributes |= table.attributes
        whole.rows += [
            Row(place[row.place] if row.place >= 0 else -1, row.labels, {_RANK: owner, **row.values})
            for row in table.rows
        ]
    return whole


def _profile(path: Path, table: Table) -> Profile:
    rows, channel, others = _channel(table.rows)
    where, location = _locations(rows)
    builder = TreeBuilder()
    nodes = _nodes(builder, table, rows)
    ranks = _ranks(table.facts, where) or _most_ranks(rows)
    columns = add_columns(builder, table, rows, nodes, location, ranks)
    if not columns.metrics:
        raise AdapterError(
            "has regions but no values",
            path=path,
            hint="Run with CALI_CONFIG=runtime-report,profile.mpi,output=run.cali.",
        )
    tree, values, place = builder.finish(columns.metrics.values(), len(where))
    columns.derive(tree, values, place)
    outside = _outside(tree, values)
    version = clean(table.facts.get("cali.caliper.version", ""))[:40]
    program = next((table.facts[name] for name in _PROGRAM if table.facts.get(name)), "")
    return Profile(
        format="Caliper" + (f" {version}" if version else "") + (" (SPOT)" if channel else ""),
        title=clean(program.rstrip("/").rsplit("/", 1)[-1])[:200] or path.name.removesuffix(".gz"),
        tree=tree,
        metrics=columns.metrics,
        values=values,
        where=where,
        sources=(Source(path, "Caliper", version),),
        caveats=tuple(_caveats(table, columns, others, rows)),
        not_collected=_not_collected(tree.names, columns, ranks, outside),
        run={
            **({RANKS: str(ranks)} if ranks else {}),
            **_run(table.facts),
            **({RANKS_ADDED: str(ranks)} if ranks and columns.sums and (where.rank < 0).all() else {}),
        },
        sample_count=columns.samples,
        timed=columns.samples is None,
        insufficient=_insufficient(columns, outside),
    )


def _channel(rows: Sequence[Row]) -> tuple[list[Row], str, list[str]]:
    """The rows of the channel to read, its name, and the names of the others: channels measure the same run again."""
    names = {row.labels.get("spot.channel", "") for row in rows}
    if names == {""}:
        return list(rows), "", []
    ranked = [name for name in _CHANNELS if name in names] + sorted(names - set(_CHANNELS))
    chosen = ranked[0]
    return [row for row in rows if row.labels.get("spot.channel", "") == chosen], chosen, ranked[1:]


def _locations(rows: Sequence[Row]) -> tuple[Locations, list[int]]:
    """Locations by rank and thread, and that of each row. A process that tells its rank late has only the one."""
    keys = []
    for row in rows:
        rank = row.values.get(_RANK, _whole(row.labels.get(_RANK)))
        thread = next((row.values[name] for name in _THREADS if name in row.values), -1.0)
        keys.append((_index(rank), _index(thread)))
    ranks = {rank for rank, _ in keys if rank >= 0}
    if len(ranks) == 1:
        keys = [(next(iter(ranks)), thread) for _, thread in keys]
    distinct = sorted(set(keys))
    number = {key: index for index, key in enumerate(distinct)}
    where = Locations.of(
        len(distinct),
        rank=np.array([rank for rank, _ in distinct], dtype=np.int64),
        thread=np.array([thread for _, thread in distinct], dtype=np.int64),
    )
    return where, [number[key] for key in keys]


def _whole(text: str | None) -> float:
    return float(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else -1.0


def _index(value: float) -> int:
    return int(value) if 0 <= value < 2**31 else -1


def _nodes(builder: TreeBuilder, table: Table, rows: Sequence[Row]) -> list[int]:
    """The tree's node of each row: its region, below it the kernel, and the line that was sampled."""
    places: list[int] = []
    for parent, kind, name in table.regions:
        places.append(builder.node(places[parent] if parent >= 0 else -1, kind, name or "[unnamed]"))
    nodes = []
    for row in rows:
        at = places[row.place] if row.place >= 0 else builder.node(-1, NodeKind.PLACEHOLDER, OUTSIDE)
        for label in KERNEL_LABELS:
            if row.labels.get(label):
                at = builder.node(at, NodeKind.GPU_KERNEL, row.labels[label])
        file, _, line = next(
            (text for name, text in row.labels.items() if name.startswith("sourceloc#")), ""
        ).rpartition(":")
        if file and line.isascii() and line.isdigit() and len(line) < 10:
            at = builder.node(at, NodeKind.LINE, file=file, line=int(line))
        nodes.append(at)
    return nodes


def _ranks(facts: Mapping[str, str], where: Locations) -> int:
    """Number of MPI ranks of the run; 0 if nothing tells it."""
    for name in ("mpi.world.size", "jobsize"):
        number = _whole(facts.get(name))
        if number > 0:
            return int(number)
    return len({rank for rank in where.rank.tolist() if rank >= 0})


def _most_ranks(rows: Sequence[Row]) -> int:
    """The largest number of ranks that a mean was taken over."""
    counts = [value for row in rows for name, value in row.values.items() if name.startswith("avg.count#")]
    return _index(max(counts, default=0.0)) if counts else 0


def _outside(tree: CallTree, values: SparseValues) -> float:
    """Part of the time that was measured outside of all regions."""
    column = values.exclusive("cpu.time")
    total = column.sum()
    roots = [int(root) for root in tree.roots if tree.label(int(root)) == OUTSIDE]
    return sum(column.at(root) or 0.0 for root in roots) / total if total > 0 else 0.0


def _insufficient(columns: Columns, outside: float) -> str:
    if not columns.has_time:
        return "The profile has no times, only other numbers of its regions."
    if outside > _NEARLY_ALL:
        return (
            f"{outside * 100:.1f} % of the time is outside the annotated regions, so its cause is unknown: "
            "annotate the functions that take it, or sample them."
        )
    return ""


def _run(facts: Mapping[str, str]) -> dict[str, str]:
    """Facts that are numbers; everything else in the metadata may name people, hosts and paths."""
    found = {}
    for name, words in _FACTS.items():
        try:
            number = float(facts.get(name, ""))
        except ValueError:
            continue
        if abs(number) < 1e15:
            found[words] = f"{number:g}"
    return found


def _caveats(table: Table, columns: Columns, others: Sequence[str], rows: Sequence[Row]) -> Iterable[str]:
    if not table.complete:
        yield "The file ends in the middle of a record: the run or the file was cut off."
    yield from columns.caveats
    if others:
        yield f"The file also holds the channel {', '.join(clean(name)[:40] for name in others)}, which measures the same run again and is excluded."
    steps = len({row.values["timeseries.snapshot"] for row in rows if "timeseries.snapshot" in row.values})
    if steps > 1:
        yield f"The file is a series of {steps} snapshots; their values are added up, so changes during the run are not visible."


def _not_collected(names: Sequence[str], columns: Columns, ranks: int, outside: float) -> dict[str, str]:
    missing = {}
    if not columns.has_time:
        missing["times of regions"] = "CALI_CONFIG=runtime-report,profile.mpi,output=run.cali ./app"
    if outside > _MUCH:
        missing["what runs outside the regions"] = "CALI_CONFIG='sample-report,output=samples.txt' ./app"
    if columns.over_ranks and ranks != 1:
        missing["times of each rank"] = "CALI_CONFIG='hatchet-region-profile,profile.mpi,output=ranks.json' ./app"
    if ranks > 1 and not any(name.startswith(("MPI_", "PMPI_")) for name in names):
        missing["MPI calls"] = "CALI_CONFIG='hatchet-region-profile,profile.mpi,output=ranks.json' ./app"
    return missing
