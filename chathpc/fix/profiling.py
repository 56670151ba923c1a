"""A built program measured for its diagnosis, and for the comparison with another one."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Protocol

from chathpc.errors import MeasurementError
from chathpc.fix.runner import Built, Case, Runner
from chathpc.fix.workspace import remove


class Profiler(Protocol):
    """Measures the project's run of a built tree."""

    def __call__(self, runner: Runner, built: Built, folder: Path) -> Path:
        """Leave a profile in the new folder `folder`, and return its path. MeasurementError if none came of it."""
        ...


def measured(runner: Runner, built: Built, folder: Path) -> Path:
    """The project's run under the tool that it declares, or the best one that is there, inside the sandbox."""
    project = runner.project
    remove(folder)
    case = Case.usual(project.run)
    if project.profile.command is not None:
        return _by_command(runner, runner.workspace.fresh_stage(built.folder), case, folder)
    from chathpc.measure import measure
    from chathpc.measure.command import words

    plain = runner.alone.get(built.digest) or runner.run(built, case).completed
    stage = runner.workspace.fresh_stage(built.folder)
    found = measure(
        words(case.command),
        stage,
        runner=runner.sandbox.run,
        output=folder,
        tool=project.profile.tool if project.profile.tool != "command" else "auto",
        launcher=tuple(shlex.split(project.launcher)),
        environment=runner.environment(case),
        readable=runner.readable,
        stdin=runner.stdin(project.run),
        limits=project.limits,
        plain=plain,
        gpu=project.gpu,
        sources=stage,
        raw=False,
    )
    return found.path


def _by_command(runner: Runner, stage: Path, case: Case, folder: Path) -> Path:
    """The user's own command, which leaves a profile at a place that the project names."""
    profile = runner.project.profile
    done = runner.shell(str(profile.command), case)
    result = stage / str(profile.result)
    if not done.succeeded or not result.exists() or result.is_symlink():
        raise MeasurementError(
            f"The command that profiles the program left no {profile.result} (status {done.code}).",
            hint="Correct 'profile' in chathpc.yaml.",
        )
    folder.mkdir(parents=True)
    target = folder / result.name
    if result.is_dir():
        shutil.copytree(result, target, symlinks=True)
    else:
        shutil.copyfile(result, target)
    return target
