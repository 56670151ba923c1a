"""What a page draws: bounded, with the sums of the profile."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import chathpc
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.facts import Facts
from chathpc.profile.profile import Profile
from chathpc.report import Report
from chathpc.view.draw import view_of
from chathpc.view.lanes import _Spans
from chathpc.view.records import View
from chathpc.view.tables import GROUP_NUMBERS, GROUPS, Table, rounded
from chathpc.view.trees import MOST_NODES
from tests.diagnosis.parts import function, libc, main, source
from tests.profile.build import build, line
from tests.reports.browser import pages

DATABASE = Path(__file__).parents[2] / "examples" / "omp-triangle" / "database"


@pytest.fixture(scope="module")
def profile() -> Profile:
    return chathpc.load(DATABASE)


@pytest.fixture(scope="module")
def report(profile: Profile) -> Report:
    return chathpc.explain(profile, view=True)


@pytest.fixture(scope="module")
def view(report: Report) -> View:
    assert report.view is not None
    return report.view


def test_a_report_has_nothing_to_draw_unless_that_is_asked_for(profile: Profile) -> None:
    assert chathpc.explain(profile).view is None


def test_a_report_with_it_can_be_read_back(report: Report) -> None:
    assert Report.model_validate_json(report.to_json()) == report


def test_the_tree_and_the_functions_have_the_time_of_the_run(profile: Profile, view: View) -> None:
    assert view.tree is not None
    assert view.functions is not None
    total = profile.total("cpu.time")
    assert sum(view.tree.values["cpu.time"]) == pytest.approx(total, rel=1e-4)
    assert sum(view.functions.exclusive["cpu.time"]) == pytest.approx(total, rel=1e-4)
    assert view.metrics[0].total == total


def test_functions_have_the_values_of_the_table(profile: Profile, view: View) -> None:
    table = profile.table("function").set_index("name")
    rows = view.functions
    assert rows is not None
    assert len(rows.name) == len(table)
    for at, name in enumerate(rows.name):
        expected = table.loc[view.names[name]]
        assert rows.exclusive["cpu.time"][at] == pytest.approx(expected["exclusive"], rel=1e-4)
        assert rows.inclusive["cpu.time"][at] == pytest.approx(expected["inclusive"], rel=1e-4)


def test_threads_have_what_each_spent_in_a_place_and_below(profile: Profile, view: View) -> None:
    threads = view.threads
    assert threads is not None
    assert threads.thread == [0, 1, 2, 3]
    assert sum(threads.values[0]) == pytest.approx(profile.total("cpu.time"), rel=1e-4)
    table = profile.table("function").set_index("name")
    for place, values in zip(threads.places[1:], threads.values[1:], strict=True):
        assert sum(values) == pytest.approx(table.loc[view.names[place]]["inclusive"], rel=1e-4)


def test_source_has_the_lines_around_those_with_time(profile: Profile, view: View) -> None:
    assert view.sources
    source = view.sources[0]
    shown = {piece.first + at: text for piece in source.pieces for at, text in enumerate(piece.lines)}
    heat = dict(source.heat["cpu.time"])
    hottest = max(heat, key=lambda line: heat[line])
    excerpt = profile.read_source(view.files[source.file], hottest, 0)
    assert excerpt is not None
    assert shown[hottest] == excerpt.lines[0]


def test_library_calls_count_for_the_line_that_makes_them_and_a_single_line_is_not_left_out() -> None:
    text = "\n".join(f"line {number};" for number in range(1, 60))
    copying = line("a.c:29", libc("memcpy", time=6.0), time=0.5)
    inner = function("g", line("a.c:50", time=1.5), at="")
    profile = build(
        main(function("f", copying, line("a.c:11", time=2.0), at=""), inner), read_source=source({"a.c": text})
    )
    facts = Facts(profile)
    drawn = view_of(profile, facts, diagnose(profile, facts))
    (shown,) = drawn.sources
    assert dict(shown.heat["cpu.time"]) == {11: 2.0, 29: 6.5, 50: 1.5}
    # 8 lines around each: 3 to 19, 21 to 37, 42 to 58.
    assert [(piece.first, len(piece.lines)) for piece in shown.pieces] == [(3, 35), (42, 17)]
    rows = drawn.functions
    assert rows is not None
    placed = {drawn.names[name]: line for name, line in zip(rows.name, rows.line, strict=True)}
    assert (placed["f"], placed["g"]) == (29, 50)  # by their hottest lines: where the functions begin, nothing tells


def test_the_lanes_of_sampled_threads_have_all_states(view: View) -> None:
    timeline = view.timeline
    assert timeline is not None
    assert [lane.title for lane in timeline.lanes] == [f"thread {number}" for number in range(4)]
    for lane in timeline.lanes:
        assert len(lane.start) == len(lane.length) == len(lane.name) == len(lane.count) == len(lane.groups)
        assert all(0 <= begin <= timeline.length for begin in lane.start)


def test_short_neighbours_are_drawn_as_one_and_none_is_lost() -> None:
    start = np.array([0, 10, 20, 1000, 5000], dtype=np.int64)
    spans = _Spans(start, np.array([5, 5, 8, 3000, 10], dtype=np.int64), np.arange(5, dtype=np.int32))
    coarse = spans.coarser(100)
    assert coarse.start.tolist() == [0, 1000, 5000]
    assert coarse.length.tolist() == [28, 3000, 10]
    assert coarse.count.tolist() == [3, 1, 1]
    assert coarse.node.tolist() == [2, 3, 4]


def test_a_large_tree_is_pruned_to_what_can_be_seen() -> None:
    profile = pages.wide(50_000)
    view = chathpc.explain(profile, view=True).view
    assert view is not None
    assert view.tree is not None
    assert len(view.tree.parent) <= MOST_NODES
    assert all(above < node for node, above in enumerate(view.tree.parent))
    assert sum(view.tree.values["cpu.time"]) == pytest.approx(profile.total("cpu.time"), rel=1e-3)


def test_values_are_written_in_few_digits() -> None:
    assert rounded(np.array([0.0, 1.0, 0.123456789, 123456789.0, -2.5e-9, np.nan, np.inf])) == [
        0, 1, 0.12346, 123460000, -2.5e-9, 0, 0,
    ]  # fmt: skip


def test_a_text_is_listed_once_and_as_it_may_be_shown() -> None:
    table = Table(longest=20)
    assert [table.add("f"), table.add("g"), table.add("f"), table.add(None)] == [0, 1, 0, -1]
    assert table.add("a\x1b[31mb") == 2
    assert "\x1b" not in table.texts[2]
    table.add("x" * 1000)
    assert len(table.texts[3]) <= 20


def test_each_activity_has_a_group() -> None:
    assert all(0 <= number < len(GROUPS) for number in GROUP_NUMBERS.tolist())


def test_keys_in_names_are_taken_out_of_what_is_drawn() -> None:
    profile = pages.wide(200)
    profile.tree.names[1] = "range sk-abcdefghijklmnop0123456789"  # type: ignore[index]
    report = chathpc.explain(profile, view=True)
    assert "sk-abcdefghijklmnop" not in report.to_json()
