"""Series of measurements: points, commands, repetitions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from chathpc.errors import UsageError
from chathpc.measure.vary import check, command_at, points_of, relative_interval, vary


def test_all_combinations_are_points() -> None:
    assert points_of(["n=10,20", "threads=1,2"]) == [
        {"n": "10", "threads": "1"}, {"n": "10", "threads": "2"}, {"n": "20", "threads": "1"}, {"n": "20", "threads": "2"},
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["n", "n=1", "n=1,1", "n=0,1", "n=a,b"])
def test_what_is_no_series_of_values_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        points_of([text])


def test_values_stand_where_the_command_says() -> None:
    assert command_at(("mpirun", "-n", "{ranks}", "./app"), {"ranks": "4"}) == (("mpirun", "-n", "4", "./app"), {})
    assert command_at(("./app",), {"threads": "2"}) == (("./app",), {"OMP_NUM_THREADS": "2"})
    with pytest.raises(UsageError, match="has no"):
        check(("./app",), [{"n": "1"}])
    with pytest.raises(UsageError, match="not varied"):
        check(("./app", "{m}"), [{"threads": "1"}])


def test_the_interval_is_students() -> None:
    # Mean 10, standard deviation 1, t of two degrees of freedom 4.30.
    assert relative_interval((9.0, 10.0, 11.0)) == pytest.approx(4.30 / 3**0.5 / 10)


def test_runs_take_turns_until_the_interval_is_reached(tmp_path: Path) -> None:
    calls: list[str] = []

    def measure(words: tuple[str, ...], environment: Mapping[str, str], place: Path) -> Any:
        calls.append(words[1])
        noisy = words[1] == "20" and calls.count("20") % 2
        return SimpleNamespace(code=0, folder=place), 1.5 if noisy else 1.0

    found = vary(("./app", "{n}"), points_of(["n=10,20"]), tmp_path, measure=measure, interval=0.05, most=6)
    assert calls == ["10", "20"] * 3 + ["20"] * 3
    assert [len(each.seconds) for each in found] == [3, 6]
    assert (tmp_path / "n=10").is_dir()
