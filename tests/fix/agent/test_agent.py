"""A scripted model works with the tools through the whole loop, on a program that takes milliseconds; the gates are the real ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

import chathpc
from chathpc.diagnosis.diagnose import diagnose
from chathpc.fix.agent import Agent, Bounds, Manner
from chathpc.fix.agent.briefing import claimed
from chathpc.fix.agent.workbench import clean_lines
from chathpc.fix.loop import Budget, Outcome, fix
from chathpc.fix.models.asker import ModelAsker, Question
from chathpc.fix.records import Problem, Verdict
from chathpc.fix.workspace import tree_hash
from chathpc.llm.backend import Request, ToolCall
from chathpc.llm.settings import Settings
from chathpc.llm.spec import Choice
from chathpc.report import HypothesisRecord, PlaceRecord
from tests.fix.parts import Unguarded
from tests.fix.shell_project import SLOW, profiler, project
from tests.llm.scripted import ScriptedBackend

Call = tuple[str, dict[str, object]]

SHORTER: Call = ("edit", {"file": "work.txt", "search": "sleep 0.06", "replace": "sleep 0.03"})
WRONG: Call = ("edit", {"file": "work.txt", "search": "echo sum 1.5 of $1", "replace": "echo sum 1.6 of $1"})
RIGHT: Call = ("edit", {"file": "work.txt", "search": "echo sum 1.6 of $1", "replace": "echo sum 1.5 of $1"})
SUBMIT: Call = ("submit", {"title": "sleep less", "functions": ["slow"]})
FINISH: Call = ("finish", {"reason": "The rest is needed."})


@dataclass
class Questioned:
    """A critic that always says the same."""

    says: str
    asked: list[Question] = field(default_factory=list)
    form: Literal["prose", "structured"] = "structured"

    def __call__(self, question: Question, problem: Problem) -> str | None:
        self.asked.append(question)
        return self.says


@dataclass
class Played:
    """A session in which a model made these turns, each a list of calls."""

    folder: Path
    turns: list[list[Call]]
    bounds: Bounds = field(default_factory=Bounds)

    def run(self, manner: Manner | None = None, critic: Questioned | None = None, seconds: float = 5) -> Outcome:
        left = iter(self.turns)

        def script(_request: Request) -> Iterator[str | ToolCall]:
            for number, (name, arguments) in enumerate(next(left, [])):
                yield ToolCall(f"c{number}", name, json.dumps(arguments))
            yield "That is all."

        self.model = ScriptedBackend(script, form="structured", calls_tools=True)
        asker = ModelAsker("scripted", Settings(log=False))
        asker._choice = Choice(self.model, "")
        self.agent = Agent(asker, manner or Manner(bounds=self.bounds), critic)
        return fix(
            project(self.folder), [self.agent], sandbox=Unguarded(), profiler=profiler, budget=Budget(rounds=4, timing=seconds),
            work=self.folder / "work", baselines=False,
        )  # fmt: skip

    @property
    def told(self) -> list[str]:
        """What the tools said, in order."""
        return [turn.content for turn in self.model.requests[-1].turns if turn.role == "tool"]


def test_what_is_refused_is_told_with_its_reason_and_what_is_accepted_is_gone_on_with(tmp_path: Path) -> None:
    further: Call = ("edit", {"file": "work.txt", "search": "sleep 0.03", "replace": "sleep 0.015"})
    played = Played(
        tmp_path,
        [[SHORTER, WRONG, SUBMIT], [RIGHT, ("check", {}), ("time", {}), SUBMIT], [further], [SUBMIT], [FINISH]],
    )
    before = tree_hash(project(tmp_path).root)
    outcome = played.run()
    assert [each.verdict for each in outcome.attempts] == [Verdict.WRONG_ANSWER, Verdict.ACCEPTED, Verdict.ACCEPTED]
    assert outcome.last.files["work.txt"] == SLOW.replace("0.06", "0.015")
    assert tree_hash(project(tmp_path).root) == before
    refused, right, checked, timed, accepted = played.told[2:7]
    assert "wrong-answer" in refused
    assert "1.6" in refused
    assert "of the time limit are left." in refused
    assert "Done." in right
    assert "Same answers." in checked
    assert "as fast" in timed
    assert "accepted" in accepted
    assert "It is the new base" in accepted
    (note,) = played.agent.notes
    assert note.startswith("agent: 5 turns, ")
    assert note.endswith("The rest is needed.")


def test_the_first_message_says_what_was_found_how_it_is_judged_and_what_may_be_edited(tmp_path: Path) -> None:
    played = Played(tmp_path, [[FINISH]])
    assert not played.run().attempts
    asked = played.model.requests[0]
    assert "at most 60 turns" in asked.system
    for text in (
        "build: cp work.txt app",
        "timed: ./app 20",
        "sleep 0.06",
        "work.txt (5 lines, may be edited)",
        "check.txt",
        "cores: ",
    ):
        assert text in asked.user
    assert "the judge's own" not in asked.user


ANSWERS: list[tuple[Call, str]] = [
    (("read", {"file": "work.txt", "first": 3, "last": 3}), "    3 sleep 0.06"),
    (("read", {"file": "../secret"}), "There is no text file"),
    (("read", {"file": "check.txt"}), "the judge's own"),
    (("search", {"text": "sleep"}), "work.txt:3: sleep 0.06"),
    (("edit", {"file": "check.txt", "search": "the judge's own", "replace": "yes"}), "may be edited"),
    (("edit", {"file": "../x.txt", "search": "", "replace": "x"}), "You may not create the file"),
    (("edit", {"file": "check2.txt", "search": "", "replace": "x"}), "You may not create the file"),
    (("edit", {"file": "sub/more.txt", "search": "", "replace": "x"}), "Done."),
    (("undo", {}), "are discarded"),
    (("edit", {"file": "work.txt", "search": "", "replace": "x"}), "already exists"),
    (("edit", {"file": "work.txt", "search": "0.06", "replace": "0.05"}), "Done."),
    (("read", {"file": "work.txt", "first": 3, "last": 3}), "    3 sleep 0.05"),
    (("undo", {}), "are discarded"),
    (("edit", {"file": "work.txt", "search": "sleep 9", "replace": "x"}), "do not occur exactly once, but 0 times."),
    (("edit", {"file": "work.txt"}), "edit: argument 'search': it is missing."),
    (("shell", {"command": "rm -rf /"}), "There is no tool shell."),
    (("submit", {"title": "nothing"}), "Nothing is edited."),
    (("top", {"by": "function"}), "slow"),
    (("what_if", {"nonsense": 1}), "what_if: argument 'place': it is missing."),
    (("patch", {}), "Nothing is edited."),
    (("time", {}), "Nothing is edited."),
]  # fmt: skip


def test_tools_answer_and_never_fail(tmp_path: Path) -> None:
    played = Played(tmp_path, [*([call] for call, _ in ANSWERS), [FINISH]])
    played.run()
    for (call, said), told in zip(ANSWERS, played.told, strict=True):
        assert said in told, call


def test_arguments_that_are_no_json_are_told(tmp_path: Path) -> None:
    played = Played(tmp_path, [])

    def script(request: Request) -> Iterator[str | ToolCall]:
        yield from ([] if request.turns else [ToolCall("c", "edit", '{"file": ')])

    played.run()
    asker = ModelAsker("scripted", Settings(log=False))
    asker._choice = Choice(ScriptedBackend(script, form="structured", calls_tools=True), "")
    outcome = fix(
        project(tmp_path / "again"), [Agent(asker)], sandbox=Unguarded(), profiler=profiler, budget=Budget(rounds=1, timing=5)
    )  # fmt: skip
    assert not outcome.attempts


def test_turns_are_bounded_and_an_end_is_told(tmp_path: Path) -> None:
    played = Played(tmp_path, [[("files", {})]] * 9, Bounds(turns=3))
    assert not played.run().attempts
    assert len(played.model.requests) == 3
    assert "Limit reached: at most 3 turns" in played.agent.notes[0]


def test_a_model_that_has_finished_is_not_asked_again(tmp_path: Path) -> None:
    """What a session has found is shown and applied later without a model, with what it took."""
    first = Played(tmp_path, [[SHORTER, SUBMIT], [FINISH]])
    before = first.run()
    again = Played(tmp_path, [[WRONG, SUBMIT]])
    after = again.run()
    assert before.improved
    assert [each.candidate.id for each in after.accepted] == [each.candidate.id for each in before.accepted]
    assert after.complete
    assert again.model.requests == []
    assert [each for each in after.remarks if each.startswith("agent: ")] == first.agent.notes


@pytest.mark.parametrize("turns", [[[SHORTER, SUBMIT], [("files", {})]], []])
def test_a_model_that_was_stopped_goes_on_when_the_command_is_given_again(
    tmp_path: Path, turns: list[list[Call]]
) -> None:
    Played(tmp_path, turns, Bounds(turns=len(turns))).run()
    again = Played(tmp_path, [[FINISH]])
    again.run()
    assert len(again.model.requests) == 1


def test_the_same_edits_are_judged_once(tmp_path: Path) -> None:
    played = Played(tmp_path, [[SHORTER, WRONG, SUBMIT], [SUBMIT], [FINISH]])
    assert len(played.run().attempts) == 1
    assert "Judged before" in played.told[3]


def test_what_could_not_be_timed_may_be_submitted_again(tmp_path: Path) -> None:
    played = Played(tmp_path, [[SHORTER, SUBMIT], [SUBMIT], [FINISH]])
    assert [each.verdict for each in played.run(seconds=0.01).attempts] == [Verdict.INVALID, Verdict.INVALID]
    assert "submit them again as they are" in played.told[1]


def test_the_same_edits_with_another_claim_are_judged_again(tmp_path: Path) -> None:
    other: Call = ("submit", {"title": "sleep less", "functions": ["other"]})
    played = Played(tmp_path, [[SHORTER, WRONG, SUBMIT], [other], [FINISH]])
    assert [each.candidate.claims for each in played.run().attempts] == [("slow",), ("other",)]


def test_after_an_edit_that_failed_nothing_is_built_or_submitted_in_that_turn(tmp_path: Path) -> None:
    missing: Call = ("edit", {"file": "work.txt", "search": "sleep 9", "replace": "x"})
    played = Played(tmp_path, [[SHORTER, missing, ("check", {}), SUBMIT], [FINISH]])
    assert not played.run().attempts
    assert played.told[2] == played.told[3] == "Not done: an earlier edit failed."


def test_undo_takes_back_an_edit_that_failed(tmp_path: Path) -> None:
    missing: Call = ("edit", {"file": "work.txt", "search": "sleep 9", "replace": "x"})
    played = Played(tmp_path, [[missing, ("undo", {}), SHORTER, SUBMIT], [FINISH]])
    assert [each.verdict for each in played.run().attempts] == [Verdict.ACCEPTED]


def test_a_model_without_tools_is_told_to_be_none_for_this(tmp_path: Path) -> None:
    played = Played(tmp_path, [[FINISH]])
    asker = ModelAsker("scripted", Settings(log=False))
    asker._choice = Choice(ScriptedBackend("silent"), "")
    agent = Agent(asker)
    fix(project(played.folder), [agent], sandbox=Unguarded(), profiler=profiler, budget=Budget(rounds=1, timing=5))
    assert "cannot call tools" in agent.notes[0]


def test_what_a_critic_finds_wrong_is_told_once_before_the_gates_judge(tmp_path: Path) -> None:
    played = Played(tmp_path, [[SHORTER, SUBMIT], [SUBMIT], [FINISH]])
    critic = Questioned("BAD: it sleeps less.")
    assert [each.verdict for each in played.run(Manner(), critic).attempts] == [Verdict.ACCEPTED]
    assert "it sleeps less." in played.told[1]
    assert "+sleep 0.03" in critic.asked[0].user
    assert len(critic.asked) == 1


def test_the_catalogue_guides_where_it_is_asked_to(tmp_path: Path) -> None:
    own, told = Played(tmp_path / "own", [[FINISH]]), Played(tmp_path / "catalogue", [[FINISH]])
    own.run()
    told.run(Manner(guidance="catalogue"))
    assert "suggestion: " not in own.model.requests[0].user
    assert "suggestion: " in told.model.requests[0].user


def test_hypotheses_of_a_report_are_told(tmp_path: Path) -> None:
    played = Played(tmp_path, [[FINISH]])
    where = PlaceRecord(function="slow", file="work.txt", line=3, kernel=None, path=[])
    one = HypothesisRecord(
        id="H1", cause="blocking-wait", name="Sleeps", where=where, mechanism="It sleeps.", cites=[], against=[],
        confidence="likely", share=0.9, trial=None, change=[], status="suspected", by="a model",
    )  # fmt: skip
    played.run(Manner(hypotheses=(one,)))
    assert "H1 Sleeps (likely) in slow work.txt: It sleeps." in played.model.requests[0].user


def test_a_function_is_claimed_as_the_finding_there_or_as_its_time() -> None:
    profile = chathpc.load(Path(__file__).parents[3] / "examples/omp-triangle/database")
    diagnosis = diagnose(profile)
    first = diagnosis.findings[0]
    assert claimed(profile, diagnosis, str(first.where.function)) == first
    assert claimed(profile, diagnosis, f"__module_MOD_{first.where.function}") == first
    assert claimed(profile, diagnosis, "no_such_function") == first
    assert claimed(profile, diagnosis, "jacobi_sweep", str(first.where.function)) == first
    other = claimed(profile, diagnosis, "no_such_function", "jacobi_sweep")
    assert other is not None
    rows = profile.table("function", "cpu.time")
    inclusive = rows[rows["name"] == "jacobi_sweep"]["inclusive"].max()
    assert other.share == pytest.approx(inclusive / profile.total("cpu.time"))
    assert other.where.function == "jacobi_sweep"


def test_tabs_of_a_source_are_shown_as_they_are() -> None:
    assert clean_lines("\tif (a)\x07\n\t\tb();\n") == "\tif (a)\ufffd\n\t\tb();"
