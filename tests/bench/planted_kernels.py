"""Kernels with a planted fault, as Nsight Compute saw them on an H100, and what chathpc says of them.

python -m tests.bench.planted_kernels

tests/data/gpu/planted has 18 programs with a fault each, their twins without it, and six tuned ones, by an author who knew nothing but causes and styles;
truth.json says which cause and lines, and what they took on an H100 80GB HBM3 (times by events, mean of three launches). The reports are of the second
launch of the kernel (ncu --set full, 2025.3, clocks not locked). Needs the extra `ncu`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chathpc.adapters.load import load
from tests.diagnosis.parts import diagnosed

PLANTED = Path(__file__).parents[1] / "data/gpu/planted"
TRUTH: list[dict[str, Any]] = json.loads((PLANTED / "truth.json").read_text("utf-8"))
FAULTS = [each for each in TRUTH if each["fixed"]]
#: Lines by which a place may be off the statement that the author named.
NEAR = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """What chathpc says first of a program, and the verdict; `as_good` is True for another cause that the author accepts."""

    verdict: str
    cause: str
    line: int
    exact: bool
    as_good: bool
    near: bool


def answer(truth: Mapping[str, Any]) -> Answer:
    """What is said of a program of truth.json, and whether that is right."""
    diagnosis = diagnosed(load(PLANTED / f"{Path(truth['file']).stem}.ncu-rep.xz"))
    best = next(iter(diagnosis.findings), None)
    cause, line = ("nothing", 0) if best is None else (best.cause, best.where.line or 0)
    return Answer(
        verdict=diagnosis.verdict,
        cause=cause,
        line=line,
        exact=cause == truth["cause"] if truth["fixed"] else diagnosis.verdict == truth["cause"],
        as_good=cause in truth["also_accepted"],
        near=any(abs(line - one) <= NEAR for one in truth["lines"]),
    )


def main() -> None:
    """Print a row for each program, and the figures."""
    answers = [(each, answer(each)) for each in TRUTH]
    for each, told in answers:
        mark = "=" if told.exact else "~" if told.as_good else "!"
        ratio = f"{each['milliseconds'] / each['milliseconds_fixed']:.1f}x" if each["fixed"] else ""
        place = f"line {told.line}{'' if told.near or not each['fixed'] else ' (elsewhere)'}"
        print(f"{mark} {each['file']:18}{each['cause']:27}{ratio:>8}  {told.verdict:12}{told.cause}, {place}")
    faults = [told for each, told in answers if each["fixed"]]
    tuned = [told for each, told in answers if not each["fixed"]]
    first, good, near = (
        sum(told.exact for told in faults),
        sum(told.as_good for told in faults),
        sum(told.near for told in faults),
    )
    print(f"cause first {first} of {len(faults)}, first or as good {first + good}; place within {NEAR} lines {near}")
    print(f"tuned: healthy {sum(told.exact for told in tuned)} of {len(tuned)}")


if __name__ == "__main__":
    main()
