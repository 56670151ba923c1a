"""hatchet's JSON files: those that hatchet writes itself, literal lists, and damaged ones."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hatchet import GraphFrame

from chathpc.adapters.glance import Glance
from chathpc.adapters.hatchet_json import ADAPTER, read, recognises
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind
from tests.adapters.samples.hatchet import GRAPH, LITERAL, write_samples


def own(profile: Profile, metric: str = "cpu.time") -> dict[str, float]:
    """Exclusive values by the node's label."""
    column = profile.exclusive(metric)
    return {profile.tree.label(int(n)): float(v) for n, v in zip(column.nodes, column.values, strict=True)}


def write(folder: Path, given: Any) -> Path:
    path = folder / "a.json"
    path.write_text(given if isinstance(given, str) else json.dumps(given))
    return path


def test_samples_are_recognised_and_read(tmp_path: Path) -> None:
    for path in write_samples(tmp_path):
        assert recognises(Glance(path)), path
        profile = ADAPTER.read(path)
        profile.tree.check()
        assert profile.exclusive("cpu.time").sum() == pytest.approx(profile.total("cpu.time"), rel=1e-12)
        again = Profile.from_graphframe(profile.graphframe())
        assert again.total("cpu.time") == profile.total("cpu.time")


@pytest.mark.parametrize("text", ["", "{}", "[]", "[1]", '{"graph": 3}', '[{"name": 1}]', '{"data": [{"frame": 1}]}'])
def test_other_files_are_not_recognised(tmp_path: Path, text: str) -> None:
    assert not recognises(Glance(write(tmp_path, text)))


def test_literal_lists(tmp_path: Path) -> None:
    profile = read(write(tmp_path, LITERAL))
    assert own(profile) == {"main": 1.0, "solve": 2.0, "loop at a.c:7": 4.0}
    assert own(profile, "other.hits") == {"main": 3.0, "solve": 1.0}
    assert profile.total("cpu.time") == 7.0
    assert profile.tree.kind.tolist() == [NodeKind.FUNCTION, NodeKind.FUNCTION, NodeKind.LOOP]
    assert (profile.format, profile.title) == ("hatchet (literal)", "a.json")


def test_graphs_with_ranks(tmp_path: Path) -> None:
    profile = read(write(tmp_path, GRAPH))
    assert own(profile) == {"main": 2.0, "a": 4.0, "b": 6.0, "other": 8.0}
    assert profile.location_totals("cpu.time").tolist() == [10.0, 10.0]
    assert profile.where.rank.tolist() == [0, 1]


def test_what_hatchet_writes_is_read_as_hatchet_has_it(tmp_path: Path) -> None:
    frame = GraphFrame.from_literal(copy.deepcopy(LITERAL))
    profile = read(write(tmp_path, frame.to_json()))
    direct = Profile.from_graphframe(frame)
    assert recognises(Glance(tmp_path / "a.json"))
    assert own(profile) == own(direct)
    assert profile.total("time") == direct.total("time")


def test_our_own_graphframes_come_back(tmp_path: Path) -> None:
    first = read(write(tmp_path, LITERAL))
    second = read(write(tmp_path, first.graphframe().to_json()))
    assert own(second) == own(first)


def test_call_graphs_keep_their_functions_once(tmp_path: Path) -> None:
    graph = {
        str(n): {"data": {"name": name, "type": "function"}, "children": children}
        for n, name, children in ((0, "main", [1, 2]), (1, "a", [2]), (2, "b", []))
    }
    rows = [{"node": n, "name": name, "time": float(n + 1)} for n, name in enumerate(("main", "a", "b"))]
    document = {
        "graph": [graph],
        "dataframe": rows,
        "dataframe_indices": ["node"],
        "exclusive_metrics": ["time"],
        "inclusive_metrics": [],
    }
    profile = read(write(tmp_path, document))
    assert own(profile) == {"main": 1.0, "a": 2.0, "b": 3.0}
    assert any("several callers" in caveat for caveat in profile.caveats)


def changed(**more: Any) -> dict[str, Any]:
    return {**copy.deepcopy(GRAPH), **more}


CIRCLE = {"0": {"data": {"name": "a"}, "children": [1]}, "1": {"data": {"name": "b"}, "children": [0]}}
MANY = {str(n): {"data": {"name": f"f{n}"}, "children": list(range(n + 1, 200))} for n in range(200)}


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ([], "no nodes"),
        ([3], "lacks frame"),
        ([{"frame": {}, "metrics": 3}], "lacks frame"),
        ([{"frame": {"name": "a"}, "metrics": {"time": "x"}}], "no numbers"),
        ([{"frame": {"name": "a"}, "metrics": {str(n): 1 for n in range(1500)}}], "columns"),
        (changed(graph=3), "no graph"),
        (changed(graph=[3]), "a graph that is not an object"),
        (changed(graph=[{"0": 3}]), "lacks data"),
        (changed(graph=[{"0": {"data": {"name": "a"}, "children": [7]}}]), "node 7 does not exist"),
        (changed(dataframe=[{"node": 77}]), "belongs to no node"),
        (changed(dataframe=[3]), "belongs to no node"),
        (changed(graph=[CIRCLE], dataframe=[{"node": 0, "time": 1.0}]), "below themselves"),
        (changed(graph=[MANY], dataframe=[{"node": 0, "time": 1.0}]), "more callers"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_damage_is_refused(tmp_path: Path, given: Any, what: str) -> None:
    with pytest.raises(AdapterError, match=what) as caught:
        read(write(tmp_path, given))
    assert caught.value.hint


@pytest.mark.parametrize("line", [2**31, 2**70, -1, 0, float("inf"), float("nan"), "12", True])
def test_impossible_lines_and_addresses_are_none(tmp_path: Path, line: Any) -> None:
    def node(name: str, kind: str) -> dict[str, Any]:
        place = {"file": "heat.c", "line": line, "offset": 2**64} if kind == "function" else {}
        return {"frame": {"name": name, "type": kind, **place}, "metrics": {"time": 1.0}}

    profile = read(write(tmp_path, [node("sweep", "function"), node(f"heat.c:{'9' * 5000}", "loop")]))
    assert profile.total("cpu.time") == 2.0
    assert set(profile.tree.line.tolist()) <= {0, 1}
