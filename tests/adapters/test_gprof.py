"""gprof's text and gprof2dot's graphs: times, calls and who stands below whom."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.glance import Glance
from chathpc.adapters.gprof import ADAPTER, read
from chathpc.errors import AdapterError
from chathpc.pipeline import explain
from chathpc.profile.metric import Clock
from chathpc.profile.profile import Profile
from tests.adapters.opened import opened
from tests.synthetic.gprof import HEAT, Function, dot, flat, graph


def by_function(profile: Profile, metric: str) -> dict[str, float]:
    if metric not in profile.metrics:
        return {}
    table = profile.table("function", metric)
    return {name: value for name, value in zip(table["name"], table["exclusive"], strict=True) if value}


def parents(profile: Profile) -> dict[str, str]:
    tree = profile.tree
    return {tree.label(node): tree.label(int(tree.parent[node])) for node in range(1, len(tree))}


def written(folder: Path, text: str, name: str = "heat.txt") -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize("brief", [True, False])
def test_flat_profile_and_call_graph_are_joined(brief: bool, tmp_path: Path) -> None:
    profile = opened(ADAPTER, written(tmp_path, flat(HEAT, brief=brief) + "\n" + graph(HEAT)))
    assert by_function(profile, "cpu.time") == pytest.approx({f.name: f.own / 100 for f in HEAT})
    assert by_function(profile, "calls.count") == {"solve(Grid const&, int)": 100, "norm": 47, "visit": 909}
    assert parents(profile) == {
        "main": "heat",
        "solve(Grid const&, int)": "main",
        "norm": "main",
        "visit": "solve(Grid const&, int)",
    }
    assert profile.sample_count == pytest.approx(900)
    assert profile.metrics["cpu.time"].clock == Clock.CPU
    hot = explain(profile, llm="none").findings[0]
    assert hot.where.function == "solve"


def test_either_part_alone_is_enough(tmp_path: Path) -> None:
    alone = opened(ADAPTER, written(tmp_path, flat(HEAT)))
    assert by_function(alone, "cpu.time") == pytest.approx({f.name: f.own / 100 for f in HEAT})
    assert set(parents(alone).values()) == {"heat"}
    assert "calls between functions" in alone.not_collected
    other = opened(ADAPTER, written(tmp_path, graph(HEAT)))
    assert by_function(other, "cpu.time") == pytest.approx({f.name: f.own / 100 for f in HEAT})


def test_cycles_lines_and_odd_names(tmp_path: Path) -> None:
    text = graph(HEAT).replace("norm [3]", "norm <cycle 1> [3]")
    text += "index % time    self  children    called     name\n"
    text += "[9]     10.0    9.00    1.00       5         <cycle 1 as a whole> [9]\n"
    profile = opened(ADAPTER, written(tmp_path, text))
    assert by_function(profile, "cpu.time")["norm"] == 2.5
    by_line = " 60.00      1.50     1.50                             solve (heat.c:12 @ 401136)\n"
    profile = opened(ADAPTER, written(tmp_path, flat([Function("main", 100)]) + by_line))
    assert profile.tree.place(int(profile.tree.roots[0]) + 2) == "heat.c:12"


def test_ticks_are_samples(tmp_path: Path) -> None:
    text = flat(HEAT).replace("Each sample counts as 0.01 seconds.", "time is in ticks, not seconds")
    profile = opened(ADAPTER, written(tmp_path, text))
    assert profile.total("cpu.samples") == pytest.approx(9)
    assert profile.sample_count == pytest.approx(9)


def test_a_short_run_is_insufficient_and_none_is_refused(tmp_path: Path) -> None:
    short = opened(ADAPTER, written(tmp_path, flat([Function("main", 3)])))
    assert explain(short, llm="none").verdict == "insufficient-data"
    for text in (flat([Function("main", 0)]), "Flat profile:\n\n no time accumulated\n", "Flat profile:\n"):
        with pytest.raises(AdapterError) as caught:
            read(written(tmp_path, text))
        assert caught.value.hint


@pytest.mark.parametrize("quoted", [True, False])
def test_graphs_of_gprof2dot_have_shares(quoted: bool, tmp_path: Path) -> None:
    functions = [*HEAT[:2], Function("norm", 250, module="libm.so"), HEAT[3]]
    profile = opened(ADAPTER, written(tmp_path, dot(functions, quoted=quoted), "heat.dot"))
    assert by_function(profile, "cpu.share") == pytest.approx({f.name: f.own / 9 for f in HEAT}, abs=0.01)
    assert parents(profile)["visit"] == "solve(Grid const&, int)"
    norms = [node for node in range(len(profile.tree)) if profile.tree.label(node) == "norm"]
    assert {profile.tree.module_name(norm) for norm in norms} == {"libm.so"}
    assert len(norms) == sum(
        2 in [callee for callee, _ in each.calls] for each in functions
    )  # below each of its callers
    assert profile.title == "heat"
    report = explain(profile, llm="none")
    hot = next(finding for finding in report.findings if finding.where.function == "solve")
    assert "of the cost" in hot.summary


def test_what_several_functions_call_is_divided_as_the_graph_says(tmp_path: Path) -> None:
    """solve and step both call send, for 30 % and 10 %, which computes 8 % and calls copy for 32 %; copy calls send again."""
    shares = {"main": (100, 40), "solve": (40, 10), "step": (20, 10), "send": (40, 8), "copy": (32, 32)}
    arcs = {
        ("main", "solve"): 40,
        ("main", "step"): 20,
        ("solve", "send"): 30,
        ("step", "send"): 10,
        ("send", "copy"): 32,
    }
    rows = [f'{name} [label="{name}\\n{all:.2f}%\\n({own:.2f}%)\\n8×"];' for name, (all, own) in shares.items()]
    rows += [f'{caller} -> {callee} [label="{share:.2f}%\\n4×"];' for (caller, callee), share in arcs.items()]
    text = "\n".join(["digraph {", *rows, 'copy -> send [label="1.00%\\n1×"];', "}"])
    profile = opened(ADAPTER, written(tmp_path, text, "x.dot"))
    table = profile.table("function", "cpu.share").set_index("name")
    for name, told in shares.items():
        assert (table.loc[name, "inclusive"], table.loc[name, "exclusive"]) == pytest.approx(told)
    tree, inclusive = profile.tree, profile.inclusive("cpu.share").dense(len(profile.tree))
    sends = [node for node in range(len(tree)) if tree.label(node) == "send"]
    assert {tree.label(int(tree.parent[node])): inclusive[node] for node in sends} == pytest.approx(
        {"solve": 30, "step": 10, "copy": 0}
    )
    assert any("are estimates" in caveat for caveat in profile.caveats)


def test_what_a_graph_leaves_out_is_the_rest(tmp_path: Path) -> None:
    text = 'digraph {\n a [label="a\\n60.00%\\n(50.00%)"];\n b [label="b\\n30.00%\\n(30.00%)\\n2×"];\n a -> b;\n}\n'
    profile = opened(ADAPTER, written(tmp_path, text, "x.dot"))
    assert by_function(profile, "cpu.share") == {"a": 50, "b": 30, "[omitted from the graph]": 20}
    assert profile.total("cpu.share") == 100


@pytest.mark.parametrize(
    "text",
    ["digraph {\n a -> b;\n}\n", 'digraph { a [label="x"]; }', "graph { a -- b }", "", "Flat profiles are nice\n"],
)
def test_other_text_is_not_taken_for_it(text: str, tmp_path: Path) -> None:
    assert not ADAPTER.recognises(Glance(written(tmp_path, text)))


def test_a_graph_without_shares_of_their_own_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="no node"):
        read(written(tmp_path, 'digraph {\n a [label="a\\n60.00%"];\n b [label="\\n(0.00%)"];\n}\n'))


@st.composite
def programs(draw: st.DrawFn) -> list[Function]:
    count = draw(st.integers(1, 6))
    calls = st.lists(st.tuples(st.integers(0, count - 1), st.integers(1, 50)), max_size=4, unique_by=lambda c: c[0])
    return [Function(f"f{n}<a, b>(int)", draw(st.integers(1, 500)), tuple(draw(calls))) for n in range(count)]


@given(programs(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_any_program_comes_back(functions: list[Function], with_flat: bool) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), (flat(functions) if with_flat else "") + graph(functions))
        profile = opened(ADAPTER, path)
    assert by_function(profile, "cpu.time") == pytest.approx({f.name: f.own / 100 for f in functions})
    called = {f.name: sum(n for g in functions for c, n in g.calls if c == i) for i, f in enumerate(functions)}
    assert by_function(profile, "calls.count") == {name: n for name, n in called.items() if n}


@pytest.mark.skipif(not (shutil.which("gprof") and shutil.which("gcc")), reason="needs gcc and gprof")
def test_gprof_itself_is_read(tmp_path: Path) -> None:
    source = "static volatile double s; __attribute__((noinline)) void solve(void) { for (long i = 0; i < 90000000; i++) s += i; }"
    (tmp_path / "heat.c").write_text(source + "\nint main(void) { for (int i = 0; i < 3; i++) solve(); return 0; }\n")
    run = {"cwd": tmp_path, "timeout": 120, "check": True}
    subprocess.run(["gcc", "-O1", "-pg", "-o", "heat", "heat.c"], **run)  # type: ignore[call-overload]
    subprocess.run(["./heat"], **run)  # type: ignore[call-overload]
    text = subprocess.run(["gprof", "heat", "gmon.out"], capture_output=True, text=True, **run).stdout  # type: ignore[call-overload]
    profile = opened(ADAPTER, written(tmp_path, text, "profile.txt"))
    assert profile.table("function", "cpu.time").iloc[0]["name"] == "solve"
    assert by_function(profile, "calls.count")["solve"] == 3
