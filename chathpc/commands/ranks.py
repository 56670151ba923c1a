"""`chathpc ranks`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from chathpc.commands.options import PROFILE, metric_option, quiet_option
from chathpc.commands.output import answer, check_output, output_options, style_for
from chathpc.commands.progress import Progress
from chathpc.profile.text import clean
from chathpc.reports import RANKS_FORMATS


@click.command("ranks")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=PROFILE)
@metric_option
@click.option(
    "--workers", metavar="N", type=click.IntRange(1, 100_000), help="Processes that compute. Default: the cores."
)
@click.option(
    "--engine", metavar="NAME", default="processes", show_default=True,
    help="processes; mpi, under mpirun or srun with python -m mpi4py.futures -m chathpc; dask, or dask:ADDRESS.",
)  # fmt: skip
@output_options(RANKS_FORMATS)
@quiet_option
@click.option("-v", "--verbose", is_flag=True, help="More places, and more that stand out.")
def command(
    paths: tuple[Path, ...], metric: str | None, workers: int | None, engine: str, form: str, output: str | None, quiet: bool, verbose: bool
) -> None:  # fmt: skip
    """Say how a run is spread over its ranks and threads: groups, and who stands out.

    PATH is a profile of all ranks, or one file of each, or a folder of those. Ranks that behave alike are grouped, with one that stands for
    each group; those that stand out are named with their nodes; the places that differ have their quantiles, of the values of all ranks.

    For example: chathpc ranks hpctoolkit-app-database

    On several nodes: srun -K --mpi=pmix -n 64 python -m mpi4py.futures -m chathpc ranks DB --engine mpi
    """
    check_output(output, paths)
    style = style_for(output, verbose=verbose)
    with Progress(quiet=quiet) as progress:
        progress("reading")
        from chathpc.reports import ranks_renderers
        from chathpc.scale.engines import engine as started
        from chathpc.scale.series import profiles_in
        from chathpc.scale.spread import spread

        files = [each for path in paths for each in profiles_in(path)]
        beside = {each for file in files if file not in paths for each in file.parent.iterdir()} - set(files)
        skipped = sorted(clean(each.name) for each in beside if each.is_file() and each.stat().st_size)
        if len(files) > 1 and skipped:
            more = f" and {len(skipped) - 3} more" if len(skipped) > 3 else ""
            click.echo(f"Skipped, since they are no profiles: {', '.join(skipped[:3])}{more}", err=True)
        count = workers or max(len(os.sched_getaffinity(0)), 1)
        found = spread(files or list(paths), started(engine, count), metric=metric, progress=progress)
        text = ranks_renderers()[form](found, style)
    answer(text, output)
