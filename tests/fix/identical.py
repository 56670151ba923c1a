"""How often a program is called faster than itself on this machine, in the sandbox that is there.

python -m tests.fix.identical [TRIALS]
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from chathpc.fix.gates.speed import measure
from chathpc.fix.project import Check, Flags, Project, Run
from chathpc.fix.runner import Runner
from chathpc.fix.workspace import Workspace
from chathpc.sandbox import choose
from tests.fix.test_correctness import C


def main() -> None:
    """Print the outcomes, and the ratios that were found."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "prog"
        root.mkdir()
        (root / "wave.c").write_text(C)
        project = Project(
            root,
            "gcc $CFLAGS -o app wave.c -lm",
            Run("run", "./app 3000"),
            ("*.c",),
            flags=Flags("CFLAGS", "-O2"),
            check=Check(),
        )
        space = Workspace(Path(folder) / "work")
        space.prepare(root)
        runner = Runner(project, choose(), space)
        original, changed = runner.build({}), runner.build({"wave.c": f"{C}/* the same */\n"})
        found: Counter[str] = Counter()
        for trial in range(trials):
            timing, problem = measure(runner, original, changed, seconds=20, random=np.random.default_rng(trial))
            found[timing.outcome if problem is None else problem.says] += 1
            sys.stdout.write(
                f"{trial} {timing.outcome} {timing.ratio:.3f} {timing.low:.3f} {timing.high:.3f} {timing.pairs}\n"
            )
            sys.stdout.flush()
    sys.stdout.write(f"{dict(found)}\n")


if __name__ == "__main__":
    main()
