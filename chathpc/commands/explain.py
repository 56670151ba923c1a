"""`chathpc explain`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chathpc.commands.allocation import keep_freed_memory
from chathpc.commands.options import (
    PLACE,
    PROFILE,
    base_url_option,
    confidential_option,
    patterns_option,
    quiet_option,
    source_option,
    view_option,
)
from chathpc.commands.output import answer, check_output, output_options, style_for
from chathpc.commands.progress import Progress
from chathpc.commands.streams import complain
from chathpc.errors import BudgetSpentError, ModelUnavailableError
from chathpc.reports import REMARK_FORMATS, REPORT_FORMATS

if TYPE_CHECKING:
    from chathpc.prompts.loader import Audience
    from chathpc.report import Report


@click.command("explain")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=PROFILE)
@output_options(REPORT_FORMATS)
@click.option(
    "--llm",
    metavar="SPEC",
    help="Model that words it: none, local[:MODEL], openai:MODEL, auto (default); A,B: A, else B.",
)
@base_url_option
@confidential_option(": user names (default); libraries and source as well; none.")
@click.option("--show-prompt", is_flag=True, help="Print exactly what would be sent to the model, and send nothing.")
@patterns_option
@source_option
@click.option(
    "--audience", type=click.Choice(["expert", "newcomer", "manager"]), help="Whom it is written for; default: expert."
)
@click.option("--tokens", metavar="N", type=click.IntRange(min=1), help="Size of the call tree in model tokens.")
@click.option(
    "--series", metavar="DIR", type=PLACE,
    help="Runs at other sizes of the problem (see scale): growth is evidence.",
)  # fmt: skip
@click.option("--full", is_flag=True, help="All findings, evidence and the call tree, not only the first screen.")
@view_option
@click.option("--show-statements", is_flag=True, help="Print each statement of a model and whether it was kept.")
@quiet_option
@click.option("-v", "--verbose", is_flag=True, help="Add timings, versions and the source of each number.")
def command(
    paths: tuple[Path, ...],
    form: str,
    output: str | None,
    llm: str | None,
    base_url: str | None,
    confidential: str | None,
    show_prompt: bool,
    patterns: Path | None,
    source: tuple[Path, ...],
    audience: Audience | None,
    tokens: int | None,
    full: bool,
    view: bool,
    show_statements: bool,
    series: Path | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Find what costs time in a profile, why, and what to do.

    PATH is the folder or file that a profiler wrote. Every number is computed from it; a language model, if available,
    says under its own name what it suspects, or retells the facts in its own words.

    For example: chathpc explain hpctoolkit-app-database

    With what the compiler did: chathpc explain db build.log heat.opt.yaml

    As a page: chathpc explain db -o report.html

    As data: chathpc explain db --llm none --format json -o report.json

    What a hosted model would be sent: chathpc explain db --llm openai:MODEL --show-prompt
    """
    check_output(output, paths)
    style = style_for(output, verbose=verbose, statements=show_statements)
    with Progress(quiet=quiet) as progress:
        keep_freed_memory(paths)
        import chathpc
        from chathpc.reports import renderers

        progress("reading the profile")
        profile = chathpc.load(*paths)
        if series is not None:
            from chathpc.scale.scaling import grown_of, scale

            grown = grown_of(found := scale([series], progress=progress))
            caveats = (*profile.caveats, *(() if grown else (found.headline,)))
            profile = replace(profile, grown=grown, caveats=caveats)
        asked: dict[str, Any] = {
            "llm": llm or "auto",
            "base_url": base_url,
            "confidential": confidential,
            "patterns": patterns,
            "source": source,
            "audience": audience,
            "progress": progress,
            **({} if tokens is None else {"tokens": tokens}),
        }
        if show_prompt:
            from chathpc.pipeline import prompt

            sent = prompt(profile, **asked)
            text = sent.body.decode()
        else:
            from chathpc.fix.recipes.exact import exact_changes

            report = chathpc.explain(
                profile, propose=exact_changes, view=view or form == "html", notice=progress.notice, **asked
            )
            if form in REMARK_FORMATS:
                from chathpc.reports.remarks import in_repository

                report = in_repository(report, source)
            whole = full or verbose or show_statements or form != "text"
            text = renderers()[form if whole else "screen"](report, style)
    if show_prompt:
        answer(text, output)
        complain(
            f"{len(sent.body)} bytes would go to {sent.label}; confidential: {sent.confidential}. Nothing was sent."
        )
        return
    answer(text, output)
    if llm not in (None, "auto"):
        _tell_lack(report)


def _tell_lack(report: Report) -> None:
    """The report is complete without a model; but who asks for one in a script wants to know that there was none."""
    told = report.explanation
    said = f"No model worded this report: {told.note}"
    if told.lack is not None:
        raise (BudgetSpentError if told.lack == "budget" else ModelUnavailableError)(said)
    if told.model is None and told.note:  # `none` ends the list: no error, but nobody should have to guess
        complain(said)
