"""`chathpc export`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from chathpc.commands.allocation import keep_freed_memory
from chathpc.commands.options import PROFILE, all_threads_option, quiet_option
from chathpc.commands.output import answer, check_output, output_option
from chathpc.commands.progress import Progress
from chathpc.errors import UsageError
from chathpc.export import TARGETS

_LIST = "".join(f"\n  {name:<15}for {target.opened_by}" for name, target in TARGETS.items())


@click.command(
    "export",
    help=f"""Convert a profile to a format that other tools open.

Several PATHs are views of one run and are joined first.

\b
Formats:{_LIST}

For example: chathpc export hpctoolkit-app-database --to speedscope -o app.speedscope.json
""",
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=PROFILE)
@click.option("--to", "target", metavar="FORMAT", required=True, type=click.Choice(list(TARGETS)), help="See above.")
@click.option("--metric", metavar="M", help="Weight by this metric (see 'chathpc metrics'). Default: the time.")
@all_threads_option
@output_option
@quiet_option
def command(
    paths: tuple[Path, ...], target: str, metric: str | None, all_threads: bool, output: str | None, quiet: bool
) -> None:
    """Convert a profile to a format that other tools open."""
    check_output(output, paths)
    if TARGETS[target].is_binary and output in (None, "-") and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError("A picture cannot be printed to a terminal.", hint="Name a file with -o.")
    with Progress(quiet=quiet) as progress:
        keep_freed_memory(paths)
        import chathpc
        from chathpc.export import exporter

        progress("reading the profile")
        profile = chathpc.load(*paths)
        profile = profile.everything if all_threads else profile
        if profile.helpers.sentence and not quiet:
            click.echo(profile.helpers.sentence, err=True)
        progress("writing")
        content = exporter(target)(profile, metric)
    answer(content, output)
