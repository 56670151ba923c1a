"""A writer of HPCToolkit v4.0 databases from a plain description, made from FORMATS.md and nothing else.

    work = function("work", line("a.c", 7, point(0x40, {"REALTIME (sec)": {0: 1.5, 1: 0.5}})))
    write(path, Database([entry(function("main", line("a.c", 3, work)))], [Location(0), Location(1)]))

Values are given where they were sampled; the writer propagates them to all scopes, adds up the summary profile, leaves the
instructions inside lines, loops and functions out of meta.db as hpcprof does, and writes all files of the database.
`write_large` makes a database of any size with a program that is not, but could be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from tests.synthetic.v4_columns import Contexts, FunctionSpec, Ints, Kind, Relation
from tests.synthetic.v4_meta import ALL_STATS, SUM_ONLY, Shape, write_meta
from tests.synthetic.v4_random import random_contexts, random_points, random_trace
from tests.synthetic.v4_rest import Derived, Metric, TraceLine, taxonomy, write_traces
from tests.synthetic.v4_values import Location, PointValues, write_contexts, write_profiles

__all__ = [
    "Context", "Database", "Derived", "Kind", "Location", "Metric", "Options", "Relation", "Written",
    "entry", "function", "inlined", "instruction", "line", "loop", "point", "without_structure", "write", "write_large",
]  # fmt: skip

TIME = "REALTIME (sec)"

Row = TypeVar("Row", str, FunctionSpec)

#: {metric: {location number: value}}
Samples = Mapping[str, Mapping[int, float]]


@dataclass(eq=False, slots=True)
class Context:
    """A node of the calling context tree. For functions, name to line describe the function; None is "not known"."""

    kind: Kind
    relation: Relation = Relation.LEXICAL
    name: str | None = None
    file: str | None = None
    line: int = 0
    module: str | None = None
    offset: int = 0
    children: list[Context] = field(default_factory=list)
    samples: Samples = field(default_factory=dict)
    elided: bool = False
    entry: int = 1


def entry(*children: Context, kind: int = 1, samples: Samples | None = None) -> Context:
    """An entry point: 0 unknown, 1 main thread, 2 application thread."""
    return Context(Kind.ENTRY, children=list(children), samples=samples or {}, entry=kind)


def function(name: str | None, *children: Context, file: str | None = None, line: int = 0, module: str | None = "app",
             offset: int = 0, samples: Samples | None = None, relation: Relation = Relation.CALL) -> Context:  # fmt: skip
    """A function that was called. Without name, module and file it is an unknown function (no flags, no flex words)."""
    return Context(Kind.FUNCTION, relation, name, file, line, module, offset, list(children), samples or {})


def inlined(name: str, *children: Context, file: str | None = None, line: int = 0, module: str | None = "app",
            samples: Samples | None = None) -> Context:  # fmt: skip
    """A function that the compiler inlined at this place."""
    return Context(Kind.FUNCTION, Relation.INLINED, name, file, line, module, 0, list(children), samples or {})


def loop(file: str, line: int, *children: Context, module: str | None = "app", offset: int = 0x1000,
         samples: Samples | None = None) -> Context:  # fmt: skip
    """A loop with its header's place and first instruction."""
    return Context(Kind.LOOP, Relation.LEXICAL, None, file, line, module, offset, list(children), samples or {})


def line(file: str, line: int, *children: Context, samples: Samples | None = None) -> Context:
    """A source line; it may call functions."""
    return Context(Kind.LINE, Relation.LEXICAL, None, file, line, None, 0, list(children), samples or {})


def point(offset: int, samples: Samples, *, module: str = "app") -> Context:
    """An instruction that was sampled inside a line, loop or function: it has values and does not stand in meta.db."""
    return Context(Kind.INSTRUCTION, module=module, offset=offset, samples=samples, elided=True)


def instruction(module: str, offset: int, *children: Context, samples: Samples | None = None,
                relation: Relation = Relation.CALL) -> Context:  # fmt: skip
    """An instruction of code without symbols or structure, called by its parent."""
    return Context(Kind.INSTRUCTION, relation, None, None, 0, module, offset, list(children), samples or {})


@dataclass(slots=True)
class Database:
    """What a database says. `traces`: (nanoseconds, context or None for idle) for each location; files below `src/` are copied ones."""

    roots: Sequence[Context]
    locations: Sequence[Location] = (Location(),)
    metrics: Sequence[Metric] = (Metric(TIME),)
    derived: Sequence[Derived] = ()
    traces: Mapping[int, Sequence[tuple[int, Context | None]]] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    title: str = "app"


@dataclass(frozen=True, slots=True)
class Options:
    """How to write it. `omit` names files to leave out; `seed` shuffles context ids, which are in preorder without it."""

    shape: Shape = field(default_factory=Shape)
    summary: bool = True
    stats: bool = False
    omit: frozenset[str] = frozenset()
    seed: int | None = None

    @property
    def partials(self) -> Sequence[tuple[str, int]]:
        """Partial statistics of the summary profile."""
        return ALL_STATS if self.stats else SUM_ONLY


@dataclass(frozen=True, slots=True)
class Written:
    """Where things went: ctxId of each context, and the position in meta.db of the structure of each ctxId (elided: none)."""

    path: Path
    ids: Mapping[Context, int]
    places: Mapping[int, int]


def write(path: Path, database: Database, options: Options = Options()) -> Written:
    """Write `database` into the folder `path`, which is made. ValueError for an elided context with children."""
    order = _breadth_first(database.roots)
    contexts = _columns(order, options.seed)
    numbers = {metric.name: row for row, metric in enumerate(database.metrics)}

    points = np.zeros((len(database.locations), len(numbers), len(order)))
    for column, context in enumerate(order):
        for metric, by_location in context.samples.items():
            for location, value in by_location.items():
                points[location, numbers[metric], column] = value
    ids = {context: int(number) for context, number in zip(order, contexts.ids, strict=True)}
    traces = {location: _trace_line(samples, ids) for location, samples in database.traces.items()}
    places = _write(path, contexts, database, lambda location: points[location], traces, options)
    for name, text in database.sources.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    return Written(path, ids, {i: int(p) for i, p in zip(ids.values(), places, strict=True) if p >= 0})


def write_large(path: Path, contexts: int, locations: int, seed: int, *, samples_traced: int = 200) -> None:
    """Write a database with `contexts` contexts in meta.db, about half as many elided ones, and `locations` MPI ranks.

    The tree has one "main thread", functions, inlined functions, loops and lines, down to a depth of 60, of some thousand
    distinct functions. Each location has samples of 1/256 s (so that sums are exact) at 15 to 30 % of the instructions.
    """
    random = np.random.default_rng(seed)
    tree = random_contexts(contexts, random)
    ranks = [Location(thread=0, rank=rank, core=rank, node=rank // 8) for rank in range(locations)]
    database = Database((), ranks, title=f"synthetic-{contexts}")
    traces = {
        rank: random_trace(tree, np.random.default_rng([seed, 1, rank]), samples_traced) for rank in range(locations)
    }
    _write(path, tree, database, lambda rank: random_points(tree, seed, rank, locations), traces, Options())


def without_structure(roots: Iterable[Context]) -> list[Context]:
    """The same run as hpcprof shows it without program structure: call chains of instructions, nothing lexical.

    Each line that calls or was sampled becomes one instruction; functions and loops vanish.
    """
    return [Context(Kind.ENTRY, children=_instructions(root.children, 0x1000), entry=root.entry) for root in roots]


def _instructions(children: Sequence[Context], offset: int) -> list[Context]:
    out: list[Context] = []
    for number, child in enumerate(children):
        place = offset * 8 + number + 1
        if child.kind == Kind.LINE:
            samples = _merged([child.samples, *(c.samples for c in child.children if c.elided)])
            calls = [c for c in child.children if not c.elided]
            out.append(instruction("app", place, *_instructions(calls, place), samples=samples))
        elif child.kind == Kind.INSTRUCTION:
            out.append(
                instruction(child.module or "app", place, *_instructions(child.children, place), samples=child.samples)
            )
        else:
            if child.samples:
                out.append(instruction("app", place, samples=child.samples))
            out += _instructions(child.children, place)
    return out


def _merged(samples: Sequence[Samples]) -> Samples:
    out: dict[str, dict[int, float]] = {}
    for one in samples:
        for metric, values in one.items():
            row = out.setdefault(metric, {})
            for location, value in values.items():
                row[location] = row.get(location, 0.0) + value
    return out


def _write(path: Path, contexts: Contexts, database: Database, points: PointValues, traces: Mapping[int, TraceLine],
           options: Options) -> Ints:  # fmt: skip
    """Write all files but the sources; returns the position of each context in meta.db."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "metrics").mkdir(exist_ok=True)
    shape, metrics = options.shape, [metric.name for metric in database.metrics]
    meta, places = write_meta(contexts, database.title, metrics, options.partials, shape)
    (path / "meta.db").write_bytes(meta)
    blocks = write_profiles(path / "profile.db", contexts, database.locations, len(metrics), points, shape,
                            summary=options.summary, partials=options.partials)  # fmt: skip
    write_contexts(path / "cct.db", path / "profile.db", blocks, contexts, len(metrics), shape)
    write_traces(path / "trace.db", traces, shape)
    text = taxonomy(database.metrics, database.derived, options.partials)
    (path / "metrics" / "default.yaml").write_text(text, encoding="utf-8")
    for name in options.omit:
        (path / name).unlink()
    return places


def _breadth_first(roots: Sequence[Context]) -> list[Context]:
    order, level = [], list(roots)
    while level:
        order += level
        if any(context.elided and context.children for context in level):
            raise ValueError("an elided context cannot have children")
        level = [child for context in level for child in context.children]
    return order


def _columns(order: Sequence[Context], seed: int | None) -> Contexts:
    index = {context: number for number, context in enumerate(order)}
    parent = np.full(len(order), -1, dtype=np.int64)
    for context in order:
        for child in context.children:
            parent[index[child]] = index[context]
    files, modules = _Table[str](), _Table[str]()
    functions = _Table[FunctionSpec]()
    rows = []
    for context in order:
        file, module = files.number(context.file), modules.number(context.module)
        if context.kind != Kind.FUNCTION:
            rows.append((-1, file, context.line, module, context.offset))
            continue
        spec = FunctionSpec(context.name, module, context.offset, file, context.line)
        known = context.name is not None or module >= 0 or file >= 0
        rows.append((functions.number(spec) if known else -1, -1, 0, -1, 0))
    table = np.array(rows, dtype=np.int64).reshape(len(order), 5)
    ids = _preorder_ids(order) if seed is None else 1 + np.random.default_rng(seed).permutation(len(order))
    return Contexts(
        parent=parent,
        kind=np.array([c.kind for c in order], dtype=np.uint8),
        relation=np.array([c.relation for c in order], dtype=np.uint8),
        function=table[:, 0], file=table[:, 1], line=table[:, 2], module=table[:, 3], offset=table[:, 4],
        entry=np.array([c.entry for c in order], dtype=np.int64),
        elided=np.array([c.elided for c in order], dtype=bool),
        ids=ids, functions=functions.rows, files=files.rows, modules=modules.rows,
    )  # fmt: skip


def _preorder_ids(order: Sequence[Context]) -> Ints:
    ids, stack, number = {}, [c for c in order if c.kind == Kind.ENTRY][::-1], 0
    while stack:
        context = stack.pop()
        number += 1
        ids[context] = number
        stack += context.children[::-1]
    return np.array([ids[context] for context in order], dtype=np.int64)


class _Table(Generic[Row]):
    """Distinct rows in the order of their first use."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._numbers: dict[Row, int] = {}

    def number(self, row: Row | None) -> int:
        if row is None:
            return -1
        if row not in self._numbers:
            self._numbers[row] = len(self.rows)
            self.rows.append(row)
        return self._numbers[row]


def _trace_line(samples: Sequence[tuple[int, Context | None]], ids: Mapping[Context, int]) -> TraceLine:
    times = np.array([time for time, _ in samples], dtype=np.uint64)
    return times, np.array([0 if c is None else ids[c] for _, c in samples], dtype=np.uint32)
