"""Text of perf script: each layout gives the samples that were written, and nothing else of the file."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.glance import Glance
from chathpc.adapters.linux_perf import ADAPTER, recognises
from chathpc.adapters.linux_perf.events import event_of
from chathpc.adapters.linux_perf.frames import frame, head, source_line
from chathpc.adapters.linux_perf.script import profile_of, read
from chathpc.errors import AdapterError
from chathpc.pipeline import explain
from chathpc.profile.metric import Clock, Unit
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind
from tests.adapters.opened import opened
from tests.synthetic import perf_script
from tests.synthetic.perf_script import EXP, LOST, MAIN, SOLVE, Fields, Frame, Sample, heat, write

LAYOUTS = {
    "default": Fields(),
    "with process, thread and processor": Fields(pid=True, cpu=True),
    "without period": Fields(pid=True, period=False),
    "with source lines": Fields(lines=True),
    "aligned, as perf once wrote": Fields(cpu=True, aligned=True, period=False, offset=False),
    "without event": Fields(pid=True, cpu=True, period=False, event=False),
    "without time": Fields(time=False, pid=True),
}


def parsed(text: str) -> Profile:
    profile = profile_of(text.split("\n"), Path("samples.txt"))
    profile.tree.check()
    return profile


def stacks(profile: Profile, metric: str) -> dict[tuple[str, ...], float]:
    """Exclusive values by call path of functions."""
    tree, found = profile.tree, Counter[tuple[str, ...]]()
    column = profile.exclusive(metric)
    for node, value in zip(column.nodes.tolist(), column.values.tolist(), strict=True):
        path = tuple(tree.label(step) for step in tree.path(node) if tree.kind[step] != NodeKind.LINE)
        found[path] += value
    return dict(found)


def expected(samples: list[Sample], weight: float | None = None) -> dict[tuple[str, ...], float]:
    found = Counter[tuple[str, ...]]()
    for sample in samples:
        path = (sample.comm, *(frame.symbol for frame in reversed(sample.frames)))
        found[path] += sample.period * 1e-9 if weight is None else weight
    return dict(found)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_stacks_that_were_written(layout: str, tmp_path: Path) -> None:
    fields = LAYOUTS[layout]
    path = tmp_path / "samples.txt"
    path.write_text(write(heat(), fields))
    assert recognises(Glance(path))
    profile = opened(ADAPTER, path)
    metric = "cpu.time" if fields.period and fields.event else "cpu.samples"
    weight = None if metric == "cpu.time" else 1.0
    assert stacks(profile, metric) == pytest.approx(expected(heat(), weight))
    assert profile.sample_count == 400
    assert profile.title == "heat"
    assert len(profile.where) == 2
    assert profile.location_totals(metric) == pytest.approx([200 * (weight or 1e-3)] * 2)


def test_samples_with_their_only_frame_on_the_same_line_are_read(tmp_path: Path) -> None:
    path = tmp_path / "flat.txt"
    path.write_text(write(heat(), Fields(one_line=True)))
    profile = opened(ADAPTER, path)
    flat = [Sample(sample.frames[:1]) for sample in heat()]
    assert stacks(profile, "cpu.time") == pytest.approx(expected(flat))
    assert any("no call paths" in caveat for caveat in profile.caveats)
    assert "call paths" in profile.not_collected


def test_gzip_is_read_by_content(tmp_path: Path) -> None:
    path = tmp_path / "samples.txt"
    path.write_bytes(gzip.compress(write(heat()).encode()))
    assert recognises(Glance(path))
    assert read(path).total("cpu.time") == pytest.approx(0.4)


def test_clocks_are_seconds_of_a_cpu_clock_and_cycles_are_cycles() -> None:
    profile = parsed(write(heat()))
    metric = profile.metrics["cpu.time"]
    assert (metric.unit, metric.clock, metric.source_name) == (Unit.SECONDS, Clock.CPU, "cpu-clock")
    assert profile.total("cpu-clock") == pytest.approx(0.4)
    cycles = parsed(write([Sample((MAIN,), event="cycles:u", period=5000)] * 3))
    assert cycles.metrics["cpu.cycles"].unit == Unit.CYCLES
    assert cycles.total("cpu.cycles") == 15_000


def test_several_events_are_several_metrics_and_the_clock_is_the_time() -> None:
    samples = []
    for sample in heat(8):
        samples += [Sample(sample.frames, event="cache-misses:P", period=70), sample]
        samples.append(Sample(sample.frames, event="task-clock", period=2_000_000))
        samples.append(Sample(sample.frames, event="syscalls:sys_enter_read", period=1))
    profile = parsed(write(samples))
    assert profile.total("cpu.cache.misses") == 8 * 70
    assert profile.total("cpu.time") == pytest.approx(8e-3)
    assert profile.total("cpu.time.task-clock") == pytest.approx(16e-3)
    assert profile.total("other.syscalls-sys-enter-read.samples") == 8
    assert profile.time is not None
    assert profile.time.id == "cpu.time"
    assert profile.sample_count == 8


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("cycles", "cycles"),
        ("cycles:u", "cycles"),
        ("cpu-clock:pppH", "cpu-clock"),
        ("cpu_core/cycles/P", "cycles"),
        ("armv8_pmuv3_0/cpu_cycles/", "cycles"),
        ("cpu-cycles", "cycles"),
        ("cs", "context-switches"),
        ("branch-instructions:uk", "branches"),
        ("syscalls:sys_enter_read", "syscalls:sys_enter_read"),
        ("L1-dcache-load-misses", "L1-dcache-load-misses"),
    ],
)
def test_events_are_known_under_all_their_names(source: str, name: str) -> None:
    assert event_of(source).name == name


def test_kernel_frames_keep_their_module_and_lost_frames_their_name() -> None:
    profile = parsed(write(heat()))
    modules = {profile.tree.label(node): profile.tree.module_name(node) for node in range(len(profile.tree))}
    assert modules["clear_page_erms"] == "[kernel.kallsyms]"
    assert modules["[unknown]"] is None
    assert any("no symbol" in caveat for caveat in profile.caveats)


def test_source_lines_are_nodes_between_a_function_and_what_it_calls() -> None:
    profile = parsed(write(heat(), Fields(lines=True)))
    by_line = profile.table("line", "cpu.time").groupby("line")["exclusive"].sum().to_dict()
    assert by_line == pytest.approx({12: 0.2, 40: 0.0, 0: 0.2})
    exp = next(node for node in range(len(profile.tree)) if profile.tree.label(node) == EXP.symbol)
    assert profile.tree.place(int(profile.tree.parent[exp])) == "heat.c:12"
    assert not profile.not_collected.get("source lines, loops and inlined functions")


def test_inlined_frames_are_inlined_functions() -> None:
    profile = parsed(write([Sample((Frame("square", "inlined"), SOLVE, MAIN))]))
    (node,) = np.flatnonzero(profile.tree.kind == NodeKind.INLINED)
    assert profile.tree.label(int(node)) == "square"
    assert profile.tree.function_name(int(profile.tree.parent[node])) == SOLVE.symbol


#: perf 6.1 with -F +srcline: `(inlined)` stands behind the source line; what has no lines shows its module and address.
INLINED = """\
app 7/7 12538.236587:    4000000 cpu-clock:
\t           f82ad __GI___libc_read
  read.c:26 (inlined)
\t            1266 load
  atlas.c:13 (inlined)
\t            1266 lookup
  atlas.c:19 (inlined)
\t            1266 main (/opt/app/app)
  atlas.c:32
\t            2706 [unknown] (/usr/lib/start.so)
  start.so[2706]
\t            1300 _start (/opt/app/app)
  ??:0

"""


def test_inlined_frames_beside_source_lines_are_told_from_second_names() -> None:
    profile = parsed(INLINED * 2)
    tree = profile.tree
    kinds = {
        tree.label(node): NodeKind(tree.kind[node]) for node in range(len(tree)) if tree.kind[node] != NodeKind.LINE
    }
    assert [name for name, kind in kinds.items() if kind == NodeKind.INLINED] == ["lookup", "load"]
    assert kinds["__GI___libc_read"] == NodeKind.FUNCTION
    modules = {tree.label(node): tree.module_name(node) for node in range(len(tree))}
    assert (modules["load"], modules["__GI___libc_read"]) == ("/opt/app/app", None)
    lines = [tree.place(node) for node in range(len(tree)) if tree.kind[node] == NodeKind.LINE]
    assert lines == ["atlas.c:32", "atlas.c:19", "atlas.c:13", "read.c:26"]
    assert not [caveat for caveat in profile.caveats if "not part of a sample" in caveat]


def nameless(*places: str, inner: str = "main (/opt/app/app)", where: str = "127c", outer: str = "blur.cpp:40") -> str:
    """Samples in `main`, of which perf says that they are in `inner` at the places, and at `outer` at the same address."""
    return "".join(
        f"app 7/7 12538.{number:06}:    1000000 cpu-clock:\n\t{where:>16} {inner}\n  {place}\n"
        f"\t{where:>16} main (/opt/app/app)\n  {outer}\n\t            1300 _start (/opt/app/app)\n  ??:0\n\n"
        for number, place in enumerate(places)
    )


def spent(profile: Profile) -> dict[str, float]:
    """Milliseconds of each path of functions below `main`, inlined ones in brackets."""
    found: dict[str, float] = {}
    tree, values = profile.tree, profile.dense("cpu.time")
    tree.check()
    for node in range(len(tree)):
        names, at = [], node
        while at >= 0:
            if tree.kind[at] in (NodeKind.FUNCTION, NodeKind.INLINED):
                names.append(f"[{tree.label(at)}]" if tree.kind[at] == NodeKind.INLINED else tree.label(at))
            at = int(tree.parent[at])
        path = " ".join(reversed(names))
        found[path] = found.get(path, 0.0) + 1000 * float(values[node])
    return {path: pytest.approx(value) for path, value in found.items() if value}


def test_an_inlined_function_that_bears_the_name_of_the_one_around_it_is_named_by_other_samples_of_its_line() -> None:
    """What addr2line of binutils answers to perf depends on what it was asked before."""
    profile = parsed(
        nameless("blur.cpp:30 (inlined)", inner="down", where="1280") + nameless(*["blur.cpp:30"] * 3, "blur.cpp:23")
    )
    assert spent(profile) == {"_start main [down]": 4.0, "_start main": 1.0}
    lines = profile.table("line", "cpu.time").groupby("line")["exclusive"].sum().to_dict()
    assert {line: value for line, value in lines.items() if value} == pytest.approx({30: 0.004, 23: 0.001})


def test_the_narrowest_function_with_lines_around_names_a_line_that_no_sample_names() -> None:
    known = [("wide", 20), ("wide", 60), ("narrow", 28), ("narrow", 33), ("elsewhere", 31)]
    text = "".join(
        nameless(f"{'other' if name == 'elsewhere' else 'blur'}.cpp:{line} (inlined)", inner=name, where="1280")
        for name, line in known
    )
    profile = parsed(text + nameless("blur.cpp:31", "blur.cpp:50", "blur.cpp:70"))
    assert spent(profile) == {
        "_start main [wide]": 3.0, "_start main [narrow]": 3.0, "_start main [elsewhere]": 1.0, "_start main": 1.0,
    }  # fmt: skip


def test_several_inlined_functions_without_names_at_one_address() -> None:
    text = nameless("blur.cpp:8 (inlined)", inner="at") + nameless("blur.cpp:30 (inlined)", inner="down")
    deep = nameless("blur.cpp:30").replace(
        "blur.cpp:30", "blur.cpp:8\n\t            127c main (/opt/app/app)\n  blur.cpp:30"
    )
    profile = parsed(text + deep)
    assert spent(profile) == {"_start main [at]": 1.0, "_start main [down]": 1.0, "_start main [down] [at]": 1.0}


def test_a_nameless_function_inside_of_others_that_have_names() -> None:
    """The innermost frame has the name of the outermost one, and those between have their own."""
    known = nameless("gthr.h:9 (inlined)", inner="lock")
    between = nameless("gthr.h:9").replace(
        "  gthr.h:9\n", "  gthr.h:9\n\t            127c hold\n  mutex.h:4 (inlined)\n", 1
    )
    assert spent(parsed(known + between)) == {"_start main [lock]": 1.0, "_start main [hold] [lock]": 1.0}


def test_recursion_stays_recursion() -> None:
    """A function that calls itself returns to one line, however deep it is."""
    call = "\t            1288 main (/opt/app/app)\n  fib.c:4\n"
    text = nameless("fib.c:3", where="1270", outer="fib.c:3").replace(
        "\t            1300", call * 3 + "\t            1300"
    )
    assert spent(parsed(text)) == {"_start main main main main main": 1.0}


def test_processes_that_call_mpi_are_ranks() -> None:
    send = Frame("PMPI_Send", "/usr/lib/libmpi.so.40")
    both = [Sample((send, MAIN), pid=pid, tid=tid) for pid, tid in ((50, 50), (40, 40), (40, 41))]
    profile = parsed(write(both, Fields(pid=True)))
    assert sorted(zip(profile.where.rank.tolist(), profile.where.thread.tolist(), strict=True)) == [
        (0, 0),
        (0, 1),
        (1, 0),
    ]
    assert any("in the order of their process ids" in caveat for caveat in profile.caveats)
    plain = parsed(write([Sample((MAIN,), pid=pid, tid=pid) for pid in (50, 40)], Fields(pid=True)))
    assert set(plain.where.rank.tolist()) == {-1}
    alone = parsed(write([Sample((send, MAIN), pid=50, tid=50)], Fields(pid=True)))
    assert set(alone.where.rank.tolist()) == {-1}
    launched = [*both, Sample((MAIN,), comm="mpirun", pid=30, tid=30), Sample((MAIN,), pid=60, tid=60)]
    profile = parsed(write(launched, Fields(pid=True)))
    assert sorted(profile.where.rank.tolist()) == [-1, 0, 0, 1, 2], (
        "the launcher is no rank, a rank without a call is one"
    )


def test_marks_tell_ranks_where_no_call_of_mpi_was_seen() -> None:
    text = ""
    for number, pid in enumerate((50, 40)):
        samples = [Sample((MAIN,), pid=pid, tid=tid) for tid in (pid, pid + 1)]
        samples.append(Sample((MAIN,), comm="gzip", pid=60, tid=60))
        text += f"# rank : {number}\n# node : 7\n" + write(samples, Fields(pid=True)).rstrip() + "\n"
    where = parsed(text).where
    assert sorted(zip(where.rank.tolist(), where.thread.tolist(), strict=True)) == [
        (-1, 0), (-1, 1), (0, 0), (0, 1), (1, 0), (1, 1)
    ]  # fmt: skip


def test_marks_tell_ranks_and_nodes_whose_processes_have_the_same_ids() -> None:
    """Two nodes that have been up for 10 s and 90,000 s: ids and times of theirs tell nothing of each other."""
    send = Frame("PMPI_Send", "/usr/lib/libmpi.so.40")

    def rank(number: int, node: int, since: float, pid: int, period: int) -> str:
        made = [Sample((send, MAIN), pid=pid, tid=pid, seconds=since + at, period=period) for at in (1.0, 3.0)]
        return f"# rank : {number}\n# node : {node}\n" + write(made, Fields(pid=True)).rstrip() + "\n"

    text = rank(0, 7, 10.0, 40, 1000) + rank(1, 12, 90_000.0, 40, 2000) + rank(2, 12, 90_000.5, 30, 4000)
    profile = parsed(f"# nrcpus online : 2\n{text}")
    assert profile.hardware["processors"] == "4"
    found = zip(
        profile.where.node.tolist(), profile.where.rank.tolist(), profile.location_totals("cpu.time"), strict=True
    )
    assert sorted(found) == [
        (7, 0, pytest.approx(2e-6)), (12, 1, pytest.approx(4e-6)), (12, 2, pytest.approx(8e-6))
    ]  # fmt: skip
    assert profile.run["seconds"] == "2.500"
    assert not any("order of their process ids" in caveat for caveat in profile.caveats)


def test_idle_processors_are_left_out_and_said() -> None:
    idle = Sample((Frame("native_safe_halt", "[kernel.kallsyms]"),), comm="swapper", pid=0, tid=0)
    profile = parsed(write([*heat(), *[idle] * 1000]))
    assert profile.total("cpu.time") == pytest.approx(0.4)
    assert any("1,000 samples of idle processors" in caveat for caveat in profile.caveats)
    with pytest.raises(AdapterError, match="idle"):
        parsed(write([idle]))


def test_names_with_blanks_colons_and_brackets_are_whole() -> None:
    names = ["Web Content", "kworker/u8:2-ev", "a [0] b", "tokio-runtime-w", ":-1", "x 12"]
    for name in names:
        assert parsed(write([Sample((MAIN,), comm=name)], Fields(pid=True, cpu=True))).title == name
    symbol = "std::map<int, (anonymous namespace)::T>::operator()(int) const"
    assert frame(f"  4005d6 {symbol}+0x1f (/opt/my app (2))") == (symbol, "/opt/my app (2)", "4005d6")
    assert frame("  4005d6 f (deleted)") == ("f", "deleted", "4005d6")
    assert frame("  4005d6 main") == ("main", "", "4005d6")
    assert frame("  zz main (x)") is None


def test_parts_of_lines() -> None:
    match = head("demo 30493/30495 [003]  1693.302341:    2004008 cpu-clock:u: ")
    assert match is not None
    assert match.group("comm", "pid", "tid", "cpu", "time", "period", "event") == (
        "demo", "30493", "30495", "003", "1693.302341", "2004008", "cpu-clock:u",
    )  # fmt: skip
    assert head("a line of text that is no sample") is None
    assert head("two 12") is None
    assert source_line("  heat.c:12") == ("heat.c", 12, False)
    assert source_line("  heat.c:12[4005d6]") == ("heat.c", 12, False)
    assert source_line("  heat.c:12 (inlined)") == ("heat.c", 12, True)
    assert source_line("  libm.so.6[4005d6]") == ("??", 0, False)
    assert source_line("  :0") == ("??", 0, False)
    assert source_line("heat.c:12") is None


@pytest.mark.parametrize(
    ("options", "program"),
    [
        ("record -e cycles -g -o x.data ./heat 4000", "./heat 4000"),
        ("record -F99 -gF 99 --call-graph dwarf --switch-events -- ./heat -g", "./heat -g"),
        ("record --call-graph=dwarf,8192 mpirun -n 4 ./heat", "mpirun -n 4 ./heat"),
        ("record -ag sleep 10", ""),
        ("record -p 12", ""),
        ("record --pid=12 sleep 1", ""),
        ("record --unheard-of ./x ./heat", ""),
        ("sched record -g ./heat 9", "./heat 9"),
        ("sched latency", ""),
        ("record", ""),
        ("record -g", ""),
        ("record ./heat --password x", ""),
    ],
)
def test_the_command_of_the_header_is_the_programs(options: str, program: str) -> None:
    profile = parsed(f"# cmdline : /usr/bin/perf {options} \n" + write(heat()))
    assert profile.run.get("command", "") == program


def test_host_and_secrets_of_the_header_are_not_taken_in() -> None:
    profile = parsed(write(heat(), header=True))
    assert "secret" not in repr((profile.run, profile.hardware, profile.sources, profile.title, profile.caveats))
    assert profile.hardware == {"processor": "A Processor"}
    assert profile.sources[0].version == "6.1.0"


def test_lines_that_are_no_samples_are_counted_and_passed_over() -> None:
    text = "Warning: 3 events lost\n\n" + write(heat()) + "\nsome other text\n" + "x 1 PERF_RECORD_MMAP2 1/2\n"
    profile = parsed(text)
    assert profile.total("cpu.time") == pytest.approx(0.4)
    assert any("2 lines are not part" in caveat for caveat in profile.caveats)


def test_samples_without_a_period_among_others_are_said() -> None:
    text = write(heat(10)) + write(heat(3), Fields(period=False))
    profile = parsed(text)
    assert profile.total("cpu.time") == pytest.approx(0.01)
    assert any("3 samples have no period" in caveat for caveat in profile.caveats)


def test_recursion_counts_once_in_the_inclusive_time() -> None:
    recurse = Frame("visit")
    profile = parsed(write([Sample((recurse,) * 50 + (MAIN,))] * 10))
    row = profile.table("function", "cpu.time").set_index("name").loc["visit"]
    assert (row["exclusive"], row["inclusive"]) == pytest.approx((0.01, 0.01))


def test_a_stack_of_a_hundred_thousand_frames_is_read() -> None:
    deep = Sample(tuple(Frame(f"f{level % 3}") for level in range(100_000)))
    profile = parsed(write([deep]))
    assert int(profile.tree.depth.max()) == 100_000
    assert profile.total("cpu.time") == pytest.approx(1e-3)


@pytest.mark.parametrize("text", ["", "\n\n", "hello\nworld\n", "# only\n# comments\n", "\t 4005d6 main (x)\n"])
def test_text_without_samples_is_refused_with_the_command(text: str) -> None:
    with pytest.raises(AdapterError) as caught:
        parsed(text)
    assert "perf script" in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "int main(void) {\n  return 0; }\n",
        "a;b;c 12\n",
        '{"a": 1}',
        "1,2,3\n4,5,6\n",
        "demo 12 happy: days\n\n  beef\n",
    ],
)
def test_other_text_is_not_taken_for_samples(text: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(text)
    assert not recognises(Glance(tmp_path / "x"))


def test_the_hottest_function_is_named(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(write(heat()))
    report = explain(opened(ADAPTER, tmp_path / "x"), llm="none")
    assert report.verdict != "insufficient-data"
    assert any(finding.where.function == "solve" for finding in report.findings)
    few = write(heat(20))
    (tmp_path / "few").write_text(few)
    assert explain(opened(ADAPTER, tmp_path / "few"), llm="none").verdict == "insufficient-data"


names = st.text(st.characters(categories=["L", "N", "S"], include_characters="_:<>,~*& "), min_size=1, max_size=12).map(
    lambda name: f"f{name}g"
)


@given(
    st.lists(
        st.builds(
            Sample,
            st.lists(st.builds(Frame, names), min_size=1, max_size=6).map(tuple),
            tid=st.integers(1, 5),
            period=st.integers(1, 10**9),
        ),
        min_size=1,
        max_size=20,
    ),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_any_samples_come_back(samples: list[Sample], pid: bool, cpu: bool) -> None:
    profile = parsed(write(samples, Fields(pid=pid, cpu=cpu)))
    assert stacks(profile, "cpu.time") == pytest.approx(expected(samples))
    assert float(np.nansum(profile.location_totals("cpu.time"))) == pytest.approx(profile.total("cpu.time"))


def test_the_layout_of_the_writer_is_that_of_perf() -> None:
    assert perf_script.head(Sample((LOST,)), Fields()) == "heat  4000   100.000000:    1000000 cpu-clock:"


def test_what_lies_above_the_beginning_of_a_thread_called_nothing() -> None:
    """Where the stack is unwound too far, as clone3 has no caller."""
    frames = [
        "10 work (/opt/app)",
        "20 start_thread (/lib/libc.so.6)",
        "30 clone3 (/lib/libc.so.6)",
        "7f00 [unknown] (//anon)",
    ]
    text = "app 7/8 1.000000: 1000000 cpu-clock: \n" + "".join(f"\t{frame}\n" for frame in frames) + "\n"
    tree = parsed(text).tree
    assert [tree.label(node) for node in range(len(tree))] == ["app", "clone3", "start_thread", "work"]


def with_lost(*counts: int, kind: str = "LOST") -> str:
    """Samples with records of how many perf lost between them, in perf's own layout."""
    return write(heat(), Fields(pid=True)) + "".join(
        f"heat 4000/4000 {200 + at}.000000: PERF_RECORD_{kind} lost {count}\n" for at, count in enumerate(counts)
    )


def test_samples_that_perf_lost_are_told_where_perf_itself_warns() -> None:
    """perf's own number is lost / (samples + lost), and it warns above 5 % (perf_session__warn_about_errors)."""
    few, many = parsed(with_lost(20, 1)), parsed(with_lost(20, 2))  # of 400 samples: 4.99 and 5.21 %
    assert not any("lost" in caveat for caveat in few.caveats)
    assert many.caveats[0].startswith("perf lost 5.21 % of its samples: ")
    assert stacks(many, "cpu.time") == stacks(few, "cpu.time")


def test_lost_samples_that_two_kinds_of_records_count_are_counted_once() -> None:
    """From Linux 6.1 on perf writes at the end how many records of each event were lost in all."""
    both = parsed(with_lost(60, 40) + "heat 4000/4000 300.000000: PERF_RECORD_LOST_SAMPLES lost 100\n")
    assert both.caveats[0].startswith("perf lost 20.0 % of its samples: ")
    assert parsed(with_lost(100, kind="LOST_SAMPLES")).caveats == both.caveats


def test_a_recording_of_which_perf_lost_everything_says_so() -> None:
    with pytest.raises(AdapterError, match="perf lost all samples"):
        parsed("heat 4000/4000 200.000000: PERF_RECORD_LOST lost 500\n")
