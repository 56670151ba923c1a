"""`chathpc post`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from chathpc.commands.main import complain


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
            complain(f"post: {error.format_message()} The job is not affected.")
            raise click.exceptions.Exit(0) from None


@click.command("post", cls=NeverFails)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help="Default: beside the profile.")
@click.option("--time-limit", metavar="S", type=float, help="Seconds. Default: 120, or the job's end less 30 s.")
@click.option("--llm", metavar="SPEC", default="none", show_default=True, help="Model that words it.")
def command(paths: tuple[Path, ...], output: Path | None, time_limit: float | None, llm: str) -> None:
    """Explain a profile as the last line of a job script; never fails the job.

    Writes report.txt, report.md and report.json. Exits with 0 whatever happens; what went wrong is one line on stderr.

    \b
    For example: chathpc post hpctoolkit-app-database -o results
    """
    from chathpc.jobs.post import post

    outcome = post(paths, folder=output, limit=time_limit, llm=llm)
    if outcome.done:
        _tell(outcome.message)
    else:
        complain(f"post: {outcome.message.rstrip('.')}. The job is not affected.")
    # What Python does at its exit (flushing streams that may be closed or full) could still change the exit code.
    os._exit(0) if _is_the_process() else None


def _tell(message: str) -> None:
    ...
