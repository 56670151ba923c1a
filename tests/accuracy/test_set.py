"""What must hold of the labelled set itself, whatever chathpc makes of it."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from chathpc.diagnosis.catalogue import ids
from tests.accuracy.draw import Draw
from tests.accuracy.generate import Case, cases
from tests.accuracy.measure import CASES, check, programs
from tests.accuracy.recipes import RECIPES
from tests.accuracy.truth import HEALTHY, HELD_OUT, INSUFFICIENT, REQUIRED, SEEN, split_of

#: All profiles are made once.
pytestmark = pytest.mark.xdist_group("generated")

ALL = list(cases())
KEPT = sorted(file.parent.name for file in CASES.glob("*/truth.json"))
LARGEST = 60_000  #: bytes of one committed profile


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / name / "truth.json").read_text())
    return found


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> dict[Case, tuple[Path, dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("generated")
    return {case: (folder / case.name, case.write(folder / case.name)) for case in ALL}


@pytest.fixture(scope="module")
def truths(generated: dict[Case, tuple[Path, dict[str, Any]]]) -> list[dict[str, Any]]:
    return [made for _, made in generated.values()] + [recorded(name) for name in KEPT]


def digest(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


# -- the set as a whole --------------------------------------------------------------------------------------


def test_there_are_enough_cases_causes_and_controls(truths: list[dict[str, Any]]) -> None:
    causes = {each["cause"] for each in truths} - {HEALTHY, INSUFFICIENT}
    assert len(truths) >= 100
    assert len(causes) >= 35
    assert sum(each["healthy"] for each in truths) >= 12
    assert sum("second" in each for each in truths) >= 8
    assert sum(each["cause"] == INSUFFICIENT for each in truths) >= 6
    assert sum(not each["visible_in_profile"] for each in truths) >= 3


def test_the_halves_are_of_one_size_and_hold_the_same_causes(truths: list[dict[str, Any]]) -> None:
    halves = Counter(each["split"] for each in truths)
    assert set(halves) == {SEEN, HELD_OUT}
    assert 0.45 <= halves[SEEN] / halves.total() <= 0.55
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    for case in ALL:
        by_kind[case.recipe.kind][case.split] += 1
    for kind, split in by_kind.items():
        assert abs(split[SEEN] - split[HELD_OUT]) <= 1, kind


def test_the_half_of_a_recorded_program_hangs_on_its_name_alone() -> None:
    for name, spec in programs().items():
        if name in KEPT:
            key = spec["cause"] + ("+" if "second" in spec else "")
            assert recorded(name)["split"] == split_of(key, spec.get("source", name))


def test_every_truth_is_one(generated: dict[Case, tuple[Path, dict[str, Any]]], truths: list[dict[str, Any]]) -> None:
    known = {*ids(), HEALTHY, INSUFFICIENT}
    for each in truths:
        assert set(each) >= REQUIRED
        assert {each["cause"], *each["acceptable"]} <= known
        assert each["cause"] not in each["acceptable"]
        assert each["healthy"] == (each["cause"] == HEALTHY)
        assert 0 <= each["share_of_time"] <= 1
        assert each["why"]
        assert set(each["where"]) == {"function", "file", "lines", "kernel"}
        if "second" in each:
            assert each["second"]["cause"] in known
            assert 0.05 <= each["second"]["share_of_time"] <= 1
    for folder, each in generated.values():
        assert all((folder / name).exists() for name in each["profiles"])
        assert json.loads((folder / "truth.json").read_text()) == each


def test_a_fault_has_a_part_of_the_time_that_is_worth_finding(
    generated: dict[Case, tuple[Path, dict[str, Any]]],
) -> None:
    for _, each in generated.values():
        if each["cause"] not in (HEALTHY, INSUFFICIENT, "memory-leak"):
            assert each["share_of_time"] >= 0.1, each["cause"]


# -- generated cases -----------------------------------------------------------------------------------------


def test_names_of_cases_differ_and_say_nothing() -> None:
    assert len({case.name for case in ALL}) == len(ALL)
    assert not set(KEPT) & {case.name for case in ALL}


def test_the_same_seed_gives_the_same_bytes(generated: dict[Case, tuple[Path, dict[str, Any]]], tmp_path: Path) -> None:
    for case in ALL:
        if case.number == 0:
            case.write(tmp_path / case.name)
            assert digest(tmp_path / case.name) == digest(generated[case][0]), case.recipe.name


def test_another_seed_gives_other_cases(tmp_path: Path) -> None:
    for seed in (5, 6):
        Case(RECIPES["h2d_nsys"], 0, seed).write(tmp_path / str(seed))
    assert digest(tmp_path / "5") != digest(tmp_path / "6")


def test_other_names_change_no_number() -> None:
    first, other = (Draw.of("a", names=names) for names in ("", "x"))
    assert first.names.function() != other.names.function()
    assert [first.real(0, 1), first.whole(1, 9)] == [other.real(0, 1), other.whole(1, 9)]


def test_more_steps_and_threads_change_no_parameter() -> None:
    first, other = Draw.of("a"), Draw.of("a", repeat=2, wider=2)
    assert (other.steps(3, 9), other.width(2, 4)) == (2 * first.steps(3, 9), 2 * first.width(2, 4))
    for draw, count in ((first, 4), (other, 8)):
        assert all(0.9 <= draw.near(1.0, 0.1) <= 1.1 for _ in range(count))
    assert first.real(0, 1) == other.real(0, 1)


def test_no_name_is_given_twice() -> None:
    names = Draw.of("a").names
    assert len({names.word() for _ in range(500)}) == 500


# -- recorded programs ---------------------------------------------------------------------------------------


def test_recorded_programs_stay_small() -> None:
    files = [file for file in CASES.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 4_000_000
    for name in KEPT:
        assert all((CASES / name / profile).stat().st_size < LARGEST for profile in recorded(name)["profiles"]), name


@pytest.mark.parametrize("name", KEPT)
def test_a_recorded_program_says_where_its_fault_is(name: str) -> None:
    spec, each = programs()[name], recorded(name)
    source = CASES / spec.get("source", name) / "program" / spec["file"]
    first, last = each["where"]["lines"]
    assert 1 <= first <= last <= len(source.read_text().splitlines())
    assert each["where"]["file"] == source.name
    if not each["healthy"]:
        assert (CASES / spec.get("source", name) / "fixed" / spec["file"]).exists()
        assert each["fixed_speedup"] >= 1.2


@pytest.mark.parametrize("name", [name for name in KEPT if programs()[name].get("tool") != "callgrind"])
def test_the_share_of_a_fault_is_what_the_profile_holds(name: str) -> None:
    assert check(name, programs()[name]) == ""


@pytest.mark.parametrize("name", KEPT)
def test_recorded_profiles_name_no_machine(name: str) -> None:
    for profile in recorded(name)["profiles"]:
        content = (CASES / name / profile).read_bytes()
        text = (gzip.decompress(content) if profile.endswith(".gz") else content).decode()
        assert not re.search(r"/(tmp|root|home|work|Users)/", text)
