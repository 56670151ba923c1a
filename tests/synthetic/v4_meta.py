"""meta.db of a synthetic HPCToolkit v4.0 database, written from the format description (FORMATS.md)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.synthetic.v4_columns import Contexts, Kind

#: Names of the kinds in identifier tuples, in the order of their numbers.
ID_KINDS = ("SUMMARY", "NODE", "RANK", "THREAD", "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE")
ENTRY_NAMES = ("unknown entry", "main thread", "application thread")

#: Name, type and propagation index of each scope; 255 stands for "no propagation bit".
SCOPES = (("point", 1, 255), ("function", 3, 0), ("lex_aware", 0, 255), ("execution", 2, 255))
POINT, FUNCTION, LEX_AWARE, EXECUTION = range(4)

#: (formula, combination) of the partial statistics: without and with `hpcprof -M stats`.
SUM_ONLY = (("$$", 0),)
ALL_STATS = (("1", 0), ("$$", 0), ("($$^2)", 0), ("$$", 1), ("$$", 2))


@dataclass(frozen=True, slots=True)
class Shape:
    """Version and sizes of the structures of a file.

    `grow` bytes (a multiple of 8) are appended to each structure that a newer minor version may extend.
    `prerelease` takes the smaller metric structures of databases from before the release of version 4.0.
    """

    minor: int = 0
    grow: int = 0
    prerelease: bool = False
    major: int = 4

    def extended(self, structure: bytes) -> bytes:
        """`structure`, padded to eight bytes and with bytes of an unknown future field behind it."""
        return pad(structure) + b"\xee" * self.grow

    def header(self, kind: bytes, sections: Sequence[tuple[int, int]]) -> bytes:
        """File header: magic, kind, versions, and (size, pointer) of each section."""
        body = b"".join(struct.pack("<QQ", size, place) for size, place in sections)
        return self.extended(b"HPCTOOLKIT" + kind + bytes([self.major, self.minor]) + body)


def pad(data: bytes, to: int = 8) -> bytes:
    """`data` with zeros up to a multiple of `to` bytes."""
    return data + b"\0" * (-len(data) % to)


class Strings:
    """A run of NUL-terminated strings, each stored once; `[text]` is its absolute position."""

    def __init__(self, base: int) -> None:
        self._base = base
        self._places: dict[bytes, int] = {}
        self.data = bytearray()

    def __getitem__(self, text: str) -> int:
        raw = text.encode("utf-8", "surrogateescape")
        if raw not in self._places:
            self._places[raw] = self._base + len(self.data)
            self.data += raw + b"\0"
        return self._places[raw]


def stat_ids(metric: int, metrics: int, partials: int) -> NDArray[np.int64]:
    """statMetricId of each partial and scope of metric number `metric`; array (partials × scopes)."""
    block = np.arange(partials * len(SCOPES)).reshape(partials, len(SCOPES))
    return block + metric * block.size


def general_section(base: int, shape: Shape, title: str) -> bytes:
    size = len(shape.extended(b"\0" * 16))
    strings = Strings(base + size)
    header = struct.pack("<QQ", strings[title], strings["TODO database description"])
    return shape.extended(header) + bytes(strings.data)


def id_names_section(base: int, shape: Shape) -> bytes:
    size = len(shape.extended(b"\0" * 9))
    strings = Strings(base + size + 8 * len(ID_KINDS))
    pointers = struct.pack(f"<{len(ID_KINDS)}Q", *(strings[name] for name in ID_KINDS))
    return shape.extended(struct.pack("<QB", base + size, len(ID_KINDS))) + pointers + bytes(strings.data)


def metrics_section(base: int, shape: Shape, names: Sequence[str], partials: Sequence[tuple[str, int]]) -> bytes:
    """Metrics, their instantiated scopes and summary statistics; propMetricId counts up by four a metric."""
    md, psi, ss = (24, 24, 16) if shape.prerelease else (32 + shape.grow, 16 + shape.grow, 24 + shape.grow)
    ps = 16 + shape.grow
    scopes_at = base + len(shape.extended(b"\0" * 0x1B))
    metrics_at = scopes_at + ps * len(SCOPES)
    instances_at = metrics_at + md * len(names)
    summaries_at = instances_at + psi * len(SCOPES) * len(names)
    strings = Strings(summaries_at + ss * len(SCOPES) * len(partials) * len(names))

    def fit(structure: bytes, size: int) -> bytes:
        return structure[:size] + b"\xee" * (size - len(structure))

    out = shape.extended(struct.pack("<QIBBBxQHB", metrics_at, len(names), md, psi, ss, scopes_at, len(SCOPES), ps))
    for scope, kind, bit in SCOPES:
        out += fit(struct.pack("<QBB6x", strings[scope], kind, bit), ps)
    per_metric = len(SCOPES) * len(partials)
    for number, name in enumerate(names):
        places = strings[name], instances_at + psi * len(SCOPES) * number, summaries_at + ss * per_metric * number
        out += fit(struct.pack("<QQQHH4x", *places, len(SCOPES), per_metric), md)
    for number in range(len(names)):
        for row_of_scope in range(len(SCOPES)):
            instance = scopes_at + ps * row_of_scope, number * len(SCOPES) + row_of_scope
            out += fit(struct.pack("<QH6x", *instance), psi)
    for number in range(len(names)):
        ids = stat_ids(number, len(names), len(partials))
        for row_of_scope in range(len(SCOPES)):
            for row, (formula, combine) in enumerate(partials):
                place = scopes_at + ps * row_of_scope
                out += fit(struct.pack("<QQBxH4x", place, strings[formula], combine, ids[row, row_of_scope]), ss)
    return out + bytes(strings.data)


def table_section(base: int, shape: Shape, rows: Sequence[bytes]) -> tuple[bytes, int, int]:
    """Section of one array: its bytes, the position of the first row, the size of a row."""
    rows = [shape.extended(row) for row in rows]
    size = len(rows[0]) if rows else 16
    start = base + len(shape.extended(b"\0" * 14))
    return shape.extended(struct.pack("<QIH", start, len(rows), size)) + b"".join(rows), start, size


def write_meta(contexts: Contexts, title: str, metrics: Sequence[str], partials: Sequence[tuple[str, int]],
               shape: Shape) -> tuple[bytes, NDArray[np.int64]]:  # fmt: skip
    """The bytes of meta.db, and the position of each context's structure in it (−1 for elided ones)."""
    at = len(shape.header(b"meta", [(0, 0)] * 8))
    chunks: list[bytes] = []
    sections: dict[str, tuple[int, int]] = {}

    def add(name: str, data: bytes) -> None:
        nonlocal at
        sections[name] = (len(data), at)
        chunks.append(pad(data))
        at += len(chunks[-1])

    add("General", general_section(at, shape, title))
    add("IdNames", id_names_section(at, shape))
    add("Metrics", metrics_section(at, shape, metrics, partials))
    strings = Strings(at)
    entry_names = [strings[name] for name in ENTRY_NAMES]
    modules = [struct.pack("<IxxxxQ", 0, strings[path]) for path in contexts.modules]
    files = [struct.pack("<IxxxxQ", int(path.startswith("src/")), strings[path]) for path in contexts.files]
    names = [0 if f.name is None else strings[f.name] for f in contexts.functions]
    add("Strings", bytes(strings.data))
    data, module_at, module_size = table_section(at, shape, modules)
    add("Modules", data)
    data, file_at, file_size = table_section(at, shape, files)
    add("Files", data)
    rows = [
        struct.pack(
            "<QQQQII",
            name,
            module_at + module_size * f.module if f.module >= 0 else 0,
            f.offset,
            file_at + file_size * f.file if f.file >= 0 else 0,
            f.line,
            0,
        )
        for name, f in zip(names, contexts.functions, strict=True)
    ]
    data, function_at, function_size = table_section(at, shape, rows)
    add("Functions", data)
    tables = (function_at, function_size), (file_at, file_size), (module_at, module_size)
    data, places = context_section(at, shape, contexts, tables, entry_names)
    add("Context", data)
    order = ("General", "IdNames", "Metrics", "Context", "Strings", "Modules", "Files", "Functions")
    header = shape.header(b"meta", [sections[name] for name in order])
    return b"".join([header, *chunks, b"_meta.db"]), places


def context_section(base: int, shape: Shape, contexts: Contexts, tables: Sequence[tuple[int, int]],
                    entry_names: Sequence[int]) -> tuple[bytes, NDArray[np.int64]]:  # fmt: skip
    """The Context Tree section: blocks of siblings, each after the blocks of all below it, as hpcprof lays them out."""
    words_before = len(shape.extended(b"\0" * 0x0B)) // 8
    has_function, has_line, has_point = contexts.function >= 0, contexts.file >= 0, contexts.module >= 0
    flex = has_function + 2 * has_line.astype(np.int64) + 2 * has_point + shape.grow // 8
    size = np.where(contexts.elided | (contexts.kind == Kind.ENTRY), 0, 4 + flex)

    roots = np.flatnonzero(contexts.parent < 0)
    inner = np.flatnonzero((contexts.parent >= 0) & ~contexts.elided)
    parent = contexts.parent[inner]
    order = inner[np.lexsort((contexts.preorder[inner], contexts.postorder[parent]))]
    place = np.full(len(contexts), -1, dtype=np.int64)  # in words of the section
    place[order] = words_before + np.cumsum(size[order]) - size[order]
    blocks_end = words_before + int(size.sum())

    block = np.bincount(parent, weights=size[inner], minlength=len(contexts)).astype(np.int64)
    in_tree = np.flatnonzero(~contexts.elided)
    by_post = in_tree[np.argsort(contexts.postorder[in_tree])]
    start = np.zeros(len(contexts), dtype=np.int64)
    start[by_post] = base + 8 * (words_before + np.cumsum(block[by_post]) - block[by_post])
    has_children = np.bincount(contexts.parent[contexts.parent >= 0], minlength=len(contexts)) > 0
    start[~has_children] = 0  # where all children are elided, the pointer stays and the size is 0

    entry_size = len(shape.extended(b"\0" * 32))
    words = np.zeros(blocks_end + entry_size // 8 * len(roots), dtype="<u8")
    head = shape.extended(struct.pack("<QHB", base + 8 * blocks_end, len(roots), entry_size))
    words[:words_before] = np.frombuffer(head, dtype="<u8")

    flags = has_function + 2 * has_line.astype(np.int64) + 4 * has_point
    lexical = np.maximum(contexts.kind.astype(np.int64) - 1, 0)
    packed = contexts.ids | flags << 32 | contexts.relation.astype(np.int64) << 40 | lexical << 48 | flex << 56
    words[place[inner]] = block[inner] * 8
    words[place[inner] + 1] = start[inner]
    words[place[inner] + 2] = packed[inner].astype(np.uint64)
    words[place[inner] + 3] = contexts.is_lexical[inner]
    cursor = place + 4
    for present, columns in (
        (has_function, [_pointer(contexts.function, tables[0])]),
        (has_line, [_pointer(contexts.file, tables[1]), contexts.line]),
        (has_point, [_pointer(contexts.module, tables[2]), contexts.offset]),
    ):
        chosen = inner[present[inner]]
        for column in columns:
            words[cursor[chosen]] = column[chosen]
            cursor[chosen] += 1
    for number, root in enumerate(roots):
        kind = int(contexts.entry[root])
        name = entry_names[kind] if kind < len(entry_names) else entry_names[0]
        entry = struct.pack("<QQIHxxQ", block[root] * 8, start[root], contexts.ids[root], kind, name)
        place[root] = blocks_end + number * entry_size // 8
        words[place[root] : place[root] + entry_size // 8] = np.frombuffer(shape.extended(entry), dtype="<u8")
    return words.tobytes(), np.where(place >= 0, base + 8 * place, -1)


def _pointer(index: NDArray[np.int64], table: tuple[int, int]) -> NDArray[np.int64]:
    start, size = table
    return start + size * index
