"""What a .cubex archive holds: its files, the document anchor.xml and the values of metrics.

The archive is a tar with anchor.xml and, for each metric, N.index and N.data.

Cube writes headers whose checksums differ from tar's, so they are read here: name, size and type of each entry, bounded by
the size of the archive. Source: POSIX.1-2001, pax interchange format (ustar header block).
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.content import DAMAGED, damaged, read_bytes
from chathpc.adapters.packed import UNPACKED, UNPACKED_PER_BYTE, unpack
from chathpc.errors import AdapterError
from chathpc.profile.text import clean
from chathpc.profile.tree import FloatArray

BLOCK = 512
#: Entries of an archive: three for each metric, and a few.
MOST_ENTRIES = 100_000
_OCTAL = re.compile(rb"[0 ]*([0-7]{1,12})[ \0]*")


class Archive:
    """An archive in memory; `files` maps names to (offset, size)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = memoryview(read_bytes(path))
        self.files = self._entries()

    def _entries(self) -> Mapping[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        at, size = 0, len(self.data)
        while at + BLOCK <= size:
            header = bytes(self.data[at : at + BLOCK])
            name = header[:100].split(b"\0", 1)[0]
            if not name:
                break
            match = _OCTAL.fullmatch(header[124:136].rstrip(b"\0 ") or b"0")
            if match is None:
                raise AdapterError("an entry of the archive has no size", path=self.path, offset=at, hint=DAMAGED)
            length = int(match[1], 8)
            if at + BLOCK + length > size:
                raise AdapterError(
                    f"an entry of {length:,} bytes reaches beyond the end of the archive",
                    path=self.path,
                    offset=at,
                    hint=DAMAGED,
                )
            if header[156:157] in (b"0", b"\0"):
                found.setdefault(name.decode("ascii", "replace").removeprefix("./"), (at + BLOCK, length))
            if len(found) > MOST_ENTRIES:
                raise AdapterError(f"has more than {MOST_ENTRIES:,} entries", path=self.path, hint=DAMAGED)
            at += BLOCK + (length + BLOCK - 1) // BLOCK * BLOCK
        return found

    def content(self, name: str) -> memoryview | None:
        """The bytes of an entry, None if there is none of that name."""
        place = self.files.get(name)
        return None if place is None else self.data[place[0] : place[0] + place[1]]

    def anchor(self) -> bytes:
        """anchor.xml, unpacked if it is packed; AdapterError without one."""
        content = self.content("anchor.xml")
        if content is None:
            raise AdapterError("the archive has no anchor.xml", path=self.path, hint=DAMAGED)
        return unpack(bytes(content), self.path)


# -- anchor.xml: metrics, regions, call tree and system tree ------------------------------------------------------
#
# Read with expat in one pass, as untrusted: declarations of entities are refused, depth and numbers are bounded. Attributes of
# the run and of regions may hold command lines and paths, and are not read. Source: CUBE 4 User Guide, "Cube format".

#: Elements inside one another: a call path takes one each.
DEEPEST = 20_000
#: A name or other text of an element.
LONGEST = 100_000
CHUNK = 1 << 20


@dataclass(slots=True)
class CubeMetric:
    """A metric; `kind` is EXCLUSIVE or INCLUSIVE for what is stored, else the name of a rule that computes it."""

    number: int
    kind: str
    name: str = ""
    title: str = ""
    type: str = ""
    unit: str = ""


@dataclass(slots=True)
class Region:
    """A function, loop or other piece of source."""

    module: str
    line: int
    name: str = ""
    paradigm: str = ""
    role: str = ""


@dataclass(slots=True)
class CubeLocation:
    """A thread, GPU stream or counter of a process."""

    process: int
    rank: int = -1
    kind: str = "thread"


@dataclass(slots=True)
class Anchor:
    """The document. Call nodes stand in document order: `parents[i] < i`, −1 for roots; `numbers` are their ids."""

    creator: str = ""
    version: str = ""
    metrics: list[CubeMetric] = field(default_factory=list)
    regions: dict[int, Region] = field(default_factory=dict)
    parents: list[int] = field(default_factory=list)
    callees: list[int] = field(default_factory=list)
    parameters: dict[int, str] = field(default_factory=dict)
    processes: list[int] = field(default_factory=list)  #: rank of each process
    nodes: list[int] = field(default_factory=list)  #: number of the machine's node of each process
    locations: list[CubeLocation] = field(default_factory=list)

    def wide(self) -> list[int]:
        """Call nodes in the enumeration that inclusive metrics are stored in: children of a node stand together."""
        children: dict[int, list[int]] = {}
        for node, parent in enumerate(self.parents):
            children.setdefault(parent, []).append(node)
        found: list[int] = []
        for root in children.get(-1, []):
            found.append(root)
            stack = [root]
            while stack:
                below = children.get(stack.pop(), [])
                found += below
                stack += reversed(below)
        return found


def read_anchor(data: bytes, path: Path) -> Anchor:
    """The parts of an anchor.xml; AdapterError with the line of what is damaged."""
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.EntityDeclHandler = reader.entity
    try:
        for begin in range(0, len(data), CHUNK):
            parser.Parse(data[begin : begin + CHUNK], False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise AdapterError(
            f"anchor.xml, line {error.lineno}: {expat.ErrorString(error.code)}", path=path, hint=DAMAGED
        ) from None
    except (_Damage, KeyError, ValueError, IndexError) as error:
        what = str(error) if isinstance(error, _Damage) else "an element lacks a required part"
        raise AdapterError(f"anchor.xml, line {parser.CurrentLineNumber}: {what}", path=path, hint=DAMAGED) from None
    anchor = reader.anchor
    if not anchor.parents or not anchor.metrics or not anchor.locations:
        raise AdapterError("has no metrics, no call tree or no locations", path=path, hint=DAMAGED)
    return anchor


class _Damage(Exception):
    """Something is wrong at the parser's present position."""


class _Reader:
    """Handlers of one pass; `open` are the names of the elements down to the present one."""

    def __init__(self) -> None:
        self.anchor = Anchor()
        self.open: list[str] = []
        self.pieces: list[str] = []
        self.length = 0
        self.metric: list[CubeMetric] = []
        self.region: Region | None = None
        self.call: list[int] = []
        self.machine = -1
        self.machines = 0

    def entity(self, *_: object) -> None:
        raise _Damage("declares an entity, which Cube never does")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.open.append(name)
        if len(self.open) > DEEPEST:
            raise _Damage(f"has elements more than {DEEPEST:,} deep")
        self.pieces, self.length = [], 0
        anchor = self.anchor
        if name == "metric":
            self.metric.append(CubeMetric(int(attributes["id"]), attributes.get("type", "EXCLUSIVE")))
            anchor.metrics.append(self.metric[-1])
        elif name == "region":
            self.region = Region(clean(attributes.get("mod", "")), _line(attributes.get("begin", "-1")))
            anchor.regions[int(attributes["id"])] = self.region
        elif name == "cnode":
            anchor.parents.append(self.call[-1] if self.call else -1)
            anchor.callees.append(int(attributes["calleeId"]))
            self.call.append(len(anchor.parents) - 1)
        elif name == "parameter" and self.call:
            words = clean(f"{attributes.get('parkey', '')}={attributes.get('parvalue', '')}")[:200]
            anchor.parameters[self.call[-1]] = words
        elif name == "systemtreenode":
            self.machine = self.machines
            self.machines += 1
        elif name == "locationgroup":
            anchor.processes.append(-1)
            anchor.nodes.append(self.machine)
        elif name == "location":
            anchor.locations.append(CubeLocation(len(anchor.processes) - 1))
        elif name == "attr" and len(self.open) == 2:
            if attributes.get("key") == "Creator":
                anchor.creator = clean(attributes.get("value", ""))[:60]
        elif name == "cube":
            anchor.version = clean(attributes.get("version", ""))[:20]
            if len(self.open) > 1:
                raise _Damage("is not a Cube document")
        elif len(self.open) == 1:
            raise _Damage("is not a Cube document")

    def text(self, piece: str) -> None:
        self.length += len(piece)
        if self.length <= LONGEST:
            self.pieces.append(piece)

    def end(self, name: str) -> None:
        self.open.pop()
        parent = self.open[-1] if self.open else ""
        words = clean("".join(self.pieces).strip())
        self.pieces, self.length = [], 0
        if name == "metric":
            self.metric.pop()
        elif name == "cnode":
            self.call.pop()
        elif name == "region":
            self.region = None
        elif parent == "metric":
            self._of_metric(name, words)
        elif parent == "region" and self.region is not None:
            if name in ("name", "paradigm", "role"):
                setattr(self.region, name, words)
        elif parent == "locationgroup" and name == "rank":
            self.anchor.processes[-1] = _rank(words)
        elif parent == "location" and name in ("rank", "type"):
            if name == "rank":
                self.anchor.locations[-1].rank = _rank(words)
            else:
                self.anchor.locations[-1].kind = words

    def _of_metric(self, name: str, words: str) -> None:
        if name == "uniq_name":
            self.metric[-1].name = words
        elif name == "disp_name":
            self.metric[-1].title = words
        elif name == "dtype":
            self.metric[-1].type = words.upper()
        elif name == "uom":
            self.metric[-1].unit = words


def _line(text: str) -> int:
    number = int(text)
    return number if 0 < number < 2**31 else 0


def _rank(text: str) -> int:
    number = int(text)
    return number if 0 <= number < 2**31 else -1


# -- values of a metric: N.index says which call nodes have any, N.data holds them, a row for each, one number a location
#
# N.index: "CUBEX.INDEX", the number 1 in the writer's byte order, version, kind (1: sparse), count, positions of nodes in
# the metric's enumeration. N.data: "CUBEX.DATA" and the numbers, or "ZCUBEX.DATA", a count of blocks, for each its place
# unpacked, its place and its size packed, and then the blocks (zlib). Source: CUBE 4 library, its file format.

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
    # Exclusive metrics are stored in preorder.
    nodes = np.array(anchor.wide(), dtype=np.int64)[positions] if metric.kind == "INCLUSIVE" else positions
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
    return damaged(archive.path, f"metric {metric.name or metric.number}: {what}")
