"""Programs by authors who had not seen the rules, as projects of `chathpc fix`: their main file alone, as a user would declare it.

python -m tests.fix.agent.unseen FOLDER     # write all that have a fault as projects below FOLDER, for a model to work on
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import yaml

from tests.accuracy.measure_unseen import UNSEEN

#: Flags that are the user's choice; what else a build line has stays in it.
_FLAG = re.compile(r"-(?:O|g\Z|march|std|ffast|fopenmp)")
_THREADS = re.compile(r"OMP_NUM_THREADS=(\d+) (.*)")
_LAUNCHED = re.compile(r"(mpirun .*-n \d+) (.*)")


def names() -> list[str]:
    """Programs of batches b and c that have a fault, as `b/basin`."""
    every = (file.parent for batch in "bc" for file in sorted((UNSEEN / batch).glob("*/truth.json")))
    return [f"{one.parent.name}/{one.name}" for one in every if truth(one)["cause"] != "healthy"]


def truth(program: Path) -> dict[str, object]:
    """What its author wrote of it."""
    found: dict[str, object] = json.loads((program / "truth.json").read_text("utf-8"))
    return found


def project(name: str, folder: Path) -> Path:
    """`folder` with the program and a chathpc.yaml: built and run as its author says, all that it prints compared."""
    program = UNSEEN / name
    folder.mkdir(parents=True)
    source = next(program.glob("main.*"))
    shutil.copy(source, folder)
    compiler, *words = shlex.split((program / "build").read_text("utf-8").strip().splitlines()[-1])
    flags = [word for word in words if _FLAG.match(word)]
    command = (program / "run").read_text("utf-8").strip().splitlines()[-1]
    declared: dict[str, object] = {
        "build": shlex.join([compiler, "$FLAGS", *(word for word in words if word not in flags)]).replace("'", ""),
        "flags": {"variable": "FLAGS", "value": " ".join(flags)},
        "edit": [f"*{source.suffix}"],
        "check": {"outputs": ["stdout"], "relative": 1e-8},
        "limits": {"seconds": 120},
    }
    if match := _THREADS.fullmatch(command):
        declared["threads"], command = [1, int(match[1])], match[2]
    if match := _LAUNCHED.fullmatch(command):
        declared["launcher"], command = match[1], match[2]
    (folder / "chathpc.yaml").write_text(yaml.safe_dump({"project": {**declared, "run": command}}, sort_keys=False))
    return folder


if __name__ == "__main__":
    for each in names():
        sys.stdout.write(f"{project(each, Path(sys.argv[1]) / each.replace('/', '-'))}\n")
