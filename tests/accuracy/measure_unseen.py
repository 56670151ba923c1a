"""Build, measure and judge programs by authors who had not seen the rules: `python -m tests.accuracy.measure_unseen [FOLDER …]`.

Each program is built and measured with perf (those of Python with py-spy) in a folder of its own, and explained with its source and without a
model. A right cause is that of its truth.json or one that is acceptable there; a claim about a tuned program is a finding whose share × headroom
reaches the verdict's weight. Two cores at rest are wanted: how threads and ranks wait depends on them.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import chathpc
from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.records import Diagnosis

UNSEEN = Path(__file__).parent / "unseen"


def measured(program: Path, folder: Path) -> Diagnosis:
    """The diagnosis of a program that is built and run in `folder`."""
    for file in (*program.glob("main.*"), *program.glob("build"), program / "run"):
        shutil.copy(file, folder)
    if (folder / "build").exists():
        subprocess.run(["sh", "build"], cwd=folder, check=True, capture_output=True)
    command = (program / "run").read_text(encoding="utf-8").strip().splitlines()[-1]
    python = (folder / "main.py").exists()
    measure = [
        sys.executable,
        "-m",
        "chathpc",
        "measure",
        "--tool",
        "py-spy" if python else "perf",
        "--no-overhead",
        "-o",
        "database",
        "--",
        *(shlex.split(command) if python else ("sh", "-c", command)),
    ]
    subprocess.run(measure, cwd=folder, check=True, capture_output=True, timeout=120)
    return diagnose(chathpc.load(folder / "database", source=[folder]))


def judged(diagnosis: Diagnosis, truth: dict[str, object], counts: Counter[str]) -> str:
    """Count what is right, and tell it in a line."""
    causes = list(dict.fromkeys(found.cause for found in diagnosis.findings))
    told = f"{diagnosis.verdict}: {', '.join(causes[:3])}"
    if truth["cause"] == "healthy":
        claims = [
            found for found in diagnosis.findings if found.share * found.headroom >= common()["verdict_weight"].value
        ]
        counts["tuned"] += 1
        counts["blamed"] += bool(claims)
        return f"{'BLAMED' if claims else 'not blamed'}  {told}"
    right = {truth["cause"], *truth.get("acceptable", [])}  # type: ignore[misc]
    place = next((found.where.function or "" for found in diagnosis.findings if found.cause in right), "")
    counts["faults"] += 1
    counts["first"] += bool(causes) and causes[0] in right
    counts["three"] += not right.isdisjoint(causes[:3])
    counts["function"] += str(truth["function"]).rsplit("::", 1)[-1] in place
    return f"{'right' if causes and causes[0] in right else 'WRONG'}  {truth['cause']} at {truth['function']}: {told} at {place or '-'}"


def main(folders: list[Path]) -> None:
    """Print a line a program, and the figures of each folder."""
    for folder in folders or sorted(each for each in UNSEEN.iterdir() if each.is_dir()):
        counts: Counter[str] = Counter()
        for file in sorted(folder.glob("*/truth.json")):
            with tempfile.TemporaryDirectory() as scratch:
                try:
                    diagnosis = measured(file.parent, Path(scratch))
                except subprocess.TimeoutExpired:
                    print(f"{file.parent.name:12} takes too long on this machine", flush=True)
                    continue
                print(
                    f"{file.parent.name:12} {judged(diagnosis, json.loads(file.read_text(encoding='utf-8')), counts)}",
                    flush=True,
                )
        faults = counts["faults"]
        print(
            f"{folder.name}: cause first {counts['first']} of {faults}, among three {counts['three']}, function {counts['function']}; "
            f"tuned programs blamed {counts['blamed']} of {counts['tuned']}\n"
        )


if __name__ == "__main__":
    main([Path(each) for each in sys.argv[1:]])
