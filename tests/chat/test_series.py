"""Questions about a series of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.chat.asker import ASK
from chathpc.chat.conversation import Conversation
from chathpc.chat.intents import match
from chathpc.chat.opening import read_of_series
from chathpc.chat.session import Session
from chathpc.chat.tools import call, tools_of
from chathpc.llm.recorded import Recording, ReplayBackend
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
    predicted = next(each.value for each in found.facts if "the time predicted" in each.subject)
    assert predicted == pytest.approx(truth, rel=0.1)


def test_a_parameter_that_does_not_vary_is_refused(session: Session) -> None:
    assert "do not differ in 'ranks'" in call(session, "scaling", {"parameter": "ranks", "at": 64}).error


def test_one_run_is_no_series(tmp_path: Path) -> None:
    (tmp_path / "n500").write_text(write([(("main", "solve"), 500)]))
    series, profile = read_of_series([tmp_path / "n500"], lambda stage: None)
    assert series == ()
    assert not tools_of(Session(profile))["scaling"].arguments.model_fields


#: What users asked of a series, and a recorded large model looked up and answered, from each conversation alone.
QUESTIONS = (
    "why does this get so slow for large n?",
    "how long will n = 64000 take, and which part of it grows?",
    "which run should I make next before I book time on the cluster?",
    "is the solver a problem at n = 100000, or is it something else?",
)
RECORDING = Path(__file__).parents[1] / "recordings" / "series.jsonl"


def particles(folder: Path) -> Session:
    """Runs of a program that assembles and solves in proportion to n, and looks at all pairs for neighbours."""
    for n in (1000, 2000, 4000, 8000, 16000):
        stacks = [
            (("main", "read_input"), n // 50), (("main", "step", "assemble"), n), (("main", "step", "solve", "spmv"), 2 * n),
            (("main", "step", "solve", "dot"), n // 2), (("main", "step", "neighbours"), n * n // 10_000),
            (("main", "step", "neighbours", "distance"), n * n // 2000),
        ]  # fmt: skip
        (folder / f"n{n}").write_text(write(stacks))
    series, profile = read_of_series([folder], lambda stage: None)
    return Session(profile, series=series, asker=ASK)


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_a_large_model_says_of_a_series_stands(question: str, tmp_path: Path) -> None:
    answer = Conversation(particles(tmp_path), ReplayBackend(Recording(RECORDING))).ask(question)
    assert answer.lack is None, f"{answer.note} {RECORDING.name} is stale."
    assert any(step.tool == "scaling" for step in answer.steps)
    assert any(each.dropped_because is None for each in answer.statements)
