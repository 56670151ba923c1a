from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from chathpc.bench.case import Case, Label, Split, Spot, split_of
from chathpc.bench.folders import find_cases
from chathpc.bench.truth import family_of, read_label
from chathpc.errors import AdapterError, UsageError
from tests.bench.labelled import case


def labelled(folder: Path, **truth: Any) -> Case:
    (found,) = read_label(case(folder, **truth), "set")
    return found


def test_a_label_with_nothing_but_a_cause_has_the_documented_defaults(tmp_path: Path) -> None:
    (tmp_path / "truth.json").write_text('{"cause": "io-bound"}')
    (found,) = read_label(tmp_path, "set")
    assert found.paths == (tmp_path / "database",)
    assert (found.right, found.label, found.family, found.origin) == ({"io-bound"}, Label.PLANTED, "host", "set")
    assert found.visible
    assert not found.healthy
    assert found.spots == ()
    assert found.has_fault


def test_all_places_of_a_label_may_be_named(tmp_path: Path) -> None:
    found = labelled(
        tmp_path / "a",
        where={"function": "f", "file": "a.c", "lines": [3, 5]},
        other_places=[{"kernel": "k"}],
        acceptable_functions=["main"],
        notes="is not read",
    )
    assert found.spots == (Spot("f", "a.c", 3, 5), Spot("k"), Spot("main"))


def test_a_healthy_program_is_right_if_it_is_called_healthy_whatever_its_time_goes_to(tmp_path: Path) -> None:
    found = labelled(tmp_path / "a", cause="memory-bandwidth", healthy=True)
    assert found.right == {"memory-bandwidth", "healthy", "hot-spot"}
    assert (found.family, found.has_fault) == ("healthy", False)


def test_to_name_what_cannot_be_seen_is_not_right_but_to_claim_nothing_is(tmp_path: Path) -> None:
    found = labelled(tmp_path / "a", cause="omp-false-sharing", visible_in_profile=False)
    assert found.right == {"hot-spot", "suspected", "insufficient-data"}
    assert not found.has_fault


def test_of_two_equal_faults_either_may_come_first(tmp_path: Path) -> None:
    second = {"cause": "io-bound", "where": {"function": "save"}}
    one = labelled(tmp_path / "a", second=second)
    assert (one.right, one.second, one.spots) == ({"allocation-churn"}, "io-bound", ())
    both = labelled(tmp_path / "b", second={**second, "either_first": True})
    assert (both.right, both.spots) == ({"allocation-churn", "io-bound"}, (Spot("save"),))


def test_a_repaired_program_is_a_case_of_its_own_of_which_only_the_absence_is_known(tmp_path: Path) -> None:
    folder = case(tmp_path / "a", profiles=["database"], split="held-out")
    (folder / "database-fixed").mkdir()
    fault, twin = read_label(folder, "set")
    assert twin.paths == (folder / "database-fixed",)
    assert (twin.label, twin.right, twin.wrong) == (Label.TWIN, frozenset(), {"allocation-churn"})
    assert twin.split == fault.split == Split.HELD_OUT
    assert not twin.has_fault


def test_a_series_of_runs_is_left_out_and_named(tmp_path: Path) -> None:
    case(tmp_path / "one")
    case(tmp_path / "series", kind="scaling-series")
    found = find_cases([tmp_path])
    assert [each.name for each in found.cases] == ["one"]
    assert [name for name, _ in found.left_out] == ["series"]


def test_an_experts_notes_are_a_label(tmp_path: Path) -> None:
    (tmp_path / "NOTES.json").write_text(
        json.dumps(
            {
                "expected_causes": ["memory-latency"],
                "acceptable_causes": ["hot-compute"],
                "wrong_causes": ["io-bound"],
                "app": "XSBench",
            }
        )
    )
    (found,) = read_label(tmp_path, "apps")
    assert (found.label, found.cause, found.right) == (
        Label.EXPERT, "memory-latency", {"memory-latency", "hot-compute"}
    )  # fmt: skip
    assert found.wrong == {"io-bound"}
    assert found.has_fault


def test_what_is_null_in_a_label_is_not_there(tmp_path: Path) -> None:
    found = labelled(tmp_path / "a", acceptable=None, where={"function": "f", "lines": None}, second=None, split=None)
    assert (found.right, found.spots, found.second) == ({"allocation-churn"}, (Spot("f"),), None)


def test_an_expert_may_have_nothing_but_acceptable_causes_but_must_have_some(tmp_path: Path) -> None:
    (tmp_path / "NOTES.json").write_text('{"expected_causes": [], "acceptable_causes": ["healthy"]}')
    (found,) = read_label(tmp_path, "apps")
    assert (found.cause, found.healthy, found.family) == ("healthy", True, "healthy")
    (tmp_path / "NOTES.json").write_text('{"expected_causes": []}')
    with pytest.raises(AdapterError, match="are empty"):
        read_label(tmp_path, "apps")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("{}", "cause"),
        ('{"cause": 3}', "cause"),
        ('{"cause": "Memory Leak"}', "cause"),
        ('{"cause": "io-bound", "healthy": "no"}', "healthy"),
        ('{"cause": "io-bound", "acceptable": "healthy"}', "acceptable"),
        ('{"cause": "io-bound", "where": {"lines": [5, 3]}}', "where.lines"),
        ('{"cause": "io-bound", "where": {"lines": [5]}}', "where.lines"),
        ('{"cause": "io-bound", "split": "test"}', "split"),
        ('{"cause": "io-bound", "profiles": []}', "profiles"),
        ('{"cause": "io-bound", "profiles": ["../../etc"]}', "profiles"),
        ('{"cause": "io-bound", "profiles": ["/etc/passwd"]}', "profiles"),
        ('{"cause": "io-bound", "second": {}}', "second.cause"),
        ("[]", "expected keys with values"),
    ],
)
def test_a_label_that_breaks_the_schema_is_refused_with_file_and_key(tmp_path: Path, text: str, key: str) -> None:
    (tmp_path / "truth.json").write_text(text)
    with pytest.raises(AdapterError) as error:
        read_label(tmp_path, "set")
    assert f"truth.json: {key}" in error.value.message
    assert "labelled-profiles.md" in error.value.hint


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\0", '{"cause": ' + "9" * 5000 + "}"])
def test_a_label_that_is_no_json_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "truth.json").write_text(text)
    with pytest.raises(AdapterError):
        read_label(tmp_path, "set")


def test_a_label_of_megabytes_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "truth.json").write_text('{"cause": "io-bound", "why": "' + "x" * (1 << 20) + '"}')
    with pytest.raises(AdapterError):
        read_label(tmp_path, "set")


def test_the_half_of_a_case_without_one_is_by_the_first_byte_of_a_hash_of_its_name(tmp_path: Path) -> None:
    names = [f"case-{number}" for number in range(200)]
    halves = [split_of(name) for name in names]
    for name, half in zip(names, halves, strict=True):
        even = int(hashlib.sha256(name.encode()).hexdigest()[:2], 16) % 2 == 0
        assert half == ("seen" if even else "held-out")
    assert 70 < halves.count(Split.SEEN) < 130
    assert labelled(tmp_path / "case-1").split == halves[1]


def test_a_cause_that_the_catalogue_lacks_has_no_family() -> None:
    assert family_of("cosmic-rays", healthy=False) == "other"
    assert family_of("mpi-late-sender", healthy=False) == "mpi"
    assert family_of("mpi-late-sender", healthy=True) == "healthy"
    assert family_of("insufficient-data", healthy=False) == "insufficient-data"


# -- folders -------------------------------------------------------------------------------------------------


def test_cases_lie_in_the_folder_or_up_to_three_levels_below(tmp_path: Path) -> None:
    case(tmp_path / "a" / "b" / "near")
    case(tmp_path / "a" / "b" / "c" / "d" / "far")
    case(tmp_path / "a" / "b" / "near" / "inside")  # belongs to the case above it
    assert [each.name for each in find_cases([tmp_path / "a"]).cases] == ["near"]
    assert [each.group for each in find_cases([tmp_path / "a" / "b" / "near"]).cases] == ["near"]


def test_the_order_of_cases_is_by_set_and_name_and_equal_names_are_told_apart(tmp_path: Path) -> None:
    for folder in ("one/b", "one/a", "two/a"):
        case(tmp_path / folder)
    found = find_cases([tmp_path / "two", tmp_path / "one"])
    assert [each.name for each in found.cases] == ["two/a", "one/a", "b"]


def test_sets_with_equal_names_are_numbered(tmp_path: Path) -> None:
    case(tmp_path / "x" / "set" / "a")
    case(tmp_path / "y" / "set" / "b")
    found = find_cases([tmp_path / "x" / "set", tmp_path / "y" / "set"])
    assert [each.group for each in found.cases] == ["set", "set-2"]


def test_one_half_can_be_asked_for(tmp_path: Path) -> None:
    case(tmp_path / "a", split="seen")
    case(tmp_path / "b", split="held-out")
    assert [each.name for each in find_cases([tmp_path], Split.HELD_OUT).cases] == ["b"]


def test_a_folder_without_labels_is_wrong_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="No labelled profile"):
        find_cases([tmp_path])
    with pytest.raises(UsageError, match="There is no folder"):
        find_cases([tmp_path / "missing"])
    case(tmp_path / "a")
    monkeypatch.setattr("chathpc.bench.folders.MOST_FOLDERS", 1)
    with pytest.raises(UsageError, match="too many folders"):
        find_cases([tmp_path])
