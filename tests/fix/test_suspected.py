"""Changes that a report's hypotheses propose: where they apply, and what a trial makes of the hypotheses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chathpc.errors import UsageError
from chathpc.fix.loop import Budget, fix
from chathpc.fix.suspected import applied, decided, named_hypotheses, read_report, with_changes
from chathpc.report import EditRecord, HypothesisRecord, PlaceRecord, Report
from tests.fix.parts import Unguarded
from tests.fix.shell_project import profiler, project
from tests.reports.sample import sample


def hypothesis(id: str, *change: tuple[str, str], file: str = "work.txt") -> HypothesisRecord:
    return HypothesisRecord(
        id=id,
        cause="expensive-math",
        name="Expensive mathematical functions",
        where=PlaceRecord(function="slow"),
        mechanism="",
        cites=[],
        against=[],
        confidence="likely",
        share=0.5,
        trial="change",
        change=[EditRecord(file=file, search=search, replace=replace) for search, replace in change],
        status="suspected",
        by="a model",
    )


def report(*hypotheses: HypothesisRecord) -> Report:
    return sample().model_copy(update={"hypotheses": list(hypotheses)})


def test_a_trial_proves_refutes_or_leaves_undecided(tmp_path: Path) -> None:
    told = report(
        hypothesis("H1", ("sleep 0.06", "sleep 0.03")),  # half of the time, and of what was diagnosed
        hypothesis("H2", ("sleep 0.06", "sleep 0.03\nsleep 0.05")),  # what was diagnosed is gone, the time is not
        hypothesis("H3", ("echo sum 1.5 of $1", "echo sum 1.6 of $1")),  # another answer
        hypothesis("H4", ("sleep 99", "sleep 0")),  # stands nowhere
        hypothesis("H5"),  # proposes nothing
    )
    budget = Budget(rounds=1, timing=5)
    outcome = fix(
        project(tmp_path),
        with_changes(named_hypotheses(told, ()), alone=True),
        sandbox=Unguarded(),
        profiler=profiler,
        budget=budget,
    )
    after = decided(told, outcome.attempts)
    assert {each.id: each.status for each in after.hypotheses} == {
        "H1": "proved",
        "H2": "refuted",
        "H3": "undecided",
        "H4": "suspected",
        "H5": "suspected",
    }
    assert after.model_copy(update={"hypotheses": told.hypotheses}) == told
    assert [each.candidate.title[:2] for each in outcome.accepted] == ["H1"]


def test_an_edit_applies_where_its_text_stands_once_whatever_the_tabs() -> None:
    sources = {"src/a.c": "int f(void)\n{\n\treturn 1;\n}\n", "src/b.c": "x\nx\n"}
    change = [EditRecord(file="a.c", search="    return 1;", replace="    return 2;")]
    assert applied(change, sources) == {"src/a.c": "int f(void)\n{\n    return 2;\n}\n"}
    assert applied([EditRecord(file="b.c", search="x", replace="y")], sources) == {}
    assert applied([EditRecord(file="c.c", search="x", replace="y")], sources) == {}
    twice = [*change, EditRecord(file="a.c", search="int f(void)", replace="long f(void)")]
    assert applied(twice, sources)["src/a.c"].startswith("long f(void)\n{\n    return 2;")


def test_which_hypotheses_are_tried() -> None:
    told = report(hypothesis("H1", ("a", "b")), hypothesis("H2", ("c", "d")), hypothesis("H3"))
    assert [each.id for each in with_changes(named_hypotheses(told, ()), alone=True)[0].hypotheses] == ["H1", "H2"]
    assert [each.id for each in with_changes(named_hypotheses(told, ("H2",)), alone=True)[0].hypotheses] == ["H2"]
    for ids in (("H9",), ("H3",)):
        with pytest.raises(UsageError):
            with_changes(named_hypotheses(told, ids), alone=True)
    with pytest.raises(UsageError):
        with_changes(named_hypotheses(report(), ()), alone=True)
    assert with_changes(named_hypotheses(report(), ()), alone=False) == ()


def test_only_a_report_is_read(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    told = report(hypothesis("H1", ("a", "b")))
    file.write_text(told.to_json())
    assert read_report(file) == told
    for text in ("", "[]", '{"schema": "chathpc-report/2"}'):
        file.write_text(text)
        with pytest.raises(UsageError, match="not a JSON report"):
            read_report(file)
    with pytest.raises(UsageError):
        read_report(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": "chathpc-report/1"}, "schema: expected 'chathpc-report/2', found 'chathpc-report/1'"),
        ({"findings": 3}, "findings: expected a list, found 3"),
        ({"verdicts": []}, "verdicts: there is no such key"),
    ],
)
def test_a_file_that_is_no_report_is_told_by_its_first_wrong_key(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    file = tmp_path / "report.json"
    file.write_text(json.dumps(json.loads(sample().to_json()) | change), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_report(file)
    assert said in caught.value.message
    file.write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match="is not a JSON report: not JSON"):
        read_report(file)
