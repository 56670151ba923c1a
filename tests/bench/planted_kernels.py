"""Kernels with a planted fault, as Nsight Compute saw them on an H100, and what chathpc says of them.

python -m tests.bench.planted_kernels [predict]

With `predict` their times are predicted from source instead, and set beside those on the H100; needs the extra `predict`.

tests/data/gpu/planted has 18 programs with a fault each, their twins without it, and six tuned ones, by an author who knew nothing but causes and styles;
truth.json says which cause and lines, and what they took on an H100 80GB HBM3 (times by events, mean of three launches). The reports are of the second
launch of the kernel (ncu --set full, 2025.3, clocks not locked). Needs the extra `ncu`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import chathpc
from chathpc.predict.counts import Range
from chathpc.predict.devices import device
from chathpc.predict.prediction import Asked, predict
from chathpc.predict.program import Program
from chathpc.sandbox import choose
from tests.bench.opencl import figures
from tests.diagnosis.parts import diagnosed

PLANTED = Path(__file__).parents[1] / "data/gpu/planted"
#: Lines by which a place may be off the statement that the author named.
NEAR = 3


def predicted(name: str, kernel: str) -> Range:
    """Milliseconds of a program's kernel on an H100; instances of a template have one name."""
    program = Program((PLANTED / name,))
    with tempfile.TemporaryDirectory() as work:
        found = predict(program, Asked(), device=device("h100"), work=Path(work), sandbox=choose())
    time = next(each.time for each in found if kernel in each.kernel).seconds
    return Range(1e3 * time.value, 1e3 * time.low, 1e3 * time.high)


def main() -> None:
    """Print a row for each program, and the figures."""
    truth: list[dict[str, Any]] = json.loads((PLANTED / "truth.json").read_text("utf-8"))
    if "predict" in sys.argv[1:]:
        return times(truth)
    faults = [each for each in truth if each["fixed"]]
    first = accepted = near = 0
    for each in truth:
        diagnosis = diagnosed(chathpc.load(PLANTED / f"{Path(each['file']).stem}.ncu-rep.xz"))
        best = next(iter(diagnosis.findings), None)
        cause, line = ("nothing", 0) if best is None else (best.cause, best.where.line or 0)
        at = any(abs(line - one) <= NEAR for one in each["lines"])
        mark, ratio = " ", ""
        if each["fixed"]:
            first += cause == each["cause"]
            accepted += cause in (each["cause"], *each["also_accepted"])
            near += at
            mark = "=" if cause == each["cause"] else "~" if cause in each["also_accepted"] else "!"
            ratio = f"{each['milliseconds'] / each['milliseconds_fixed']:.1f}x"
        place = f"line {line}{'' if at or not each['fixed'] else ' (elsewhere)'}"
        print(f"{mark} {each['file']:18}{each['cause']:27}{ratio:>8}  {diagnosis.verdict:12}{cause}, {place}")
    print(f"cause first {first} of {len(faults)}, first or as good {accepted}; place within {NEAR} lines {near}")


def times(truth: list[dict[str, Any]]) -> None:
    """Print for each program its time, as measured and as predicted with bounds, and how often it is foreseen that a repair helps."""
    rows: list[tuple[float, Range]] = []
    gains: list[tuple[float, float]] = []
    for each in truth:
        for name, there in ((each["file"], each["milliseconds"]), (each["fixed"], each["milliseconds_fixed"])):
            if name:
                found = predicted(name, each["kernel"])
                rows.append((there, found))
                bounds = f"({found.low:.4f} to {found.high:.4f})"
                print(f"{name:24}{there:9.4f}{found.value:9.4f} {bounds:22}{found.value / there:6.2f}", flush=True)
        if each["fixed"]:
            (slow, before), (quick, after) = rows[-2:]
            gains.append((before.value / after.value, slow / quick))
    measured, values = (np.array(each) for each in zip(*((there, found.value) for there, found in rows), strict=True))
    held = np.mean([found.low <= there <= found.high for there, found in rows])
    print(f"{figures(values, measured)}  held {held:.0%}")
    near = sum(0.5 < found / there < 2 for found, there in gains)
    print(
        f"repairs predicted to help {sum(found > 1 for found, _ in gains)} of {len(gains)}, by how much within 2x {near}"
    )


if __name__ == "__main__":
    main()
