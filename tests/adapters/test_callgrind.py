"""Callgrind files: each way to write one gives the costs that were written, in a tree whose sums are true."""

from __future__ import annotations

import gzip
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.callgrind import ADAPTER, read
from chathpc.adapters.glance import Glance
from chathpc.errors import AdapterError
from chathpc.pipeline import explain
from chathpc.profile.metric import Clock
from chathpc.profile.profile import Profile
from tests.adapters.opened import opened
from tests.synthetic.callgrind import HEAT, Call, Function, Style, write

STYLES = {
    "numbers and steps": Style(),
    "everything written out": Style(numbered=False, relative=False),
    "with addresses": Style(addresses=True),
    "with jumps": Style(jumps=True),
    "in three parts": Style(parts=3),
}


def by_function(profile: Profile, metric: str) -> dict[str, float]:
    table = profile.table("function", metric)
    return {name: value for name, value in zip(table["name"], table["exclusive"], strict=True) if value}


def paths_of(profile: Profile, name: str) -> dict[tuple[str, ...], float]:
    """Inclusive instructions by path."""
    tree, inclusive = profile.tree, profile.inclusive("cpu.instructions").dense(len(profile.tree))
    found = [node for node in range(len(tree)) if tree.label(node) == name]
    return {tuple(tree.label(step) for step in tree.path(node)[:-1]): inclusive[node] for node in found}


@pytest.mark.parametrize("style", STYLES)
def test_every_style_gives_the_costs_that_were_written(style: str, tmp_path: Path) -> None:
    path = tmp_path / "callgrind.out.1"
    path.write_text(write(HEAT, ("Ir", "Dr"), STYLES[style]))
    profile = opened(ADAPTER, path)
    parts = STYLES[style].parts
    for index, metric in ((0, "cpu.instructions"), (1, "cpu.data.reads")):
        expected = {f.name: parts * sum(costs[index] for _, _, costs in f.costs) for f in HEAT}
        assert by_function(profile, metric) == expected
    by_line = profile.table("line", "cpu.instructions").groupby(["file", "line"])["exclusive"].sum()
    assert by_line["heat.c", 12] == parts * 9_000_000
    assert by_line["inline.h", 3] == parts * 500_000
    assert profile.total("calls.count") == parts * (100 + 2 + 1000 + 4 + 1 + 9)
    assert (profile.title, profile.timed, profile.insufficient) == ("heat", True, "")


def test_a_function_stands_below_each_of_its_callers_at_the_line_of_the_call(tmp_path: Path) -> None:
    path = tmp_path / "callgrind.out.1"
    path.write_text(write(HEAT, ("Ir", "Dr")))
    profile = opened(ADAPTER, path)
    solve = ("heat", "main", "heat.c:41", "solve")
    assert set(paths_of(profile, "exp")) == {(*solve, "heat.c:13")}
    assert {path[-2] for path in paths_of(profile, "malloc")} == {"main", "solve"}
    assert set(paths_of(profile, "visit")) == {("heat", "main", "heat.c:44")}
    inclusive = profile.table("function", "cpu.instructions").set_index("name")["inclusive"]
    assert inclusive["main"] == profile.total("cpu.instructions")
    assert any("no call paths" in caveat for caveat in profile.caveats)


def test_calls_cost_what_the_file_tells_of_each_caller(tmp_path: Path) -> None:
    program = [
        Function(
            "main", costs=(("", 40, (100_000,)),), calls=(Call(41, 1, 1, (2_000_000,)), Call(42, 2, 1, (20_000,)))
        ),
        Function("solve", costs=(("", 13, (1_000_000,)),), calls=(Call(13, 2, 900, (1_000_000,)),)),
        Function("malloc", file="malloc.c", object="/lib/libc.so.6", costs=(("", 7, (1_020_000,)),)),
    ]
    (tmp_path / "x").write_text(write(program))
    profile = opened(ADAPTER, tmp_path / "x")
    main = ("heat", "main")
    assert paths_of(profile, "malloc") == {
        (*main, "heat.c:42"): 20_000,
        (*main, "heat.c:41", "solve", "heat.c:13"): 1_000_000,
    }
    assert set(paths_of(profile, "solve").values()) == {2_000_000}
    assert profile.total("cpu.instructions") == 2_120_000


def test_the_hottest_function_and_line_are_named_as_parts_of_the_instructions(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(write(HEAT, ("Ir", "Dr")))
    report = explain(opened(ADAPTER, tmp_path / "x"), llm="none")
    hot = report.findings[0]
    assert (hot.where.function, hot.where.file, hot.where.line) == ("solve", "heat.c", 13)
    assert "of the instructions" in report.model_dump_json()
    assert hot.seconds is None


def test_arguments_of_the_command_are_not_taken_in(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(write(HEAT))
    profile = opened(ADAPTER, tmp_path / "x")
    assert "secret" not in repr((profile.title, profile.run, profile.caveats, profile.tree.names))


def test_a_run_of_few_instructions_is_insufficient(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(write([Function("main", costs=(("", 1, (900,)),))]))
    profile = opened(ADAPTER, tmp_path / "x")
    assert profile.insufficient.startswith("Only 900 instructions were counted")
    assert explain(profile, llm="none").verdict == "insufficient-data"


def test_times_of_scripts_are_seconds_of_a_wall_clock(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(
        write([Function("main", costs=(("", 1, (900_000, -5)),))], ("Time_(10ns)", "Memory_(bytes)"))
    )
    profile = opened(ADAPTER, tmp_path / "x")
    assert profile.total("cpu.time") == pytest.approx(9e-3)
    assert profile.metrics["cpu.time"].clock == Clock.WALL
    assert profile.total("other.memory-bytes") == -5
    (tmp_path / "y").write_text(write([Function("main", costs=(("", 1, (900,)),))], ("Time_(10ns)",)))
    assert opened(ADAPTER, tmp_path / "y").insufficient


def test_unknown_events_keep_their_words_and_names_that_collide_stay_apart(tmp_path: Path) -> None:
    text = write([Function("main", costs=(("", 1, (10**7, 2, 3)),))], ("Ir", "a b".replace(" ", "_"), "a-b"))
    (tmp_path / "x").write_text(text.replace("positions:", "event: a_b : apples and berries\npositions:"))
    profile = opened(ADAPTER, tmp_path / "x")
    assert profile.metrics["other.a-b"].description == "apples and berries"
    assert profile.total("other.a-b-2") == 3


def test_cachegrind_files_have_no_calls(tmp_path: Path) -> None:
    rows = [
        "desc: I1 cache: 32768 B",
        "cmd: ./heat  4000",
        "events: Ir",
        "fl=heat.c",
        "fn=main",
        "1 2000000",
        "fn=solve",
    ]
    (tmp_path / "x").write_text("\n".join([*rows, "12 5000000", "summary: 7000000"]))
    profile = opened(ADAPTER, tmp_path / "x")
    assert by_function(profile, "cpu.instructions") == {"main": 2e6, "solve": 5e6}
    assert (profile.title, profile.run) == ("heat", {"command": "./heat 4000"})
    assert profile.caveats[0] == "The file has no calls: who called whom is unknown."


def test_a_file_that_does_not_add_up_to_its_own_total_says_so(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(write(HEAT).replace("totals: ", "totals: 9"))
    assert any("part of it is missing" in caveat for caveat in opened(ADAPTER, tmp_path / "x").caveats)


def test_functions_without_a_name_or_file_are_still_functions(tmp_path: Path) -> None:
    rows = ["events: Ir", "ob=???", "fl=???", "fn=(7)", "12 3000000", "fn=", "0x10 1000000", "calls=nonsense", "+1"]
    (tmp_path / "x").write_text(
        "\n".join([*rows, "what is this", "+99999999999999999999 1", "5 nan", "x=1", "calls=2 5", "6 1"])
    )
    profile = opened(ADAPTER, tmp_path / "x")
    assert by_function(profile, "cpu.instructions") == {"(7)": 3e6, "[unknown]": 1e6}
    assert any("4 damaged lines were skipped" in caveat for caveat in profile.caveats)


def test_two_functions_of_one_name_in_different_files_stay_two(tmp_path: Path) -> None:
    functions = (
        Function("main", costs=(("", 1, (1,)),), calls=(Call(1, 1, 1, (1,)), Call(2, 2, 1, (1,)))),
        Function("init", "a.c", costs=(("", 1, (10**7,)),)),
        Function("init", "b.c", costs=(("", 1, (2 * 10**7,)),)),
    )
    (tmp_path / "x").write_text(write(functions))
    profile = opened(ADAPTER, tmp_path / "x")
    tree, inclusive = profile.tree, profile.inclusive("cpu.instructions")
    found = {tree.file_name(node): inclusive.at(node) for node in range(len(tree)) if tree.label(node) == "init"}
    assert found == {"a.c": 10**7, "b.c": 2 * 10**7}


@pytest.mark.parametrize(
    "text",
    ["# callgrind format\n", "events: Ir\n", "events: Ir\nfn=main\n", "# callgrind format\nevents: Ir\nfn=main\n1 0\n"],
)
def test_files_without_costs_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(AdapterError) as caught:
        read(tmp_path / "x")
    assert caught.value.hint


@pytest.mark.parametrize("text", ["events: a meeting\nat noon\n", "fn=x\n1 2\n", "", "digraph {\n}\n"])
def test_other_text_is_not_taken_for_it(text: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(text)
    assert not ADAPTER.recognises(Glance(tmp_path / "x"))


def test_gzip_is_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(gzip.compress(write(HEAT).encode()))
    assert opened(ADAPTER, tmp_path / "x").total("cpu.instructions") == 12_026_801


def test_a_chain_of_many_thousand_functions_is_read(tmp_path: Path) -> None:
    chain = [
        Function(f"f{n}", costs=(("", 1, (100,)),), calls=(Call(2, n + 1, 1, (1,)),) if n < 19_999 else ())
        for n in range(20_000)
    ]
    (tmp_path / "x").write_text(write(chain))
    profile = read(tmp_path / "x")
    assert profile.total("cpu.instructions") == 2_000_000
    assert int(profile.tree.depth.max()) > 39_000


costs = st.tuples(st.sampled_from(["", "other.h"]), st.integers(1, 60), st.tuples(st.integers(0, 10**6)))


@st.composite
def programs(draw: st.DrawFn) -> list[Function]:
    count = draw(st.integers(1, 6))
    call = st.builds(Call, st.integers(1, 60), st.integers(0, count - 1), st.integers(1, 9), st.just((5,)))
    return [
        Function(
            f"f{number}",
            draw(st.sampled_from(["a.c", "b.c"])),
            draw(st.sampled_from(["/opt/a", "/opt/b"])),
            ((("", 1, (1,))), *draw(st.lists(costs, max_size=4))),
            tuple(draw(st.lists(call, max_size=4))),
        )
        for number in range(count)
    ]


@given(programs(), st.builds(Style, st.booleans(), st.booleans(), st.booleans(), st.integers(1, 2), st.booleans()))
@settings(max_examples=80, deadline=None)
def test_any_program_in_any_style_comes_back(functions: list[Function], style: Style) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_text(write(functions, style=style))
        profile = opened(ADAPTER, path)
    assert by_function(profile, "cpu.instructions") == {
        f.name: style.parts * sum(cost[0] for _, _, cost in f.costs) for f in functions
    }
    lines = Counter[tuple[str, int]]()
    for function in functions:
        for file, line, cost in function.costs:
            lines[file or function.file, line] += style.parts * cost[0]
    table = profile.table("line", "cpu.instructions").groupby(["file", "line"])["exclusive"].sum()
    assert {key: value for key, value in table.items() if value} == {
        key: value for key, value in lines.items() if value
    }
    assert profile.caveats == tuple(caveat for caveat in profile.caveats if "damaged" not in caveat)
    assert replace(style) == style


@pytest.mark.skipif(not Path("/usr/bin/callgrind_annotate").exists(), reason="needs callgrind_annotate (valgrind)")
def test_callgrind_annotate_reads_what_we_write_with_the_same_sums(tmp_path: Path) -> None:
    path = tmp_path / "callgrind.out.1"
    path.write_text(write(HEAT, ("Ir", "Dr")))
    done = subprocess.run(["callgrind_annotate", str(path)], capture_output=True, text=True, timeout=60, check=True)
    rows = {row.split(":")[-1].split(" ")[0]: row.split()[0] for row in done.stdout.splitlines() if ".c:" in row}
    # It counts what was inlined from another file for that file, as our lines do.
    by_line = read(path).table("line", "cpu.instructions").groupby(["file", "line"])["exclusive"].sum()
    assert int(rows["solve"].replace(",", "")) == by_line["heat.c", 12]
    assert int(rows["exp"].replace(",", "")) == by_line["s_exp.c", 7]
