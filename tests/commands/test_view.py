"""`chathpc view`: what was written as JSON, shown again in any format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chathpc.comparison.record import Diff
from chathpc.reports.json import render
from chathpc.reports.style import Style
from tests.commands.conftest import Result
from tests.reports.sample import sample
from tests.reports.test_diff_renderers import sample as comparison

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _written(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(render(sample(), Style()))


def test_a_report_is_shown_as_text_as_explain_shows_it(run: Run) -> None:
    result = run("view", "report.json")
    assert result.code == 0
    assert "BOTTLENECK" in result.out


def test_a_report_becomes_a_page_later(run: Run, tmp_path: Path) -> None:
    assert run("view", "report.json", "-o", "report.html").code == 0
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "triangular_work" in page


def test_a_report_as_json_is_the_same_again(run: Run, tmp_path: Path) -> None:
    assert run("view", "report.json", "--format", "json").out == (tmp_path / "report.json").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON"),
        ("[" * 200_000, "is not JSON"),
        ("[]", "is not a JSON report"),
        ('{"schema": "chathpc-report/1"}', "its key `schema` is none of"),
        ('{"schema": "chathpc-diff/1"}', "its keys are not those of chathpc-diff/1"),
        ('{"schema": ["chathpc-report/2"]}', "is not a JSON report"),
    ],
)
def test_anything_else_is_refused_in_a_sentence(run: Run, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "report.json").write_text(text)
    result = run("view", "report.json", "-o", "page.html")
    assert result.code == 2
    assert said in result.err
    assert not (tmp_path / "page.html").exists()


def test_a_file_that_is_not_there_is_named(run: Run) -> None:
    result = run("view", "no.json")
    assert result.code == 2
    assert "no.json cannot be read" in result.err


def test_a_report_does_not_take_its_own_place(run: Run, tmp_path: Path) -> None:
    before = (tmp_path / "report.json").read_text()
    assert run("view", "report.json", "-o", "report.json").code == 2
    assert (tmp_path / "report.json").read_text() == before


def test_a_comparison_has_its_page(run: Run, tmp_path: Path) -> None:
    found: Diff = comparison()
    (tmp_path / "diff.json").write_text(found.to_json())
    assert run("view", "diff.json", "-o", "diff.html").code == 0
    text = (tmp_path / "diff.html").read_text()
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    assert data["kind"] == "diff"
    assert data["headline"] == found.headline


def test_a_series_has_its_page_and_its_text(run: Run, tmp_path: Path) -> None:
    from tests.reports.test_scale_page import record_of_series

    (tmp_path / "series.json").write_text(render(record_of_series(), Style()))
    assert run("view", "series.json", "-o", "series.html").code == 0
    assert "The loss in the call tree" in (tmp_path / "series.html").read_text()
    assert "LOSES" in run("view", "series.json").out
    assert run("view", "series.json", "--format", "markdown").code == 0
    assert run("view", "series.json", "--format", "json").out == (tmp_path / "series.json").read_text()
