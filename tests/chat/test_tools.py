"""The tools against sums worked out by hand (tests/chat/profiles.py), and against whatever a model may ask."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.chat import slash
from chathpc.chat.conversation import Conversation
from chathpc.chat.session import Session
from chathpc.chat.tools import TOOLS, Result, call
from chathpc.diagnosis.fact import Kind
from chathpc.profile.remark import Device
from chathpc.profile.timeline import IntervalLane, LaneKind, Timeline
from chathpc.profile.values import MemoryValues
from chathpc.reading.retelling import retold
from tests.chat.profiles import HOSTILE, calls, hostile, ints, ranks
from tests.chat.questions import session as example
from tests.diagnosis.test_threads import threads
from tests.profile.build import build, kernel
from tests.profile.build import call as function

#: Every tool with arguments that it answers for the profile of `calls`.
ASKED: dict[str, dict[str, object]] = {
    "summary": {}, "findings": {}, "evidence": {}, "top": {}, "activities": {}, "tree": {}, "callers": {"name": "dot"}, "callees": {"name": "solve"},
    "source": {"place": "solve"}, "locations": {"place": "dot"}, "what_if": {"place": "solve", "factor": 2}, "metrics": {}, "missing": {},
    "loops": {"name": "dot"}, "examined": {}, "scaling": {}, "measured": {"metric": "bytes written"}, "files": {}, "devices": {}, "why": {"place": "solve"},
    "timeline": {}, "catalogue": {"words": "false sharing"}, "query": {"query": '["*", {"name": "dot*"}]'},
}  # fmt: skip


@pytest.fixture(scope="module")
def session() -> Session:
    return Session(calls())


def table(result: Result) -> dict[str, tuple[object, ...]]:
    assert not result.error, result.error
    return {str(row[0]).strip(): row[1:] for row in result.rows}


def test_top_functions_have_their_own_lines_time_and_recursion_counted_once(session: Session) -> None:
    rows = table(call(session, "top", {}))
    own = {name: row[1] for name, row in rows.items()}
    inclusive = {name: row[3] for name, row in rows.items()}
    assert own == pytest.approx({"dot": 10.0, "solve": 8.0, "main": 1.0, "io_write": 1.0})
    assert inclusive == pytest.approx({"dot": 10.0, "solve": 18.0, "main": 20.0, "io_write": 1.0})


def test_top_by_inclusive_value_begins_with_the_entry_point(session: Session) -> None:
    result = call(session, "top", {"order": "inclusive", "limit": 2})
    assert [row[0] for row in result.rows] == ["main", "solve"]
    assert result.omitted == 2


def test_the_tree_below_a_place_holds_only_what_is_below_it(session: Session) -> None:
    rows = table(call(session, "tree", {"place": "solve", "by": "line"}))
    assert set(rows) == {"solve", "heat.c:12", "dot"}
    assert rows["solve"][1] == pytest.approx(18.0)
    assert rows["heat.c:12"][1] == pytest.approx(6.0)


def test_a_tree_is_cut_at_its_depth_and_at_its_number_of_rows(session: Session) -> None:
    assert [str(row[0]).strip() for row in call(session, "tree", {"depth": 1}).rows] == ["main"]
    few = call(session, "tree", {"limit": 2})
    assert [str(row[0]).strip() for row in few.rows] == ["main", "solve"]
    assert few.omitted == 3


def test_a_call_path_names_the_context_below_all_its_parts(session: Session) -> None:
    rows = call(session, "tree", {"place": "dot > dot"}).rows
    assert [(row[0], row[2]) for row in rows] == [("dot", pytest.approx(2.0))]
    assert "There is no call path" in call(session, "tree", {"place": "io_write > dot"}).error


def test_callers_and_callees_have_the_inclusive_time_of_the_call(session: Session) -> None:
    callers = table(call(session, "callers", {"name": "dot"}))
    assert callers["solve"][0] == pytest.approx(10.0)
    assert callers["dot"][0] == pytest.approx(2.0)
    callees = table(call(session, "callees", {"name": "main"}))
    assert {name: row[0] for name, row in callees.items()} == pytest.approx({"solve": 18.0, "io_write": 1.0})
    assert call(session, "callers", {"name": "main"}).rows[0][0] == "(entry point)"


def test_a_name_means_the_function_of_the_library_with_the_stubs_of_the_profiler() -> None:
    # Below solve the stub, with 10 s, calls the library's function, with 2 s; main calls that itself, for 1 s.
    plain = calls(("main", "solve", "write [libhpcrun_preload_libc_io.so]", "__GI___libc_write [libc.so.6]"))
    asked = Session(replace(plain, tree=replace(plain.tree, name=ints(0, 1, -1, 2, 3, 3))))
    assert call(asked, "what_if", {"place": "write"}).facts[0].value == pytest.approx(11.0)
    rows = table(call(asked, "callers", {"name": "write"}))
    assert {name: row[0] for name, row in rows.items()} == pytest.approx({"solve": 10.0, "main": 1.0})
    assert "write has 11.0 s" in call(asked, "why", {"place": "write"}).text
    stub = call(asked, "what_if", {"place": "write [libhpcrun_preload_libc_io.so]"})  # told in full it is what it says
    assert stub.facts[0].value == pytest.approx(10.0)


def test_a_profile_without_loops_is_not_told_of_another_tools_structure() -> None:
    assert call(Session(calls()), "loops", {"name": "dot"}).text.endswith("was seen: the profile has no loops.")


def test_what_only_the_profilers_stubs_count_is_told_of_who_calls_them() -> None:
    # All 4,096 bytes are written in the stub that main calls.
    plain = calls(("main", "solve", "dot", "hpcrun_write [libhpcrun.so]"))
    tree = replace(plain.tree, module=ints(0, 0, 0, 0, 0, 1), modules=("/bin/heat", "/opt/lib/libhpcrun.so"))
    result = call(Session(replace(plain, tree=tree)), "top", {"metric": "io.write.bytes"})
    assert table(result) == {"main": ("", 4096.0, 1.0)}


def test_source_lines_carry_their_time(session: Session) -> None:
    result = call(session, "source", {"place": "solve", "context": 1})
    assert table(result) == {
        "heat.c:12": (pytest.approx(6.0), pytest.approx(0.3)),
        "heat.c:10": (pytest.approx(2.0), pytest.approx(0.1)),
    }
    assert [line.split(maxsplit=1)[-1] for line in result.lines if "30.0 %" in line] == ["%     12    solve text 12;"]
    assert len(result.lines) == 3


def test_a_line_that_was_not_measured_is_shown_all_the_same(session: Session) -> None:
    result = call(session, "source", {"place": "heat.c:13", "context": 1})
    assert "At line 13 nothing was measured." in result.text
    assert [line.split(" text ")[-1] for line in result.lines[1:]] == ["12;", "13;", "14;"]
    assert "30.0 %" in result.lines[1]


def test_locations_are_told_with_their_extremes(session: Session) -> None:
    result = call(session, "locations", {"place": "dot"})
    assert {row[0]: row[1] for row in result.rows} == {"rank 1": pytest.approx(6.0), "rank 0": pytest.approx(4.0)}
    facts = {fact.statement.split()[1]: fact.value for fact in result.facts[1:5]}
    assert facts == pytest.approx({"smallest": 4.0, "median": 5.0, "mean": 5.0, "largest": 6.0})


def test_a_gain_follows_amdahls_law(session: Session) -> None:
    result = call(session, "what_if", {"place": "solve", "factor": 3})
    values = [fact.value for fact in result.facts]
    # p = 18 / 20; the run is 1 / (1 - p + p / 3) as fast, at most 1 / (1 - p).
    assert values == pytest.approx([18.0, 1 / (0.1 + 0.3), 12.0, 10.0])
    itself = call(session, "what_if", {"place": "solve", "factor": 2, "itself": True})
    assert itself.facts[1].value == pytest.approx(1 / (0.6 + 0.2))


def test_a_gain_of_the_time_that_was_seen_is_not_told_of_the_run() -> None:
    lost = [("", 1.0), ("work", 1.0), ("", 2.0), ("work", 1.0), ("", 2.0), ("work", 2.0), ("", 1.0)]  # 4 s of 8 s
    asked = Session(threads([("set_up", 9.0)], lost))
    for tool, arguments in (("what_if", {"place": "work"}), ("summary", {"about": "time"})):
        assert "Of thread 1, samples show 4.00 s of 8.00 s" in call(asked, tool, arguments).text
    assert "samples show" not in call(Session(threads([("set_up", 9.0)])), "what_if", {"place": "set_up"}).text


def test_the_time_that_would_be_saved_is_not_mistaken_for_that_of_the_place(session: Session) -> None:
    result = call(session, "what_if", {"place": "solve", "factor": 3})
    assert [(fact.subject, fact.kind) for fact in result.facts if fact.unit == "s"] == [
        ("solve", Kind.AMOUNT),
        ("the saving by solve 3.00x as fast", Kind.VALUE),
    ]


def test_a_line_has_its_own_time_alone(session: Session) -> None:
    assert call(session, "what_if", {"place": "heat.c:12"}).facts[0].value == pytest.approx(6.0)


def test_a_gpu_that_computes_half_of_the_time_is_idle_in_the_other_half(session: Session) -> None:
    rows = table(call(session, "timeline", {}))
    assert rows["GPU 0 busy"][:2] == (pytest.approx(2.0), pytest.approx(0.5))
    assert rows["GPU 0 idle"][:2] == (pytest.approx(2.0), pytest.approx(0.5))


def test_a_trace_tells_when_a_gpu_is_idle_longest_and_what_copies_overlap() -> None:
    # Kernels 0 to 2 s and 5 to 6 s, copies 1 to 3 s and 9 to 10 s of 10 s: idle 3 to 5 s and 6 to 9 s; of 3 s of copies 1 s beside kernels.
    def lane(kind: LaneKind, *spans: tuple[float, float]) -> IntervalLane:
        start, end = (np.array([span[side] * 1e9 for span in spans], dtype=np.int64) for side in (0, 1))
        return IntervalLane(
            kind, 0, -1, start, end, np.full(len(spans), 3 if kind == LaneKind.COMPUTE else 5, dtype=np.int32)
        )

    lanes = (lane(LaneKind.COMPUTE, (0, 2), (5, 6)), lane(LaneKind.H2D, (1, 3), (9, 10)))
    recorded = replace(calls(), read_timeline=lambda: Timeline(0, 10_000_000_000, intervals=lanes))
    result = call(Session(recorded), "timeline")
    assert (
        "idle longest for 3.00 s, from 6,000 ms to 9,000 ms of the recording, after dot and before io_write."
        in result.text
    )
    assert "Of the 3.00 s of copies kernels run beside 1.00 s (33.3 %)." in result.text
    # Idle 5 of 10 s; who asks for one of both is told no more.
    assert "GPU 0 is busy for 5.00 s (50.0 %) and idle for 5.00 s (50.0 %). GPU 0 is idle longest" in (
        used := Conversation(Session(recorded)).ask("how long is the GPU idle?").text
    )
    assert "copies" not in used
    overlap = Conversation(Session(recorded)).ask("do copies overlap with compute?").text
    assert "beside 1.00 s (33.3 %)" in overlap
    assert "idle" not in overlap
    values = {fact.subject: fact.value for fact in result.facts}
    assert values["the begin of the longest idle time of GPU 0"] == 6000
    assert values["copies of GPU 0 beside kernels"] == pytest.approx(1.0)


def test_communication_that_no_computing_kernel_hides_is_told() -> None:
    """Communication 0 to 4 s, computing 3 to 4 and 6 to 9 s: 3 of 4 s are exposed; launches of 1 and 3 s are 2 s on average."""

    def lane(kind: LaneKind, node: int, *spans: tuple[float, float]) -> IntervalLane:
        start, end = (np.array([span[side] * 1e9 for span in spans], dtype=np.int64) for side in (0, 1))
        return IntervalLane(kind, 0, -1, start, end, np.full(len(spans), node, dtype=np.int32))

    times = {"gpu.time": 4.0, "gpu.kernel.time": 4.0, "gpu.kernel.count": 2.0}
    plain = build(kernel("gemm", values=times), kernel("nccl", values=times | {"gpu.kernel.count": 1.0}))
    lanes = (lane(LaneKind.COMPUTE, 0, (3, 4), (6, 9)), lane(LaneKind.COLLECTIVE, 1, (0, 4)))
    ask = Conversation(Session(replace(plain, read_timeline=lambda: Timeline(0, 10_000_000_000, intervals=lanes)))).ask
    exposed = "Of the 4.00 s of communication computing kernels run beside 1.00 s (25.0 %). Exposed are 3.00 s."
    assert exposed in ask("how much communication is exposed?").text
    assert exposed in ask("how much of the communication is hidden?").text
    for question in ("how long is gemm() at most?", "how long is gemm() on average?"):
        assert "gemm: 2.00 s on average, 1.00 s to 3.00 s" in ask(question).text
    (step,) = ask("which kernel takes longest and how long on average?").steps
    assert [(row[0], *row[4:]) for row in step.rows] == [("gemm", 2.0, 2.0), ("nccl", 1.0, 4.0)]


def test_metrics_that_do_not_add_up_have_no_total_and_no_table(session: Session) -> None:
    rows = table(call(session, "metrics", {}))
    assert [row[2] for row in rows.values()] == ["20.0 s", "4.10 kB", "ratio of others"]
    assert "does not add up" in call(session, "top", {"metric": "cpu.ipc"}).error


def test_two_runs_are_compared_function_by_function() -> None:
    session = Session(calls(), others={"before": calls()})
    rows = table(call(session, "compare", {}))
    assert all(row[2] == 0 for row in rows.values())
    assert "before" in call(session, "compare", {"other": "befo"}).hint
    assert "no other profile" in call(Session(calls()), "compare", {}).error


def test_a_place_is_compared_alone() -> None:
    session = Session(calls(), others={"old": calls(("main", "solve", "dot", "io_read"))})
    # By profiles.calls: solve 20 without main's 1 and 1 of io_write, with all that it calls.
    assert call(session, "compare", {"place": "solve"}).text.startswith("solve had 18.0 s before and 18.0 s after (")
    assert "io_write had none before and 1.00 s after (+1.00 s)" in call(session, "compare", {"place": "io_write"}).text
    assert (
        "io_read had 1.00 s before and none after (−1.00 s, −100 %)"
        in call(session, "compare", {"place": "io_read"}).text
    )
    ask = Conversation(session).ask
    assert ask("how long did dot take before?").text.startswith("dot had 10.0 s before and 10.0 s after")
    assert "no function or file 'forces" in ask("how much did forces change?").text


def test_what_is_asked_of_both_runs_is_answered_of_both() -> None:
    before, after = (
        replace(ranks(np.array(each)), read_timeline=lambda: None) for each in ([1.0, 3.0], [2.0, 2.0, 2.0, 4.0])
    )
    session = Session(after, others={"old": before})
    answer = Conversation(session).ask("which rank is the slowest, before and after?")
    alone = [Conversation(Session(each)).ask("which rank is the slowest?").text for each in (before, after)]
    assert answer.text == f"Before: {alone[0]} After: {alone[1]}"
    assert len(Conversation(session).ask("which rank is the slowest?").steps) == 1
    assert len(Conversation(Session(after)).ask("which rank is the slowest, before and after?").steps) == 1


def test_two_runs_on_different_numbers_of_ranks_tell_their_efficiency() -> None:
    two, four = (
        replace(ranks(np.full(n, 2.0)), read_timeline=lambda: None, run={"seconds": str(wall)})
        for n, wall in ((2, 4.0), (4, 2.5))
    )
    text = call(Session(four, others={"old": two}), "scaling").text
    # 4 s on 2 ranks would be 2 s on 4.
    assert "from 4.00 s to 2.50 s. For a problem of the same size, the parallel efficiency is 80.0 %." in text
    assert "One run cannot" in call(Session(four, others={"old": four}), "scaling").text


def test_a_query_finds_what_its_pattern_means(session: Session) -> None:
    result = call(session, "query", {"query": '[{"name": "solve"}, {"name": "d?t"}, {"name": "dot"}]'})
    assert sorted(str(row[0]) for row in result.rows) == ["dot", "dot", "solve"]
    large = call(session, "query", {"query": '[{"name": "*", "cpu.time (inc)": ">= 18"}]'})
    assert sorted(str(row[0]) for row in large.rows) == ["main", "solve"]


@pytest.mark.parametrize(
    "query",
    [
        '[{"cpu.time": "> 0 or __import__(\'os\').abort()"}]',
        '[{"cpu.time": "> (lambda: 1)()"}]',
        '[{"depth": "== 1; 2"}]',
        '["**"]',
        '[{"name": 3}]',
        '[{"nonsense": 3}]',
        "{}",
        "[]",
        "not json",
        '["*", "*", "*", "*"]',
        "[100, 1]",
        '[["*", "+"]]',
        '[{"cpu.time": true}]',
        "[" * 500,
    ],
)
def test_a_query_that_is_no_pattern_is_refused_with_a_hint(session: Session, query: str) -> None:
    result = call(session, "query", {"query": query})
    assert result.error
    assert result.hint


def test_a_pattern_that_would_take_a_regular_expression_years_is_plain_text(session: Session) -> None:
    assert call(session, "query", {"query": json.dumps([{"name": "(d+)+$" * 20}])}).rows == ()
    assert not call(session, "query", {"query": json.dumps([{"name": "*a" * 90}])}).error


@pytest.mark.parametrize("name", TOOLS)
def test_a_tools_schema_admits_the_arguments_that_it_takes(name: str, session: Session) -> None:
    tool = TOOLS[name]
    jsonschema.Draft202012Validator.check_schema(tool.parameters)
    assert tool.parameters["additionalProperties"] is False
    assert tool.description.endswith(".")
    if name in ASKED:
        jsonschema.validate(ASKED[name], tool.parameters)


def _numbers(*texts: str) -> set[str]:
    return {number for text in texts for number in re.findall(r"(?<![\w.:])\d[\d,]*(?:\.\d+)?", text)}


@pytest.mark.parametrize("name", [name for name in ASKED if name not in ("catalogue", "missing")])
@pytest.mark.parametrize("profile", ["own", "omp", "mpi"])
def test_every_number_of_an_answer_is_a_fact(name: str, profile: str) -> None:
    session = Session(calls()) if profile == "own" else example(profile)
    hot = session.index.names[0]
    places = {} if profile == "own" else dict.fromkeys(("place", "name"), hot)
    result = call(session, name, {key: places.get(key, value) for key, value in ASKED[name].items()})
    known = _numbers(*(fact.statement for fact in result.facts), *session.index.names, *session.files)
    # What is said of the measurement and of the diagnosis as such, and how many rows are shown.
    diagnosis, measured = session.diagnosis, session.measured
    known |= _numbers(measured.title, measured.format, measured.where.counts().words(), diagnosis.headline)
    known |= _numbers(*(text for finding in diagnosis.findings for text in (finding.title, finding.summary)))
    known |= {str(number) for number in range(max(len(result.rows), len(diagnosis.evidence)) + 1)}
    amounts = [
        column.written(cell)
        for row in result.rows
        for column, cell in zip(result.columns, row, strict=True)
        if column.unit in ("s", "bytes") and name != "findings"
    ]
    assert _numbers(result.text, *amounts) <= known


@pytest.mark.parametrize(("name", "arguments"), ASKED.items())
def test_the_statements_of_facts_are_facts_to_retell(name: str, arguments: dict[str, object], session: Session) -> None:
    for fact in call(session, name, arguments).facts:
        assert not retold(fact.statement, fact.statement)


@pytest.fixture(scope="module", params=HOSTILE, ids=repr)
def attacked(request: pytest.FixtureRequest) -> tuple[Session, str, str]:
    """A session whose names have a hostile text in them, that text, and what of it must not be said."""
    text, part = request.param
    return Session(hostile(text), others={text: hostile(text)}), text, part


@pytest.mark.parametrize("name", [*ASKED, "compare"])
def test_hostile_names_are_escaped_in_every_answer(name: str, attacked: tuple[Session, str, str]) -> None:
    session, text, part = attacked
    full = {"dot": f"dot{text}", "solve": f"solve{text}"}
    arguments = {key: full.get(str(value), value) for key, value in ASKED.get(name, {"other": text}).items()}
    for result in (call(session, name, arguments), call(session, name, {"place": f"x{text}", "name": text})):
        said = json.dumps(result.as_dict(), ensure_ascii=False) + result.as_text() + repr(result.facts)
        assert part not in said
        flat = result.as_text().replace("\n", "")
        assert not any(unicodedata.category(character) in ("Cc", "Cf") for character in flat)


@given(
    st.sampled_from([*TOOLS, "nothing", ""]),
    st.one_of(
        st.text(max_size=40),
        st.dictionaries(
            st.sampled_from(
                ["place", "name", "limit", "metric", "factor", "query", "words", "id", "number", "by", "x"]
            ),
            st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=20), st.lists(st.integers(), max_size=2)),
            max_size=4,
        ),
    ),
)
def test_whatever_a_model_asks_it_gets_an_answer_and_no_exception(
    name: str, arguments: dict[str, object] | str
) -> None:
    result = call(_SESSION, name, arguments)
    assert result.error or result.text
    json.dumps(result.as_dict(), allow_nan=False)


_SESSION = Session(calls())


def test_a_slip_of_the_pen_is_answered_with_the_nearest_name(session: Session) -> None:
    assert call(session, "callers", {"name": "slove"}).hint == "Nearest: solve."
    assert call(session, "top", {"metric": "cpu.tim"}).hint == "Nearest: cpu.time, cpu.ipc."
    assert call(session, "topp").hint == "There are: top."
    assert call(session, "top", {"limits": 3}).hint.startswith("Did you mean 'limit'?")
    assert call(session, "what_if", {"place": "heat.c:13"}).hint == "Nearest: 10, 12, 20."
    assert call(session, "evidence", {"id": "E999"}).error == "There is no evidence E999."


def test_the_report_of_a_session_is_that_of_its_diagnosis(session: Session) -> None:
    assert session.report.headline == session.diagnosis.headline
    assert [one.id for one in session.report.evidence] == [one.id for one in session.diagnosis.evidence]


def test_findings_and_evidence_are_those_of_the_diagnosis() -> None:
    session = example("omp")
    found = session.diagnosis.findings
    assert [row[-1] for row in call(session, "findings", {}).rows] == [one.title for one in found]
    full = call(session, "findings", {"number": 1})
    assert full.lines[0] == f"Do: {found[0].advice[0]}"
    assert "There are" in call(session, "findings", {"number": 99}).hint
    assert session.diagnosis.evidence[1].statement in call(session, "evidence", {"id": "[e2]"}).text


def test_rows_can_be_those_of_one_file(session: Session) -> None:
    assert len(call(session, "top", {"by": "line", "file": "/any/where/heat.c"}).rows) == 5
    assert "Nearest: heat.c" in call(session, "top", {"file": "heta.c"}).hint
    assert "no kernel" in call(session, "top", {"by": "kernel"}).error


def test_of_many_ranks_those_that_stand_out_are_named() -> None:
    values = np.full(16, 10.0)
    values[5] = 30.0
    result = call(Session(ranks(values)), "locations", {"limit": 3})
    assert "Outliers: rank 5 with 30.0 s." in result.text
    assert len(result.rows) == 3
    assert result.omitted == 13
    assert call(Session(ranks(np.full(16, 10.0))), "locations").text.startswith("All 16 take about as long: 10.0 s")


def test_what_a_profile_lacks_is_told_in_words() -> None:
    bare = replace(calls(), read_timeline=lambda: None)
    assert call(Session(bare), "timeline").hint.startswith("Record a trace")
    amd = replace(bare, devices={0: Device("AMD Instinct MI250X")})
    assert call(Session(amd), "timeline").hint.startswith("Record a trace: rocprofv3 --sys-trace")
    nothing = replace(calls(), metrics={}, values=MemoryValues(calls().tree, {}, {}))
    for name in ("top", "tree", "locations", "query"):
        assert call(Session(nothing), name, ASKED[name]).error
    lines = calls().tree
    unplaced = replace(calls(), tree=replace(lines, line=np.zeros_like(lines.line), file=np.full_like(lines.file, -1)))
    sampled = call(Session(replace(unplaced, timed=False)), "source", {"place": "solve"})
    assert sampled.text.endswith("The profile has no source lines for it. Compile with -g to have them.")
    assert "-g" not in call(Session(unplaced), "source", {"place": "solve"}).text  # a trace has them from elsewhere


def test_a_place_without_time_shows_where_it_begins(session: Session) -> None:
    quiet = replace(calls(), values=MemoryValues(calls().tree, {}, {"cpu.time": calls().values.inclusive("cpu.time")}))
    assert call(Session(quiet), "source", {"place": "dot"}).rows[0][0] == "heat.c:20"


def test_two_loaded_profiles_must_be_told_apart() -> None:
    session = Session(calls(), others={"a": calls(), "b": calls()})
    assert "Several profiles" in call(session, "compare").error
    assert call(session, "compare", {"other": "b", "metric": "io.write.bytes"}).text


def test_all_the_time_has_no_bound_and_slower_is_possible(session: Session) -> None:
    everything = call(session, "what_if", {"place": "main", "factor": 4})
    assert everything.facts[1].value == pytest.approx(4.0)
    assert "At most" not in everything.text
    assert "adds" in call(session, "what_if", {"place": "dot", "factor": 0.5}).text


def test_many_contexts_of_a_place_are_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chathpc.chat.tools.locations._MOST_CONTEXTS", 1)
    session = Session(calls(("main", "solve", "dot", "dot")))
    assert (
        "These are its 1 largest contexts, with 90.9 % of its value."
        in call(session, "locations", {"place": "dot"}).text
    )


def test_an_entry_of_the_catalogue_is_found_by_its_id_and_nothing_by_nonsense(session: Session) -> None:
    assert call(session, "catalogue", {"words": "omp-false-sharing"}).text.startswith(
        "False sharing (omp-false-sharing)"
    )
    assert len(call(session, "catalogue", {"words": "slow memory", "limit": 2}).rows) == 2
    assert call(session, "catalogue", {"words": "xyzzy plugh"}).error


@pytest.fixture(scope="module")
def traced() -> Session:
    """A trace beside samples: 10 samples of main, 1 of cudaMalloc; cudaMalloc 3 of 4 s in calls; the kernel 6 of 8 s on the GPU."""
    calls_of = function("cudaMalloc", values={"cpu.samples": 1.0, "host.time": 3.0})
    free = function("cudaFree", values={"host.time": 1.0})
    on_gpu = kernel("saxpy(int)", values={"gpu.time": 6.0}), kernel("dot(int)", values={"gpu.time": 2.0})
    return Session(build(function("main", calls_of, free, *on_gpu, values={"cpu.samples": 10.0})))


@pytest.mark.parametrize(
    ("place", "told"),
    [("cudaMalloc", "3.00 s (75.0 %) of the run's host.time"), ("saxpy", "6.00 s (75.0 %) of the run's gpu.time"), ("main", "cpu.samples")],
)  # fmt: skip
def test_the_time_of_a_name_is_that_in_which_it_has_values(traced: Session, place: str, told: str) -> None:
    assert told in call(traced, "tree", {"place": place}).text


def test_what_a_kernel_gains_is_of_the_time_of_the_gpu(traced: Session) -> None:
    text = call(traced, "what_if", {"place": "saxpy", "factor": 2}).text  # 1 / (1 - 0.75 + 0.75 / 2), 1 / (1 - 0.75)
    assert "all that gpu.time counts would be 1.60x as fast" in text
    assert "it would be 4.00x. What the run would gain is not known" in text


def test_what_input_and_output_gains_is_of_the_run() -> None:
    # Writes are 3 of the 10 s of the processes: 1 / (1 - 0.3 + 0.3 / 2) and 1 / (1 - 0.3).
    profile = build(function("write", values={"io.time": 3.0}), function("(run)", values={"run.time": 10.0}))
    text = call(Session(profile), "what_if", {"place": "write", "factor": 2}).text
    assert "the run would be 1.18x as fast: write has 3.00 s (30.0 %) of the run time of all processes" in text
    assert "it would be 1.43x" in text


def test_all_but_rounding_is_all() -> None:
    profile = build(kernel("k", values={"gpu.time": 1.0}), kernel("l", values={"gpu.time": 1e-13}))
    assert "eliminated" not in call(Session(profile), "what_if", {"place": "k"}).text


@pytest.mark.parametrize(("has", "asked"), [("PMPI_Bcast [libmpi.so]", "MPI_Bcast"), ("MPI_Bcast", "PMPI_Bcast")])
def test_a_call_of_mpi_is_found_by_either_name(has: str, asked: str) -> None:
    answer = call(Session(calls(("main", "solve", has, "io_write"))), "callers", {"name": asked})
    assert answer.rows[0][:2] == ("solve", pytest.approx(10.0))  # 3 + 5, and 1 + 1 below itself


def test_a_rank_that_there_is_not_is_refused_at_a_place_too() -> None:
    assert "There is no 'rank 7'" in call(Session(calls()), "locations", {"place": "dot", "who": "rank 7"}).error


def test_a_factor_below_zero_is_refused_as_one() -> None:
    with_factor = slash.parse("/whatif solve -2x").arguments
    assert with_factor == {"place": "solve", "factor": -2.0}
    assert "above 0" in call(Session(calls()), "what_if", with_factor).error
