"""Kernels with a planted fault, as Nsight Compute saw them on an H100, and what chathpc says of them.

python -m tests.bench.planted_kernels

tests/data/gpu/planted has 18 programs with a fault each, their twins without it, and six tuned ones, by an author who knew nothing but causes and styles;
truth.json says which cause and lines, and what they took on an H100 80GB HBM3 (times by events, mean of three launches). The reports are of the second
launch of the kernel (ncu --set full, 2025.3, clocks not locked). Needs the extra `ncu`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import chathpc
from tests.diagnosis.parts import diagnosed

PLANTED = Path(__file__).parents[1] / "data/gpu/planted"
#: Lines by which a place may be off the statement that the author named.
NEAR = 3


def main() -> None:
    """Print a row for each program, and the figures."""
    truth: list[dict[str, Any]] = json.loads((PLANTED / "truth.json").read_text("utf-8"))
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


if __name__ == "__main__":
    main()
