"""Questions in plain language, and what code takes them for."""

from __future__ import annotations

import pytest

from chathpc.chat.intents import match
from chathpc.chat.intents.rules import rules
from chathpc.chat.session import Session
from chathpc.chat.tools import TOOLS
from tests.chat.profiles import calls
from tests.chat.questions import fresh_rate, questions, rates

#: Part of the questions (0..1) that must be matched to the right tool and arguments.
_LEAST = 0.9


def test_nine_questions_of_ten_are_matched_also_of_those_held_out() -> None:
    seen, held_out, _ = rates()
    assert len(questions()) >= 120
    assert 0.4 < sum(one.held_out for one in questions()) / len(questions()) < 0.6
    assert min(seen, held_out) >= _LEAST
    assert fresh_rate() >= _LEAST - 0.05  # 40 questions: one is 2.5 %


def test_every_rule_asks_a_tool_that_exists_with_arguments_that_it_takes() -> None:
    for rule in rules():
        tool = TOOLS[rule.tool]
        assert set(rule.arguments) <= set(tool.arguments.model_fields)
        assert rule.needs <= {"place", "function", "file", "file-line", "evidence", "number", "topic", "only-topic"}


@pytest.fixture(scope="module")
def session() -> Session:
    return Session(calls(("main", "solve", "dot_product", "std::vector<double>::resize(int)")))


@pytest.mark.parametrize(
    ("question", "tool", "arguments"),
    [
        ("who calls resize?", "callers", {"name": "std::vector<double>::resize(int)"}),
        ("who calls dot_prodct?", "callers", {"name": "dot_product"}),
        ("Tree below `main > solve`", "tree", {}),
        ("what if solve took 50 % less time?", "what_if", {"place": "solve", "factor": 2.0}),
        ("what if solve vanished?", "what_if", {"place": "solve", "factor": 1e9}),
        ("functions with most io.write.bytes", "top", {"by": "function", "metric": "io.write.bytes"}),
        ("top 500 functions", "top", {"by": "function", "limit": 100}),
        ("source of heat.c, line 12", "source", {"place": "heat.c:12"}),
    ],
)
def test_names_numbers_and_metrics_are_read(
    question: str, tool: str, arguments: dict[str, object], session: Session
) -> None:
    intent = match(question, session)
    assert intent.tool == tool
    assert arguments.items() <= dict(intent.arguments).items()


def test_what_was_taken_for_a_slip_of_the_pen_is_said(session: Session) -> None:
    assert match("who calls dot_prodct?", session).note == "'dot_prodct' was taken for dot_product."


def test_a_question_that_nothing_answers_gets_the_nearest_commands(session: Session) -> None:
    intent = match("please give me a sandwich with threaded timelines", session)
    assert intent.tool == "timeline" or "timeline" in intent.suggestions
    assert match("sing a song", session).suggestions == ("findings", "top", "tree")


@pytest.mark.parametrize(
    "question", ["", "?", "@", " ", "a" * 100_000, "\x00\x1b[31m", "((((" * 500, "E" * 4000, "1x" * 999]
)
def test_text_that_is_no_question_is_no_error(question: str, session: Session) -> None:
    match(question, session)
