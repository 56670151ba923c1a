"""Values of a metric: N.index says which call nodes have any, N.data holds them, one row for each, one number a location.

N.index: "CUBEX.INDEX", the number 1 in the writer's byte order, version, kind (1: sparse), count, positions of nodes in
the metric's enumeration. N.data: "CUBEX.DATA" and the numbers, or "ZCUBEX.DATA", a count of blocks, for each its place
unpacked, its place and its size packed, and then the blocks (zlib). Source: CUBE 4 library, its file format.
"""

from __future__ import annotations

import struct
import zlib
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.content import DAMAGED
from chathpc.adapters.cube.anchor import Anchor, CubeMetric
from chathpc.adapters.cube.archive import Archive
from chathpc.adapters.packed import UNPACKED, UNPACKED_PER_BYTE
from chathpc.errors import AdapterError
from chathpc.profile.tree import FloatArray

_INDEX, _DATA, _PACKED = b"CUBEX.INDEX", b"CUBEX.DATA", b"ZCUBEX.DATA"
#: Types of stored numbers that are one number each.
_TYPES = {
    "DOUBLE": "f8", "FLOAT": "f8", "MINDOUBLE": "f8", "MAXDOUBLE": "f8", "UINT64": "u8", "UNSIGNED INTEGER": "u8",
    "INT64": "i8", "INTEGER": "i8", "SIGNED INTEGER": "i8", "UINT32": "u4", "UNSIGNED INT": "u4", "INT32": "i4",
    "INT": "i4", "SIGNED INT": "i4", "UINT16": "u2", "UNSIGNED SHORT INT": "u2", "INT16": "i2", "SHORT INT": "i2",
    "SIGNED SHORT INT": "i2", "UINT8": "u1", "CHAR": "u1", "INT8": "i1",
}  # fmt: skip
#: Types of which a part is the number that adds up: layout, name of the part.
_RECORDS = {
    "TAU_ATOMIC": (np.dtype([("n", "u4"), ("min", "f8"), ("max", "f8"), ("sum", "f8"), ("sum2", "f8")]), "sum"),
}
#: Beyond anything measured.
_LARGEST = 1e100


def stored(metric: CubeMetric, archive: Archive, anchor: Anchor) -> tuple[NDArray[np.int64], FloatArray] | None:
    """Call nodes with values and these, shape (nodes, locations); None for metrics that are not stored or no numbers."""
    if metric.kind not in ("EXCLUSIVE", "INCLUSIVE") or (metric.type not in _TYPES and metric.type not in _RECORDS):
        return None
    index, data = archive.content(f"{metric.number}.index"), archive.content(f"{metric.number}.data")
    if index is None or data is None:
        return None
    order, positions = _index(bytes(index), metric, archive, len(anchor.parents))
    enumeration = np.array(anchor.wide() if metric.kind == "INCLUSIVE" else anchor.deep(), dtype=np.int64)
    nodes = enumeration[positions]
    layout = _RECORDS[metric.type][0] if metric.type in _RECORDS else np.dtype(_TYPES[metric.type])
    layout = layout.newbyteorder(order)
    raw = _unpacked(data, metric, archive, order, len(nodes) * len(anchor.locations) * layout.itemsize)
    numbers = np.frombuffer(raw, dtype=layout)
    if metric.type in _RECORDS:
        numbers = numbers[_RECORDS[metric.type][1]]
    values = numbers.astype(np.float64).reshape(len(nodes), len(anchor.locations))
    values = np.where(np.abs(values) < _LARGEST, values, np.nan)
    return nodes, values


Order = Literal["<", ">"]


def _index(raw: bytes, metric: CubeMetric, archive: Archive, size: int) -> tuple[Order, NDArray[np.int64]]:
    """Byte order and positions of the nodes that have a row."""
    begin = len(_INDEX) + 11
    if not raw.startswith(_INDEX) or len(raw) < begin - 4:
        raise _damage(archive, metric, "the index has the wrong header")
    order: Order = "<" if raw[len(_INDEX)] == 1 else ">"
    if raw[len(_INDEX) + 6] == 0 and len(raw) <= begin:  # dense: every node has a row
        return order, np.arange(size, dtype=np.int64)
    if len(raw) < begin:
        raise _damage(archive, metric, "the index was cut off")
    (count,) = struct.unpack_from(order + "I", raw, begin - 4)
    if len(raw) != begin + 4 * count:
        raise _damage(archive, metric, f"the index announces {count:,} nodes and has {(len(raw) - begin) // 4:,}")
    positions = np.frombuffer(raw, dtype=order + "u4", offset=begin).astype(np.int64)
    if len(positions) and int(positions.max()) >= size:
        raise _damage(archive, metric, f"the index names node {int(positions.max()):,} of {size:,}")
    if len(np.unique(positions)) != len(positions):
        raise _damage(archive, metric, "the index names a node twice")
    return order, positions


def _unpacked(data: memoryview, metric: CubeMetric, archive: Archive, order: str, expected: int) -> bytes:
    if expected > UNPACKED + UNPACKED_PER_BYTE * len(archive.data):
        raise _damage(archive, metric, f"needs {expected:,} bytes of values, more than the archive can hold")
    if data[: len(_DATA)] == _DATA:
        raw = bytes(data[len(_DATA) :])
    elif data[: len(_PACKED)] == _PACKED:
        raw = _inflated(data, metric, archive, order, expected)
    else:
        raise _damage(archive, metric, "the data have the wrong header")
    if len(raw) != expected:
        raise _damage(archive, metric, f"has {len(raw):,} bytes of values and needs {expected:,}")
    return raw


def _inflated(data: memoryview, metric: CubeMetric, archive: Archive, order: str, expected: int) -> bytes:
    begin = len(_PACKED) + 8
    if len(data) < begin:
        raise _damage(archive, metric, "the data were cut off")
    (count,) = struct.unpack_from(order + "Q", data, len(_PACKED))
    if begin + 24 * count > len(data):
        raise _damage(archive, metric, f"announces {count:,} blocks, more than it has room for")
    blocks = struct.unpack_from(f"{order}{3 * count}Q", data, begin)
    at, pieces, length = begin + 24 * count, [], 0
    for size in blocks[2::3]:
        if at + size > len(data):
            raise _damage(archive, metric, "a block reaches beyond the data")
        if size:
            try:
                piece = zlib.decompressobj().decompress(data[at : at + size], expected - length + 1)
            except zlib.error as error:
                raise _damage(archive, metric, f"a damaged block: {error}") from None
            pieces.append(piece)
            length += len(piece)
            if length > expected:
                raise _damage(archive, metric, f"unpacks to more than the {expected:,} bytes it needs")
        at += size
    return b"".join(pieces)


def _damage(archive: Archive, metric: CubeMetric, what: str) -> AdapterError:
    return AdapterError(f"metric {metric.name or metric.number}: {what}", path=archive.path, hint=DAMAGED)
