"""A file of Extra-P as a series: laws, growth and predictions against the law that it was written by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chathpc.errors import UsageError
from chathpc.scale.extrap import recognises
from chathpc.scale.scaling import scale

SIZES = (4, 8, 16, 32, 64)


def written(folder: Path, places: dict[str, Callable[[float], float]], metric: str = "time") -> Path:
    text = f"PARAMETER p\nPOINTS {' '.join(map(str, SIZES))}\nMETRIC {metric}\n"
    for name, cost in places.items():
        text += f"REGION {name}\n" + "".join(f"DATA {cost(p)} {cost(p)}\n" for p in SIZES)
    path = folder / "experiment.txt"
    path.write_text(text)
    return path


def test_what_grows_is_named_and_predicted(tmp_path: Path) -> None:
    path = written(
        tmp_path, {"main": lambda p: 10 + p / 8, "main->solve": lambda p: 10, "main->exchange": lambda p: p / 8}
    )
    assert recognises(path)
    found = scale([path], at=[{"p": 512.0}])
    assert (found.verdict, [each.name for each in found.findings]) == ("grows", ["exchange"])
    assert found.findings[0].costs == [p / 8 for p in SIZES]
    assert [point.elapsed for point in found.points] == [10 + p / 8 for p in SIZES]
    (target,) = found.predictions
    assert target.elapsed is not None
    assert target.elapsed.value == pytest.approx(10 + 512 / 8, rel=0.1)
    assert target.ranked[0].name == "exchange"


def test_places_without_a_root_add_up(tmp_path: Path) -> None:
    found = scale([written(tmp_path, {"solve": lambda p: 10, "exchange": lambda p: p / 8})])
    assert [point.elapsed for point in found.points] == [10 + p / 8 for p in SIZES]


def test_what_does_not_grow_scales(tmp_path: Path) -> None:
    assert scale([written(tmp_path, {"main": lambda p: 10.0})]).verdict == "scales"


def test_other_parameters_and_metrics_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, {"main": lambda p: 10.0})
    with pytest.raises(UsageError, match="no metric"):
        scale([path], metric="flops")
    with pytest.raises(UsageError, match="other parameters"):
        scale([path], at=[{"ranks": 64.0}])


def test_other_files_are_not_taken_for_it(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"schema": "chathpc-report/2"}')
    (tmp_path / "b.txt").write_text("main;solve 12\n")
    assert not any(recognises(each) for each in (tmp_path / "a.json", tmp_path / "b.txt", tmp_path, tmp_path / "none"))
