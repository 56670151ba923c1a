"""`chathpc scale` on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.conftest import Result
from tests.synthetic.collapsed import write

Run = Callable[..., Result]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Five sizes: solve takes n samples, pairs n² / 500."""
    for n in (500, 1000, 2000, 4000, 8000):
        (tmp_path / f"n{n}").write_text(write([(("main", "solve"), n), (("main", "pairs"), n * n // 500)]))
    return tmp_path


def test_the_first_screen_names_place_growth_and_outlook(run: Run, runs: Path) -> None:
    result = run("scale", "-q", str(runs), "--at", "n=32000")
    assert result.code == 0
    text = " ".join(result.out.split())
    assert "GROWS pairs grows as n^2.0" in text
    assert "At n = 32,000" in text
    assert len(result.out.splitlines()) <= 40


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_other_formats_hold_the_same(run: Run, runs: Path, form: str) -> None:
    out = run("scale", "-q", str(runs), "--format", form).out
    assert "pairs" in out
    if form == "json":
        record = json.loads(out)
        assert record["schema"] == "chathpc-scale/1"
        assert [point["value"] for point in record["points"]] == [500, 1000, 2000, 4000, 8000]


def test_few_scales_are_not_extrapolated(run: Run, runs: Path) -> None:
    out = " ".join(run("scale", "-q", str(runs / "n500"), str(runs / "n8000")).out.split())
    assert "cannot be extrapolated from these runs" in out


@pytest.mark.parametrize(
    "words", [("--at", "64"), ("--at", "ranks=64"), ("--along", "m"), ("--parameters", "none.yaml")]
)
def test_wrong_usage_is_refused(run: Run, runs: Path, words: tuple[str, ...]) -> None:
    assert run("scale", "-q", str(runs), *words).code == 2
