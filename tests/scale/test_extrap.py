"""Files of Extra-P, written here as its documentation describes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chathpc.errors import AdapterError
from chathpc.scale.extrap import read
from chathpc.scale.laws import Measurement

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
