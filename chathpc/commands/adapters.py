"""`chathpc adapters`."""

from __future__ import annotations

import click

from chathpc.commands.output import answer, answer_json, output_options, style_for


@click.group("adapters")
def command() -> None:
    """Formats that chathpc reads.

    For example: chathpc adapters list
    """


@command.command("list")
@output_options(("text", "json"))
def list_adapters(form: str, output: str | None) -> None:
    """List supported formats, and what the unavailable ones need.

    For example: chathpc adapters list
    """
    from chathpc.adapters.registry import built_in, third_party

    found = [(adapter, "") for adapter in built_in().adapters]
    found += [(adapter, package) for package, adapter in third_party().by_package]
    rows = [(one.name, one.reads, one.needs(), package) for one, package in found]
    broken = [*built_in().broken, *third_party().broken]
    rows += [(one.name, "", f"does not load: {one.reason}", one.package) for one in broken]
    if form == "json":
        keys = ("format", "reads", "available", "needs", "package")
        values = ((name, reads, not needs, needs or None, package or "chathpc") for name, reads, needs, package in rows)
        return answer_json([dict(zip(keys, each, strict=True)) for each in values], output)
    from chathpc.reports.page import Page

    page = Page(style_for(output))
    for name, reads, needs, package in rows:
        page.paragraph(f"{name}{f' ({package})' if package else ''}", indent=0, style="bold")
        if reads:
            page.paragraph(reads)
        if needs:
            page.paragraph(f"Here: {needs}")
    answer(page.text(), output)
