"""What the reports of a job are called: by the job's id, else by a number, never as an earlier report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import count

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
