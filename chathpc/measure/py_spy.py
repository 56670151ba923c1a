"""py-spy: samples of Python functions with the native calls below them, of all threads and child processes, whether they run or wait.

What perf sees of a Python program are the interpreter's own functions. py-spy needs no change to the program, but the right to trace it
(a process may trace its children, unless a container forbids it).
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, ClassVar

from chathpc.measure.command import behind_env, program_file
from chathpc.measure.files import fresh_folder, put
from chathpc.measure.profiler import RANK, Do, NoSampleError, Plan, Profiler, ProfilerError, by_rank, reason, which
from chathpc.measure.record import Tool

#: Each sample stops the program while its stacks are read (py-spy's own default).
_HIGHEST = 100
_OPTIONS = ("record", "--native", "--idle", "--threads", "--subprocesses", "--full-filenames", "--format", "speedscope")
#: py-spy writes to both streams and does not hand on the program's status: the program gets the streams, a file its status, and
#: a second file what py-spy says.
_SCRIPT = (
    'at="$0/py-spy.{rank}"; {spy} -o "$at.json" -- sh -c \'"$@" >&3 2>&4 3>&- 4>&-; echo $? > "$0"\' "$at.status" "$@" 3>&1 4>&2 > "$at.log" 2>&1; '
    '[ -s "$at.status" ] || {{ cat "$at.log" >&2; exit 1; }}; exit "$(cat "$at.status")"'
)
_FILE = re.compile(r"py-spy\.(p?)(\d{1,9})\.json")
#: Packages that compute on a GPU where there is one, and the file by which NVIDIA's driver tells that there is.
_ON_GPU = re.compile(
    rb"^\s*(?:import|from)\s+(?:torch|cupy|jax|tensorflow|pycuda|triton|numba\.cuda|numba\s+import\s+.*\bcuda)\b",
    re.MULTILINE,
)
DRIVER = Path("/dev/nvidiactl")
_LONGEST_SCRIPT = 1 << 20
_PYTHON, _SHEBANG = re.compile(r"python[\d.]*"), re.compile(rb"#!.{0,200}\bpython[\d.]*\s")


class PySpy(Profiler):
    """py-spy record."""

    name: ClassVar[Tool] = "py-spy"
    command = "py-spy"
    missing = "py-spy is not installed (pip install py-spy)"

    def lacks(self, environment: Mapping[str, str]) -> str:
        """It is there, or beside chathpc's own Python."""
        return "" if _found(environment) else self.missing

    def prepare(self, plan: Plan, do: Do) -> Plan:
        """Bounds the rate."""
        if not runs_python(plan.program, plan.folder, plan.environment):
            raise ProfilerError("the program is not started by Python")
        return replace(plan, rate=min(plan.rate, _HIGHEST))

    def events(self, plan: Plan) -> tuple[str, ...]:
        """Wall time of each thread."""
        return ("wall clock",)

    def record(self, plan: Plan) -> tuple[str, ...]:
        """The command of py-spy; behind a launcher each rank has one."""
        spy = shlex.join((_found(plan.environment) or "py-spy", *_OPTIONS, "--rate", str(plan.rate)))
        script = _SCRIPT.format(spy=spy, rank=RANK if plan.launcher else "p0")
        return (*plan.launcher, "sh", "-c", script, str(plan.work), *plan.program)

    def files(self, plan: Plan) -> list[Path]:
        """Samples, by rank."""
        return by_rank(file for file in plan.work.glob("py-spy.*.json") if _FILE.fullmatch(file.name))

    def finish(self, plan: Plan, do: Do, version: str) -> Path:
        """One file of all ranks, with paths below the program's folder relative to it."""
        program = PurePath(_script(plan.program) or plan.program[0]).stem
        target = fresh_folder(plan.work / "profile") / f"{program}.speedscope.json"
        frames: list[str] = []
        profiles: list[str] = []
        for file in self.files(plan):
            try:
                one = json.loads(file.read_bytes())
                of_it, sampled = one["shared"]["frames"], one["profiles"]
                name = "" if (told := _FILE.fullmatch(file.name)) is None or told[1] else f"rank {told[2]}: "
                profiles += [json.dumps(_moved(each, len(frames), name)) for each in sampled]
                frames += [json.dumps(_placed(frame, plan.folder)) for frame in of_it]
            except (ValueError, KeyError, TypeError) as error:
                raise ProfilerError(f"{file.name} cannot be read ({error})") from error
        if not profiles:
            raise NoSampleError("no sample was taken: the run was too short")
        head = {
            "$schema": "https://www.speedscope.app/file-format-schema.json", "exporter": version.replace(" ", "@", 1),
            "name": program, "clock": "wall",
        }  # fmt: skip
        parts = ",\n".join(frames), ",\n".join(profiles)
        put(
            target,
            f'{json.dumps(head)[:-1]}, "shared": {{"frames": [\n{parts[0]}\n]}}, "profiles": [\n{parts[1]}\n]}}\n'.encode(),
        )
        return target

    def version(self, plan: Plan, do: Do) -> str:
        """As it tells it: `py-spy 0.4.1`."""
        done = do("py-spy --version", (_found(plan.environment) or "py-spy", "--version"), {})
        if not done.succeeded:
            raise ProfilerError(f"py-spy --version failed: {reason(done)}")
        return done.stdout[:200].decode("utf-8", "replace").strip()


def runs_python(program: tuple[str, ...], folder: Path, environment: Mapping[str, str]) -> bool:
    """True if a program is Python, or a script that asks for it in its first line."""
    words = behind_env(program)
    if not words or _PYTHON.fullmatch(PurePath(words[0]).name):
        return bool(words)
    file = program_file(words[0], folder, environment)
    try:
        with open(file or os.devnull, "rb") as stream:
            return _SHEBANG.match(stream.readline(256)) is not None
    except OSError:
        return False


def imports_gpu(program: tuple[str, ...], folder: Path) -> bool:
    """True if this machine has a GPU of NVIDIA's and the program's script imports a package that would compute on it."""
    script = _script(program)
    if script is None or not DRIVER.exists():
        return False
    try:
        with open(folder / script, "rb") as stream:
            return _ON_GPU.search(stream.read(_LONGEST_SCRIPT)) is not None
    except OSError:
        return False


def _script(program: tuple[str, ...]) -> str | None:
    return next((word for word in program if word.endswith(".py")), None)


def _found(environment: Mapping[str, str]) -> str | None:
    return which("py-spy", environment) or which("py-spy", {"PATH": str(Path(sys.executable).parent)})


def _moved(profile: dict[str, Any], by: int, rank: str) -> dict[str, Any]:
    """A profile whose frames are others' in front by so many."""
    samples = [[number + by for number in stack] for stack in profile["samples"]]
    return {**profile, "name": f"{rank}{profile['name']}", "samples": samples}


def _placed(frame: dict[str, Any], folder: Path) -> dict[str, Any]:
    file = PurePath(frame.get("file") or "")
    return {**frame, "file": str(file.relative_to(folder))} if file.is_relative_to(folder) else frame
