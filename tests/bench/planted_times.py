"""Times of the planted kernels of tests/data/gpu/planted, predicted from source, beside those on an H100: python -m tests.bench.planted_times

planted_kernels.py says what the kernels are. Needs the extra `predict`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from chathpc.predict.counts import Range
from chathpc.predict.devices import device
from chathpc.predict.prediction import predict
from chathpc.predict.program import Asked, Program
from chathpc.sandbox import choose
from tests.bench.opencl import figures
from tests.bench.planted_kernels import PLANTED, TRUTH


def predicted(name: str, kernel: str) -> Range:
    """Milliseconds of a program's kernel on an H100; instances of a template have one name."""
    program = Program((PLANTED / name,))
    with tempfile.TemporaryDirectory() as work:
        found = predict(program, Asked(), device=device("h100"), work=Path(work), sandbox=choose())
    time = next(each.time for each in found if kernel in each.kernel).seconds
    return Range(1e3 * time.value, 1e3 * time.low, 1e3 * time.high)


def main() -> None:
    """Print for each program its time, as measured and as predicted with bounds, and how often it is foreseen that a repair helps."""
    rows: list[tuple[float, Range]] = []
    gains: list[tuple[float, float]] = []
    for each in TRUTH:
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
