"""perf stat: counters of a run, what was not counted, and no conclusion about the inside of the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.glance import Glance
from chathpc.adapters.perf_stat import ADAPTER, read
from chathpc.errors import AdapterError
from chathpc.pipeline import explain
from tests.adapters.opened import opened
from tests.synthetic.perf_stat import HEAT, Counter, columns, lines

TEXTS = {
    "commas": columns(HEAT),
    "semicolons": columns(HEAT, ";"),
    "tabs": columns(HEAT, "\t"),
    "one processor": columns(HEAT, prefix=["CPU0"]),
    "one socket": columns(HEAT, prefix=["S0", "8"]),
    "an interval": columns(HEAT, prefix=["     1.000123"]),
    "several runs": columns(HEAT, deviation=True),
    "json": lines(HEAT),
}


def file(folder: Path, text: str) -> Path:
    (folder / "heat.csv").write_text(text)
    return folder / "heat.csv"


@pytest.mark.parametrize("text", TEXTS)
def test_every_layout_gives_the_counters(text: str, tmp_path: Path) -> None:
    profile = opened(ADAPTER, file(tmp_path, TEXTS[text]))
    assert {name: profile.total(name) for name in profile.metrics} == pytest.approx(
        {
            "cpu.time": 2.0005, "cpu.cycles": 4e9, "cpu.instructions": 6e9, "cpu.cache.references": 1e8,
            "cpu.cache.misses": 2.5e7, "cpu.page-faults": 2123,
        }
    )  # fmt: skip
    assert len(profile.tree) == 1
    assert profile.run == {"processors in use": "0.5"}


def test_what_was_not_counted_is_no_zero(tmp_path: Path) -> None:
    profile = opened(ADAPTER, file(tmp_path, columns(HEAT)))
    assert not any("l1-dcache" in name for name in profile.metrics)
    said = " ".join(profile.caveats)
    assert "so not assessed: L1-dcache-load-misses" in said
    assert "25.0 % of the references to the last-level cache miss" in said
    assert "these are estimates: instructions:u" in said
    assert "0.500 processors were in use" in said


def test_nothing_is_concluded_about_the_inside_of_the_program(tmp_path: Path) -> None:
    report = explain(opened(ADAPTER, file(tmp_path, columns(HEAT))), llm="none")
    assert report.verdict == "insufficient-data"
    assert not report.findings
    assert report.headline == (
        "perf stat counts the run as a whole (2.00 s of processor time, 0.500 processors in use on average, 1.50 instructions "
        "per cycle): it cannot show what costs time inside the program."
    )
    assert "perf record" in report.profile.not_collected["functions and call paths"]


def test_rows_of_several_intervals_are_summed_and_clocks_kept_apart(tmp_path: Path) -> None:
    counters = [Counter("cpu-clock", 10.0, "msec"), Counter("task-clock", 20.0, "msec"), Counter("cycles", 5.0)]
    profile = opened(ADAPTER, file(tmp_path, columns(counters) + columns(counters)))
    assert profile.total("cpu.time") == pytest.approx(0.02)
    assert profile.total("cpu.time.task-clock") == pytest.approx(0.04)
    assert profile.total("cpu.cycles") == 10


def test_lines_that_are_no_counters_are_counted(tmp_path: Path) -> None:
    text = (
        columns(HEAT) + ",,,,,1.5,insn per cycle\nhello\n" + '{"event": 3}\n{"event": "x", "counter-value": "y"}\n{\n'
    )
    assert any("5 lines contain no counter" in caveat for caveat in read(file(tmp_path, text)).caveats)


@pytest.mark.parametrize(
    "text", ["", "hello\n", "<not supported>,,cycles,0,100.00,,\n", "<not counted>,,cycles,0,0,,\n"]
)
def test_files_without_a_value_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(AdapterError) as caught:
        read(file(tmp_path, text))
    assert "perf stat" in caught.value.hint


@pytest.mark.parametrize(
    "text", ["", "a,b,c\n1,2,3\n", "1,,x\n", '{"event": "x"}\n', '{"counter-value": 1}', "x\n" * 50]
)
def test_other_text_is_not_taken_for_it(text: str, tmp_path: Path) -> None:
    assert not ADAPTER.recognises(Glance(file(tmp_path, text)))


@given(
    st.dictionaries(
        st.sampled_from(["cycles", "instructions", "branches", "my-event"]), st.integers(0, 10**15), min_size=1
    ),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_any_counts_come_back(counts: dict[str, int], as_json: bool) -> None:
    import tempfile

    counters = [Counter(event, float(value)) for event, value in counts.items()]
    with tempfile.TemporaryDirectory() as folder:
        profile = read(file(Path(folder), (lines if as_json else columns)(counters)))
    assert {metric.source_name: profile.total(name) for name, metric in profile.metrics.items()} == counts
