"""How long it takes to tell a hundred thousand ranks apart: `python -m tests.bench.locations [--contexts 10000] [--locations 100000]`.

Writes a database of HPCToolkit's form (once, into the benchmarks' cache; some gigabytes) in which each rank has about a thousand contexts
with time: three kinds of ranks, and one in ten thousand that takes twice as long. Then `chathpc ranks` reads it in processes of its own.
As a reference: hpcanalysis reads and summarises a database of that order in 9.7 s on a node of a cluster (its paper); this is not the same
machine, nor the same database.
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from tests.bench import databases
from tests.synthetic.hpctoolkit_v4 import TIME
from tests.synthetic.v4_columns import Contexts, Floats, Ints, Kind
from tests.synthetic.v4_meta import EXECUTION, SUM_ONLY, Shape, write_meta
from tests.synthetic.v4_random import PERIOD, random_contexts
from tests.synthetic.v4_rest import Metric, taxonomy, write_traces
from tests.synthetic.v4_values import INDEX, VALUE, Accumulator, Location, _write_block, with_global

#: Sampled lines of a rank: with the loops and functions around them about a thousand values of the scope that chathpc reads.
_SAMPLED = 450
_KINDS, _ODD = 3, 10_000
#: Ranks of one kind that are written at once.
_CHUNK = 2_000
#: Scopes that are written: `function` and `execution`.
_SCOPES = (1, EXECUTION)


def points(tree: Contexts, location: int) -> Floats:
    """Samples of one rank: those of its kind, one rank in ten thousand with twice as many."""
    chosen, usual = _sampled(tree, location % _KINDS)
    found = np.zeros((1, len(tree)))
    found[0, chosen] = _samples(usual, np.array([location]))[:, 0]
    return found


def _sampled(tree: Contexts, kind: int) -> tuple[Ints, Ints]:
    """The lines where ranks of a kind are sampled, and how often."""
    lines = np.flatnonzero(tree.kind == Kind.LINE)
    random = np.random.default_rng([databases.SEED, kind])
    chosen = random.choice(lines, min(_SAMPLED, len(lines)), replace=False)
    return chosen, random.integers(8, 64, len(chosen))


def _samples(usual: Ints, ranks: Ints) -> Floats:
    """Seconds (lines × ranks): multiples of a sampling period, so that sums are exact."""
    own = np.stack([np.arange(len(usual)) * 7 + rank * 13 for rank in ranks.tolist()], axis=1) % 3
    return np.asarray((usual[:, None] + own) * PERIOD * np.where(ranks % _ODD == _ODD - 1, 2, 1))


# -- the database ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pattern:
    """Where ranks of a kind have values: for each the column by identifier and the scope; `matrix` makes them from samples."""

    usual: Ints
    column: Ints
    scope: Ints
    matrix: Floats  #: values × lines


def _pattern(tree: Contexts, kind: int) -> Pattern:
    chosen, usual = _sampled(tree, kind)
    rows = []
    for at in chosen.tolist():
        one = np.zeros((1, len(tree)))
        one[0, at] = 1.0
        rows.append(with_global(tree, one)[0, _SCOPES, :].T.ravel())  # by context, then by scope
    matrix = np.array(rows).T
    used = np.flatnonzero(matrix.any(axis=1))
    return Pattern(usual, used // len(_SCOPES), used % len(_SCOPES), np.ascontiguousarray(matrix[used]))


def database(contexts: int, locations: int) -> Path:
    """The database, written if the cache does not have it."""
    path = databases.cache() / f"ranks-{databases.VERSION}b-{contexts}x{locations}"
    if not path.exists():
        unfinished = Path(tempfile.mkdtemp(dir=databases.cache()))
        _write(unfinished, random_contexts(contexts, np.random.default_rng(databases.SEED)), locations)
        unfinished.rename(path)
    return path


def _write(path: Path, tree: Contexts, locations: int) -> None:
    shape = Shape()
    (path / "metrics").mkdir()
    accumulator = Accumulator(tree, 1, SUM_ONLY)
    (path / "meta.db").write_bytes(write_meta(tree, "ranks", [TIME], SUM_ONLY, shape)[0])
    (path / "metrics" / "default.yaml").write_text(taxonomy([Metric(TIME)], (), SUM_ONLY), encoding="utf-8")
    write_traces(path / "trace.db", {}, shape)
    patterns = [_pattern(tree, kind) for kind in range(_KINDS)]
    members = [len(range(kind, locations, _KINDS)) for kind in range(_KINDS)]

    # profile.db: head, identifiers, then the values of each kind of ranks side by side, the summary last.
    section = len(shape.header(b"prof", [(0, 0)] * 2))
    infos_at = section + len(shape.extended(b"\0" * 0x0D))
    tuples_at = infos_at + 0x30 * (1 + locations)
    tuples = [
        Location(thread=0, rank=rank, core=rank % 64, node=rank // 64).tuple_of(shape) for rank in range(locations)
    ]
    first = tuples_at + sum(map(len, tuples))
    first += -first % 8
    values = [-(-10 * len(pattern.column) // 4) * 4 for pattern in patterns]
    indices = [12 * len(np.unique(pattern.column)) for pattern in patterns]
    regions = first + np.cumsum([0] + [(v + i) * m for v, i, m in zip(values, indices, members, strict=True)])
    profile = path / "profile.db"
    with profile.open("wb") as file:
        file.truncate(int(regions[-1]))
    data = np.memmap(profile, dtype="u1", mode="r+")
    contexts = _Contexts(path / "cct.db", shape, tree, patterns, members)
    infos = np.zeros((1 + locations, 6), dtype="<u8")
    numbers = np.concatenate([[0], np.sort(tree.ids)])
    for kind, (pattern, at) in enumerate(zip(patterns, regions[:-1].tolist(), strict=True)):
        size = values[kind] + indices[kind]
        columns, starts = np.unique(pattern.column, return_index=True)
        index = np.empty(len(columns), dtype=INDEX)
        index["context"], index["start"] = numbers[columns], starts
        for begin in range(0, members[kind], _CHUNK):
            number = np.arange(begin, min(begin + _CHUNK, members[kind]))
            found = pattern.matrix @ _samples(pattern.usual, number * _KINDS + kind)
            block = np.zeros((len(number), size), dtype="u1")
            pairs = np.empty((len(number), len(pattern.column)), dtype=VALUE)
            pairs["metric"], pairs["value"] = np.array(_SCOPES)[pattern.scope], found.T
            block[:, : pairs.shape[1] * 10] = pairs.view("u1").reshape(len(number), -1)
            block[:, values[kind] :] = index.view("u1")
            data[at + begin * size : at + (begin + len(number)) * size] = block.ravel()
            accumulator._sum[0, np.array(_SCOPES)[pattern.scope], pattern.column] += found.sum(axis=1)
            contexts.add(kind, number, found)
        rows = infos[1 + kind :: _KINDS]
        place = at + np.arange(members[kind], dtype=np.uint64) * size
        rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3] = len(pattern.column), place, len(columns), place + values[kind]
    contexts.close()
    infos[1:, 4] = tuples_at + np.cumsum([0] + [len(each) for each in tuples])[:-1]
    data.flush()
    del data
    with profile.open("r+b") as file:
        file.seek(int(regions[-1]))
        infos[0, :4] = _write_block(file, tree, *accumulator.columns())
        infos[0, 5] = 1
        file.write(b"_prof.db")
        file.seek(0)
        file.write(shape.header(b"prof", [(tuples_at - section, section), (sum(map(len, tuples)), tuples_at)]))
        file.write(shape.extended(struct.pack("<QIB", infos_at, 1 + locations, 0x30)))
        file.write(infos.tobytes())
        file.write(b"".join(tuples))


class _Contexts:
    """cct.db: the same values by context, scope and rank."""

    def __init__(
        self, path: Path, shape: Shape, tree: Contexts, patterns: Sequence[Pattern], members: Sequence[int]
    ) -> None:
        size = int(tree.ids.max(initial=0)) + 1
        numbers = np.concatenate([[0], np.sort(tree.ids)])
        self._patterns = patterns
        has = np.zeros((len(patterns), size, len(_SCOPES)), dtype=np.int64)
        for kind, pattern in enumerate(patterns):
            has[kind, numbers[pattern.column], pattern.scope] = 1
        self._several, self._before = has.sum(axis=0), np.cumsum(has, axis=0) - has
        table = np.tensordot(np.array(members), has, axes=1)
        n_values, n_metrics = table.sum(axis=1), (table > 0).sum(axis=1)
        section = len(shape.header(b"ctxt", [(0, 0)]))
        infos_at = section + len(shape.extended(b"\0" * 0x0D))
        first = infos_at + 0x20 * size
        room = 12 * n_values + (10 * n_metrics + 3) // 4 * 4
        values_at = first + np.cumsum(room) - room
        end = first + int(room.sum())
        self._data = data = np.memmap(path, dtype="u1", mode="w+", shape=(end + 8,))
        head = shape.header(b"ctxt", [(first - section, section)])
        head += shape.extended(struct.pack("<QIB", infos_at, size, 0x20))
        data[: len(head)] = np.frombuffer(head, dtype="u1")
        infos = data[infos_at:first].view("<u8").reshape(size, 4)
        infos[:, 0], infos[:, 1], infos[:, 2], infos[:, 3] = n_values, values_at, n_metrics, values_at + 12 * n_values
        data[end:] = np.frombuffer(b"__ctx.db", dtype="u1")
        within = np.cumsum(table, axis=1) - table
        self._slot = values_at[:, None] // 4 + 3 * within
        self._ids = numbers
        for context in np.flatnonzero(n_metrics).tolist():
            index = b"".join(
                struct.pack("<HQ", scope, int(within[context, at]))
                for at, scope in enumerate(_SCOPES)
                if table[context, at]
            )
            at = int(values_at[context] + 12 * n_values[context])
            data[at : at + len(index)] = np.frombuffer(index, dtype="u1")

    def add(self, kind: int, number: Ints, values: Floats) -> None:
        """Values (of the pattern × ranks `number` of the kind)."""
        words: NDArray[np.uint32] = self._data[: len(self._data) // 4 * 4].view("<u4")
        profiles = 1 + kind + _KINDS * number
        pattern = self._patterns[kind]
        for row, (column, scope) in enumerate(zip(pattern.column.tolist(), pattern.scope.tolist(), strict=True)):
            context = int(self._ids[column])
            several, before = int(self._several[context, scope]), int(self._before[kind, context, scope])
            at = int(self._slot[context, scope]) + 3 * (int(number[0]) * several + before)
            place = as_strided(words[at:], shape=(len(number), 3), strides=(12 * several, 4))
            place[:, 0] = profiles
            place[:, 1:] = np.ascontiguousarray(values[row]).view("<u4").reshape(-1, 2)

    def close(self) -> None:
        """Write what is not written yet."""
        self._data.flush()


# -- measuring -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Measured:
    """A run of several processes: seconds, the most memory that all had at once, with and without pages of mapped files, what it said."""

    seconds: float
    peak: int
    own_peak: int
    output: bytes


def measured(arguments: Sequence[str]) -> Measured:
    """Run Python with `arguments` and look every tenth of a second how much memory it and its children have."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    peak, ended = np.zeros(2, dtype=np.int64), threading.Event()

    def look() -> None:
        nonlocal peak
        while not ended.wait(0.1):
            peak = np.maximum(peak, np.sum([_memory(each) for each in _family(process.pid)], axis=0))

    watcher = threading.Thread(target=look)
    watcher.start()
    output, _ = process.communicate()
    seconds = time.perf_counter() - began
    ended.set()
    watcher.join()
    if process.returncode:
        sys.exit(f"exit {process.returncode}")
    return Measured(seconds, int(peak[0]), int(peak[1]), output)


def _family(pid: int) -> list[int]:
    found = [pid]
    for each in found:
        try:
            for task in os.listdir(f"/proc/{each}/task"):
                found += map(int, Path(f"/proc/{each}/task/{task}/children").read_text().split())
        except OSError:
            continue
    return found


def _memory(pid: int) -> tuple[int, int]:
    """Bytes of a process (pages that several share in parts), and those without what is mapped from files, which the system can drop."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0, 0
    parts = {name: int(rest.split()[0]) << 10 for name, _, rest in (line.partition(":") for line in lines[1:])}
    return parts.get("Pss", 0), parts.get("Pss_Anon", 0) + parts.get("Pss_Shmem", 0)


def _stored(path: Path) -> int:
    """Values of all scopes and ranks: nValues of the {PI} structures of profile.db."""
    data = np.memmap(path / "profile.db", dtype="u1", mode="r")
    section = int(data[0x18:0x20].view("<u8")[0])
    at, count = int(data[section : section + 8].view("<u8")[0]), int(data[section + 8 : section + 12].view("<u4")[0])
    return int(data[at : at + 0x30 * count].view("<u8").reshape(count, 6)[1:, 0].sum())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=int, default=10_000)
    parser.add_argument("--locations", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--engine", default="processes")
    options = parser.parse_args()
    path = database(options.contexts, options.locations)
    stored = _stored(path)
    run = measured([
        "-m", "chathpc", "ranks", str(path), "--workers", str(options.workers), "--engine", options.engine, "-q",
        "--format", "json",
    ])  # fmt: skip
    found = json.loads(run.output)
    print(
        f"{found['locations']:,} ranks × {found['contexts']:,} contexts, {stored:,} values stored, {found['values']:,} of places "
        f"themselves; {options.workers} {options.engine}"
    )
    print(f"{'seconds':>10}{'MiB':>10}{'of it own':>12}{'values/s':>12}{'groups':>8}{'odd':>6}")
    print(
        f"{run.seconds:>10.1f}{run.peak / 2**20:>10.0f}{run.own_peak / 2**20:>12.0f}{stored / run.seconds:>12.3g}"
        f"{len(found['groups']):>8}{found['all_odd']:>6}"
    )


if __name__ == "__main__":
    sys.exit(main())
