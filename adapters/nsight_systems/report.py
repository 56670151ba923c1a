"""Reports in Nsight Systems' own, undocumented format: exported by its own program, or refused with the command."""

from __future__ import annotations

import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path
from shlex import quote
from shutil import which
from typing import TYPE_CHECKING

from chathpc.adapters.glance import Glance
from chathpc.adapters.nsight_systems import inputs, is_export, is_report
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile

#: Seconds that an export may take at least, and what each byte of the report adds (a gigabyte takes some minutes).
SECONDS, SECONDS_PER_BYTE = 120.0, 1 / 1e6
#: The export of a report is younger than it; file systems of clusters keep times to about a second.
SLACK_SECONDS = 2.0


def read(path: Path) -> Profile:
    """The profile of an export, a report or a folder of these."""
    from chathpc.adapters.nsight_systems.job import read_job

    glance = Glance(path)
    with ExitStack() as stack:
        if glance.is_folder:
            exports, words = _of_folder(path, inputs(glance), stack)
            return read_job(exports, title=path.resolve().name if len(exports) > 1 else "", more=words)
        if is_report(glance):
            export, words = sqlite_of(path, stack)
            return read_job([export], more=words)
        return read_job([path])


def _of_folder(path: Path, found: list[Path], stack: ExitStack) -> tuple[list[Path], list[str]]:
    """The exports to read: those in the folder, and of each report that has none beside it one that is made."""
    reports = [file for file in found if is_report(Glance(file))]
    exports = {file: None for file in found if file not in reports}
    words: list[str] = []
    for report in reports:
        export, more = sqlite_of(report, stack)
        exports.pop(_beside(report), None)
        exports[export] = None
        words += more
    if not exports:
        raise AdapterError(
            "no report or export of Nsight Systems is in the folder", path=path, hint="Give the folder with them."
        )
    return list(exports), words


def sqlite_of(report: Path, stack: ExitStack) -> tuple[Path, list[str]]:
    """An export of `report`, and what to say about it: the one beside it if it is younger, else one that nsys makes.

    What is made lives as long as `stack`. AdapterError, with the command, if there is no way.
    """
    beside = _beside(report)
    stale = False
    if is_export(Glance(beside)):
        stale = beside.stat().st_mtime + SLACK_SECONDS < report.stat().st_mtime
        if not stale:
            return beside, [f"Read from {clean(beside.name)}, the export found next to {clean(report.name)}."]
    program = which("nsys")
    if program is None:
        why = f"; {clean(beside.name)} beside it is older than the report and is not used" if stale else ""
        raise AdapterError(
            f"a report of Nsight Systems, which only its own program 'nsys' can read, and that is not on the PATH{why}",
            path=report,
            hint=f"Export it where Nsight Systems is installed, then give the .sqlite file: {command(report)}",
        )
    made = _export(program, report, stack)
    words = [
        f"{clean(beside.name)} beside the report is older than it and was not used; the report was exported again."
    ]
    return made, words if stale else []


def command(report: Path) -> str:
    """The command that exports `report`, as a user types it."""
    return f"nsys export --type=sqlite --force-overwrite=true --output={quote(clean(str(_beside(report))))} {quote(clean(str(report)))}"


def _beside(report: Path) -> Path:
    return report.with_suffix(".sqlite")


def _export(program: str, report: Path, stack: ExitStack) -> Path:
    """Run `nsys export` into a temporary folder; it can end with 0 without having written anything."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="chathpc-nsys-")))
    made = folder / "report.sqlite"
    seconds = SECONDS + report.stat().st_size * SECONDS_PER_BYTE
    arguments = [
        program, "export", "--type=sqlite", "--force-overwrite=true", f"--output={made}", str(report.resolve()),
    ]  # fmt: skip
    hint = f"Run it manually, then pass the .sqlite file: {command(report)}"
    try:
        done = subprocess.run(
            arguments, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, cwd=folder, check=False
        )
    except subprocess.TimeoutExpired:
        raise AdapterError(f"'nsys export' took more than {seconds:.0f} s", path=report, hint=hint) from None
    except OSError as error:
        raise AdapterError(f"'nsys' cannot be run: {error.strerror}", path=report, hint=hint) from None
    if not is_export(Glance(made)):
        said = clean(" ".join((done.stderr or done.stdout).decode("utf-8", "replace").split()))[:300]
        raise AdapterError(
            f"'nsys export' wrote no export (it ended with {done.returncode}){': ' + said if said else ''}",
            path=report,
            hint=hint,
        )
    return made
