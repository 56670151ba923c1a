"""What a model that reads looks up before it answers: it only reads, it is bounded, and what it showed may be named."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

import chathpc
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.facts import Facts
from chathpc.llm.backend import ToolCall
from chathpc.reading.look import LINES, TOOLS, Looking
from chathpc.reading.question import Question, question

EXAMPLES = Path(__file__).parents[2] / "examples"


@cache
def _asked(name: str) -> tuple[Question, Facts]:
    profile = chathpc.load(EXAMPLES / name / "database")
    facts = Facts(profile)
    return question(profile, facts, diagnose(profile, facts), "100.0% main", source=False), facts


def looking(name: str = "omp-triangle") -> Looking:
    return Looking(*_asked(name))


def told(look: Looking, tool: str, wanted: object) -> list[str]:
    """The lines between the marks."""
    return look(ToolCall("1", tool, json.dumps({"x": wanted}))).splitlines()[1:-1]


def written(name: str, file: str) -> list[str]:
    return next((EXAMPLES / name / "program").rglob(file)).read_text().splitlines()


def test_a_function_is_shown_by_its_name_with_the_lines_of_its_file() -> None:
    shown = told(looking(), "source", "triangular_work")
    source = written("omp-triangle", "stencil_omp.c")
    assert shown[0] == "stencil_omp.c:"
    numbered = [line.split(None, 1) for line in shown[1:] if line.strip() != "…"]
    assert any("triangular_work" in code for _, code in numbered)
    assert all(code.strip() in source[int(number) - 1] for number, code in numbered)


def test_lines_are_shown_by_file_and_numbers_and_no_more_than_one_call_may() -> None:
    source = written("omp-triangle", "stencil_omp.c")
    shown = told(looking(), "source", "stencil_omp.c:1-100000")
    numbers = [int(line.split()[0]) for line in shown[1:] if line.strip() != "…"]
    assert numbers
    assert max(numbers) <= min(LINES, len(source))


def test_what_was_shown_may_be_named_afterwards_and_not_before() -> None:
    look = looking()
    assert "total" not in look.question.shown.names()
    told(look, "source", "triangular_work")
    assert "total" in look.question.shown.names()
    assert look.question.vocabulary.knows("total")


def test_a_text_is_found_where_the_source_has_it_outside_comments() -> None:
    source = written("omp-triangle", "stencil_omp.c")
    hits = told(looking(), "search", "omp parallel for")
    numbers = {int(line.split()[0]) for line in hits[1:] if line.strip() != "…"}
    assert numbers == {at for at, line in enumerate(source, 1) if "omp parallel for" in line.split("//")[0]}


def test_callers_are_told_with_the_share_below_each_call() -> None:
    look = looking("cpp-hoist")
    facts = _asked("cpp-hoist")[1]
    name = str(facts.profile.table("function").iloc[0]["name"]).split("(")[0]
    row = facts.profile.table("function")
    inclusive = row[row["name"].str.startswith(name)]["inclusive"].max()
    shares = [float(line.split(": ")[1].split(" %")[0]) for line in told(look, "callers", name)]
    assert shares
    assert sum(shares) == pytest.approx(100 * inclusive / facts.total, abs=1.0)


def test_an_entry_of_the_catalogue_is_told_by_its_id() -> None:
    assert told(looking(), "cause", "omp-load-imbalance")[0] == "OpenMP load imbalance"


@pytest.mark.parametrize(
    ("tool", "wanted"),
    [
        ("source", "/etc/passwd:1-20"),
        ("source", "../../setup.cfg:1-5"),
        ("source", "no_such_function"),
        ("cause", "nothing"),
        ("callers", ""),
        ("run", "rm -rf /"),
        ("search", "\x00"),
    ],
)
def test_what_is_not_there_is_told_in_a_sentence(tool: str, wanted: str) -> None:
    assert told(looking(), tool, wanted) in (
        ["Nothing has that name."],
        ["There is no such tool, or it was asked for nothing."],
    )


@pytest.mark.parametrize("arguments", ["", "[]", "{", '{"x": {"y": 1}}', "[" * 100_000, "null"])
def test_arguments_that_are_none_are_answered(arguments: str) -> None:
    for tool in TOOLS:
        assert looking()(ToolCall("1", str(tool["name"]), arguments)).startswith("<<result of")
