"""A reader of HPCToolkit v4.0 databases for the writer's tests: one field after the other, as FORMATS.md lists them."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Ctx:
    """A context as it stands in the file; `function` is (name, module, offset, file, line)."""

    id: int
    place: int
    flags: int = 0
    relation: int = 0
    lexical_type: int = -1
    propagation: int = 0
    entry: int = -1
    function: tuple[Any, ...] | None = None
    file: str | None = None
    line: int = 0
    module: str | None = None
    offset: int = 0
    children_at: int = 0
    children: list[Ctx] = field(default_factory=list)


class Image:
    """A file and the few reads that the format needs."""

    def __init__(self, path: Path, kind: bytes, footer: bytes) -> None:
        self.data = path.read_bytes()
        assert self.data[:10] == b"HPCTOOLKIT"
        assert self.data[10:14] == kind
        assert self.data[-8:] == footer
        self.major, self.minor = self.data[14], self.data[15]

    def at(self, place: int, form: str) -> tuple[Any, ...]:
        return struct.unpack_from("<" + form, self.data, place)

    def u64(self, place: int) -> int:
        return int(self.at(place, "Q")[0])

    def text(self, place: int) -> str:
        return self.data[place : self.data.index(b"\0", place)].decode()


def read_metrics(
    meta: Image,
) -> tuple[dict[int, tuple[str, str]], dict[int, tuple[str, str, str, int]], dict[str, tuple[int, int]]]:
    """{propMetricId: (metric, scope)}, {statMetricId: (metric, scope, formula, combine)}, {scope: (type, bit)}."""
    header = meta.u64(0x38)
    metrics, count = meta.u64(header), meta.at(header + 8, "I")[0]
    md, psi, ss = meta.at(header + 0xC, "BBB")
    scopes_at, scope_count, ps = meta.at(header + 0x10, "QHB")
    scopes = {meta.text(p): (k, b) for p, k, b in (meta.at(scopes_at + i * ps, "QBB") for i in range(scope_count))}
    props, stats = {}, {}
    for number in range(count):
        name, instances, summaries, n_instances, n_summaries = meta.at(metrics + number * md, "QQQHH")
        for k in range(n_instances):
            scope, identifier = meta.at(instances + k * psi, "QH")
            props[identifier] = (meta.text(name), meta.text(meta.u64(scope)))
        for k in range(n_summaries):
            scope, formula, combine, identifier = meta.at(summaries + k * ss, "QQBxH")
            stats[identifier] = (meta.text(name), meta.text(meta.u64(scope)), meta.text(formula), combine)
    return props, stats, scopes


def read_tree(meta: Image) -> list[Ctx]:
    """Entry points with all below them."""
    header = meta.u64(0x48)
    entries, count, size = meta.at(header, "QHB")
    roots = []
    for number in range(count):
        place = entries + number * size
        length, children, identifier, kind, name = meta.at(place, "QQIHxxQ")
        assert meta.text(name) == ("unknown entry", "main thread", "application thread")[kind]
        root = Ctx(identifier, place, entry=kind, children_at=children)
        roots.append(root)
        _read_children(meta, root, children, length)
    return roots


def _read_children(meta: Image, parent: Ctx, place: int, length: int) -> None:
    end = place + length
    while place < end:
        below, children, identifier, flags, relation, lexical, words, bits = meta.at(place, "QQIBBBBH")
        ctx = Ctx(identifier, place, flags, relation, lexical, bits, children_at=children)
        flex = place + 0x20
        if flags & 1:
            ctx.function, flex = _function(meta, meta.u64(flex)), flex + 8
        if flags & 2:
            ctx.file, ctx.line, flex = meta.text(meta.u64(meta.u64(flex) + 8)), meta.at(flex + 8, "I")[0], flex + 16
        if flags & 4:
            ctx.module, ctx.offset, flex = meta.text(meta.u64(meta.u64(flex) + 8)), meta.u64(flex + 8), flex + 16
        place += 0x20 + 8 * words
        assert flex <= place
        parent.children.append(ctx)
        if below:
            _read_children(meta, ctx, children, below)
    assert place == end


def _function(meta: Image, place: int) -> tuple[Any, ...]:
    name, module, offset, file, line, flags = meta.at(place, "QQQQII")
    assert flags == 0
    module_name = meta.text(meta.u64(module + 8)) if module else None
    file_name = meta.text(meta.u64(file + 8)) if file else None
    return (meta.text(name) if name else None, module_name, offset, file_name, line)


def read_profiles(profiles: Image) -> list[tuple[bool, int, dict[tuple[int, int], float]]]:
    """For each profile: is it a summary, position of its identifier tuple, {(ctxId, metricId): value}."""
    header = profiles.u64(0x18)
    infos, count, size = profiles.at(header, "QIB")
    out = []
    for number in range(count):
        n_values, values, n_contexts, index, place, flags = profiles.at(infos + number * size, "QQIxxxxQQI")
        found = {}
        previous = -1
        for k in range(n_contexts):
            context, start = profiles.at(index + 12 * k, "IQ")
            end = profiles.at(index + 12 * k + 16, "Q")[0] if k + 1 < n_contexts else n_values
            assert previous < context
            assert start < end
            previous = context
            row = [profiles.at(values + 10 * j, "Hd") for j in range(start, end)]
            assert [metric for metric, _ in row] == sorted({metric for metric, _ in row})
            found.update({(context, metric): value for metric, value in row})
        out.append((bool(flags & 1), place, found))
    return out


def read_tuple(profiles: Image, place: int) -> list[tuple[int, int, int, int]]:
    """(kind, flags, logicalId, physicalId) of each part of an identifier tuple."""
    return [profiles.at(place + 8 + 16 * k, "BxHIQ") for k in range(profiles.at(place, "H")[0])]


def read_contexts(contexts: Image) -> dict[tuple[int, int, int], float]:
    """{(ctxId, metricId, profIndex): value} of cct.db."""
    header = contexts.u64(0x18)
    infos, count, size = contexts.at(header, "QIB")
    found = {}
    for number in range(count):
        n_values, values, n_metrics, index = contexts.at(infos + number * size, "QQHxxxxxxQ")
        for k in range(n_metrics):
            metric, start = contexts.at(index + 10 * k, "HQ")
            end = contexts.at(index + 10 * k + 12, "Q")[0] if k + 1 < n_metrics else n_values
            row = [contexts.at(values + 12 * j, "Id") for j in range(start, end)]
            assert [profile for profile, _ in row] == sorted({profile for profile, _ in row})
            found.update({(number, metric, profile): value for profile, value in row})
    return found


def read_traces(traces: Image) -> dict[int, list[tuple[int, int]]]:
    """{profIndex: [(timestamp, ctxId), …]}."""
    header = traces.u64(0x18)
    lines, count, size = traces.at(header, "QIB")
    found = {}
    for number in range(count):
        profile, begin, end = traces.at(lines + number * size, "IxxxxQQ")
        found[profile] = [traces.at(place, "QI") for place in range(begin, end, 12)]
    return found
