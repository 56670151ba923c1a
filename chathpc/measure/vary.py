"""A series of measurements: one command at several values of its parameters, in turns, until the times are known well enough."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import sqrt
from pathlib import Path

import numpy as np

from chathpc.errors import UsageError
from chathpc.measure.record import Measured

#: Repetitions of each point: at least, and at most where the interval asked for is not reached.
FEWEST, MOST = 3, 10
#: Quantiles of Student's t for intervals of 95 %, by degrees of freedom from 1 on; further ones are those of the last.
_STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)
_PLACEHOLDER = re.compile(r"\{([A-Za-z]\w*)\}")
_SPELLED = re.compile(r"([A-Za-z]\w*)=(\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)+)")

Point = Mapping[str, str]
Measure = Callable[[tuple[str, ...], Mapping[str, str], Path], tuple[Measured, float]]


@dataclass(frozen=True, slots=True)
class Varied:
    """A point of the series: values as they were written, seconds of its repetitions, their folders."""

    point: Point
    seconds: tuple[float, ...]
    folders: tuple[Path, ...]

    @property
    def interval(self) -> float:
        """Half of the 95 % interval of the mean time, as a part of it; infinite for one repetition."""
        return relative_interval(self.seconds)


def relative_interval(values: Sequence[float]) -> float:
    """Half of the 95 % interval of a mean (Student's t), as a part of the mean; infinite for fewer than two values."""
    if len(values) < 2:
        return float("inf")
    quantile = _STUDENT[min(len(values) - 1, len(_STUDENT)) - 1]
    return float(quantile * np.std(values, ddof=1) / sqrt(len(values)) / np.mean(values))


def points_of(varied: Sequence[str]) -> list[Point]:
    """All combinations of values such as `n=1000,2000` and `threads=1,2`; UsageError for anything else."""
    names: dict[str, list[str]] = {}
    for text in varied:
        match = _SPELLED.fullmatch(text)
        if match is None or match[1] in names:
            raise UsageError(
                f"--vary {text} is not NAME=N,N,… with two values at least, or is given twice.",
                hint="For example: --vary n=1000,2000,4000",
            )
        values = match[2].split(",")
        if len(set(values)) < len(values) or any(float(value) <= 0 for value in values):
            raise UsageError(f"--vary {text}: values are positive, and each is given once.")
        names[match[1]] = values
    return [dict(zip(names, each, strict=True)) for each in product(*names.values())]


def check(command: Sequence[str], points: Sequence[Point]) -> None:
    """UsageError unless the command has a place for each parameter; threads may do without, by OMP_NUM_THREADS."""
    used = {name for word in command for name in _PLACEHOLDER.findall(word)}
    known = set(points[0])
    if unknown := sorted(used - known):
        raise UsageError(f"{{{unknown[0]}}} in the command is not varied.", hint=f"Add --vary {unknown[0]}=1,2,4")
    for name in sorted(known - used - {"threads"}):
        raise UsageError(
            f"The command has no {{{name}}}.", hint=f"Write {{{name}}} where its value belongs: ./app {{{name}}}"
        )


def command_at(command: Sequence[str], point: Point) -> tuple[tuple[str, ...], dict[str, str]]:
    """The command of a point, and what its environment has more."""
    words = tuple(_PLACEHOLDER.sub(lambda match: point[match[1]], word) for word in command)
    return words, {"OMP_NUM_THREADS": point["threads"]} if "threads" in point else {}


def vary(
    command: Sequence[str],
    points: Sequence[Point],
    folder: Path,
    *,
    measure: Measure,
    interval: float,
    most: int = MOST,
    progress: Callable[[str], None] = lambda stage: None,
) -> list[Varied]:
    """Measure the command at all points in turns, below `folder`: `ranks=4/rep1`, ….

    `measure` runs a command and tells how long it took without what the machine did beside it. Each point is measured three times at
    least, and again until the 95 % interval of its time is within ± `interval` of it (0.05), at most `most` times. Turns spread what the
    machine does beside the program over all points. UsageError for a point at which the program fails.
    """
    check(command, points)
    found = [Varied(point, (), ()) for point in points]
    for repetition in range(1, most + 1):
        for at, each in enumerate(found):
            if repetition > FEWEST and each.interval <= interval:
                continue
            words, more = command_at(command, each.point)
            name = ",".join(f"{key}={value}" for key, value in each.point.items())
            progress(f"{name}, repetition {repetition}")
            place = folder / name
            place.mkdir(parents=True, exist_ok=True)
            measured, took = measure(words, {**os.environ, **more}, place / f"rep{repetition}")
            if measured.code != 0:
                raise UsageError(
                    f"At {name} the program ended with status {measured.code}.",
                    hint=f"See {measured.folder / 'stderr.txt'}.",
                )
            found[at] = Varied(each.point, (*each.seconds, took), (*each.folders, measured.folder))
    return found
