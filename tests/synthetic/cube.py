"""Writes CUBE4 profiles (.cubex) from the format's layout, for tests: small, deterministic, ours."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np

Calls = Sequence[tuple[int, int]]  #: (parent, region) of each call node, preorder


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """A metric: `values` maps call nodes to one number a location, as they are stored (inclusive ones with all below)."""

    name: str
    values: Mapping[int, Sequence[float]]
    kind: str = "EXCLUSIVE"
    type: str = "DOUBLE"
    unit: str = "sec"


@dataclass(frozen=True, slots=True)
class RegionSpec:
    """A region."""

    name: str
    module: str = ""
    line: int = -1
    paradigm: str = "compiler"
    role: str = "function"


@dataclass(frozen=True, slots=True)
class CubeSpec:
    """A profile. `locations` are (rank, thread, type)."""

    regions: Sequence[RegionSpec]
    calls: Calls
    metrics: Sequence[MetricSpec]
    locations: Sequence[tuple[int, int, str]] = ((0, 0, "thread"),)
    parameters: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)


_DTYPES = {"DOUBLE": "f8", "UINT64": "u8", "INT32": "i4", "MAXDOUBLE": "f8"}
_ATOMIC = [("n", "u4"), ("min", "f8"), ("max", "f8"), ("sum", "f8"), ("sum2", "f8")]


def enumeration(calls: Calls, kind: str) -> list[int]:
    """Call nodes in the order of a metric's kind, recursively: children of a node together (inclusive), or preorder."""
    if kind != "INCLUSIVE":
        return list(range(len(calls)))
    found: list[int] = []

    def below(node: int) -> None:
        children = [child for child, (parent, _) in enumerate(calls) if parent == node]
        found.extend(children)
        for child in children:
            below(child)

    for root in (node for node, (parent, _) in enumerate(calls) if parent < 0):
        found.append(root)
        below(root)
    return found


def index_of(metric: MetricSpec, calls: Calls, order: str = "<") -> bytes:
    """N.index with the nodes that have values."""
    position = {node: at for at, node in enumerate(enumeration(calls, metric.kind))}
    numbers = sorted(position[node] for node in metric.values)
    return b"CUBEX.INDEX" + struct.pack(f"{order}IHBI{len(numbers)}I", 1, 0, 1, len(numbers), *numbers)


def data_of(metric: MetricSpec, calls: Calls, order: str = "<", *, packed: bool = False) -> bytes:
    """N.data, rows in the order of the index."""
    nodes = [node for node in enumeration(calls, metric.kind) if node in metric.values]
    if metric.type == "TAU_ATOMIC":
        rows = np.zeros(
            (len(nodes), len(next(iter(metric.values.values())))),
            dtype=[(name, order + kind) for name, kind in _ATOMIC],
        )
        rows["sum"] = [metric.values[node] for node in nodes]
    else:
        rows = np.array([metric.values[node] for node in nodes], dtype=order + _DTYPES[metric.type])
    if not packed:
        return b"CUBEX.DATA" + rows.tobytes()
    blocks = [zlib.compress(row.tobytes()) for row in rows]
    places, raw, at = [], 0, 0
    for row, block in zip(rows, blocks, strict=True):
        places += [raw, at, len(block)]
        raw, at = raw + row.nbytes, at + len(block)
    return b"ZCUBEX.DATA" + struct.pack(f"{order}Q{len(places)}Q", len(blocks), *places) + b"".join(blocks)


def anchor_of(spec: CubeSpec) -> str:
    """anchor.xml."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<cube version="4.4">']
    for key, value in {"Creator": "Score-P 8.0", **spec.attributes}.items():
        lines.append(f"<attr key={quoteattr(key)} value={quoteattr(value)}/>")
    lines.append("<metrics>")
    for number, metric in enumerate(spec.metrics):
        lines.append(f'<metric id="{number}" type="{metric.kind}"><disp_name>{escape(metric.name)}</disp_name>')
        lines.append(
            f"<uniq_name>{escape(metric.name)}</uniq_name><dtype>{metric.type}</dtype><uom>{metric.unit}</uom></metric>"
        )
    lines.append("</metrics><program>")
    for number, region in enumerate(spec.regions):
        lines.append(f'<region id="{number}" mod={quoteattr(region.module)} begin="{region.line}" end="-1">')
        lines.append(
            f"<name>{escape(region.name)}</name><paradigm>{region.paradigm}</paradigm><role>{region.role}</role>"
        )
        lines.append('<attr key="Score-P::ProgramArguments" value="--secret"/></region>')
    open_nodes: list[int] = []
    for number, (parent, region_number) in enumerate(spec.calls):
        while open_nodes and open_nodes[-1] != parent:
            lines.append("</cnode>")
            open_nodes.pop()
        lines.append(f'<cnode id="{number}" calleeId="{region_number}">')
        if number in spec.parameters:
            key, value = spec.parameters[number]
            lines.append(f'<parameter partype="string" parkey={quoteattr(key)} parvalue={quoteattr(value)}/>')
        open_nodes.append(number)
    lines += ["</cnode>"] * len(open_nodes)
    lines.append('</program><system><systemtreenode Id="0"><name>machine</name><class>machine</class>')
    for rank in dict.fromkeys(rank for rank, _, _ in spec.locations):
        lines.append(f'<locationgroup Id="{rank}"><name>MPI Rank {rank}</name><rank>{rank}</rank><type>process</type>')
        for number, (owner, thread, kind) in enumerate(spec.locations):
            if owner == rank:
                lines.append(
                    f'<location Id="{number}"><name>t</name><rank>{thread}</rank><type>{kind}</type></location>'
                )
        lines.append("</locationgroup>")
    lines.append("</systemtreenode></system></cube>")
    return "\n".join(lines)


def entry(name: str, content: bytes) -> bytes:
    """A file of the archive; the checksum is left out, as Cube's differs from tar's too."""
    header = (
        name.encode().ljust(100, b"\0")
        + b"0000600\0"
        + b"0000000\0" * 2
        + b"%011o\0" % len(content)
        + b"0" * 11
        + b"\0"
    )
    header += b"        " + b"0"
    return header.ljust(512, b"\0") + content + b"\0" * (-len(content) % 512)


def archive_of(spec: CubeSpec, *, order: str = "<", packed: bool = False, zipped: bool = False) -> bytes:
    """The whole archive."""
    parts = []
    for number, metric in enumerate(spec.metrics):
        if metric.values:
            parts.append(entry(f"{number}.data", data_of(metric, spec.calls, order, packed=packed)))
            parts.append(entry(f"{number}.index", index_of(metric, spec.calls, order)))
    anchor = anchor_of(spec).encode()
    parts.append(entry("anchor.xml", gzip.compress(anchor, mtime=0) if zipped else anchor))
    return b"".join(parts) + b"\0" * 1024


def write_cube(path: Path, spec: CubeSpec, *, order: str = "<", packed: bool = False, zipped: bool = False) -> Path:
    """A .cubex file."""
    path.write_bytes(archive_of(spec, order=order, packed=packed, zipped=zipped))
    return path
