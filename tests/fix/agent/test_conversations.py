"""What a recorded large model did on our tasks passes the gates again; its answers were recorded, builds, runs and profiles are real."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chathpc.fix.agent import Agent
from chathpc.fix.agent.tools import TOOLS, arguments
from chathpc.fix.loop import Budget, fix
from chathpc.fix.models.asker import ModelAsker
from chathpc.fix.project_file import read
from chathpc.llm.backend import ToolCall
from chathpc.llm.settings import Settings
from chathpc.llm.spec import Choice
from chathpc.sandbox import choose
from tests.fix.agent import unseen
from tests.fix.agent.conversations import Conversation, conversations
from tests.fix.tasks_here import TASKS

ALL = conversations()


def test_there_are_conversations_about_programs_of_all_kinds() -> None:
    assert len(ALL) >= 10
    assert {each.ended for each in ALL} <= {"improved", "healthy", "nothing-passed"}


@pytest.mark.parametrize("name", unseen.names())
def test_an_unseen_program_is_a_project(name: str, tmp_path: Path) -> None:
    project = read(unseen.project(name, tmp_path / "program"))
    assert (project.flags is not None) == project.build.split()[1].startswith("$FLAGS")
    assert "OMP_NUM_THREADS" not in project.run.command
    assert "mpirun" not in project.run.command


@pytest.mark.parametrize("one", ALL, ids=lambda each: each.task)
def test_what_the_model_called_are_tools_that_there_are(one: Conversation) -> None:
    for turn in one.turns:
        for name, given in turn:
            if name in TOOLS:
                assert type(arguments(ToolCall("c", name, json.dumps(given)))) is TOOLS[name].arguments


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("one", ALL, ids=lambda each: each.task)
def test_a_conversation_ends_as_it_did(one: Conversation, tmp_path: Path) -> None:
    asker = ModelAsker("recorded", Settings(log=False, confidential="none"))
    asker._choice = Choice(one.model(), "")
    root = unseen.project(one.task, tmp_path / "program") if "/" in one.task else TASKS / one.task / "original"
    outcome = fix(
        read(root), [Agent(asker)], sandbox=choose(), work=tmp_path / "work",
        budget=Budget(rounds=8, seconds=900, timing=30), baselines=False,
    )  # fmt: skip
    assert ("improved" if outcome.improved else "not") == ("improved" if one.ended == "improved" else "not")
