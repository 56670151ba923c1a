"""The example of `chathpc fix`, as its README tells it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from chathpc.commands.main import cli
from chathpc.fix.workspace import tree_hash
from chathpc.sandbox import states

PROGRAM = Path(__file__).parents[2] / "examples" / "fix-heat" / "program"


@pytest.mark.skipif(shutil.which("perf") is None, reason="needs perf")
@pytest.mark.skipif(all(fault for _, fault in states()), reason="no sandbox works here")
@pytest.mark.timeout(900)
def test_the_program_of_the_example_is_mended(tmp_path: Path) -> None:
    before = tree_hash(PROGRAM)
    done = CliRunner().invoke(
        cli,
        [
            "fix",
            str(PROGRAM),
            "--work",
            str(tmp_path / "work"),
            "--rounds",
            "1",
            "--candidates",
            "8",
            "--format",
            "json",
            "-q",
        ],
    )
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["verdict"] == "improved"
    assert report["speedup"]["low"] > 1.5
    # Both faults are gone: the loop over columns is inside, and nothing is raised to a power any more.
    removed = [line for line in report["patch"].splitlines() if line.startswith("-") and not line.startswith("---")]
    assert any("for (int column" in line for line in removed)
    assert any("pow(" in line for line in removed)
    assert tree_hash(PROGRAM) == before
