"""A batch job that makes the next run of a series: for Slurm, or for bash alone."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from math import ceil
from os.path import commonpath
from pathlib import Path
from typing import TypeVar

import numpy as np

from chathpc.measure.record import TOOLS
from chathpc.profile.launcher import split
from chathpc.profile.profile import COMMAND
from chathpc.profile.text import clean
from chathpc.scale.series import AS_GIVEN, Kind, Series, is_workers

Value = TypeVar("Value")
#: A job asks for so many times the upper bound of its runs, and for so many minutes at least.
_SPARE, _LEAST = 2.0, 10
_KINDS = {Kind.STRONG: "strong", Kind.WEAK: "weak", Kind.PROBLEM_SIZE: "size"}
#: A number among the options of a launcher: `-n 4`, `-n4`, `--ntasks=4`.
_COUNT = re.compile(r"(?:-n|--?\w[\w-]*=)?\d+")


def job(series: Series, value: float, count: int, seconds: float, target: float) -> str:
    """A batch script for Slurm, or for bash, that measures `count` runs of at most `seconds` (0: unknown) at `value` and looks at the series again.

    The command is that of the measured runs with the parameter's value in the place where each of them has its own; it runs where they
    did, under the same profiler. Each run takes the next free repetition, so the script may be submitted several times.
    """
    name, number = series.parameter, spelled(value)
    ranks, threads = _shape(series, value)
    command = _command(series, number)
    minutes = max(_LEAST, ceil(_SPARE * seconds * count / 60))
    folder, every = _places(series)
    # In the order in which the measured runs are named.
    known = {**series.runs[-1].parameters, **series.fixed, name: value}
    point = ",".join(f"{key}={spelled(each)}" for key, each in known.items())
    folders = ((run.path, run.record.get("folder")) for run in series.runs)
    where = _shared((path / folder).resolve() if isinstance(folder, str) else None for path, folder in folders)
    where = where if where is not None and where.is_dir() else None
    # Times of another profiler are not to be compared with theirs.
    told = _shared(str(run.record.get("tool")) for run in series.runs)
    tool = f" --tool {told}" if told in TOOLS else ""
    more = f" --kind {_KINDS[series.kind]}" if series.reason == AS_GIVEN and series.kind in _KINDS else ""
    again = f"chathpc scale {every} --at {shlex.quote(f'{name}={spelled(target)}')}{more}"
    threaded = f"export OMP_NUM_THREADS={threads}"
    if threads > 1 and command is not None and command.startswith("srun "):
        # Since 22.05 srun does not take it from the job any more (release notes of Slurm 22.05).
        threaded += f" SRUN_CPUS_PER_TASK={threads}"
    lines = [
        "#!/bin/bash",
        f"#SBATCH --job-name={re.sub(r'[^A-Za-z0-9_.-]', '-', name)}-{number}",
        f"#SBATCH --ntasks={ranks}",
        f"#SBATCH --cpus-per-task={threads}",
        *([f"#SBATCH --gpus={number}"] if name == "GPUs" else [f"#SBATCH --nodes={number}"] if name == "nodes" else []),
        f"#SBATCH --time={minutes // 60:02}:{minutes % 60:02}:00",
        f"# {count} runs at {clean(name)} = {number}{f', of at most {seconds:.3g} s each' if seconds else ''}. Made by chathpc scale; without Slurm: bash FILE",
        "# Add what the machine asks for (--account, --partition; --exclusive keeps other jobs away). Submit it where chathpc is on the PATH"
        f"{'.' if where else ', in the folder where the runs were measured.'}",
        "set -e",
        *([f"cd {shlex.quote(str(where))}"] if where else []),
        threaded,
        f"folder={shlex.quote(str(folder / point))}",
        'mkdir -p "$folder"',
        "repetition=1",
        f"for run in $(seq {count}); do",
        "    # mkdir takes the next number that no other run has, also of a job that runs beside this one.",
        '    until mkdir "$folder/rep$repetition" 2>/dev/null; do',
        '        [ -e "$folder/rep$repetition" ] || { echo "Cannot write to $folder." >&2; exit 1; }',
        "        repetition=$((repetition + 1))",
        "    done",
        f'    chathpc measure --no-overhead{tool} -o "$folder/rep$repetition" -- {command or _COMMAND}',
        "done",
        f"# Add the new runs to the file with the parameters, then: {again}" if series.source == AS_GIVEN else again,
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


#: What stands where the command is unknown.
_COMMAND = "COMMAND  # <-- the program's command at this scale; its values differ between the measured runs"


def spelled(value: float) -> str:
    """A value as a command or the name of a folder has it: all digits, no exponent."""
    return str(np.format_float_positional(value, trim="-"))


def _shape(series: Series, value: float) -> tuple[int, int]:
    """Ranks, and threads of each: those of the largest run, and what grows with the parameter in proportion."""
    first, last = (series.runs[point.runs[0]].measured for point in (series.points[0], series.points[-1]))
    told = {**series.fixed, series.parameter: series.values[-1]}
    few, many = max(first.ranks, 1), told.get("ranks", max(last.ranks, 1))
    found = {"ranks": many, "threads": last.threads / many}
    name = series.parameter
    if is_workers(name) and name not in found:
        grown = value / series.values[-1]
        found["ranks"] *= grown if few != many else 1
        found["threads"] *= grown if few == many and first.threads != last.threads else 1
    found |= {key: each for key, each in {**series.fixed, name: value}.items() if key in found}
    return max(round(found["ranks"]), 1), max(round(found["threads"]), 1)


def _places(series: Series) -> tuple[Path, str]:
    """The folder of the series, where new runs go, and what a shell gives to chathpc scale to read all of it."""
    single = {run.path.absolute() for run in (*series.runs, *series.others)}
    given = [path.absolute() for path in series.given]
    folders = [path for path in given if path not in single]
    if folders:
        return folders[-1], shlex.join(map(str, given))
    folder = Path(commonpath([path.parent for path in single]))
    return folder, f'{shlex.join(map(str, given))} "$folder"' if given else shlex.quote(str(folder))


def _shared(values: Iterable[Value]) -> Value | None:
    """What all runs have alike; None where they differ."""
    first, *others = dict.fromkeys(values)
    return None if others else first


def _command(series: Series, number: str) -> str | None:
    """The command that the runs have in common, with `number` where each has its value; None if they differ elsewhere, or tell none."""
    told = [shlex.split(run.profile.run.get(COMMAND, "")) for run in series.runs]
    values = [spelled(run.parameters[series.parameter]) for run in series.runs]
    if not all(told) or len({len(words) for words in told}) > 1:
        return None
    found, put = [], False
    for words in zip(*told, strict=True):
        if len(set(words)) == 1:
            found.append(words[0])
            continue
        # `-n 4`, and also `--size=4` and `-n4`; a program or file whose name holds the value need not be there for another one.
        parted = {
            tuple(re.split(rf"(?<![\d.]){re.escape(value)}(?![\d.])", word))
            for word, value in zip(words, values, strict=True)
        }
        parts = parted.pop()
        if parted or len(parts) != 2 or (parts != ("", "") and not words[0].startswith("-")):
            return None
        found.append(number.join(parts))
        put = True
    if put or series.parameter == "threads":
        return shlex.join(found)
    if series.parameter != "ranks":
        return None
    launcher, _ = split(found, lambda word: _COUNT.fullmatch(word) is None)
    if not launcher:
        return shlex.join(["mpirun", "-n", number, *found])
    # Without a number a launcher starts as many as the job has tasks.
    return None if any(map(_COUNT.fullmatch, launcher)) else shlex.join(found)
