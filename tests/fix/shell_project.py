"""A project that needs no compiler and takes milliseconds: a shell script that sleeps, and a profiler that reads how long.

python -m tests.fix.shell_project FOLDER      # one session of the loop; prints the verdict of each candidate
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from chathpc.fix.loop import Budget, Outcome, fix
from chathpc.fix.project import Project, Run
from chathpc.fix.records import Candidate
from chathpc.fix.runner import Built, Runner
from tests.fix.parts import Scripted, Unguarded, candidate

SLOW = "#!/bin/sh\n# computes\nsleep 0.06\necho sum 1.5 of $1\n"
FAST = SLOW.replace("0.06", "0.03")
WRONG = FAST.replace("1.5", "1.6")


def project(folder: Path) -> Project:
    """The program in `folder`, which is made."""
    root = folder / "prog"
    root.mkdir(parents=True, exist_ok=True)
    if not (root / "work.txt").exists():
        (root / "work.txt").write_text(SLOW)
        (root / "check.txt").write_text("the judge's own\n")
    return Project(
        root=root,
        build="cp work.txt app && chmod +x app",
        run=Run("run", "./app 20"),
        edit=("*.txt",),
        protect=("check*",),
    )


def profiler(runner: Runner, built: Built, folder: Path) -> Path:
    """A profile whose samples are the program's milliseconds, most of them in a call of pow."""
    slept = float(re.findall(r"sleep ([\d.]+)", (built.folder / "work.txt").read_text())[0])
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "profile.txt"
    target.write_text(f"main;slow;pow {slept * 1e5 - 2000:.0f}\nmain;slow 500\nmain;other 1500\n")
    return target


def session(folder: Path, changes: Sequence[Candidate] = (), **more: object) -> Outcome:
    """One session with the given changes, else with a wrong one, one in scope of the judge, and a right one."""
    proposed = list(changes) or [
        candidate("wrong", {"work.txt": WRONG}),
        candidate("judge", {"check.txt": "yes\n"}),
        candidate("right", {"work.txt": FAST}),
    ]
    settings: dict[str, object] = {"sandbox": Unguarded(), "profiler": profiler, "budget": Budget(rounds=2, timing=5)}
    return fix(project(folder), [Scripted(proposed)], **{**settings, **more})  # type: ignore[arg-type]


if __name__ == "__main__":
    for attempt in session(Path(sys.argv[1])).attempts:
        sys.stdout.write(f"{attempt.candidate.title} {attempt.verdict.value}\n")
