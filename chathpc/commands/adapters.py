"""`chathpc adapters`."""

from __future__ import annotations

import json

import click

from chathpc.commands.output import answer, chosen_format, output_options, style_for


@click.group("adapters")
def command() -> None:
    """Formats that chathpc reads.

    For example: chathpc adapters list
    """


@command.command("list")
@output_options(("text", "json"))
def list_adapters(form: str | None, output: str | None) -> None:
    """List the formats, what they are, and what those need that cannot be read here.

    For example: chathpc adapters list
    """
    from chathpc.adapters.registry import built_in, third_party

    installed = [*built_in().adapters, *third_party().adapters]
    rows = [(adapter.name, adapter.reads, adapter.needs()) for adapter in installed]
    broken = [*built_in().broken, *third_party().broken]
    rows += [(one.name, f"an adapter of {one.package or 'another package'}", one.reason) for one in broken]
    if chosen_format(form, output) == "json":
        content = [
            {"format": name, "reads": reads, "available": not missing, "needs": missing or None}
            for name, reads, missing in rows
        ]
        answer(json.dumps(content, indent=2) + "\n", output)
        return
    from chathpc.reports.page import Page

    page = Page(style_for(output))
    for name, reads, missing in rows:
        page.paragraph(f"{name}: {f'unavailable, needs {missing}' if missing else 'available'}", indent=0, style="bold")
        page.paragraph(reads)
    answer(page.text(), output)
