"""The last line of a job script: explain the profile that the job has just written, and never fail the job."""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from chathpc.errors import UsageError
from chathpc.jobs.supervise import Outcome, supervise

#: Files that are written, by the renderer that writes them; the one that programs read comes last.
FILES = {"text": "report.txt", "markdown": "report.md", "json": "report.json"}
_WIDTH = 100


def folder_beside(paths: Sequence[Path]) -> Path:
    """The folder that the first profile lies in."""
    return Path(os.path.abspath(paths[0])).parent


def post(
    paths: Sequence[Path],
    *,
    folder: Path | None = None,
    limit: float | None = None,
    llm: str = "none",
    source: Sequence[Path] = (),
    environ: Mapping[str, str] = os.environ,
) -> Outcome:
    """Explain `paths` and write report.txt, report.md and report.json to a new folder in `folder` (default: beside the first path).

    Raises nothing: the outcome says what the verdict is or why there is none. The folder, `report-` with the job's id or a number, is whole
    or not there; earlier ones stay, and the link `latest` leads to the newest. `limit`: seconds, see `time_limit`.
    """
    seconds = time_limit(limit, environ, time.time())
    if not seconds > 0:  # also where it is no number
        return Outcome(False, "no time left in this job; nothing was done")
    tag = secrets.token_hex(6)
    try:
        target = folder_beside(paths) if folder is None else folder
    except OSError as error:  # the current folder is gone
        return Outcome(False, f"cannot find the profile: {error.strerror}")
    outcome = supervise(lambda: _explain(paths, target, llm, source, environ, tag), seconds)
    if not outcome.done:
        from chathpc.reports.write import remove_unfinished

        with suppress(OSError):
            remove_unfinished(target, tag)
    return outcome


def _explain(
    paths: Sequence[Path], folder: Path, llm: str, source: Sequence[Path], environ: Mapping[str, str], tag: str
) -> tuple[str, str]:
    """Runs in the child: the verdict as one line, and why no model worded it. All is rendered before anything is written."""
    import chathpc
    from chathpc.fix.recipes.exact import exact_changes
    from chathpc.reports import renderers
    from chathpc.reports.style import Style
    from chathpc.reports.wording import VERDICTS
    from chathpc.reports.write import link_atomically, write_folder

    report = chathpc.explain(chathpc.load(*paths), llm=llm, source=source, propose=exact_changes)
    texts = {FILES[form]: renderers()[form](report, Style(width=_WIDTH)) for form in FILES}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"Cannot create {folder}: {error.strerror}.", hint="Name another folder with -o.") from error
    written = write_folder(folder, texts, names(environ), tag=tag)
    with suppress(OSError):  # file systems without links
        link_atomically(folder / LATEST, written.name, tag=tag)
    told = report.explanation
    lacks = f"no model worded the report: {told.note}" if told.lack is not None and llm.strip() != "auto" else ""
    return f"{VERDICTS[report.verdict]} {report.headline.removesuffix('.')} · Report: {written / FILES['text']}", lacks


#: Without a word from the user, explaining takes no longer than this (seconds).
MOST = 120.0
#: Kept free before the end of the job, for whatever the script still does and for the batch system (seconds).
MARGIN = 30.0
END_TIME = "SLURM_JOB_END_TIME"


def time_limit(asked: float | None, environ: Mapping[str, str], now: float) -> float:
    """Seconds that may be used; 0 or less if there is no time left.

    `asked` wins if it is given. Else the least of MOST and of what Slurm says is left of the job, less MARGIN
    (SLURM_JOB_END_TIME: seconds since the epoch, set since Slurm 22.05). `now`: seconds since the epoch.
    """
    if asked is not None:
        return asked
    try:
        end = float(environ.get(END_TIME, ""))
    except ValueError:
        return MOST
    return min(MOST, end - now - MARGIN)


#: The folder of one report is called so, with the job's id or a number behind it.
PREFIX = "report-"
#: A link to the newest.
LATEST = "latest"
#: Where batch systems put the job's id: Slurm, PBS, LSF, Flux, Cobalt, OAR, Grid Engine.
_JOB_IDS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "OAR_JOB_ID", "JOB_ID")
_LONGEST = 60


def job_id(environ: Mapping[str, str]) -> str:
    """The job's id as part of a file name, without the server that PBS puts behind it; empty outside of a job."""
    given = next((environ[name] for name in _JOB_IDS if environ.get(name)), "")
    return re.sub(r"[^A-Za-z0-9_]+", "-", given.partition(".")[0]).strip("-")[:_LONGEST]


def names(environ: Mapping[str, str]) -> Iterator[str]:
    """Names for a new report, the best first: `report-4711`, `report-4711-2`, …, or numbers from 1 on: the next one after another job's id would
    look like that of a job.
    """
    id = job_id(environ)
    if id:
        yield f"{PREFIX}{id}"
        yield from (f"{PREFIX}{id}-{number}" for number in count(2))
    yield from (f"{PREFIX}{number}" for number in count(1))
