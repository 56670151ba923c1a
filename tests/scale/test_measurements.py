"""A file of Extra-P as a series: laws, growth and predictions against the law that it was written by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chathpc.errors import UsageError
from chathpc.reports.scale_terminal import matrix
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


def test_the_share_of_a_place_is_what_exceeds_growth_in_proportion(tmp_path: Path) -> None:
    path = written(tmp_path, {"main": lambda n: n * n})
    path.write_text(path.read_text().replace("PARAMETER p", "PARAMETER n"))
    (found,) = scale([path]).findings
    assert found.share == pytest.approx((64**2 - 16 * 4**2) / 64**2)
    assert scale([path]).headline.endswith("at n = 64 it has 100 % of the time.")


def test_of_several_parameters_the_slice_with_most_points_is_looked_at(tmp_path: Path) -> None:
    # x is varied at y = 1, y at x = 1: at the largest y there is one x alone.
    points = [(x, 1) for x in range(1, 6)] + [(1, y) for y in range(2, 6)]
    path = tmp_path / "cross.jsonl"
    path.write_text("".join(f'{{"params":{{"x":{x},"y":{y}}},"metric":"metr","value":{x + y}}}\n' for x, y in points))
    found = scale([path])
    assert (found.parameter, found.fixed) == ("x", {"y": 1.0})
    assert [(point.value, point.elapsed) for point in found.points] == [(x, x + 1) for x in range(1, 6)]
    assert matrix(found)[0][0] == "metr"


def test_parameters_that_grow_together_are_no_series(tmp_path: Path) -> None:
    path = tmp_path / "together.jsonl"
    path.write_text("".join(f'{{"params":{{"p":{p},"q":{p}}},"value":1}}\n' for p in (1, 2, 4, 8)))
    with pytest.raises(UsageError, match="No two runs differ in p alone"):
        scale([path])


def test_other_files_are_not_taken_for_it(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"schema": "chathpc-report/2"}')
    (tmp_path / "b.txt").write_text("main;solve 12\n")
    assert not any(recognises(each) for each in (tmp_path / "a.json", tmp_path / "b.txt", tmp_path, tmp_path / "none"))
