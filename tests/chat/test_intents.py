"""Questions in plain language, and what code takes them for."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.chat.intents import match
from chathpc.chat.intents.rules import rules
from chathpc.chat.intents.spelling import complete, distance, put_right
from chathpc.chat.session import Session
from chathpc.chat.tools import TOOLS
from tests.chat.profiles import calls
from tests.chat.questions import FRESH, USED, questions, rate, rates

#: Part of the questions (0..1) that must be matched to the right tool and arguments.
_LEAST = 0.9


def test_nine_questions_of_ten_are_matched_also_of_those_held_out() -> None:
    seen, held_out, _ = rates()
    assert len(questions()) >= 120
    assert 0.4 < sum(one.held_out for one in questions()) / len(questions()) < 0.6
    assert min(seen, held_out) >= _LEAST
    assert rate(USED) >= _LEAST
    assert rate(FRESH) >= 0.78  # what was measured once, 80.0 %; one question is 1.7 %


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


@pytest.mark.parametrize(
    ("question", "tool", "arguments"),
    [
        ("hotest functoins", "top", {"by": "function"}),
        ("wich lnies are hot", "top", {"by": "line"}),
        ("thred balance", "locations", {}),
        ("whats false shareing", "catalogue", {"words": "false sharing"}),
        ("fix for nr 2 pls", "findings", {"number": 2}),
        ("main calls what", "callees", {"name": "main"}),
        ("top ten", "top", {"limit": 10}),
        ("heat.c around 12", "source", {"place": "heat.c:12"}),
        ("how much is heat", "top", {"by": "module"}),
        ("who calls product", "callers", {"name": "dot_product"}),
    ],
)
def test_what_tired_people_type_is_understood(
    question: str, tool: str, arguments: dict[str, object], session: Session
) -> None:
    intent = match(question, session)
    assert intent.tool == tool
    assert arguments.items() <= dict(intent.arguments).items()


def test_a_name_that_the_profile_does_not_have_is_looked_up_so_that_the_answer_says_so(session: Session) -> None:
    intent = match("who calls quux_step?", session)
    assert (intent.tool, dict(intent.arguments)) == ("callers", {"name": "quux_step"})


@given(st.text("abcde", max_size=8), st.text("abcde", max_size=8))
def test_the_distance_of_two_words_is_that_of_its_definition(one: str, other: str) -> None:
    @cache
    def steps(a: int, b: int) -> int:
        """Optimal string alignment, written as its recurrence."""
        if not a or not b:
            return a + b
        ways = [steps(a - 1, b) + 1, steps(a, b - 1) + 1, steps(a - 1, b - 1) + (one[a - 1] != other[b - 1])]
        if a > 1 and b > 1 and one[a - 1] == other[b - 2] and one[a - 2] == other[b - 1]:
            ways.append(steps(a - 2, b - 2) + 1)
        return min(ways)

    assert distance(one, other) == steps(len(one), len(other))


def test_known_words_and_short_ones_stay_as_they_are() -> None:
    known = ("functions", "slow", "threads", "ranks")
    assert put_right("slwo functoins of thraeds, tanks", known) == "slow functions of threads, ranks"
    assert put_right("slow song xyz", known) == "slow song xyz"
    assert complete("thrads functins ranked slwo", known) == "threads functions ranked slwo"
