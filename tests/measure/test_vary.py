"""Series of measurements: which points, in which order, until when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

from chathpc.errors import UsageError
from chathpc.measure import vary


@dataclass(frozen=True)
class Took:
    code: int
    folder: Path


def test_points_are_all_combinations() -> None:
    assert vary.points_of(["n=1,2", "threads=1,4"]) == [
        {"n": "1", "threads": "1"}, {"n": "1", "threads": "4"}, {"n": "2", "threads": "1"}, {"n": "2", "threads": "4"},
    ]  # fmt: skip
    for wrong in (["n=1"], ["n"], ["n=1,x"], ["n=1,1"], ["n=0,1"], ["n=1,2", "n=3,4"]):
        with pytest.raises(UsageError):
            vary.points_of(wrong)


def test_each_parameter_has_its_place_in_the_command() -> None:
    points = vary.points_of(["n=1,2", "threads=1,4"])
    assert vary.command_at(["./app", "{n}"], points[1]) == (("./app", "1"), {"OMP_NUM_THREADS": "4"})
    vary.check(["./app", "{n}"], points)
    with pytest.raises(UsageError, match=r"no \{n\}"):
        vary.check(["./app"], points)
    with pytest.raises(UsageError, match="not varied"):
        vary.check(["./app", "{n}", "{m}"], points)


def test_the_interval_is_students() -> None:
    values = [1.0, 1.1, 0.9, 1.05]
    assert vary.relative_interval(values) == pytest.approx(3.18 * stdev(values) / 2 / mean(values))
    assert vary.relative_interval([1.0]) == float("inf")


def test_points_are_measured_in_turns_until_their_times_are_known(tmp_path: Path) -> None:
    order: list[tuple[str, str]] = []

    def measure(words: tuple[str, ...], environment: Mapping[str, str], place: Path) -> tuple[Any, float]:
        order.append((words[1], place.name))
        noisy = 1.0 + 0.3 * (len(order) % 3) if words[1] == "2" else 1.0
        return Took(0, place), noisy

    found = vary.vary(["app", "{n}"], vary.points_of(["n=1,2"]), tmp_path, measure=measure, interval=0.05, most=6)
    assert order[:6] == [("1", "rep1"), ("2", "rep1"), ("1", "rep2"), ("2", "rep2"), ("1", "rep3"), ("2", "rep3")]
    assert [len(each.seconds) for each in found] == [vary.FEWEST, 6]
    assert found[0].interval == 0.0
    assert found[1].folders[-1] == tmp_path / "n=2" / "rep6"


def test_a_program_that_fails_ends_the_series(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="At n=1 the program ended with status 3"):
        vary.vary(
            ["app", "{n}"], vary.points_of(["n=1,2"]), tmp_path,
            measure=lambda words, environment, place: (Took(3, place), 1.0), interval=0.05,  # type: ignore[arg-type, return-value]
        )  # fmt: skip
