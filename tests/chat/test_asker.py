"""Hints tell each reader what that reader can do: no slash command to a program, nothing of Python to a person."""

from __future__ import annotations

import pytest

from chathpc.chat.asker import ASK, CHAT, CLIENT, NOTEBOOK, OPENING_CLIENT, PROGRAM, Asker
from chathpc.chat.conversation import Conversation
from chathpc.chat.render import answer_text
from chathpc.chat.session import Session
from chathpc.chat.tools import TOOLS, call
from chathpc.chat.tools.record import refused
from chathpc.errors import UsageError
from chathpc.reports.style import Style
from tests.chat.profiles import calls


def hints(asker: Asker) -> str:
    """What is said about names, call paths and profiles that are not there."""
    session = Session(calls(), asker=asker)
    asked: list[tuple[str, dict[str, object]]] = [
        ("source", {"place": "qqqqqqqq"}), ("tree", {"place": "dot > main"}), ("compare", {}), ("top", {"by": "kernel"}),
    ]  # fmt: skip
    results = [call(session, name, arguments) for name, arguments in asked]
    assert all(result.error and result.hint for result in results)
    return " ".join(result.hint for result in results)


@pytest.mark.parametrize("asker", [CLIENT, OPENING_CLIENT, PROGRAM])
def test_programs_are_told_names_of_tools_and_no_commands(asker: Asker) -> None:
    told = hints(asker)
    assert "See top for names." in told
    assert not any(f"/{name}" in told or f"%chathpc {name}" in told for name in TOOLS)


def test_a_client_is_told_of_open_profile_only_where_it_has_it() -> None:
    assert "open_profile" in hints(OPENING_CLIENT)
    assert "open_profile" not in hints(CLIENT)


def test_people_are_told_what_to_type() -> None:
    assert "See /top for names." in hints(CHAT)
    assert "/diff PATH" in hints(CHAT)
    assert "%chathpc top" in hints(NOTEBOOK)
    assert "%chathpc diff BEFORE AFTER" in hints(NOTEBOOK)
    assert 'See "/callers".' in hints(ASK)
    assert "--compare PATH" in hints(ASK)
    assert CHAT.see("what_if") == "See /whatif."  # as the command is called, not the tool


@pytest.mark.parametrize(("asker", "way"), [(CHAT, "/help"), (ASK, "chathpc chat PATH"), (NOTEBOOK, "%chathpc.")])
def test_a_question_that_nothing_matches_gets_commands_of_its_own_kind(asker: Asker, way: str) -> None:
    answer = Conversation(Session(calls(), asker=asker)).ask("sing a song")
    text = answer_text(answer, Style(width=200), asker)
    assert way in text
    assert '"why is it slow?", "who calls dot?", "which rank is the slowest?"' in text


def test_a_command_that_asks_nothing_is_refused_where_it_cannot_run() -> None:
    with pytest.raises(UsageError, match="/model asks nothing"):
        Conversation(Session(calls())).ask("/model none")


@pytest.mark.parametrize(("asker", "way"), [(CHAT, "/help"), (ASK, "chathpc chat PATH"), (NOTEBOOK, "%chathpc.")])
def test_a_command_that_there_is_not_gets_the_same_way_to_all(asker: Asker, way: str) -> None:
    with pytest.raises(UsageError, match="no command '/zzz'") as error:
        Conversation(Session(calls(), asker=asker)).ask("/zzz")
    assert way in error.value.hint


def test_an_error_and_what_to_do_are_two_sentences() -> None:
    assert refused("x: no such file", "Check the path.").as_text() == "x: no such file. Check the path."
    assert refused("No profile.", "Call it.").as_text() == "No profile. Call it."


def test_the_one_other_profile_is_compared_before_anybody_asks() -> None:
    session = Session(calls(), others={"before": calls()})
    told: list[str] = []
    session.prepare(told.append)
    assert told == ["diagnosing", "indexing", "comparing"]
    assert session.compared("before", "") is session.compared("before", "")
