"""`chathpc diff`."""

from __future__ import annotations

from pathlib import Path

import click

from chathpc.commands.allocation import keep_freed_memory
from chathpc.commands.options import PROFILE, Share, metric_option, quiet_option, view_option
from chathpc.commands.output import answer, check_output, output_options, style_for
from chathpc.commands.progress import Progress
from chathpc.commands.streams import complain
from chathpc.errors import RegressionError
from chathpc.reports import FORMATS

_SIDES = ("--before", "--after")


class RepeatedSides(click.Command):
    """A command whose --before and --after take all words up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`--before A1 A2` is `--before A1 --before A2`."""
        words: list[str] = []
        side = ""
        for word in args:
            if word.startswith("-") and word != "-":
                side = word if word in _SIDES else ""
                words += [] if side else [word]
            else:
                words += [side, word] if side else [word]
        if args and args[-1] in _SIDES:
            words.append(args[-1])  # which click then says lacks its argument
        return super().parse_args(ctx, words)


@click.command("diff", cls=RepeatedSides)
@click.argument("paths", metavar="[BEFORE AFTER]", nargs=-1, type=PROFILE)
@click.option("--before", metavar="PATH...", multiple=True, type=PROFILE, help="Runs of the first side.")
@click.option("--after", metavar="PATH...", multiple=True, type=PROFILE, help="Runs of the second side.")
@metric_option
@click.option(
    "--fail-on-regression",
    "limit",
    metavar="P",
    type=Share(),
    help="Exit with code 7 if the run (or metric M) has grown by more than P (5%), beyond noise; with 0 if noise leaves that open.",
)
@output_options(FORMATS)
@view_option
@quiet_option
@click.option("-v", "--verbose", is_flag=True, help="Show every part and row.")
def command(
    paths: tuple[Path, ...],
    before: tuple[Path, ...],
    after: tuple[Path, ...],
    metric: str | None,
    limit: float | None,
    form: str,
    output: str | None,
    view: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Compare two profiles: what got slower or faster beyond noise, where, and why.

    BEFORE and AFTER are folders or files that a profiler wrote: two versions of a program, two compilers, two machines.
    With one run per side, noise is estimated from sample counts; several runs per side measure it.

    For example: chathpc diff database-before database-after

    In a test: chathpc diff --before a1 a2 a3 --after b1 b2 b3 --fail-on-regression 5%
    """
    first, second = _sides(paths, before, after)
    check_output(output, (*first, *second))
    style = style_for(output, verbose=verbose)
    with Progress(quiet=quiet) as progress:
        keep_freed_memory((*first, *second))
        import chathpc
        from chathpc.reports import diff_renderers

        found = chathpc.diff(
            first, second, metric=metric, fail_on_regression=limit, view=view or form == "html", progress=progress
        )
        text = diff_renderers()[form](found, style)
    answer(text, output)
    if found.gate is not None and found.gate.outcome == "failed":
        raise RegressionError(found.gate.statement)
    if found.gate is not None and found.gate.outcome == "undecided":
        complain(found.gate.statement)


def _sides(
    paths: tuple[Path, ...], before: tuple[Path, ...], after: tuple[Path, ...]
) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The runs of both sides, from the two paths or from the options."""
    if before and after and not paths:
        return before, after
    if before or after:
        raise click.UsageError("Give two paths, or the runs of both sides with --before and --after.")
    if len(paths) != 2:
        raise click.UsageError(
            f"Expected two profiles, but {len(paths)} {'was' if len(paths) == 1 else 'were'} given. "
            "Pass several runs per side with --before and --after."
        )
    return paths[:1], paths[1:]
