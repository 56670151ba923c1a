"""Questions about a series of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.chat.intents import match
from chathpc.chat.opening import read_of_series
from chathpc.chat.session import Session
from chathpc.chat.tools import call, tools_of
from tests.synthetic.collapsed import write

SIZES = (500, 1000, 2000, 4000, 8000)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """`solve` takes n samples, `pairs` n² / 500."""
    folder = tmp_path_factory.mktemp("runs")
    for n in SIZES:
        (folder / f"n{n}").write_text(write([(("main", "solve"), n), (("main", "pairs"), n * n // 500)]))
    series, profile = read_of_series([folder], lambda stage: None)
    return Session(profile, series=series)


def test_the_largest_run_is_what_is_talked_about(session: Session) -> None:
    assert session.facts.total == 8000 + 8000**2 // 500


@pytest.mark.parametrize(
    ("question", "at"),
    [
        ("how long will it take at n = 16000?", 16000.0),
        ("what happens at n=10^5", 1e5),
        ("will it scale to n = 20k", 20e3),
        ("does it scale?", None),
    ],
)
def test_questions_about_another_scale_are_understood(session: Session, question: str, at: float | None) -> None:
    found = match(question, session)
    assert found.tool == "scaling"
    assert found.arguments.get("at") == at


def test_the_answer_has_growth_prediction_and_facts(session: Session) -> None:
    found = call(session, "scaling", {"parameter": "n", "at": 16000})
    assert "pairs grows as n^2.0" in found.text
    truth = 16000 + 16000**2 // 500
    predicted = next(each.value for each in found.facts if "predicted" in each.subject)
    assert predicted == pytest.approx(truth, rel=0.1)


def test_a_parameter_that_does_not_vary_is_refused(session: Session) -> None:
    assert "do not differ in 'ranks'" in call(session, "scaling", {"parameter": "ranks", "at": 64}).error


def test_one_run_is_no_series(tmp_path: Path) -> None:
    (tmp_path / "n500").write_text(write([(("main", "solve"), 500)]))
    series, profile = read_of_series([tmp_path / "n500"], lambda stage: None)
    assert series == ()
    assert not tools_of(Session(profile))["scaling"].arguments.model_fields
