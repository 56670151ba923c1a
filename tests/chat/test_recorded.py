"""Thirty questions that a recorded large model answered, with the tools that it chose: each goes on as it was recorded, and is printed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import yaml

import chathpc
from chathpc.chat.asker import ASK
from chathpc.chat.conversation import Conversation
from chathpc.chat.record import Answer
from chathpc.chat.session import Session
from chathpc.llm.recorded import Recording, ReplayBackend
from tests.chat.questions import EXAMPLES

RECORDINGS = Path(__file__).parents[1] / "recordings"
QUESTIONS = yaml.safe_load((RECORDINGS / "chat.yaml").read_text("utf-8"))
FOLDERS = {"omp": "omp-triangle", "mpi": "mpi-imbalance"}
RENEW = "chat.jsonl is stale: chathpc ask PATH QUESTION --llm record:FILE:MODEL --confidential none"


@cache
def backend() -> ReplayBackend:
    return ReplayBackend(Recording(RECORDINGS / "chat.jsonl"))


@cache
def session(profile: str) -> Session:
    return Session(chathpc.load(EXAMPLES / FOLDERS[profile] / "database"), asker=ASK)


@cache
def answered(profile: str, ask: str) -> Answer:
    return Conversation(session(profile), backend()).ask(ask)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["ask"][:40])
def test_a_question_is_asked_as_it_was_recorded_and_its_answer_printed(question: dict[str, str]) -> None:
    answer = answered(**question)
    assert answer.lack is None, f"{answer.note} {RENEW}"
    assert answer.model == "large-model (recorded)"
    assert answer.steps
    assert any(each.dropped_because is None for each in answer.statements)


def test_what_an_expert_says_is_not_lost() -> None:
    said = [each for question in QUESTIONS for each in answered(**question).statements]
    dropped = [f"{each.dropped_because}: {each.text}" for each in said if each.dropped_because is not None]
    assert len(said) == 119
    assert len(dropped) <= 0.02 * len(said), dropped
