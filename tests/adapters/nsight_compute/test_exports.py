"""Exports to CSV in all the forms that Nsight Compute writes."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.adapters.nsight_compute import ADAPTER
from chathpc.adapters.nsight_compute.table import Numerals, factor, header_of, normal, triple
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind
from tests.adapters.nsight_compute.runs import AXPY, DEVICE, DOT, DURATION, FAILED, ROOFLINE, RULES, SM, THREE, basic
from tests.adapters.nsight_compute.test_reports import at, node_of
from tests.synthetic.nsight_compute import Printed, Run, details_page, raw_page, summary_page

EUROPEAN = Printed(decimal=",", grouping=".")
PREAMBLE = """some output, of the "program"
==PROF== Connected to process 123 (/home/planted-user/bin/planted-process)
==PROF== Profiling "axpy": 0%....100% - 8 passes
1,2,3
"""
LONG_SCOREBOARD = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"
RICH = (
    Run(AXPY, {**basic(0.003, 10.25), **ROOFLINE, LONG_SCOREBOARD: (12.5, "inst")}, rules=RULES[:4]),
    *THREE[1:],
)


def write(path: Path, text: str, *, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def read(folder: Path, text: str, *, encoding: str = "utf-8") -> Profile:
    return ADAPTER.read(write(folder / "export.csv", text, encoding=encoding))


def check(profile: Profile) -> None:
    """The three launches came out as they were put in, to the digits that are printed."""
    profile.tree.check()
    axpy, dot = node_of(profile, AXPY), node_of(profile, DOT)
    assert at(profile, "gpu.kernel.count", axpy) == 2
    assert profile.total("gpu.time") == pytest.approx(0.01)
    assert at(profile, "gpu.kernel.sm-throughput", axpy) == pytest.approx((3 * 10.25 + 50) / 4)
    assert at(profile, "gpu.kernel.memory-throughput", dot) == 90
    assert at(profile, "gpu.kernel.dram-rate", axpy) == pytest.approx(150e9)
    assert at(profile, "gpu.kernel.stall.long-scoreboard", axpy) == 12.5
    assert at(profile, "gpu.kernel.registers", dot) == 64
    assert at(profile, "gpu.kernel.shared-memory-per-block", dot) == pytest.approx(2048, rel=0.01)
    assert profile.not_collected["samples per source line"].endswith("exports to CSV have none)")


@pytest.mark.parametrize("printed", [Printed(), Printed(scaled=False), EUROPEAN, Printed(grouping="\u202f", decimal=","),
                                     Printed(grouping="'"), Printed(grouping="")])  # fmt: skip
@pytest.mark.parametrize("nvtx", [False, True])
@pytest.mark.parametrize("page", [raw_page, details_page])
def test_every_page_locale_and_unit_reads_the_same(tmp_path: Path, page: object, nvtx: bool, printed: Printed) -> None:
    check(read(tmp_path, page(RICH, printed=printed, nvtx=nvtx)))  # type: ignore[operator]


def test_the_columns_of_2020_are_read_without_grid_and_device(tmp_path: Path) -> None:
    for page in (raw_page, details_page):
        profile = read(tmp_path, page(RICH, old=True))
        check(profile)
        assert profile.devices == {}
        assert "gpu.kernel.blocks" not in profile.metrics


def test_rows_may_end_early_or_be_full(tmp_path: Path) -> None:
    check(read(tmp_path, details_page(RICH, ragged=False)))
    check(read(tmp_path, details_page(RICH, ragged=True)))


def test_output_before_between_and_after_the_table_is_no_row(tmp_path: Path) -> None:
    page = raw_page(RICH)
    rows = page.splitlines(keepends=True)
    check(
        read(
            tmp_path,
            PREAMBLE + "".join(rows[:3]) + "==PROF== Disconnected\nresult, 1\n\n" + "".join(rows[3:]) + "bye\n",
        )
    )


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_exports_from_windows_are_read(tmp_path: Path, encoding: str) -> None:
    check(read(tmp_path, details_page(RICH).replace("\n", "\r\n"), encoding=encoding))


def test_values_equal_those_that_the_csv_module_reads(tmp_path: Path) -> None:
    text = raw_page(RICH)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows[0]["ID"] == ""
    assert rows[0][DURATION] == "ms"
    seconds = sum(float(row[DURATION]) * 1e-3 for row in rows[1:])
    assert read(tmp_path, text).total("gpu.time") == pytest.approx(seconds, rel=1e-12)


def test_a_table_of_each_process_is_read(tmp_path: Path) -> None:
    first, second = raw_page(RICH), raw_page([replace(run, process=99) for run in RICH])
    profile = read(tmp_path, first + second)
    assert profile.total("gpu.kernel.count") == 6
    assert [profile.tree.label(int(root)) for root in profile.tree.roots] == ["process", "process 2"]


def test_ranges_stand_above_the_kernel(tmp_path: Path) -> None:
    inside = replace(THREE[0], ranges=("solver", "step: one"))
    for page in (raw_page, details_page):
        profile = read(tmp_path, page([inside], nvtx=True))
        node = node_of(profile, AXPY)
        assert [profile.tree.label(step) for step in profile.tree.path(node)] == [
            "process",
            "solver",
            "step: one",
            AXPY,
        ]
        assert profile.tree.kind[profile.tree.parent[node]] == NodeKind.REGION


def test_a_summary_counts_its_launches(tmp_path: Path) -> None:
    profile = read(tmp_path, summary_page([(THREE[0], 14), (THREE[2], 1)]))
    assert profile.total("gpu.kernel.count") == 15
    assert profile.total("gpu.time") == pytest.approx(14 * 0.003 + 0.006)
    assert at(profile, "gpu.kernel.sm-throughput", node_of(profile, AXPY)) == 10
    assert any("averages" in caveat for caveat in profile.caveats)


def test_rules_are_remarks(tmp_path: Path) -> None:
    remarks = {remark.rule: remark for remark in read(tmp_path, details_page(RICH)).remarks}
    assert remarks["SOLBottleneck"].kind == "warning"
    assert remarks["SOLBottleneck"].text == "Low use. Look at Scheduler Statistics for more."
    assert (remarks["Occupancy"].speedup, remarks["Occupancy"].scope) == (0.25, "local")
    assert "planted" not in str(remarks)


def test_memory_throughput_is_two_metrics(tmp_path: Path) -> None:
    profile = read(tmp_path, details_page(RICH))
    node = node_of(profile, AXPY)
    assert at(profile, "gpu.kernel.memory-throughput", node) == 40
    assert at(profile, "gpu.kernel.dram-rate", node) == pytest.approx(150e9)
    assert at(profile, "gpu.kernel.dram-throughput", node) == 25


def test_devices_are_told_by_the_raw_page_and_only_their_kind_by_the_other(tmp_path: Path) -> None:
    run = replace(THREE[0], metrics={**THREE[0].metrics, **DEVICE}, capability="9.0")
    device = read(tmp_path, raw_page([run])).devices[0]
    assert (device.name, device.multiprocessors) == ("Test GPU", 108)
    assert read(tmp_path, details_page([THREE[0]])).devices[0].capability == "8.0"


def test_failed_launches_are_told_from_measured_ones(tmp_path: Path) -> None:
    assert (
        "Profiling failed"
        in read(
            tmp_path, details_page([replace(FAILED, metrics={SM: (None, "%"), DURATION: (None, "ns")})])
        ).insufficient
    )
    partly = read(tmp_path, raw_page([THREE[0], replace(FAILED, metrics={SM: (None, "%"), DURATION: (None, "ns")})]))
    assert partly.insufficient == ""
    assert any("flash(int)" in caveat for caveat in partly.caveats)


def test_nobody_learns_who_measured_where(tmp_path: Path) -> None:
    for page in (raw_page, details_page):
        profile = read(tmp_path, PREAMBLE + page(RICH))
        shown = repr((profile.title, profile.run, profile.hardware, profile.caveats, dict(profile.not_collected), profile.remarks,
                      profile.devices, profile.metrics, list(profile.tree.names), list(profile.tree.files), list(profile.tree.modules)))  # fmt: skip
        assert "planted" not in shown
        assert "123" not in " ".join(profile.tree.names)
        assert "4711" not in shown


# -- folders ---------------------------------------------------------------------------------------------------------------


def test_a_folder_of_ranks_is_one_profile(tmp_path: Path) -> None:
    for rank, run in enumerate(THREE):
        write(tmp_path / f"job.rank{rank}.csv", raw_page([run]))
    write(tmp_path / "notes.txt", "nothing of interest\n")
    profile = ADAPTER.read(tmp_path)
    assert [profile.tree.label(int(root)) for root in profile.tree.roots] == ["rank 0", "rank 1", "rank 2"]
    assert profile.where.rank.tolist() == [0, 1, 2]
    assert profile.location_totals("gpu.time").tolist() == pytest.approx([0.003, 0.001, 0.006])
    assert len(profile.sources) == 3


def test_a_folder_of_kernels_goes_by_file_names(tmp_path: Path) -> None:
    for name, run in zip(("first", "second"), THREE, strict=False):
        write(tmp_path / f"{name}.csv", details_page([run]))
    profile = ADAPTER.read(tmp_path)
    assert [profile.tree.label(int(root)) for root in profile.tree.roots] == ["first", "second"]


def test_the_sections_of_one_launch_in_several_files_are_one_launch(tmp_path: Path) -> None:
    run, other = THREE[0], replace(THREE[0], process=99)
    speed = {name: run.metrics[name] for name in (DURATION, SM)}
    occupancy = {name: value for name, value in run.metrics.items() if name not in speed}
    write(tmp_path / "a-occupancy.csv", details_page([replace(run, metrics=occupancy, rules=RULES[2:3])]))
    write(tmp_path / "b-speed.csv", details_page([replace(run, metrics=speed, rules=RULES[:1])]))
    write(tmp_path / "c-all.csv", details_page([replace(run, rules=RULES[:2])]))
    write(tmp_path / "d-other.csv", details_page([replace(other, metrics={**run.metrics, SM: (20.0, "%")})]))
    profile = ADAPTER.read(tmp_path)
    assert profile.total("gpu.kernel.count") == 2
    assert profile.total("gpu.time") == pytest.approx(0.006)
    assert [remark.rule for remark in profile.remarks] == ["SOLBottleneck", "Occupancy", "UncoalescedGlobalAccess"]
    assert [profile.tree.label(int(root)) for root in profile.tree.roots] == ["c-all", "d-other"]


def test_launches_that_differ_are_not_joined(tmp_path: Path) -> None:
    run = THREE[0]
    write(tmp_path / "a.csv", details_page([run]))
    write(tmp_path / "b.csv", details_page([replace(run, metrics={**run.metrics, SM: (99.0, "%")})]))
    write(tmp_path / "c.csv", details_page([replace(run, metrics={"smsp__inst_executed.sum": (5.0, "inst")})]))
    assert ADAPTER.read(tmp_path).total("gpu.kernel.count") == 3


def test_a_folder_that_lost_its_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AdapterError) as caught:
        ADAPTER.read(tmp_path)
    assert caught.value.hint


# -- damage ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "words"), [
    ("==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - no permission\n", "not allowed to read the counters"),
    ("==PROF== Connected\n==WARNING== No kernels were profiled.\n", "profiled no kernel"),
    ("==PROF== Connected\nnothing\n", "ncu --csv --page raw"),
])  # fmt: skip
def test_output_without_a_table_says_why(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(AdapterError) as caught:
        read(tmp_path, text)
    assert words in caught.value.hint


def test_a_header_alone_is_refused(tmp_path: Path) -> None:
    for page in (raw_page, details_page):
        text = page([THREE[0]]).splitlines()[0] + "\n"
        for more in ("", "program output\n"):
            with pytest.raises(AdapterError) as caught:
                read(tmp_path, text + more)
            assert caught.value.hint


def test_a_quote_without_an_end_is_not_endless(tmp_path: Path) -> None:
    text = details_page(RICH) + '"' + "x" * (9 << 20)
    with pytest.raises(AdapterError, match="damaged CSV"):
        read(tmp_path, text)


def test_absurd_numbers_are_no_values(tmp_path: Path) -> None:
    text = (
        raw_page([THREE[0]], printed=Printed(scaled=False)).replace('"3,000,000"', '"1e400"').replace('"10"', '"nan"')
    )
    profile = read(tmp_path, text)
    assert "gpu.time" not in profile.metrics
    assert "gpu.kernel.sm-throughput" not in profile.metrics


def test_sizes_that_are_no_sizes_are_left_out(tmp_path: Path) -> None:
    text = raw_page([THREE[0]]).replace("(96, 1, 1)", "(96, x, 1)").replace("(128, 1, 1)", "(99999999999, 1, 1)")
    profile = read(tmp_path, text)
    assert "gpu.kernel.blocks" not in profile.metrics


def test_a_size_of_the_grid_alone_is_enough(tmp_path: Path) -> None:
    metrics = {**THREE[0].metrics, "launch__grid_size": (1024.0, ""), "launch__block_size": (256.0, "")}
    profile = read(tmp_path, raw_page([replace(THREE[0], metrics=metrics)], old=True))
    assert at(profile, "gpu.kernel.blocks", node_of(profile, AXPY)) == 1024


# -- parts -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("unit", "expected"), [
    ("nsecond", 1e-9), ("ns", 1e-9), ("usecond", 1e-6), ("us", 1e-6), ("msecond", 1e-3), ("ms", 1e-3), ("s", 1.0), ("second", 1.0),
    ("byte", 1.0), ("Kbyte", 1e3), ("Mbyte", 1e6), ("Gbyte/s", 1e9), ("Tbyte/second", 1e12), ("byte/block", 1.0), ("Kbyte/block", 1e3),
    ("Ghz", 1e9), ("hz", 1.0), ("cycle/nsecond", 1e9), ("cycle/second", 1.0), ("%", 1.0), ("", 1.0), ("inst/cycle", 1.0),
    ("register/thread", 1.0), ("warp", 1.0), ("block", 1.0), ("inst", 1.0), ("inst/ns", 1e9), ("branches", 1.0), ("sectors", 1.0),
])  # fmt: skip
def test_units_carry_prefixes(unit: str, expected: float) -> None:
    assert factor(unit) == pytest.approx(expected)


def test_values_without_end_are_none() -> None:
    assert normal(float("nan"), "%") is None
    assert normal(float("inf"), "ns") is None
    assert normal(1e31, "") is None
    assert normal(5.0, "ms") == 0.005


def numbers_of(*texts: str) -> list[float | None]:
    numerals = Numerals()
    for text in texts:
        numerals.see(text)
    return [numerals.number(text) for text in texts]


def test_all_numbers_of_a_file_decide_together_what_a_comma_is() -> None:
    assert numbers_of("117.344", "27.595.520", "19,66") == [117344.0, 27595520.0, 19.66]
    assert numbers_of("117.344", "27,595,520", "19.66") == [117.344, 27595520.0, 19.66]
    assert numbers_of("9,495", "0.123") == [9495.0, 0.123]
    assert numbers_of("9,495", "0,1") == [9.495, 0.1]
    assert numbers_of("1\u202f234,5") == [1234.5]
    assert numbers_of("n/a", "", "Enabled", "12 (3; 4; 5)") == [None, None, None, 12.0]


@given(st.lists(st.floats(0, 1e12).map(lambda value: round(value, 2)), min_size=1), st.booleans())
def test_what_was_printed_is_read_in_both_ways_of_writing(values: list[float], european: bool) -> None:
    printed = EUROPEAN if european else Printed()
    texts = [printed.number(value) for value in values] + [printed.number(0.5)]
    assert numbers_of(*texts) == pytest.approx([*values, 0.5])


def test_headers_are_told_from_other_lines() -> None:
    assert header_of('"ID","Kernel Name","Metric Name","Metric Value"') is not None
    wide = header_of('"ID","Process Name","Kernel Name","sm__cycles_active.avg"')
    assert wide is not None
    assert wide.wide
    assert "Process Name" not in wide.columns
    for line in (
        "",
        "ID,Kernel Name",
        "Kernel Name,Time",
        '"ID","Kernel Name","Time"',
        '"Kernel Name","sm__x.y"',
        'ID,"Kernel Name\n',
    ):
        assert header_of(line) is None


def test_sizes_are_three_numbers() -> None:
    assert triple("(224, 1, 1)") == (224, 1, 1)
    for text in ("", "(1, 2)", "(a, b, c)", "(1, 2, 99999999999)", "(-1, 1, 1)"):
        assert triple(text) is None


def test_an_export_that_was_cut_off_says_so_and_loses_the_broken_row(tmp_path: Path) -> None:
    """Three launches in the table; the file ends in the third's row."""
    rows = raw_page(RICH).splitlines(keepends=True)
    whole, cut = read(tmp_path, "".join(rows)), read(tmp_path, "".join(rows)[: -len(rows[-1]) // 2])
    assert not any("cut off" in caveat for caveat in whole.caveats)
    assert cut.caveats[0] == "export.csv is cut off in the middle of a row: what followed is missing."
    assert (whole.total("gpu.kernel.count"), cut.total("gpu.kernel.count")) == (3, 2)
    with pytest.raises(AdapterError, match="cut off in its first row"):
        read(tmp_path, "".join(rows[:2]) + rows[2][: len(rows[2]) // 2])
