"""No recording of a large model is stale: each asks what would be asked today, and its figures are those that are published."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import chathpc
from chathpc.diagnosis.command import program_of
from chathpc.errors import ChathpcError
from chathpc.llm.recorded import Recording
from chathpc.report import Report
from tests.accuracy.generate import Case, cases
from tests.conformance.test_diagnosis import DATA

RECORDINGS = Path(__file__).parents[1] / "recordings"
PLANTED = sorted(path for path in DATA.glob("planted/p*/database*") if path.is_dir())
APPS = sorted(DATA.glob("apps/*/database"))
#: Of the generated profiles of the held-out half one in eight, by the digits of its name: all of them take minutes.
GENERATED = [case for case in cases() if case.split == "held-out" and int(case.name[1:], 16) % 8 == 0]
#: Answers of each recording: a set's cases without those that nobody is asked about, since there is too little data.
ANSWERS = {"planted.jsonl": 43, "apps.jsonl": 11, "generated-held-out.jsonl": 108}
RENEW = "chathpc bench diagnosis SET --llm openai:MODEL --record FILE"


def replayed(recording: str, *paths: Path) -> Report:
    """The report with what the model read, and a failure by the profile's name where the recording is stale."""
    profile = chathpc.load(*paths)
    report = chathpc.explain(profile, llm=f"replay:{RECORDINGS / recording}")
    note = report.explanation.note or ""
    assert "has no answer to this question" not in note, f"{recording} is stale: {paths[0].parent.name}. {RENEW}"
    for each in report.hypotheses:
        assert bool(each.measurement) == (each.trial not in (None, "change", "other"))
        assert "./app" not in each.measurement or program_of(profile).words == ("./app",)
    return report


@pytest.mark.parametrize("database", PLANTED, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_planted_programs_are_asked_as_they_were_recorded(database: Path) -> None:
    replayed("planted.jsonl", database)


@pytest.mark.parametrize("database", APPS, ids=lambda path: path.parent.name)
def test_the_mini_apps_are_asked_as_they_were_recorded(database: Path) -> None:
    replayed("apps.jsonl", database)


@pytest.mark.parametrize("case", GENERATED, ids=lambda case: case.name)
def test_generated_profiles_are_asked_as_they_were_recorded(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path / case.name)
    paths = [path for path in sorted((tmp_path / case.name).iterdir()) if path.name != "truth.json"]
    try:
        replayed("generated-held-out.jsonl", *paths)
    except ChathpcError:  # a file that goes with another one
        pytest.skip("read in another way by its label")


@cache
def _answers(name: str) -> int:
    return sum('"key"' in line for line in (RECORDINGS / name).read_text("utf-8").splitlines())


def test_recordings_can_be_read_and_name_their_model() -> None:
    for name, answers in ANSWERS.items():
        assert Recording(RECORDINGS / name).models
        assert _answers(name) == answers
