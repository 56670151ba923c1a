"""Files of Extra-P, written here as its documentation describes them; laws, growth and predictions against the law they were written by."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chathpc.errors import AdapterError, UsageError
from chathpc.reports.scaled import matrix
from chathpc.scale.extrap import read, recognises
from chathpc.scale.laws import Measurement
from chathpc.scale.scaling import scale

EXPECTED = (Measurement({"p": 4.0}, (1.0, 1.5)), Measurement({"p": 8.0}, (2.0, 2.5)))


def written(folder: Path, text: str) -> Path:
    path = folder / "input"
    path.write_text(text)
    return path


@pytest.mark.parametrize("points", ["4 8", "(4) (8)", "( 4 ) ( 8 )", "((4) (8))"])
def test_text(tmp_path: Path, points: str) -> None:
    path = written(
        tmp_path,
        f"# made by hand\n\nPARAMETER p\nPOINTS {points}\nREGION main->solve\nMETRIC time\nDATA 1 1.5\nDATA 2 2.5\n",
    )
    assert read(path) == {("main->solve", "time"): EXPECTED}


def test_text_of_several_parameters_regions_and_metrics(tmp_path: Path) -> None:
    text = "PARAMETER x\nPARAMETER y\nPOINTS ( 20 1 ) ( 20 2 )\nPOINTS ((30) (1))\n"
    text += "METRIC time\nREGION a\nDATA 1\nDATA 2\nDATA 3\nREGION b\nDATA 4\nDATA 5\nDATA 6\nMETRIC flops\nDATA 7\nDATA 8\nDATA 9\n"
    found = read(written(tmp_path, text))
    assert list(found) == [("a", "time"), ("b", "time"), ("b", "flops")]
    assert found["b", "flops"] == (
        Measurement({"x": 20.0, "y": 1.0}, (7.0,)),
        Measurement({"x": 20.0, "y": 2.0}, (8.0,)),
        Measurement({"x": 30.0, "y": 1.0}, (9.0,)),
    )


def test_json(tmp_path: Path) -> None:
    rows = [{"point": [4], "values": [1, 1.5]}, {"point": [8], "values": [2, 2.5]}]
    text = json.dumps({"parameters": ["p"], "measurements": {"main->solve": {"time": rows}}}, indent=1)
    assert read(written(tmp_path, text)) == {("main->solve", "time"): EXPECTED}


def test_json_with_numbered_parts(tmp_path: Path) -> None:
    content = {
        "callpaths": [{"id": 1, "name": "main->solve"}],
        "metrics": [{"id": 1, "name": "time"}],
        "parameters": [{"id": 1, "name": "p"}],
        "coordinates": [
            {"id": n, "parameter_value_pairs": [{"parameter_id": 1, "parameter_value": v}]} for n, v in ((1, 4), (2, 8))
        ],
        "measurements": [
            {"callpath_id": 1, "coordinate_id": c, "id": i, "metric_id": 1, "value": v}
            for i, (c, v) in enumerate([(1, 1.0), (1, 1.5), (2, 2.0), (2, 2.5)])
        ],
    }
    assert read(written(tmp_path, json.dumps(content))) == {("main->solve", "time"): EXPECTED}


def test_json_lines(tmp_path: Path) -> None:
    rows = [(4, 1), (4, 1.5), (8, [2, 2.5])]
    text = "\n".join(
        json.dumps({"params": {"p": p}, "callpath": "main->solve", "metric": "time", "value": v}) for p, v in rows
    )
    assert read(written(tmp_path, text)) == {("main->solve", "time"): EXPECTED}
    assert list(read(written(tmp_path, '{"params": {"p": 4}, "value": 1}\n'))) == [("", "")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no measurements"),
        ("PARAMETER p\nPOINTS 4 8\n", "no measurements"),
        ("POINTS 4 8\n", "before any PARAMETER"),
        ("PARAMETER p q\nPOINTS (4) (8 1)\n", "1 values for 2 parameters"),
        ("PARAMETER p\nPOINTS 4\nDATA 1\nDATA 2\n", "more DATA lines"),
        ("PARAMETER p\nPOINTS 4\nDATA x\n", "line 3: a number was expected, not 'x'"),
        ("PARAMETER p\nPOINTS 4\nDATA\n", "without a value"),
        ("PARAMETER p\nPOINTS nan\n", "a number was expected"),
        ("BEGIN\n", "'BEGIN' is not a section"),
        ('{"params": {"p": 4}}\n', 'no "params" and "value"'),
        ('{"params": {"p": 4}, "value": true}\n', "a number was expected"),
        ('{"params": {"p": 4}, "value": 1}\n{\n', "line 2 is not JSON"),
        ("{", "not JSON as Extra-P"),
        ('{"parameters": ["p"]}', "not JSON as Extra-P"),
        (
            '{"parameters": ["p"], "measurements": {"a": {"time": [{"point": [1, 2], "values": [3]}]}}}',
            "not JSON as Extra-P",
        ),
        ('{"parameters": ["p"], "measurements": ' + "[" * 100_000, "not JSON as Extra-P"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(AdapterError, match=said.replace("(", r"\(")):
        read(written(tmp_path, text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="No such file"):
        read(tmp_path / "nothing")


# -- what they tell --------------------------------------------------------------------------------------------

SIZES = (4, 8, 16, 32, 64)


def experiment(folder: Path, places: dict[str, Callable[[float], float]], metric: str = "time") -> Path:
    text = f"PARAMETER p\nPOINTS {' '.join(map(str, SIZES))}\nMETRIC {metric}\n"
    for name, cost in places.items():
        text += f"REGION {name}\n" + "".join(f"DATA {cost(p)} {cost(p)}\n" for p in SIZES)
    path = folder / "experiment.txt"
    path.write_text(text)
    return path


def test_what_grows_is_named_and_predicted(tmp_path: Path) -> None:
    path = experiment(
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
    found = scale([experiment(tmp_path, {"solve": lambda p: 10, "exchange": lambda p: p / 8})])
    assert [point.elapsed for point in found.points] == [10 + p / 8 for p in SIZES]


def test_what_does_not_grow_scales(tmp_path: Path) -> None:
    assert scale([experiment(tmp_path, {"main": lambda p: 10.0})]).verdict == "scales"


def test_other_parameters_and_metrics_are_refused(tmp_path: Path) -> None:
    path = experiment(tmp_path, {"main": lambda p: 10.0})
    with pytest.raises(UsageError, match="no metric"):
        scale([path], metric="flops")
    with pytest.raises(UsageError, match="other parameters"):
        scale([path], at=[{"ranks": 64.0}])


def test_the_share_of_a_place_is_what_exceeds_growth_in_proportion(tmp_path: Path) -> None:
    path = experiment(tmp_path, {"main": lambda n: n * n})
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
