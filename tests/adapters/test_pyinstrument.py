"""pyinstrument's JSON, old and new: inclusive times become own times, and what waits is no work."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.glance import Glance
from chathpc.adapters.pyinstrument import ADAPTER, read
from chathpc.errors import AdapterError
from chathpc.pipeline import explain
from chathpc.profile.metric import Clock
from chathpc.profile.profile import Profile
from tests.adapters.opened import opened
from tests.synthetic.pyinstrument import HEAT, Frame, renderer, session


def file(folder: Path, text: str) -> Path:
    (folder / "heat.json").write_text(text)
    return folder / "heat.json"


def by_path(profile: Profile) -> dict[tuple[str, ...], float]:
    tree, column = profile.tree, profile.exclusive("cpu.time")
    found = Counter[tuple[str, ...]]()
    for node, value in zip(column.nodes.tolist(), column.values.tolist(), strict=True):
        found[tuple(tree.label(step) for step in tree.path(node))] += value
    return dict(found)


def expected(frame: Frame, above: tuple[str, ...] = ()) -> dict[tuple[str, ...], float]:
    path = (*above, frame.name)
    found = Counter({path: frame.own / 1000} if frame.own else {})
    for child in frame.children:
        found.update(expected(child, path))
    return dict(found)


@pytest.mark.parametrize("write", [renderer, session])
def test_own_times_of_every_version(write: object, tmp_path: Path) -> None:
    assert callable(write)
    profile = opened(ADAPTER, file(tmp_path, write(HEAT)))
    assert by_path(profile) == pytest.approx(expected(HEAT))
    assert profile.sample_count == 500
    assert profile.metrics["cpu.time"].clock == Clock.WALL
    solve = next(node for node in range(len(profile.tree)) if profile.tree.label(node) == "solve")
    assert profile.tree.place(solve) == "heat.py:10"
    assert "secret" not in repr((profile.run, profile.title, profile.caveats, profile.sources))
    assert profile.run == {"seconds": "0.661", "processor seconds": "0.5"}


def test_the_hottest_function_waiting_and_imports_are_named(tmp_path: Path) -> None:
    profile = opened(ADAPTER, file(tmp_path, renderer(HEAT)))
    report = explain(profile, llm="none")
    assert any(finding.where.function == "solve" for finding in report.findings)
    assert any(finding.cause == "blocking-wait" for finding in report.findings)
    assert any(
        "Importing modules takes 80.0 ms of 661 ms (12.1 %), 60.0 ms of it" in caveat for caveat in profile.caveats
    )
    few = opened(ADAPTER, file(tmp_path, renderer(HEAT, samples=20)))
    assert few.sample_count == 20
    quick = opened(ADAPTER, file(tmp_path, renderer(Frame("main", 9), samples=9)))
    assert explain(quick, llm="none").verdict == "insufficient-data"


def test_a_hatchet_reader_finds_the_same_times(tmp_path: Path) -> None:
    hatchet = pytest.importorskip("hatchet")
    path = file(tmp_path, renderer(HEAT))
    frame = hatchet.GraphFrame.from_pyinstrument(str(path)).dataframe
    assert float(frame["time"].sum()) == pytest.approx(opened(ADAPTER, path).total("cpu.time"))


def test_damaged_frames_are_passed_over_and_said(tmp_path: Path) -> None:
    root = {
        "function": None, "time": 5, "children": [
            {"identifier": "a", "time": 1, "children": 3}, {"identifier": "b\0f.py\0x", "time": "1"}, 7, {"function": "c", "time": 9,
            "line_no": -3, "file_path": 4, "children": None}, {"identifier": 3, "time": True},
        ],
    }  # fmt: skip
    profile = opened(ADAPTER, file(tmp_path, json.dumps({"root_frame": root, "sample_count": "x"})))
    assert profile.total("cpu.time") == 10
    assert any("3 damaged frames were skipped" in caveat for caveat in profile.caveats)
    assert any("less time than their children" in caveat for caveat in profile.caveats)
    assert profile.sample_count is None


@pytest.mark.parametrize(
    "text", ["{}", "[]", '{"root_frame": 3}', '{"root_frame": {}}', '{"root_frame": {"time": 0}}', "{", "[" * 99999]
)
def test_files_without_a_tree_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(AdapterError) as caught:
        read(file(tmp_path, text))
    assert caught.value.hint


@pytest.mark.parametrize("text", ["", "{}", '{"session": 1}', '{"root_frame": 1}', '["root_frame", "duration"]'])
def test_other_files_are_not_taken_for_it(text: str, tmp_path: Path) -> None:
    assert not ADAPTER.recognises(Glance(file(tmp_path, text)))


frames = st.recursive(
    st.builds(Frame, st.sampled_from("abc"), st.integers(1, 50)),
    lambda inner: st.builds(Frame, st.sampled_from("abc"), st.integers(0, 50), st.lists(inner, max_size=3).map(tuple)),
    max_leaves=15,
)


@given(frames)
@settings(max_examples=50, deadline=None)
def test_any_tree_comes_back_from_either_version(root: Frame) -> None:
    import tempfile

    if root.total == 0:
        return
    with tempfile.TemporaryDirectory() as folder:
        for write in (renderer, session):
            profile = opened(ADAPTER, file(Path(folder), write(root)))
            found = {path: value for path, value in by_path(profile).items() if value > 1e-9}
            assert found == pytest.approx(expected(root))
