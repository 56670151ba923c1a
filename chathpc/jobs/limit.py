"""How long the last step of a batch job may take."""

from __future__ import annotations

from collections.abc import Mapping

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
