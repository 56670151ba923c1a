"""Killed at any moment, the loop leaves the user's tree as it was and a ledger that is read, and goes on where it was."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from chathpc.fix.ledger import read
from chathpc.fix.workspace import tree_hash
from tests.fix.shell_project import project

KILLS = 10  #: times in one test
EXPECTED = ["wrong wrong-answer", "judge out-of-scope", "right accepted"]


@pytest.mark.timeout(60 + 15 * KILLS)
@pytest.mark.parametrize("seed", range(20, 30))
def test_a_killed_session_is_gone_on_with(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    killed = folders = 0
    while killed < KILLS:
        folder = tmp_path / str(folders)
        folders += 1
        before = tree_hash(project(folder).root)
        while True:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.fix.shell_project", str(folder)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            if killed < KILLS and chance.random() < 0.8:
                time.sleep(chance.uniform(0.3, 6.0))
                process.kill()
                killed += process.wait() < 0
            out, err = process.communicate()
            assert tree_hash(project(folder).root) == before
            read(folder / "prog.chathpc-fix" / "ledger.jsonl")
            if process.returncode == 0:
                break
            assert process.returncode < 0, err
        # Who is killed between two rounds has forgotten that all was said, and says it again: what is in place is known, the rest refused.
        said = out.split("\n")[:-1]
        assert said[: len(EXPECTED)] == EXPECTED
        assert set(said[len(EXPECTED) :]) <= {"judge out-of-scope"}
        events, _, _ = read(folder / "prog.chathpc-fix" / "ledger.jsonl")
        done = Counter((event.data["key"], event.data["gate"]) for event in events if event.event == "gate")
        assert set(done.values()) == {1}
        proposed = Counter(event.data["key"] for event in events if event.event == "candidate")
        assert set(proposed.values()) == {1}
