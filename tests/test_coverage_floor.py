from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.coverage_floor import main


@pytest.mark.parametrize(
    ("lines", "branches", "code"),
    [
        pytest.param(900, 850, 0, id="both exactly on the floor"),
        pytest.param(899, 1000, 1, id="many branches do not make up for lines"),
        pytest.param(1000, 849, 1, id="many lines do not make up for branches"),
    ],
)
def test_lines_and_branches_are_held_to_their_floors_apart(
    lines: int, branches: int, code: int, tmp_path: Path
) -> None:
    totals = {"covered_lines": lines, "num_statements": 1000, "covered_branches": branches, "num_branches": 1000}
    file = tmp_path / "coverage.json"
    file.write_text(json.dumps({"totals": totals}), encoding="utf-8")
    assert main([str(file)]) == code
