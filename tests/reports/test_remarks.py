"""Findings as remarks on lines of source, in the forms that GitHub, GitLab and SARIF's readers take."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from chathpc.report import FindingRecord
from chathpc.reports import renderers
from chathpc.reports.remarks import in_repository, remarks
from chathpc.reports.style import Style
from tests.reports.sample import sample
from tests.reports.test_hostile import HOSTILE, everywhere


def test_a_sarif_log_has_what_the_specification_asks_for() -> None:
    log = json.loads(renderers()["sarif"](sample(), Style()))
    assert log["version"] == "2.1.0"  # 3.13.2
    (run,) = log["runs"]  # 3.13.4
    driver = run["tool"]["driver"]  # 3.14.6, 3.18.2, 3.19.8
    rules = driver["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert len(run["results"]) == len(sample().findings)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]  # 3.27.6
        assert result["level"] in ("none", "note", "warning", "error")  # 3.27.10
        assert result["message"]["text"]  # 3.27.11
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("stencil_omp.c")
    assert place["region"]["startLine"] == 47  # 3.30.5: from 1 on


@pytest.mark.parametrize("form", ["sarif", "github", "gitlab", "text"])
def test_every_format_tells_the_change_that_the_source_needs(form: str) -> None:
    text = " ".join(renderers()[form](sample(), Style(width=200, verbose=True)).split())
    assert "stencil_omp.c:46: Give the loop schedule(guided) (untested)" in text.replace("%3A", ":")


def test_what_a_model_suspects_is_a_note() -> None:
    report = sample(reader="big at models.example.org")
    log = json.loads(renderers()["sarif"](report, Style()))
    levels = [result["level"] for result in log["runs"][0]["results"]]
    assert levels == ["warning"] * len(report.findings) + ["note"] * len(report.suspected)
    assert "::notice file=" in renderers()["github"](report, Style())
    assert {each["severity"] for each in json.loads(renderers()["gitlab"](report, Style()))} >= {"major", "info"}


def test_github_gets_one_command_a_line() -> None:
    lines = renderers()["github"](sample(), Style()).splitlines()
    assert len(lines) == len(sample().findings) + 1
    assert re.match(r"::warning file=\S*stencil_omp\.c,line=47,title=OpenMP load imbalance::", lines[0])


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_begin_no_command_and_stay_in_their_field(text: str) -> None:
    report = everywhere(text)
    for line in renderers()["github"](report, Style()).splitlines():
        assert re.match(r"::(warning|notice) (file=[^:,]*,)?(line=\d+,)?title=[^:,]*::", line)
    for form in ("sarif", "gitlab"):
        json.loads(renderers()[form](report, Style()))


def test_gitlab_gets_unique_fingerprints_that_do_not_depend_on_lines() -> None:
    entries = json.loads(renderers()["gitlab"](sample(), Style()))
    assert {"description", "check_name", "fingerprint", "severity", "location"} == set(entries[0])
    assert entries[0]["location"]["lines"] == {"begin": 47}
    assert len({each["fingerprint"] for each in entries}) == len(entries)
    report = sample()
    moved = report.findings[0].model_copy(update={"where": report.findings[0].where.model_copy(update={"line": 99})})
    again = json.loads(
        renderers()["gitlab"](report.model_copy(update={"findings": [moved, *report.findings[1:]]}), Style())
    )
    assert [each["fingerprint"] for each in again] == [each["fingerprint"] for each in entries]


def test_files_of_the_repository_are_found_by_the_paths_that_were_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("here/app/a.c", "here/app/twice.c", "here/lib/twice.c", "else/b.c"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("int x;\n")
    monkeypatch.chdir(tmp_path / "here")
    report = sample()
    first = report.findings[0]

    def at(file: str) -> FindingRecord:
        return first.model_copy(update={"where": first.where.model_copy(update={"file": file})})

    names = ["/build/tmp/a.c", "/build/twice.c", "/build/lib/twice.c", "/build/b.c"]
    report = report.model_copy(update={"findings": [at(name) for name in names], "hypotheses": []})
    found = [each.file for each in remarks(in_repository(report, [tmp_path / "else"]))]
    assert found == ["app/a.c", "/build/twice.c", "lib/twice.c", str(tmp_path / "else" / "b.c")]


def test_files_below_the_current_folder_are_named_as_a_repository_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = sample()
    first = report.findings[0]
    places = [str(tmp_path / "src" / "a b.c"), "/elsewhere/a.c", "src/a.c"]
    found = [first.model_copy(update={"where": first.where.model_copy(update={"file": file})}) for file in places]
    report = report.model_copy(update={"findings": found, "hypotheses": []})
    assert [each.file for each in remarks(report)] == ["src/a b.c", "/elsewhere/a.c", "src/a.c"]
    results = json.loads(renderers()["sarif"](report, Style()))["runs"][0]["results"]
    uris = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results]
    assert uris == ["src/a%20b.c", "file:///elsewhere/a.c", "src/a.c"]
