"""`chathpc scale`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from chathpc.commands.allocation import keep_freed_memory
from chathpc.commands.options import PLACE, PROFILE, metric_option, quiet_option
from chathpc.commands.output import answer, check_output, output_options, style_for
from chathpc.commands.progress import Progress
from chathpc.commands.streams import complain
from chathpc.errors import UsageError
from chathpc.reports import SCALE_FORMATS
from chathpc.reports.write import write_atomically

if TYPE_CHECKING:
    from chathpc.scale.record import Scaling

_KINDS = {"strong": "strong", "weak": "weak", "size": "problem size"}


@click.command("scale")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=PROFILE)
@click.option(
    "--at",
    "targets",
    metavar="NAME=N[,NAME=N]",
    multiple=True,
    help="Predict this scale. Default: 4 times the largest.",
)
@click.option("--along", metavar="NAME", help="Parameter to look along, where several vary.")
@click.option(
    "--kind",
    type=click.Choice(list(_KINDS)),
    help="What was scaled, where chathpc deduces it wrongly; size: of the problem.",
)
@click.option("--parameters", metavar="FILE", type=PLACE, help="YAML with the parameters of each run.")
@metric_option
@click.option("--job", metavar="FILE", type=PLACE, help="Write a batch script for the run that would tell most.")
@output_options(SCALE_FORMATS)
@quiet_option
@click.option("-v", "--verbose", is_flag=True, help="All findings, and the hot path of the loss.")
def command(
    runs: tuple[Path, ...],
    targets: tuple[str, ...],
    along: str | None,
    kind: str | None,
    parameters: Path | None,
    metric: str | None,
    job: Path | None,
    form: str,
    output: str | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Say where a program loses when it is scaled, why, and what it costs at larger scales.

    RUN is a profile, or a folder of profiles, of the same program at several numbers of ranks, threads or GPUs, or sizes of the problem.
    Names of files and folders tell the parameters (p4, n1000, ranks=8-rep2), or a YAML file (runs/a: {ranks: 4}); without them the
    profiles' own numbers of ranks, threads and GPUs do. Runs with the same values are repetitions. RUN may be a file of Extra-P, too.

    For example: chathpc scale runs/ --at ranks=64
    """
    check_output(output, runs)
    check_output(None if job is None else str(job), runs)
    style = style_for(output, verbose=verbose)
    with Progress(quiet=quiet) as progress:
        keep_freed_memory(runs)
        from chathpc.reports import scale_renderers
        from chathpc.scale.scaling import scale
        from chathpc.scale.series import Kind, values_from

        found = scale(
            runs,
            at=[target(each) for each in targets],
            values=None if parameters is None else values_from(parameters),
            along=along,
            kind=None if kind is None else Kind(_KINDS[kind]),
            metric=metric,
            progress=progress,
        )
        text = scale_renderers()[form](found, style)
    if job is not None:
        _write_job(job, found, quiet)
    answer(text, output)


def _write_job(file: Path, found: Scaling, quiet: bool) -> None:
    """UsageError where no run is worth its price, or none would help."""
    if found.next_run is None or not found.next_run.job:
        why = "No further run is worth its price"
        if found.next_run is None:
            why = "The next run is known for profiles and a target of one parameter only"
        elif found.next_run.purpose != "decide":
            why = f"No further run is likely to help: {found.predictions[0].refusal}"
        raise UsageError(f"{why}, so there is no job to write.", hint="Omit --job to see what is known.")
    write_atomically(file, found.next_run.job)
    file.chmod(0o755)
    if not quiet:
        todo = "write the program's command where it has <--" if "<--" in found.next_run.job else f"next: sbatch {file}"
        complain(f"the job is in {file}; {todo}.")


def target(text: str) -> dict[str, float]:
    """`ranks=64` or `ranks=64,n=8000` as values of parameters; UsageError for anything else."""
    from chathpc.scale.series import named_values

    parts = [each.strip() for each in text.split(",")]
    found = {name: value for part in parts for name, value in named_values(part).items()}
    if len(found) != len(parts) or not all("=" in part.strip("=") for part in parts):
        raise UsageError(f"--at {text} is not NAME=NUMBER.", hint="For example: --at ranks=64")
    return found
