"""Run a command and learn its wall time and its peak memory."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Run:
    """One process: seconds (its own count where it prints one, else wall clock), peak resident bytes, what it found."""

    seconds: float
    bytes: int
    figure: float = 0.0
    failure: str = ""


def command(arguments: Sequence[str]) -> Run:
    """Run Python with `arguments`; a failure is told by the last line of its standard error.

    The peak is that of `wait4`. It cannot be below that of the process that started it, so the benchmark itself keeps small:
    whatever needs memory is done in a child.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        process = subprocess.Popen([sys.executable, *arguments], stdout=out, stderr=err, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        lines = err.read().decode(errors="replace").strip().splitlines()
        failure = "" if process.returncode == 0 else (" ".join(lines[-2:]) if lines else f"exit {process.returncode}")
        return Run(seconds, usage.ru_maxrss << 10, failure=failure)


def measured(what: str, path: Path | str) -> Run:
    """One of `tests.bench.measure` in a fresh process, with the seconds that it counts itself."""
    result = subprocess.run(
        [sys.executable, "-m", "tests.bench.measure", what, str(path)],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines()
        return Run(0.0, 0, failure=" ".join(lines[-2:]) if lines else f"exit {result.returncode}")
    found = json.loads(result.stdout)
    return Run(found["seconds"], 0, found["figure"])


def median(run: Callable[[], Run], repeats: int) -> Run:
    """Median time and largest memory of `repeats` runs; the first failure ends it."""
    runs: list[Run] = []
    for _ in range(repeats):
        runs.append(run())
        if runs[-1].failure:
            return runs[-1]
    return Run(statistics.median(r.seconds for r in runs), max(r.bytes for r in runs), runs[0].figure)
