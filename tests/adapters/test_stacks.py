"""Stacks added up to a tree: compared with plain dictionaries of paths."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile import build as module
from chathpc.profile.metric import Metric, Unit
from chathpc.profile.tree import NodeKind, Relation

METRIC = Metric(id="cpu.samples", unit=Unit.SAMPLES, description="samples", source_name="samples")

paths = st.lists(
    st.tuples(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), st.integers(1, 9), st.integers(0, 2)),
    max_size=30,
)


@given(paths)
def test_values_stand_at_the_ends_of_their_paths(rows: list[tuple[list[str], int, int]]) -> None:
    stacks, own, everything, places = Stacks(), Counter[str](), Counter[str](), Counter[int]()
    for names, value, location in rows:
        stacks.add("cpu.samples", stacks.walk(map(stacks.frame, names)), value, location)
        own["/".join(names)] += value
        places[location] += value
        for depth in range(len(names)):
            everything["/".join(names[: depth + 1])] += value
    assert stacks.has("cpu.samples") == bool(rows)
    tree, values, _ = stacks.finish([METRIC], 3)
    tree.check()
    label = ["/".join(tree.label(step) for step in tree.path(node)) for node in range(len(tree))]
    assert len(label) == len(set(label)) == len(stacks) == len(everything)
    exclusive, inclusive = values.exclusive("cpu.samples"), values.inclusive("cpu.samples")
    assert {label[n]: v for n, v in zip(exclusive.nodes, exclusive.values, strict=True)} == dict(own)
    assert {label[n]: v for n, v in zip(inclusive.nodes, inclusive.values, strict=True)} == dict(everything)
    totals = values.location_totals("cpu.samples")
    assert {place: totals[place] for place in places} == dict(places)


def test_facts_of_frames_are_kept() -> None:
    stacks = Stacks()
    main = stacks.frame("main", file="a.c", line=3, module="/opt/a")
    line = stacks.frame("", kind=NodeKind.LINE, file="a.c", line=2**40)
    inlined = stacks.frame("sq", kind=NodeKind.INLINED)
    stacks.walk([main, line, inlined])
    tree, *_ = stacks.finish([])
    assert [tree.label(node) for node in range(3)] == ["main", "a.c", "sq"]
    assert tree.relation.tolist() == [Relation.LEXICAL, Relation.LEXICAL, Relation.INLINED_CALL]
    assert (tree.place(0), tree.module_name(0), tree.module_name(2)) == ("a.c:3", "/opt/a", None)
    assert stacks.has_name("sq")
    assert stacks.has_kind(NodeKind.LINE)
    assert not stacks.has_kind(NodeKind.LOOP)


def test_more_contexts_than_anyone_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CONTEXTS", 100)
    stacks = Stacks()
    with pytest.raises(AdapterError, match="calling contexts"):
        stacks.walk([stacks.frame("a")] * 200)


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.integers(1, 9)), min_size=1, max_size=12
    ),
    st.dictionaries(st.integers(1, 5), st.one_of(st.none(), st.integers(0, 7)), max_size=5),
)
def test_replaced_frames_make_the_tree_that_walks_through_the_others_make(
    walks: list[tuple[list[int], int]], instead: dict[int, int | None]
) -> None:
    """Frame 0 begins every walk and stays, so that nothing is left without a context."""

    def built(change: dict[int, int | None], afterwards: dict[int, int | None]) -> dict[tuple[str, ...], float]:
        stacks = Stacks()
        frames = [stacks.frame(f"f{number}") for number in range(8)]
        for walk, value in walks:
            named = [change.get(number, number) for number in [0, *walk]]
            stacks.add("cpu.samples", stacks.walk(frames[number] for number in named if number is not None), value)
        stacks.replace({frames[key]: None if new is None else frames[new] for key, new in afterwards.items()})
        tree, values, _ = stacks.finish([METRIC])
        column = values.exclusive("cpu.samples").dense(len(tree))
        found: dict[tuple[str, ...], float] = {}
        for node in range(len(tree)):
            path: list[str] = []
            at = node
            while at >= 0:
                path.append(tree.label(at))
                at = int(tree.parent[at])
            if column[node]:
                assert tuple(path) not in found, "one context for each path"
                found[tuple(path)] = float(column[node])
        return found

    assert built({}, instead) == built(instead, {})
