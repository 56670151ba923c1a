"""`chathpc patterns`: list, show, search, and patterns of the user's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from chathpc.diagnosis.catalogue import causes, ids
from tests.commands.conftest import Result
from tests.diagnosis.test_own_patterns import entry

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("CHATHPC_PATTERNS", raising=False)


def folder_with_entry(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "acme-plans.yaml").write_text(yaml.safe_dump(entry()), encoding="utf-8")
    return folder


def test_list_shows_every_pattern_under_its_family(run: Run) -> None:
    result = run("patterns", "list")
    assert result.code == 0
    assert all(id in result.out for id in ids())
    assert result.out.index("Host code") < result.out.index("page-faults") < result.out.index("OpenMP\n")


def test_list_as_json_has_one_object_an_entry(run: Run) -> None:
    found = json.loads(run("patterns", "list", "--family", "mpi", "--format", "json").out)
    assert [each["id"] for each in found] == [each.id for each in causes() if each.family == "mpi"]
    assert set(found[0]) == {"id", "title", "family", "detected", "headroom", "origin"}


def test_an_unknown_family_is_refused_with_those_there_are(run: Run) -> None:
    result = run("patterns", "list", "--family", "fpga")
    assert (result.code, result.out) == (2, "")
    assert "gpu-kernel" in result.err


@pytest.mark.parametrize("each", causes(), ids=lambda each: each.id)
def test_show_tells_all_of_an_entry(run: Run, each) -> None:
    result = run("patterns", "show", each.id)
    assert result.code == 0
    plain = "".join(result.out.split())
    texts = [each.title, each.what, each.why, each.gain, *each.evidence, *each.speaks_against, *each.references]
    texts += [advice.do for advice in each.advice] + [threshold.source for threshold in each.thresholds.values()]
    assert [text for text in texts if "".join(text.split()) not in plain] == []


def test_show_as_json_holds_thresholds_with_unit_and_source(run: Run) -> None:
    shown = json.loads(run("patterns", "show", "page-faults", "--format", "json").out)
    assert shown["thresholds"]["min_share"]["unit"] == "share"
    assert shown["advice"][0]["applies"]
    assert shown["next_measurement"]["command"]


def test_show_of_an_unknown_id_names_a_near_one(run: Run) -> None:
    result = run("patterns", "show", "page-fault")
    assert result.code == 2
    assert "page-faults" in result.err


def test_search_prints_the_best_first(run: Run) -> None:
    result = run("patterns", "search", "false", "sharing", "-n", "3")
    assert result.out.split()[0] == "omp-false-sharing"
    found = json.loads(run("patterns", "search", "false", "sharing", "-n", "3", "--format", "json").out)
    assert len(found) == 3
    assert (found[0]["id"], found[0]["words"]) == ("omp-false-sharing", ["false", "sharing"])


def test_search_without_a_hit_fails_and_prints_an_empty_list(run: Run) -> None:
    result = run("patterns", "search", "zzzzqqq", "--format", "json")
    assert (result.code, json.loads(result.out)) == (1, [])
    assert "No pattern matches: zzzzqqq" in result.err


def test_patterns_are_taken_from_option_variable_and_the_users_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("patterns", "show", "acme-plans").code == 2
    folder = folder_with_entry(tmp_path / "mine")
    assert "From" in run("patterns", "show", "acme-plans", "--patterns", str(folder)).out
    monkeypatch.setenv("CHATHPC_PATTERNS", str(folder))
    assert run("patterns", "show", "acme-plans").code == 0
    monkeypatch.delenv("CHATHPC_PATTERNS")
    folder_with_entry(tmp_path / "config" / "chathpc" / "patterns")
    listed = run("patterns", "list").out
    assert "your own" in listed
    assert "acme-plans" in run("patterns", "search", "FFT").out


def test_patterns_of_a_project_file_are_not_taken(run: Run, tmp_path: Path) -> None:
    (tmp_path / "chathpc.yaml").write_text("patterns: mine\n", encoding="utf-8")
    folder_with_entry(tmp_path / "mine")
    result = run("patterns", "list")
    assert result.code == 0
    assert "acme-plans" not in result.out


def test_a_wrong_file_is_told_by_file_and_key(run: Run, tmp_path: Path) -> None:
    folder = folder_with_entry(tmp_path / "mine")
    (folder / "acme-plans.yaml").write_text("id: acme-plans\n", encoding="utf-8")
    result = run("patterns", "list", "--patterns", str(folder))
    assert (result.code, result.out) == (2, "")
    assert "acme-plans.yaml" in result.err


def test_a_narrow_ascii_terminal_shows_it_as_well(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("COLUMNS", "40")
    for arguments in (("list",), ("show", "omp-load-imbalance"), ("search", "wait")):
        result = run("patterns", *arguments)
        assert result.code == 0
        assert result.out.isascii()


@pytest.mark.parametrize("each", causes(), ids=lambda each: each.id)
def test_show_keeps_the_indentation_of_code(run: Run, each) -> None:
    lines = run("patterns", "show", each.id).out.splitlines()
    for advice in each.advice:
        for code in (advice.example_before, advice.example_after):
            if code:
                expected = [f"       {line.rstrip()}".rstrip() for line in code.rstrip().expandtabs(4).splitlines()]
                assert any(lines[at : at + len(expected)] == expected for at in range(len(lines)))


def test_a_command_of_several_lines_keeps_them(run: Run, tmp_path: Path) -> None:
    folder = folder_with_entry(tmp_path / "own")
    own = entry()
    own["next_measurement"]["command"] = "for n in 1 2; do\n    ./app $n\ndone\n"
    (folder / "acme-plans.yaml").write_text(yaml.safe_dump(own), encoding="utf-8")
    out = run("patterns", "show", "acme-plans", "--patterns", str(folder)).out
    assert "\n   for n in 1 2; do\n       ./app $n\n   done\n" in out
