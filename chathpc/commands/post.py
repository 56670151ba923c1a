"""`chathpc post`."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from chathpc.commands.options import PLACE, PROFILE, source_option
from chathpc.commands.output import answer, style_for
from chathpc.commands.streams import complain
from chathpc.errors import ChathpcError


class NeverFails(click.Command):
    """A command that exits with 0 even if its own command line is wrong: it stands at the end of a job script."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """As click does; a wrong command line is told on stderr in one line."""
        _occupy_standard_streams()
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            complain(f"post: {error.format_message()} No report was written. The job is not affected.")
            raise click.exceptions.Exit(0) from None


@click.command("post", cls=NeverFails)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=PROFILE)
@click.option("-o", "--output", metavar="DIR", type=PLACE, help="Where that folder goes. Default: next to the profile.")
@click.option(
    "--time-limit", metavar="S", type=float, help="Time limit in seconds. Default: 120, or 30 s before the job's end."
)
@click.option("--llm", metavar="SPEC", default="none", show_default=True, help="Model that words it.")
@source_option
@click.option("-q", "--quiet", is_flag=True, help="No verdict on stdout.")
def command(
    paths: tuple[Path, ...],
    output: Path | None,
    time_limit: float | None,
    llm: str,
    source: tuple[Path, ...],
    quiet: bool,
) -> None:
    """Explain a profile as the last line of a job script; never fails the job.

    Writes report.txt, report.md and report.json to a new folder, report- with the job's id or a number. Earlier ones stay; the link
    'latest' leads to the newest. Exits with 0 whatever happens; what went wrong is one line on stderr.

    For example: chathpc post hpctoolkit-app-database -o results
    """
    from chathpc.jobs.post import post

    outcome = post(paths, folder=output, limit=time_limit, llm=llm, source=source)
    if outcome.done and not quiet:
        with suppress(ChathpcError, SystemExit, ValueError):  # a stdout that is closed or full is no failure
            answer(style_for(None).prose(f"chathpc: {outcome.message}") + "\n", None)
    elif not outcome.done:
        complain(f"post: {outcome.message.rstrip('.')}. The job is not affected.")
    if outcome.note:
        complain(f"post: {outcome.note}")


def _occupy_standard_streams() -> None:
    """Open /dev/null for those of descriptors 0, 1, 2 that are closed, so that no report is opened as one of them."""
    with suppress(OSError):
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(descriptor)
