"""`chathpc scale` on the command line: series from names, from a file; findings, predictions, exit codes, formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chathpc.reports.scaled import findings
from chathpc.scale.record import Scaling
from tests.commands.conftest import Result
from tests.synthetic.collapsed import write

Run = Callable[..., Result]
SIZES = (100, 200, 400, 800, 1600)


@pytest.fixture
def sizes(tmp_path: Path) -> Path:
    """Profiles over the size n: `sweep` takes n samples, `pairs` n²/400."""
    folder = tmp_path / "runs"
    folder.mkdir()
    for n in SIZES:
        samples = [(("main", "sweep"), n), (("main", "pairs"), n * n // 400)]
        (folder / f"n{n}").write_text(write(samples))
    return folder


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.usefixtures("sizes")
def test_what_grows_faster_than_the_problem_is_named_and_predicted(run: Run) -> None:
    result = run("scale", "runs", "--at", "n=6400", "--format", "json", "-q")
    assert result.code == 0
    found = json.loads(result.out)
    assert (found["parameter"], found["kind"], found["verdict"]) == ("n", "problem size", "grows")
    (first,) = found["findings"]
    assert first["name"] == "pairs"
    assert first["costs"] == [n * n // 400 for n in SIZES]
    assert first["law"]["growth"]["value"] == pytest.approx(2.0, abs=0.1)
    (target,) = found["predictions"]
    truth = 6400 + 6400**2 / 400
    assert target["elapsed"]["low"] <= truth * 1.02
    assert target["elapsed"]["value"] == pytest.approx(truth, rel=0.1)
    text = run("scale", "runs", "--at", "n=6400", "-q")
    assert "GROWS pairs grows as n^2.0 (2.0 to 2.0); at n = 1,600" in flat(text.out)
    assert len(text.out.splitlines()) <= 40
    assert f"({first['law']['text']})." in flat(text.out)
    first["law"]["text"] = "3.51"  # the same at all scales, which the costs show
    assert findings(Scaling.model_validate(found))[0][2].endswith(" → 6,400 samples.")
    assert run("scale", "runs", "--at", "n=6400", "--format", "markdown", "-q").code == 0


@pytest.mark.usefixtures("sizes")
def test_a_file_tells_the_parameters(run: Run, tmp_path: Path) -> None:
    (tmp_path / "series.yaml").write_text("".join(f"runs/n{n}: {{cells: {2 * n}}}\n" for n in SIZES))
    found = json.loads(run("scale", "runs", "--parameters", "series.yaml", "--format", "json", "-q").out)
    assert found["parameter"] == "cells"
    assert [point["value"] for point in found["points"]] == [2 * n for n in SIZES]
    (tmp_path / "series.yaml").write_text("runs/n100: {cells: -1}\n")
    wrong = run("scale", "runs", "--parameters", "series.yaml")
    assert wrong.code == 2
    assert "positive numbers" in wrong.err


@pytest.mark.usefixtures("sizes")
def test_what_is_no_series_is_refused(run: Run, tmp_path: Path) -> None:
    assert run("scale", "runs/n100").code == 2
    assert "two scales" in run("scale", "runs/n100").err
    assert "not NAME=NUMBER" in run("scale", "runs", "--at", "64").err
    assert "series along n" in flat(run("scale", "runs", "--at", "ranks=64", "--along", "n").err)
    (tmp_path / "empty").mkdir()
    assert "no profile" in run("scale", "empty").err
    assert run("scale", "absent").code == 3


@pytest.mark.usefixtures("sizes")
def test_few_scales_cannot_be_extrapolated_and_a_job_makes_more(run: Run, tmp_path: Path) -> None:
    result = run("scale", "runs/n100", "runs/n200", "--at", "n=3200", "--job", "next.sh", "-q")
    assert result.code == 0
    text = flat(result.out)
    assert "At n = 3,200: cannot be extrapolated from these runs: n had 2 values; a law needs 3, better 5." in text
    assert "Next run: n = 400, 3 times: n = 3,200 can then probably be extrapolated." in text
    assert "folder=" in (tmp_path / "next.sh").read_text()


def test_without_a_run_that_helps_there_is_no_job_and_the_reason(run: Run, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    for count in (1, 2, 4):
        (tmp_path / "runs" / f"ranks{count}").write_text(write([(("main", "sweep"), 4000 // count)]))
    result = run("scale", "runs", "--job", "next.sh", "-q")
    assert result.code == 2
    assert "No further run is likely to help: the profiles do not show all workers" in flat(result.err)
    (tmp_path / "costs.txt").write_text("PARAMETER n\nPOINTS 1 2 4\nREGION main\nMETRIC time\nDATA 1\nDATA 2\nDATA 4\n")
    assert "profiles and a target of one parameter" in flat(run("scale", "costs.txt", "--job", "next.sh", "-q").err)
    assert not (tmp_path / "next.sh").exists()


@pytest.mark.usefixtures("sizes")
def test_growth_is_evidence_in_the_diagnosis_of_one_of_the_runs(run: Run) -> None:
    result = run("explain", "runs/n1600", "--series", "runs", "--llm", "none", "--format", "json", "-q")
    assert result.code == 0
    told = json.loads(result.out)
    (found,) = [each for each in told["findings"] if each["cause"] == "quadratic-algorithm"]
    assert (found["status"], found["where"]["function"], found["against"]) == ("measured", "pairs", [])
    assert found["share"] == pytest.approx(6400 / 8000)


def test_a_series_over_workers_is_no_evidence_of_growth(run: Run, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    for count in (1, 2, 4):
        (tmp_path / "runs" / f"ranks{count}").write_text(write([(("main", "sweep"), 4000 // count)]))
    result = run("explain", "runs/ranks4", "--series", "runs", "--llm", "none", "-q")
    assert result.code == 2
    assert "differ in ranks, not in the size of the problem" in flat(result.err)


def test_a_job_is_written_and_named(run: Run, tmp_path: Path) -> None:
    # 20 % of noise of one and the other sign, so that it is open whether pairs or sweep costs more at n = 400.
    (tmp_path / "runs").mkdir()
    for n, noise in zip(SIZES, (1.2, 0.8, 1.2, 0.8, 1.2), strict=True):
        samples = [(("main", "sweep"), round(n * noise)), (("main", "pairs"), round(n * n / 400 / noise))]
        (tmp_path / "runs" / f"n{n}").write_text(write(samples))
    result = run("scale", "runs", "--at", "n=400", "--job", "next.sh")
    assert result.code == 0
    assert "the job is in next.sh; write the program's command where it has <--" in flat(result.err)
    assert (tmp_path / "next.sh").stat().st_mode & 0o111
    assert "part of the profile" in run("scale", "runs", "--job", "runs/n100").err
    assert run("scale", "runs", "--at", "n=400", "--job", "absent/next.sh").code == 2
