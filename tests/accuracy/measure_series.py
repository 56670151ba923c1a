"""Series of unseen programs: `python -m tests.accuracy.measure_series tests/accuracy/series/fourth FOLDER`, on a machine with nothing beside.

Builds each program, measures its series into FOLDER (what is there already is not measured again) and says whether the first finding of
`chathpc scale` is at the place of the fault: the function, or another that the author accepts, is its name, its place or on the way there.
Programs without a fault must have no finding.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

CHATHPC = (sys.executable, "-m", "chathpc")


def measured(program: Path, folder: Path) -> dict[str, Any]:
    """What `chathpc scale` says of the series of a program."""
    series = (folder / program.name).absolute()
    if not series.exists():
        subprocess.run((program / "build").read_text().strip(), shell=True, cwd=program, check=True)
        vary, run = ((program / name).read_text().strip() for name in ("vary", "run"))
        command = f"--tool perf --vary {vary} --most 3 -o {series} -q -- {run}".split()
        subprocess.run([*CHATHPC, "measure", *command], cwd=program, check=True)
    found = subprocess.run([*CHATHPC, "scale", str(series), "--format", "json", "-q"], capture_output=True, check=True)
    return dict(json.loads(found.stdout))


def is_right(said: dict[str, Any], truth: dict[str, Any]) -> bool:
    """Whether the first finding is at the fault, or there is none where there is no fault."""
    if not truth["fault"] or not said["findings"]:
        return not truth["fault"] and not said["findings"]
    first = said["findings"][0]
    names = [first["name"], first["where"]["function"] or "", *first["where"]["path"][-4:]]
    wanted = [name.rsplit("::", 1)[-1].lower() for name in (truth["function"], *truth["accept"])]
    return any(name in told.lower() for name in wanted for told in names)


def main() -> None:
    programs, folder = map(Path, sys.argv[1:3])
    right = {True: 0, False: 0}
    number = {True: 0, False: 0}
    for program in sorted(path.parent for path in programs.glob("*/truth.json")):
        truth = json.loads((program / "truth.json").read_text())
        said = measured(program, folder)
        good = is_right(said, truth)
        right[truth["fault"]] += good
        number[truth["fault"]] += 1
        told = [f"{each['loss']} {each['name']}" for each in said["findings"][:2]]
        print(
            f"{'right' if good else 'WRONG'}  {program.name}: {truth['function']} ({truth['kind']}): {', '.join(told) or 'no finding'}"
        )
    print(
        f"first finding at the fault: {right[True]} of {number[True]}; without a finding: {right[False]} of {number[False]} without a fault"
    )


if __name__ == "__main__":
    main()
