"""What the reader reads is what the writer was given: both were made from the format description, by different hands."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chathpc
from chathpc.profile.tree import NodeKind
from tests.synthetic import programs
from tests.synthetic.hpctoolkit_v4 import (
    TIME,
    Context,
    Database,
    Kind,
    Location,
    Metric,
    Options,
    Relation,
    entry,
    function,
    inlined,
    line,
    loop,
    point,
    write,
)  # fmt: skip
from tests.synthetic.v4_meta import Shape

LOCATIONS, METRICS = 3, (TIME, "perf::page-faults")

#: Values are multiples of 1/8, so that sums are exact in any order.
samples = st.dictionaries(
    st.sampled_from(METRICS),
    st.dictionaries(st.integers(0, LOCATIONS - 1), st.integers(1, 99).map(lambda k: k / 8), max_size=3),
)
names = st.sampled_from(["f", "g", "solve(int)", "résumé", "x<y>::z", "<omp idle>"])
files = st.sampled_from(["a.c", "src/b.cpp", "/usr/include/c.h"])
numbers = st.integers(1, 5)
points = st.builds(point, st.integers(1, 1 << 40), samples)


def _lexical(children: st.SearchStrategy[Context]) -> st.SearchStrategy[Context]:
    below = st.lists(children, max_size=3)
    return st.one_of(
        st.builds(lambda f, n, c, s: line(f, n, *c, samples=s), files, numbers, below, samples),
        st.builds(lambda f, n, c: loop(f, n, *c), files, numbers, below),
        st.builds(lambda name, c, f, s: function(name, *c, file=f, line=1, samples=s), names, below, files, samples),
        st.builds(lambda name, c, f: inlined(name, *c, file=f, line=2), names, below, files),
    )


contexts = st.recursive(points, _lexical, max_leaves=25)
trees = st.lists(st.lists(contexts, max_size=4).map(lambda children: entry(*children)), min_size=1, max_size=3)


def walk(roots: Sequence[Context]) -> list[Context]:
    found, stack = [], list(roots)[::-1]
    while stack:
        found.append(stack.pop())
        stack += found[-1].children[::-1]
    return found


def total(context: Context, metric: str, location: int | None = None) -> float:
    """Sum over the subtree, one context after the other."""
    values = [one.samples.get(metric, {}) for one in walk([context])]
    return sum(v for by_location in values for k, v in by_location.items() if location in (None, k))


def own(context: Context, metric: str, location: int | None = None) -> float:
    """Point values of the context and of the instructions directly inside it that are not in the tree."""
    near = [context, *(child for child in context.children if child.elided)]
    values = [one.samples.get(metric, {}) for one in near]
    return sum(v for by_location in values for k, v in by_location.items() if location in (None, k))


@settings(max_examples=60)
@given(roots=trees, stats=st.booleans(), grow=st.sampled_from([0, 8]), seed=st.one_of(st.none(), st.integers(0, 99)))
def test_trees_values_and_locations_come_back(roots: list[Context], stats: bool, grow: int, seed: int | None) -> None:
    if not any(total(root, metric) for root in roots for metric in METRICS):
        roots[0].children.append(function("main", samples={TIME: {0: 1.0}}))
    database = Database(roots, [Location(thread=k) for k in range(LOCATIONS)], [Metric(name) for name in METRICS])
    with tempfile.TemporaryDirectory() as folder:
        written = write(Path(folder), database, Options(Shape(grow=grow, minor=int(grow > 0)), stats=stats, seed=seed))
        profile = chathpc.load(folder)
        profile.tree.check()
        assert profile.tree.source_id is not None
        node_of = {int(number): node for node, number in enumerate(profile.tree.source_id)}
        in_tree = [context for context in walk(roots) if not context.elided]
        assert {written.ids[context] for context in in_tree} == set(node_of)
        for metric in METRICS:
            assert profile.total(metric) == sum(total(root, metric) for root in roots)
            if not profile.metric(metric).has_values:
                continue
            inclusive, exclusive = profile.inclusive(metric), profile.exclusive(metric)
            nodes = profile.tree.parent * 0 + range(len(profile.tree))
            by_location = profile.values.per_location(profile.metric(metric).id, nodes.astype("int32"))
            for context in in_tree:
                node = node_of[written.ids[context]]
                assert (inclusive.at(node) or 0.0) == total(context, metric)
                assert (exclusive.at(node) or 0.0) == own(context, metric)
                for location in range(LOCATIONS):
                    assert by_location[location, node] == total(context, metric, location)
        for context in in_tree:
            node = node_of[written.ids[context]]
            below = {node_of[written.ids[child]] for child in context.children if not child.elided}
            assert below == set(profile.tree.children(node))
            if context.kind == Kind.FUNCTION:
                assert profile.tree.function_name(node) == context.name
            if context.kind in (Kind.LINE, Kind.LOOP):
                assert (profile.tree.file_name(node), int(profile.tree.line[node])) == (context.file, context.line)
            if context.relation == Relation.INLINED:
                assert profile.tree.kind[node] == NodeKind.INLINED


def test_a_program_is_read_as_it_was_described(tmp_path: Path) -> None:
    write(tmp_path, programs.small(), Options(seed=8))
    profile = chathpc.load(tmp_path)
    table = profile.table("function", TIME).set_index("name")
    # By hand, from the seconds in programs.small.
    expected = {
        "work": (10.0, 11.0),
        "clamp": (1.0, 1.0),
        "fib": (1.125, 1.125),
        "worker": (8.0, 8.0),
        "main": (0.25, 12.875),
    }
    assert {name: (table.exclusive[name], table.inclusive[name]) for name in expected} == expected
    loops = profile.table("loop", TIME).set_index("line")
    assert (loops.exclusive[7], loops.inclusive[7], loops.exclusive[9], loops.inclusive[9]) == (3.0, 11.0, 7.0, 8.0)
    assert profile.location_totals(TIME).tolist() == [7.875, 13.0]
    assert profile.title == "small"
    main = next(k for k in range(len(profile.tree)) if profile.tree.line[k] == 3)
    excerpt = profile.source(main, context=0)
    assert excerpt is not None
    assert excerpt.lines == ("  work(); fib(2);",)


def test_the_timeline_is_that_of_the_traces(tmp_path: Path) -> None:
    database = programs.small()
    write(tmp_path, database)
    profile = chathpc.load(tmp_path)
    timeline = profile.timeline
    assert timeline is not None
    assert (timeline.begin, timeline.end) == (1_000, 16_000)
    lanes = {lane.location: lane for lane in timeline.lanes}
    assert lanes[0].start.tolist() == [1_000, 6_000, 11_000, 16_000]
    labels = ["idle" if node < 0 else profile.tree.label(node) for node in lanes[0].node.tolist()]
    assert labels == ["main", "work.c:8", "idle", "main.c:3"]


@pytest.mark.parametrize("large", [1, 10**9], ids=["by context", "by location"])
def test_values_are_grouped_in_the_same_way_whatever_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    monkeypatch.setattr("chathpc.adapters.hpctoolkit.profiles._WORTH_THREADS", large)
    database = programs.small()
    database.locations.extend(Location(thread=k) for k in range(100, 200))  # more than contexts
    written = write(tmp_path, database)
    profile = chathpc.load(tmp_path).everything
    assert profile.tree.source_id is not None
    node_of = {int(number): node for node, number in enumerate(profile.tree.source_id)}
    group = np.full(len(profile.tree), -1, dtype=np.int32)
    expected = np.zeros((len(profile.where), 3))
    for at, context in enumerate(each for each in walk(database.roots) if not each.elided):
        group[node_of[written.ids[context]]] = at % 4 - 1  # every fourth is in no group
        for location in range(len(expected) if at % 4 else 0):
            expected[location, at % 4 - 1] += own(context, TIME, location)
    assert profile.values.grouped(profile.metric(TIME).id, group, 3) == pytest.approx(expected)


def test_derived_metrics_are_differences_at_every_context(tmp_path: Path) -> None:
    database = programs.small()
    work = next(context for context in walk(database.roots) if context.name == "work")
    work.samples = {"Bytes Allocated": {0: 4096.0, 1: 1024.0}, "Bytes Freed": {0: 1024.0}}
    write(tmp_path, database)
    profile = chathpc.load(tmp_path)
    assert profile.total("Bytes Allocated") == 5120.0
    assert profile.total("Bytes Leaked") == 4096.0
    assert profile.exclusive("Bytes Leaked").values.tolist() == [4096.0]
    assert profile.location_totals("Bytes Leaked")[:2].tolist() == [3072.0, 1024.0]
    everywhere = np.zeros(len(profile.tree), dtype=np.int32)
    assert profile.values.grouped("memory.leaked.bytes", everywhere, 1)[:2, 0].tolist() == [3072.0, 1024.0]


@pytest.mark.parametrize("locations", [1, 3])
def test_a_large_database_has_the_total_that_hatchet_reads(tmp_path: Path, locations: int) -> None:
    import warnings

    import hatchet

    from tests.synthetic.hpctoolkit_v4 import write_large

    write_large(tmp_path, 2000, locations, seed=locations)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = hatchet.GraphFrame.from_hpctoolkit_latest(str(tmp_path)).dataframe
    profile = chathpc.load(tmp_path)
    assert profile.total(TIME) == frame["time (inc)"].max() == profile.location_totals(TIME).sum()
    assert len(profile.tree) == len(frame) == 2000
    ids: dict[int, float] = defaultdict(float)
    for node, row in zip(frame.index, frame["time (inc)"].fillna(0.0), strict=True):
        ids[node._hatchet_nid] += row
    assert profile.tree.source_id is not None
    ours = profile.inclusive(TIME).dense(2000)
    assert {int(number): value for number, value in zip(profile.tree.source_id, ours, strict=True)} == dict(ids)
