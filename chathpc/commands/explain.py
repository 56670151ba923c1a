"""`chathpc explain`."""

from __future__ import annotations

from pathlib import Path

import click

from chathpc.commands.allocation import keep_freed_memory
from chathpc.commands.output import answer, check_output, chosen_format, output_options, style_for
from chathpc.commands.progress import Progress
from chathpc.errors import ModelUnavailableError
from chathpc.reports import FORMATS


@click.command("explain")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@output_options(FORMATS)
@click.option("--llm", metavar="SPEC", help="Model that words it: none, local[:MODEL], openai:MODEL, auto (default).")
@click.option("--base-url", metavar="URL", help="Server of openai:MODEL, if it is not OpenAI's.")
@click.option("--patterns", metavar="DIR", type=click.Path(path_type=Path), help="Folder with patterns of your own.")
@click.option("--tokens", metavar="N", type=click.IntRange(min=1), help="Size of the call tree, in tokens of a model.")
@click.option("--show-claims", is_flag=True, help="Print the claims of a model's sentences, and what each rests on.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@click.option("-v", "--verbose", is_flag=True, help="Add timings, versions and the source of each number.")
def command(
    paths: tuple[Path, ...],
    form: str | None,
    output: str | None,
    llm: str | None,
    base_url: str | None,
    patterns: Path | None,
    tokens: int | None,
    show_claims: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Find what costs time in a profile, why, and what to do.

    PATH is the folder or file that a profiler wrote. Every number is computed from it; a language model, if there is one,
    only words the result, and its claims are checked.

    For example: chathpc explain hpctoolkit-app-database

    With what the compiler did: chathpc explain db build.log heat.opt.yaml

    As data: chathpc explain db --llm none --format json -o report.json
    """
    check_output(output, paths)
    style = style_for(output, verbose=verbose, claims=show_claims)
    with Progress(quiet=quiet) as progress:
        keep_freed_memory(paths)
        import chathpc
        from chathpc.reports import renderers

        progress("reading the profile")
        profile = chathpc.load(*paths)
        limits = {} if tokens is None else {"tokens": tokens}
        report = chathpc.explain(
            profile, llm=llm or "auto", base_url=base_url, patterns=patterns, progress=progress, **limits
        )
        text = renderers()[chosen_format(form, output)](report, style)
    answer(text, output)
    if llm not in (None, "none", "auto") and report.explanation.model is None:
        # The report is complete without it; but who asks for a model in a script wants to know that there was none.
        raise ModelUnavailableError(f"No model worded this report: {report.explanation.note or 'it cannot be used'}")
