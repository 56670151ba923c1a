"""profile.db and cct.db of a synthetic HPCToolkit v4.0 database, written from the format description (FORMATS.md)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from tests.synthetic.v4_columns import Contexts, Floats, Ints
from tests.synthetic.v4_meta import ALL_STATS, EXECUTION, ID_KINDS, SCOPES, Shape, stat_ids

VALUE = np.dtype([("metric", "<u2"), ("value", "<f8")])
INDEX = np.dtype([("context", "<u4"), ("start", "<u8")])

#: Point values of one location: array (metrics × contexts).
PointValues = Callable[[int], Floats]


@dataclass(frozen=True, slots=True)
class Location:
    """Where a profile was measured; None where a part does not apply."""

    thread: int | None = 0
    rank: int | None = None
    node: int = 0
    core: int | None = None
    gpu_context: int | None = None
    gpu_stream: int | None = None

    def tuple_of(self, shape: Shape) -> bytes:
        """Hierarchical identifier tuple: NODE, CORE, RANK, THREAD or NODE, RANK, GPUCONTEXT, GPUSTREAM."""
        ids = [("NODE", 1, self.node, 0x7F0100 + self.node)]
        parts = (
            ("CORE", self.core),
            ("RANK", self.rank),
            ("THREAD", self.thread),
            ("GPUCONTEXT", self.gpu_context),
            ("GPUSTREAM", self.gpu_stream),
        )
        ids += [(name, 0, number, number) for name, number in parts if number is not None]
        out = struct.pack("<Hxxxxxx", len(ids))
        for name, flags, logical, physical in ids:
            out += struct.pack("<BxHIQ", ID_KINDS.index(name), flags, logical, physical)
        return out + b"\xee" * shape.grow


class Accumulator:
    """The canonical summary profile: statistics over locations of each context, metric and scope."""

    def __init__(self, contexts: Contexts, metrics: int, partials: Sequence[tuple[str, int]]) -> None:
        self._contexts, self._partials = contexts, partials
        shape = (metrics, len(SCOPES), len(contexts) + 1)
        self._sum = np.zeros(shape)
        self._statistics = len(partials) > 1
        if self._statistics:
            self._count = np.zeros(shape)
            self._least, self._most = np.full(shape, np.inf), np.full(shape, -np.inf)

    def add(self, values: Floats) -> None:
        """Take in the values (metrics × scopes × contexts, the global one first) of a location."""
        self._sum += values
        if self._statistics:
            # A context counts each profile that reaches it, whatever the scope.
            self._count += values[:, EXECUTION : EXECUTION + 1] != 0
            self._least = np.where(values != 0, np.minimum(self._least, values), self._least)
            self._most = np.where(values != 0, np.maximum(self._most, values), self._most)

    def columns(self) -> tuple[NDArray[np.int64], Floats]:
        """Ids of the statistics, ascending, and their values (statistics × contexts); 0 for none."""
        metrics = len(self._sum)
        by_id: dict[int, Floats] = {}
        for metric in range(metrics):
            ids = stat_ids(metric, metrics, len(self._partials))
            for scope in range(len(SCOPES)):
                for row, partial in enumerate(self._partials):
                    by_id[int(ids[row, scope])] = self._partial(partial, metric, scope)
        order = sorted(by_id)
        return np.array(order, dtype=np.int64), np.stack([by_id[number] for number in order])

    def _partial(self, partial: tuple[str, int], metric: int, scope: int) -> Floats:
        formula, combine = partial
        if formula == "1":
            return np.asarray(self._count[metric, scope])
        if combine == 0:
            # hpcprof stores the plain sum under "($$^2)", not the sum of squares.
            return np.asarray(self._sum[metric, scope])
        extreme = (self._least if combine == 1 else self._most)[metric, scope]
        return np.where(np.isfinite(extreme), extreme, 0.0)


def write_profiles(path: Path, contexts: Contexts, locations: Sequence[Location], metrics: int, points: PointValues,
                   shape: Shape, *, summary: bool, partials: Sequence[tuple[str, int]]) -> list[tuple[int, int, int, int]]:  # fmt: skip
    """Write profile.db, one location at a time; returns the value block of each profile, the summary's first."""
    section = len(shape.header(b"prof", [(0, 0)] * 2))
    info_size = len(shape.extended(b"\0" * 0x30))
    infos_at = section + len(shape.extended(b"\0" * 0x0D))
    tuples_at = infos_at + info_size * (1 + len(locations))
    tuples = [location.tuple_of(shape) for location in locations]
    places = [0, *(tuples_at + np.cumsum([0] + [len(t) for t in tuples])[:-1]).tolist()]
    accumulator = Accumulator(contexts, metrics, partials)
    property_ids = np.arange(metrics * len(SCOPES))
    blocks: list[tuple[int, int, int, int]] = []
    with path.open("wb") as file:
        file.seek(tuples_at + sum(map(len, tuples)))
        for number in range(len(locations)):
            values = with_global(contexts, points(number))
            if summary:
                accumulator.add(values)
            blocks.append(_write_block(file, contexts, property_ids, values.reshape(len(property_ids), -1)))
        blocks.insert(0, _write_block(file, contexts, *accumulator.columns()) if summary else (0, 0, 0, 0))
        file.write(b"_prof.db")
        file.seek(0)
        sizes = (tuples_at - section, section), (sum(map(len, tuples)), tuples_at)
        file.write(shape.header(b"prof", sizes))
        file.write(shape.extended(struct.pack("<QIB", infos_at, 1 + len(locations), info_size)))
        for (count, values_at, filled, index_at), place in zip(blocks, places, strict=True):
            info = struct.pack("<QQIxxxxQQI", count, values_at, filled, index_at, place, int(place == 0))
            file.write(shape.extended(info))
        for one in tuples:
            file.write(one)
    return blocks


def with_global(contexts: Contexts, points: Floats) -> Floats:
    """Values (metrics × scopes × 1 + contexts) of all scopes; the implicit global context first, by identifier order after it."""
    out = np.zeros((len(points), len(SCOPES), len(contexts) + 1))
    order = np.argsort(contexts.ids)
    roots = contexts.parent < 0
    for metric, row in enumerate(points):
        scopes = contexts.scopes(row)
        out[metric, :, 1:] = np.stack(scopes)[:, order]
        out[metric, EXECUTION, 0] = scopes[EXECUTION][roots].sum()
    return out


def _write_block(
    file: BinaryIO, contexts: Contexts, metric_ids: NDArray[np.int64], values: Floats
) -> tuple[int, int, int, int]:
    """Append a profile-major sparse value block; returns (nValues, pValues, nCtxs, pCtxIndices)."""
    present = (values != 0).T  # contexts × metrics
    counts = present.sum(axis=1)
    filled = np.flatnonzero(counts)
    rows, columns = np.nonzero(present)
    pairs = np.empty(len(rows), dtype=VALUE)
    pairs["metric"], pairs["value"] = metric_ids[columns], values[columns, rows]
    index = np.empty(len(filled), dtype=INDEX)
    index["context"] = np.concatenate([[0], np.sort(contexts.ids)])[filled]
    index["start"] = (np.cumsum(counts) - counts)[filled]
    file.seek(-file.tell() % 4, 1)
    values_at = file.tell()
    file.write(pairs.tobytes())
    file.seek(-file.tell() % 4, 1)
    index_at = file.tell()
    file.write(index.tobytes())
    return len(pairs), values_at, len(index), index_at


def write_contexts(path: Path, profiles: Path, blocks: Sequence[tuple[int, int, int, int]], contexts: Contexts,
                   metrics: int, shape: Shape) -> None:  # fmt: skip
    """Write cct.db: the values of profile.db once more, by context, metric and profile."""
    kinds = metrics * len(SCOPES)
    size = int(contexts.ids.max(initial=0)) + 1
    counts = np.zeros(size * kinds, dtype=np.int64)
    for block in blocks[1:]:
        counts[_keys(profiles, block, kinds)[0]] += 1
    table = counts.reshape(size, kinds)
    n_values, n_metrics = table.sum(axis=1), (table > 0).sum(axis=1)

    section = len(shape.header(b"ctxt", [(0, 0)]))
    infos_at = section + len(shape.extended(b"\0" * 0x0D))
    infos_at += -infos_at % 8
    info_words = 4 + shape.grow // 8
    first = infos_at + 8 * info_words * size
    room = 12 * n_values + (10 * n_metrics + 3) // 4 * 4
    values_at = first + np.cumsum(room) - room
    index_at = values_at + 12 * n_values
    end = first + int(room.sum())

    data = np.memmap(path, dtype="u1", mode="w+", shape=(end + 8,))
    data[:section] = np.frombuffer(shape.header(b"ctxt", [(first - section, section)]), dtype="u1")
    head = shape.extended(struct.pack("<QIB", infos_at, size, 8 * info_words))
    data[section : section + len(head)] = np.frombuffer(head, dtype="u1")
    infos = data[infos_at:first].view("<u8").reshape(size, info_words)
    infos[:, 0], infos[:, 1], infos[:, 2], infos[:, 3] = n_values, values_at, n_metrics, index_at
    infos[:, 4:] = 0xEEEEEEEEEEEEEEEE
    data[end:] = np.frombuffer(b"__ctx.db", dtype="u1")

    words = data[: end + 8].view("<u4")
    within = np.cumsum(table, axis=1) - table
    slot = (values_at[:, None] // 4 + 3 * within).ravel()
    for number, block in enumerate(blocks[1:], start=1):
        keys, values = _keys(profiles, block, kinds)
        place = slot[keys]
        halves = np.ascontiguousarray(values).view("<u4").reshape(-1, 2)
        words[place], words[place + 1], words[place + 2] = number, halves[:, 0], halves[:, 1]
        slot[keys] += 3

    rows, metric = np.nonzero(table)
    first_of_row = np.cumsum(n_metrics) - n_metrics
    place = (index_at[rows] + 10 * (np.arange(len(rows)) - first_of_row[rows])) // 2
    shorts = words.view("<u2")
    starts = np.ascontiguousarray(within[rows, metric]).view("<u2").reshape(-1, 4)
    shorts[place] = metric
    for part in range(4):
        shorts[place + 1 + part] = starts[:, part]
    data.flush()


def _keys(profiles: Path, block: tuple[int, int, int, int], kinds: int) -> tuple[NDArray[np.int64], Floats]:
    """For each value of a profile: context × kinds + metric, and the value itself, read back from profile.db."""
    count, values_at, filled, index_at = block
    with profiles.open("rb") as file:
        file.seek(values_at)
        pairs = np.frombuffer(file.read(count * VALUE.itemsize), dtype=VALUE)
        file.seek(index_at)
        index = np.frombuffer(file.read(filled * INDEX.itemsize), dtype=INDEX)
    edges: Ints = np.append(index["start"].astype(np.int64), count)
    context = np.repeat(index["context"].astype(np.int64), edges[1:] - edges[:-1])
    return context * kinds + pairs["metric"], pairs["value"]


__all__ = ["ALL_STATS", "INDEX", "VALUE", "Location", "PointValues", "write_contexts", "write_profiles"]
