"""speedscope files: events and samples give the same stacks; faults are passed over and said."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.glance import Glance
from chathpc.adapters.speedscope import ADAPTER, read
from chathpc.errors import AdapterError
from chathpc.export import exporter
from chathpc.pipeline import explain
from chathpc.profile.profile import Profile
from chathpc.profile.run import run_facts
from tests.adapters.opened import opened
from tests.profile.build import build, call
from tests.synthetic.speedscope import HEAT, Stack, evented, sampled, write


def stacks(profile: Profile, metric: str) -> dict[tuple[str, ...], float]:
    tree, column = profile.tree, profile.exclusive(metric)
    return {
        tuple(tree.label(step) for step in tree.path(node)): value
        for node, value in zip(column.nodes.tolist(), column.values.tolist(), strict=True)
    }


def file(folder: Path, text: str) -> Path:
    (folder / "x.json").write_text(text)
    return folder / "x.json"


@pytest.mark.parametrize("make", [sampled, evented])
@pytest.mark.parametrize(
    ("unit", "scale"), [("nanoseconds", 1e-9), ("milliseconds", 1e-3), ("seconds", 1), ("none", 1)]
)
def test_events_and_samples_of_every_unit(make: Any, unit: str, scale: float, tmp_path: Path) -> None:
    frames: dict[str, int] = {}
    profile = opened(ADAPTER, file(tmp_path, write([make(HEAT, frames, unit)], frames)))
    metric = "cpu.samples" if unit == "none" else "cpu.time"
    assert stacks(profile, metric) == pytest.approx({names: weight * scale for names, weight in HEAT})
    assert profile.timed == (make is evented and unit != "none")
    assert (profile.title, profile.sources[0].tool, profile.sources[0].version) == ("heat", "heat", "1.2")
    assert profile.tree.place(0) == "main.py:3"


def test_each_profile_is_a_location(tmp_path: Path) -> None:
    frames: dict[str, int] = {}
    profiles = [evented(HEAT, frames), sampled(HEAT[:2], frames), sampled(HEAT, frames, "bytes")]
    profile = opened(ADAPTER, file(tmp_path, write(profiles, frames)))
    assert profile.location_totals("cpu.time")[:2] == pytest.approx([0.54, 0.32])
    assert profile.total("memory.allocated.bytes") == 540
    assert len(profile.where) == 3


def test_what_we_exported_is_one_run_with_its_metrics(tmp_path: Path) -> None:
    """3 s and 4,096 bytes: no samples, no threads of their own, and none of them added to another."""
    run = build(call("main", call("f", values={"gpu.time": 2.0, "io.read.bytes": 4096.0}), values={"host.time": 3.0}))
    profile = read(file(tmp_path, exporter("speedscope")(run, None)))
    assert {name: profile.total(name) for name in profile.metrics} == {
        name: run.total(name) for name in ("gpu.time", "host.time", "io.read.bytes")
    }
    assert (len(profile.where), profile.sample_count, profile.caveats) == (1, None, ())
    assert [each.total for each in (run_facts(profile), run_facts(run))] == [2.0, 2.0]


def test_the_hottest_function_is_named_and_short_runs_are_not_judged(tmp_path: Path) -> None:
    frames: dict[str, int] = {}
    report = explain(opened(ADAPTER, file(tmp_path, write([evented(HEAT, frames)], frames))), llm="none")
    assert report.findings[0].where.function == "solve"
    short = opened(ADAPTER, file(tmp_path, write([evented(HEAT, frames, "nanoseconds")], frames)))
    assert explain(short, llm="none").verdict == "insufficient-data"


def test_faults_are_passed_over_and_said(tmp_path: Path) -> None:
    frames: dict[str, int] = {}
    good = evented(HEAT, frames)
    bad = {**good, "events": [
        {"type": "O", "frame": 0, "at": 5}, {"type": "O", "frame": 99, "at": 6}, {"type": "O", "frame": 1, "at": "x"},
        {"type": "O", "frame": 1, "at": 3}, {"type": "C", "frame": 0, "at": 9}, {"type": "C", "frame": 0, "at": 9}, 7,
        {"type": "O", "frame": 2, "at": 10}, {"type": "O", "frame": True, "at": 10},
    ], "endValue": 12}  # fmt: skip
    weird = {"type": "sampled", "unit": "milliseconds", "samples": [[0], [99], 3, [0], [0]], "weights": [1, 1, 1, -5]}
    others: list[Any] = [{"type": "evented"}, {"type": "sampled"}, {"type": "x"}, 3]
    profile = opened(ADAPTER, file(tmp_path, write([good, bad, weird, *others], frames)))
    assert profile.location_totals("cpu.time")[:3] == pytest.approx([0.54, 0.006, 0.001])
    said = " ".join(profile.caveats)
    for words in ("closed frame that is not the innermost", "never closed", "before the one that it follows", "negative weight",
                  "whose numbers of samples and weights differ", "neither evented nor sampled"):  # fmt: skip
        assert words in said


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"profiles": []},
        {"profiles": 3},
        [],
        {"profiles": [{"type": "sampled", "samples": [], "weights": []}]},
        None,
    ],
)
def test_files_without_a_profile_are_refused(document: Any, tmp_path: Path) -> None:
    with pytest.raises(AdapterError) as caught:
        read(file(tmp_path, json.dumps(document)))
    assert caught.value.hint


def test_deep_json_and_damaged_json_are_refused(tmp_path: Path) -> None:
    for text in ("[" * 100_000, '{"profiles": [', '{"profiles": [1e999999]}'):
        with pytest.raises(AdapterError):
            read(file(tmp_path, text))


def test_a_stack_of_a_hundred_thousand_frames(tmp_path: Path) -> None:
    frames: dict[str, int] = {}
    deep: Stack = (("f", "g") * 50_000, 100)
    for make in (sampled, evented):
        profile = read(file(tmp_path, write([make([deep], frames)], frames)))
        assert int(profile.tree.depth.max()) == 99_999
        assert profile.total("cpu.time") == pytest.approx(0.1)


@pytest.mark.parametrize("text", ['{"traceEvents": []}', "[]", "", '{"shared": 1}', "x"])
def test_other_files_are_not_taken_for_it(text: str, tmp_path: Path) -> None:
    assert not ADAPTER.recognises(Glance(file(tmp_path, text)))


names = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=6).map(tuple)


@given(st.lists(st.tuples(names, st.integers(1, 1000)), min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_any_stacks_come_back_from_either_kind(rows: list[Stack]) -> None:
    import tempfile

    expected = Counter[tuple[str, ...]]()
    for path, weight in rows:
        expected[path] += weight / 1000
    with tempfile.TemporaryDirectory() as folder:
        for make in (sampled, evented):
            frames: dict[str, int] = {}
            profile = opened(ADAPTER, file(Path(folder), write([make(rows, frames)], frames)))
            assert stacks(profile, "cpu.time") == pytest.approx(dict(expected))


def test_of_py_spy_only_what_python_does_and_calls_is_a_place(tmp_path: Path) -> None:
    """Its frames of processes and threads are none, and what the interpreter does before Python's first function is its own affair."""
    names = ['process 7:"python app.py"', "thread (7): MainThread", "0x7f00", "<module>", "dot", "gc_collect_main"]
    files = [
        "",
        "",
        "/lib/libc.so.6",
        "/home/me/app.py",
        "/opt/_core.cpython-311-x86_64-linux-gnu.so",
        "/lib/libpython3.11.so.1.0",
    ]
    frames = [{"name": name, "file": file, "line": 4} for name, file in zip(names, files, strict=True)]
    profile = {
        "type": "sampled",
        "name": 'rank 3: Process 7 Thread 7 ""',
        "unit": "seconds",
        "startValue": 0,
        "endValue": 3,
    }
    profile |= {"samples": [[0, 1, 2, 3, 4], [0, 1, 2, 3], [0, 1, 5]], "weights": [1.5, 1.0, 0.5]}
    document = {"shared": {"frames": frames}, "profiles": [profile], "exporter": "py-spy@0.4.1", "clock": "wall"}
    read_back = read(file(tmp_path, json.dumps(document)))
    assert stacks(read_back, "cpu.time") == {
        ("<module>", "dot"): 1.5, ("<module>",): 1.0, ("gc_collect_main",): 0.5
    }  # fmt: skip
    assert (read_back.tree.module_name(1), read_back.tree.file_name(1)) == (files[4], None)
    assert (read_back.where.rank.tolist(), read_back.sees_waiting) == ([3], True)
    assert not any("wall-clock or CPU" in caveat for caveat in read_back.caveats)
