"""TAU profiles written by our own writer; expected numbers are sums over the tree that is written."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.glance import Glance
from chathpc.adapters.tau import ADAPTER, frame_of, read, recognises
from chathpc.errors import AdapterError
from chathpc.profile.metric import Clock, Unit
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind
from tests.adapters.samples.tau import APP, SAMPLED, SEND, tree, write_samples
from tests.synthetic.tau import Tree, rows_of, text_of, write_run


def own(profile: Profile, metric: str = "cpu.time") -> dict[str, float]:
    """Exclusive values by the path of names."""
    column = profile.exclusive(metric)
    return {
        "/".join(profile.tree.label(step) for step in profile.tree.path(int(n))): float(v)
        for n, v in zip(column.nodes, column.values, strict=True)
    }


def test_samples_are_recognised_and_read(tmp_path: Path) -> None:
    for path in write_samples(tmp_path):
        assert recognises(Glance(path)), path
        profile = ADAPTER.read(path)
        profile.tree.check()
        assert profile.timed
        assert profile.exclusive("cpu.time").sum() == pytest.approx(profile.total("cpu.time"), rel=1e-12)
        again = Profile.from_graphframe(profile.graphframe())
        assert again.total("cpu.time") == pytest.approx(profile.total("cpu.time"), rel=1e-12)
        assert len(again.tree) == len(profile.tree)


@pytest.mark.parametrize("text", ["", "hello", "3 functions", "x templated_functions"])
def test_other_files_are_not_recognised(tmp_path: Path, text: str) -> None:
    (tmp_path / "profile.0.0.0").write_text(text)
    assert not recognises(Glance(tmp_path / "profile.0.0.0"))
    assert not recognises(Glance(tmp_path))


def test_flat_rows_are_not_counted_beside_their_call_paths(tmp_path: Path) -> None:
    profile = read(write_run(tmp_path / "run", {(0, 0, 0): tree(), (3, 0, 0): tree(2.0)}, groups={SEND: "MPI"}))
    main = f"{APP}/main"
    assert own(profile) == pytest.approx(
        {APP: 300e-6, main: 400e-6, f"{main}/loop at heat.c:20": 1200e-6, f"{main}/MPI_Send": 100e-6}
    )
    assert own(profile, "calls.count") == {APP: 2, main: 2, f"{main}/loop at heat.c:20": 14, f"{main}/MPI_Send": 6}
    assert profile.where.rank.tolist() == [0, 3]
    assert profile.location_totals("cpu.time") == pytest.approx([750e-6, 1250e-6])
    assert profile.run == {"ranks": "2"}
    assert not profile.caveats
    assert not profile.not_collected


def test_call_paths_cut_to_two_functions_are_put_together_where_the_caller_is_known(tmp_path: Path) -> None:
    chain: Tree = {("a",): (1.0, 1), ("a", "b"): (2.0, 1), ("a", "b", "c"): (4.0, 1), ("a", "b", "c", "d"): (8.0, 1)}
    profile = read(write_run(tmp_path / "chain", {(0, 0, 0): chain}, depth=2))
    assert own(profile) == pytest.approx({"a": 1e-6, "a/b": 2e-6, "a/b/c": 4e-6, "a/b/c/d": 8e-6})
    fork: Tree = {
        ("a",): (10.0, 1),
        ("a", "b"): (20.0, 1),
        ("a", "b", "c"): (40.0, 1),
        ("a", "c"): (80.0, 1),
        ("a", "c", "d"): (160.0, 1),
    }
    profile = read(write_run(tmp_path / "fork", {(0, 0, 0): fork}, depth=2))
    assert own(profile) == pytest.approx({"a": 10e-6, "a/b": 20e-6, "a/b/c": 40e-6, "a/c": 80e-6, "c/d": 160e-6})
    assert any("TAU_CALLPATH_DEPTH" in caveat for caveat in profile.caveats)
    assert "TAU_CALLPATH_DEPTH=100" in profile.not_collected["whole call paths"]


def test_flat_profiles_have_functions_beside_each_other(tmp_path: Path) -> None:
    profile = read(write_run(tmp_path / "run", {(0, 0, 0): tree()}, depth=0, metric=""))
    assert set(profile.tree.parent.tolist()) == {-1}
    assert profile.total("cpu.time") == pytest.approx(750e-6)
    assert profile.metrics["cpu.time"].source_name == "TIME"
    assert any("no call paths" in caveat for caveat in profile.caveats)


def test_recursion_keeps_the_total(tmp_path: Path) -> None:
    fib: Tree = {
        ("main",): (1.0, 1),
        ("main", "fib"): (2.0, 1),
        ("main", "fib", "fib"): (4.0, 2),
        ("main", "fib", "fib", "fib"): (8.0, 4),
    }
    for depth in (0, 2, 100):
        profile = read(write_run(tmp_path / str(depth), {(0, 0, 0): fib}, depth=depth))
        assert profile.total("cpu.time") == pytest.approx(15e-6)


def test_samples_below_a_timer_are_part_of_its_time(tmp_path: Path) -> None:
    (tmp_path / "profile.0.0.0").write_text(text_of(SAMPLED))
    profile = read(tmp_path / "profile.0.0.0")
    sweep = f"{APP}/sweep"
    assert own(profile) == pytest.approx({APP: 150e-6, f"{sweep}/heat.c:22": 600e-6, f"{sweep}/heat.c:23": 250e-6})
    assert profile.total("cpu.time") == pytest.approx(1000e-6)


def test_folders_of_several_metrics_are_one_profile(tmp_path: Path) -> None:
    trees = {(0, 0, 0): tree(), (0, 0, 1): tree()}
    for metric in ("GET_TIME_OF_DAY", "CPU_TIME", "PAPI_TOT_CYC", "PAPI_XYZ", "TAUGPU_TIME"):
        write_run(tmp_path / f"MULTI__{metric}", trees, metric=metric)
    assert recognises(Glance(tmp_path))
    profile = read(tmp_path)
    assert {name: metric.clock for name, metric in profile.metrics.items() if metric.unit == Unit.SECONDS} == {
        "cpu.time": Clock.CPU, "cpu.time.wall": Clock.WALL, "gpu.time": None,
    }  # fmt: skip
    assert profile.total("cpu.time.wall") == pytest.approx(1500e-6)
    assert profile.total("cpu.cycles") == 1500
    assert profile.total("PAPI_XYZ") == 1500
    assert profile.total("calls.count") == 24
    assert [profile.where.label(i) for i in range(2)] == ["rank 0 thread 0", "rank 0 thread 1"]


def test_sizes_of_messages_and_bytes_are_summed_without_their_call_paths(tmp_path: Path) -> None:
    events = (
        '"Message size sent to all nodes" 4 800 100 300 1',
        '"Message size sent to all nodes : main => MPI_Send()" 4 800 100 300 1',
        '"Bytes Read" 2 6 4 5 1', '"Bytes Written" 3 6 4 5 1', '"Heap (KB)" 1 1 1 1 1',
    )  # fmt: skip
    profile = read(write_run(tmp_path / "run", {(0, 0, 0): tree(), (1, 0, 0): tree()}, events=events))
    assert [profile.total(f"mpi.message.{what}") for what in ("bytes", "count")] == [2400, 8]
    assert [profile.total(f"io.{what}.bytes") for what in ("read", "write")] == [20, 30]


def test_metadata_are_not_taken_in(tmp_path: Path) -> None:
    secret = "PLANTED-a1b2c3"
    profile = read(
        write_run(tmp_path / "run", {(0, 0, 0): tree()}, metadata=f"<metadata><name>{secret}</name></metadata>")
    )
    shown = repr((profile.run, profile.hardware, profile.title, profile.caveats, profile.metrics, profile.tree.names))
    assert secret not in shown


def test_throttled_functions_are_told(tmp_path: Path) -> None:
    profile = read(write_run(tmp_path / "run", {(0, 0, 0): tree()}, groups={SEND: "TAU_DISABLE"}))
    assert any(
        "stopped timing 2 functions" in caveat or "stopped timing 1 functions" in caveat for caveat in profile.caveats
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("MPI_Send()  ", ("MPI_Send", NodeKind.FUNCTION, "", 0, "")),
        ("int main(int, char **) C [{a.c} {3,1}-{9,1}]", ("int main(int, char **)", NodeKind.FUNCTION, "a.c", 3, "")),
        ("Loop: f [{a.c} {3,1}-{9,1}]", ("Loop: f", NodeKind.LOOP, "a.c", 3, "")),
        ("Loop: f", ("Loop: f", NodeKind.REGION, "", 0, "")),
        ("OpenMP_Sync_Region_Barrier: f", ("OpenMP_Sync_Region_Barrier: f", NodeKind.REGION, "", 0, "")),
        ("[SUMMARY] f [{/x/a.c}]", ("f", NodeKind.FUNCTION, "/x/a.c", 0, "SUMMARY")),
        ("[SAMPLE] f [{/x/a.c} {17}]", ("f", NodeKind.LINE, "/x/a.c", 17, "SAMPLE")),
        ("[SAMPLE] UNRESOLVED", ("UNRESOLVED", NodeKind.FUNCTION, "", 0, "SAMPLE")),
        ("", ("[unnamed]", NodeKind.FUNCTION, "", 0, "")),
    ],
)  # fmt: skip
def test_names_are_taken_apart(name: str, expected: tuple[str, NodeKind, str, int, str]) -> None:
    frame = frame_of(name)
    assert (frame.name, frame.kind, frame.file, frame.line, frame.sampled) == expected


def test_names_may_hold_quotes_and_lines_may_lack_a_group(tmp_path: Path) -> None:
    (tmp_path / "profile.0.0.0").write_text(text_of(['"op "" (x)" 1 0 5 5 0', '"b" 1 0 7 7 0 GROUP="a "b" c" ']))
    assert own(read(tmp_path)) == pytest.approx({'op "" (x)': 5e-6, "b": 7e-6})


# -- damage --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("hello", "does not begin"),
        ("9 templated_functions\n# x\n", "announces 9 timers and has 1 lines"),
        ("999999999 templated_functions\n# x\n", "announces 999,999,999"),
        ('1 templated_functions\n# x\n"a" 1 0 5\n', "line 3"),
        ('1 templated_functions\n# x\n"a" 1 0  5 x 0 GROUP="g"\n', "line 3"),
        ('1 templated_functions\n# x\n"a" 1 0 5 1e300 0 GROUP="g"\n', "line 3"),
        ('1 templated_functions\n# x\n"a" 1 0 5 nan 0 GROUP="g"\n', "line 3"),
        ("1 templated_functions\n# x\nhello\n", "line 3"),
        ("0 templated_functions\n# x\n0 aggregates\n", "has no timers"),
    ],
)
def test_damage_is_told_with_its_line(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "profile.0.0.0").write_text(text)
    with pytest.raises(AdapterError, match=what) as caught:
        read(tmp_path)
    assert caught.value.hint


def test_damaged_events_end_the_list_of_events(tmp_path: Path) -> None:
    events = ('"Bytes Read" 2 6 4 5 1', "nonsense", '"Bytes Read" 2 6 4 5 1')
    assert read(write_run(tmp_path / "run", {(0, 0, 0): tree()}, events=events)).total("io.read.bytes") == 10


def test_a_folder_without_profiles_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="contains no profile"):
        read(tmp_path)


def test_circles_and_long_chains_of_callers_end_soon(tmp_path: Path) -> None:
    circle = ['"a => b" 1 1 5 5 0 GROUP="g" ', '"b => a" 1 1 5 5 0 GROUP="g" ']
    (tmp_path / "profile.0.0.0").write_text(text_of(circle))
    assert read(tmp_path).total("cpu.time") == pytest.approx(10e-6)
    chain = [f'"f{i} => f{i + 1}" 1 1 5 5 0 GROUP="g" ' for i in range(6_000)]
    (tmp_path / "profile.0.0.0").write_text(text_of(chain[::-1]))
    began = time.process_time()
    profile = read(tmp_path)
    assert profile.total("cpu.time") == pytest.approx(30_000e-6)
    assert time.process_time() - began < 5


# -- properties ----------------------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(
    st.dictionaries(
        st.lists(st.sampled_from("abcd"), min_size=1, max_size=5).map(tuple),
        st.integers(2, 1000),
        min_size=1,
        max_size=9,
    ),
    st.sampled_from([0, 2, 3, 100]),
)
def test_totals_are_those_of_the_tree_at_any_depth(
    tmp_path_factory: pytest.TempPathFactory, given_tree: dict[tuple[str, ...], int], depth: int
) -> None:
    folder = tmp_path_factory.mktemp("tau")
    whole = {path[:n]: 0 for path in given_tree for n in range(1, len(path) + 1)} | given_tree
    tree_of_run: Tree = {path: (float(own_time), 1) for path, own_time in whole.items()}
    (folder / "profile.0.0.0").write_text(text_of(rows_of(tree_of_run, depth=depth)))
    profile = read(folder)
    assert profile.total("cpu.time") == pytest.approx(sum(given_tree.values()) * 1e-6, rel=1e-9)
    by_function = {path[-1]: 0.0 for path in whole}
    for path, own_time in given_tree.items():
        by_function[path[-1]] += own_time * 1e-6
    table = profile.table("function").set_index("name")["exclusive"].to_dict()
    assert table == pytest.approx({name: value for name, value in by_function.items() if name in table}, rel=1e-9)
    assert sum(table.values()) == pytest.approx(sum(by_function.values()), rel=1e-9)
