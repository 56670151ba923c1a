"""Queries on columns, compared with hatchet's own matching on random trees."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.chat.session import Session
from chathpc.chat.tools import call
from chathpc.chat.tools import query as query_tool
from chathpc.profile.build import ends
from chathpc.profile.location import Locations
from chathpc.profile.metric import Metric, Unit, column_of
from chathpc.profile.profile import Profile
from chathpc.profile.tree import CallTree, NodeKind, Relation
from chathpc.profile.values import MemoryValues
from tests.profile.build import build
from tests.profile.build import call as function
from tests.profile.strategies import parents_from

NAMES = ("main", "solve", "dot", "f")


def profile_of(parents: list[int], names: list[int], lines: list[int]) -> Profile:
    """1 s in the first context, 2 in the next, then 4, …: each has a value of its own."""
    count = len(parents)
    parent = np.array(parents, dtype=np.int32)
    tree = CallTree(
        parent=parent,
        end=ends(parent),
        kind=np.full(count, NodeKind.FUNCTION, dtype=np.uint8),
        relation=np.full(count, Relation.CALL, dtype=np.uint8),
        name=np.array(names, dtype=np.int32),
        file=np.zeros(count, dtype=np.int32),
        line=np.array(lines, dtype=np.int32),
        module=np.full(count, -1, dtype=np.int32),
        names=NAMES,
        files=("/src/heat.c",),
        modules=(),
    )
    tree.check()
    own = 2.0 ** np.arange(count)
    values = MemoryValues(tree, {"cpu.time": column_of(own)}, {"cpu.time": column_of(tree.inclusive(own))})
    return Profile(
        "test",
        "t",
        tree,
        {"cpu.time": Metric("cpu.time", Unit.SECONDS, "time", "REALTIME")},
        values,
        Locations.single(),
        timed=True,
    )


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """A forest of up to 16 contexts in preorder."""
    parents = parents_from(draw(st.lists(st.one_of(st.integers(0, 2), st.just(9)), min_size=1, max_size=16)))
    names = [draw(st.integers(0, len(NAMES) - 1)) for _ in parents]
    return profile_of(parents, names, [draw(st.integers(1, 4)) for _ in parents])


CONDITIONS = st.one_of(
    st.sampled_from(["main", "s*", "d?t", "*", "[df]*", "x"]).map(lambda text: {"name": text}),
    st.sampled_from([1, 2, 3.0, "> 2", "<= 3", "!= 1", "== 4"]).map(lambda value: {"line": value}),
    st.sampled_from([0, 1, 2, -1, ">= 1", "< 2"]).map(lambda value: {"depth": value}),
    st.sampled_from(["> 8", "< 100.5", ">= 1e1"]).map(lambda value: {"cpu.time (inc)": value}),
    st.just({"name": "*o*", "line": "> 1", "cpu.time": "> 2"}),
)
QUANTIFIERS = st.sampled_from(["*", "+", ".", 1, 2])
ELEMENTS = st.one_of(QUANTIFIERS, CONDITIONS, st.tuples(QUANTIFIERS, CONDITIONS).map(list))
QUERIES = st.lists(ELEMENTS, min_size=1, max_size=4)


def by_hatchet(profile: Profile, query: list[Any]) -> set[float]:
    """Own values of the contexts that hatchet matches; each context has another one."""
    from hatchet.query import ObjectQuery, QueryEngine

    def given_to_hatchet(element: Any) -> Any:
        if isinstance(element, dict):
            # hatchet takes names for regular expressions; these are the same patterns in that form.
            return {key: pattern(value) if key == "name" else value for key, value in element.items()}
        return (element[0], given_to_hatchet(element[1])) if isinstance(element, list) else element

    def pattern(text: str) -> str:
        return text.replace("*", ".*").replace("?", ".")

    frame = profile.graphframe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nodes = QueryEngine().apply(ObjectQuery(list(map(given_to_hatchet, query))), frame.graph, frame.dataframe)
    return set(frame.dataframe.loc[list(nodes), "cpu.time"])


@settings(max_examples=400, deadline=None)
@given(profiles(), QUERIES)
def test_a_query_matches_what_hatchet_matches(profile: Profile, query: list[Any]) -> None:
    stars = sum(element in ("*", "+") or (isinstance(element, list) and element[0] in ("*", "+")) for element in query)
    result = call(Session(profile), "query", {"query": json.dumps(query), "limit": 100})
    if stars > 3:
        assert result.error
        return
    assert {row[2] for row in result.rows} == by_hatchet(profile, query)


def test_only_the_largest_contexts_are_searched_and_the_answer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_tool, "MOST_CONTEXTS", 2)
    result = call(Session(profile_of([-1, 0, 1, 2], [0, 1, 2, 3], [1, 2, 3, 4])), "query", {"query": '["*"]'})
    assert [row[0] for row in result.rows] == ["main", "solve"]
    assert "searched the 2 largest of 4 contexts" in result.text


def test_a_chain_as_deep_as_any_recursion_limit_is_searched() -> None:
    count = 3_000
    deep = profile_of([-1, 0], [0, 1], [1, 1])
    parent = np.arange(-1, count - 1, dtype=np.int32)
    tree = replace(
        deep.tree, parent=parent, end=np.full(count, count, dtype=np.int32),
        **{key: np.repeat(getattr(deep.tree, key)[:1], count) for key in ("kind", "relation", "name", "file", "line", "module")},
    )  # fmt: skip
    own = column_of(np.ones(count))
    values = MemoryValues(tree, {"cpu.time": own}, {"cpu.time": column_of(tree.inclusive(np.ones(count)))})
    result = call(Session(replace(deep, tree=tree, values=values)), "query", {"query": '["*", {"depth": -1}]'})
    assert result.text.startswith(f"{count:,} contexts")


def test_a_number_too_large_for_a_float_is_no_error() -> None:
    asked = json.dumps([{"line": 10**400}])
    assert call(Session(profile_of([-1], [0], [1])), "query", {"query": asked}).rows == ()


def test_contexts_without_the_metric_are_told_as_such() -> None:
    bare = Session(build(function("main", function("solve", time=2.0), function("unused"), time=1.0)))
    told = call(bare, "query", {"query": '[{"name": "solve"}]'}).text
    assert told == "1 context is on matching paths. The query searched the 2 of 3 contexts that have cpu.time."
