"""Which runs make a series: parameters from names, files and profiles; what was scaled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chathpc.errors import UsageError
from chathpc.scale.series import Kind, named_values, profiles_in, read_series, values_from
from tests.scale.made import each, even, profile, series, strong
from tests.synthetic.collapsed import write


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("p4", {"p": 4}),
        ("n1000", {"n": 1000}),
        ("ranks=8", {"ranks": 8}),
        ("app-np16-n2k", {"ranks": 16, "n": 2000}),
        ("ranks=4,n=1000/rep2", {"ranks": 4, "n": 1000}),
        ("heat_n1000.json", {"n": 1000}),
        ("grid_size=1000", {"grid_size": 1000}),
        ("64_cores.cali", {"cores": 64}),
        ("mm.x100y1z1.r1", {"x": 100, "y": 1, "z": 1}),
        ("2_pass", {}),
        ("heat2d", {}),
        ("app-3", {}),
        ("run7", {}),
    ],
)
def test_names_tell_parameters(name: str, values: dict[str, float]) -> None:
    assert named_values(name) == values


def folder(top: Path, **seconds: float) -> Path:
    """A profile of one function for each name."""
    for name, count in seconds.items():
        place = top / name.replace("_", "/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(write([(("main", "solve"), count)]))
    return top


def test_folders_are_searched_and_repetitions_grouped(tmp_path: Path) -> None:
    found = read_series([folder(tmp_path, n100_rep1=100, n100_rep2=110, n200_rep1=205, n400_rep1=401)])
    assert found.parameter == "n"
    assert found.kind == Kind.PROBLEM_SIZE
    assert [(point.value, len(point.runs)) for point in found.points] == [(100, 2), (200, 1), (400, 1)]


def test_runs_of_a_program_that_failed_are_omitted_unless_all_did(tmp_path: Path) -> None:
    def measured(name: str, seconds: int, code: int) -> None:
        place = tmp_path / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "stacks").write_text(write([(("main", "solve"), seconds)]))
        (place / "measure.json").write_text(json.dumps({"profile": "stacks", "code": code}))

    for name, seconds, code in (("n=100/rep1", 100, 0), ("n=200/rep1", 200, 0), ("n=200/rep2", 3, 137)):
        measured(name, seconds, code)
    found = read_series([tmp_path])
    assert [(point.value, len(point.runs)) for point in found.points] == [(100, 1), (200, 1)]
    assert "Omitted, since the program failed: n=200/rep2." in found.notes
    for name, seconds in (("n=100/rep1", 100), ("n=200/rep1", 200)):
        measured(name, seconds, 1)
    assert [len(point.runs) for point in read_series([tmp_path]).points] == [1, 2]


def test_runs_of_several_programs_are_told(tmp_path: Path) -> None:
    def measured(n: int, program: str, function: str) -> None:
        place = tmp_path / f"n={n}"
        place.mkdir(exist_ok=True)
        (place / "stacks").write_text(write([(("main",), 1), (("main", function), n)]))
        told = {"profile": "stacks", "code": 0, "command": [f"./{program}", str(n)]}
        (place / "measure.json").write_text(json.dumps(told))

    for n, program in ((100, "pairs"), (200, "pairs"), (400, "sort")):
        measured(n, program, "solve")
    assert "These are runs of several programs: pairs, sort." in read_series([tmp_path]).notes
    assert not read_series([tmp_path / "n=100", tmp_path / "n=200"]).notes
    # What has hardly a function in common is no series.
    measured(400, "sort", "split")
    with pytest.raises(UsageError, match=r"These are runs of several programs: pairs, sort\."):
        read_series([tmp_path])


def test_a_file_gives_the_parameters(tmp_path: Path) -> None:
    folder(tmp_path, a=100, b=200)
    (tmp_path / "runs.yaml").write_text("a: {ranks: 1}\nb: {ranks: 2}\n")
    found = read_series([tmp_path / "a", tmp_path / "b"], values=values_from(tmp_path / "runs.yaml"))
    assert (found.parameter, found.values) == ("ranks", [1, 2])


@pytest.mark.parametrize("text", ["", "a: 3", "a: {n: x}", "a: {n: -1}", "- a", "a: ["])
def test_a_file_that_gives_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "runs.yaml").write_text(text)
    with pytest.raises(UsageError):
        values_from(tmp_path / "runs.yaml")


def test_what_makes_no_series_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs profiles of two scales"):
        read_series([folder(tmp_path, n1=10)])
    with pytest.raises(UsageError, match="their names tell no parameter"):
        read_series([folder(tmp_path / "other", a=10, b=20)])
    (tmp_path / "empty").mkdir()
    assert profiles_in(tmp_path / "empty") == []


def test_the_computing_tells_strong_from_weak() -> None:
    assert strong({"solve": even(8.0), "again": each(0.5)}).kind == Kind.STRONG
    assert strong({"solve": each(8.0), "little": even(0.5)}).kind == Kind.WEAK
    between = {count: profile(count, {"solve": even(count**0.5)}, each(1.0)) for count in (1, 4)}
    assert series("threads", between).kind == Kind.STRONG


def test_runs_that_take_less_time_with_more_workers_are_no_weak_scaling() -> None:
    """Two thirds are done by each thread again; under weak scaling no run would take less than before."""
    found = strong({"map": each(0.66), "plan": even(0.34)}, counts=(1, 2))
    assert (found.kind, found.reason) == (Kind.STRONG, "the run takes less time with more threads")
    assert strong({"map": each(0.95), "plan": even(0.05)}, counts=(1, 2)).kind == Kind.WEAK


def test_what_neither_stays_nor_grows_in_proportion_is_unknown() -> None:
    """Computing doubles with four times the threads, which wait as much as they have less of it."""
    waits = lambda count: (1.0 - count**-0.5,) * count  # noqa: E731
    runs = {count: profile(count, {"solve": even(count**0.5)}, waits) for count in (1, 4, 16)}
    assert series("threads", runs).kind == Kind.UNKNOWN
