"""`chathpc tree`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from chathpc.commands.allocation import keep_freed_memory
from chathpc.commands.options import PROFILE, Share, all_threads_option, metric_option, quiet_option
from chathpc.commands.output import answer, answer_json, check_output, output_options, style_for
from chathpc.commands.progress import Progress

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile
    from chathpc.report import TreeRecord
    from chathpc.reports.style import Style


@click.command("tree")
@click.argument("path", type=PROFILE)
@metric_option
@click.option(
    "--by", type=click.Choice(("function", "loop", "line")), default="function", show_default=True, help="How fine."
)
@click.option(
    "--min-share",
    metavar="P",
    type=Share(),
    default="1%",
    show_default=True,
    help="Hide contexts with a smaller share, in percent.",
)
@click.option("--depth", metavar="N", type=click.IntRange(min=1), help="At most N levels.")
@all_threads_option
@output_options(("text", "json"))
@quiet_option
def command(
    path: Path,
    metric: str | None,
    by: str,
    min_share: float,
    depth: int | None,
    all_threads: bool,
    form: str,
    output: str | None,
    quiet: bool,
) -> None:
    """Show the calling context tree of a profile.

    For example: chathpc tree hpctoolkit-app-database --by loop --min-share 5%
    """
    check_output(output, [path])
    with Progress(quiet=quiet) as progress:
        progress("reading the profile")
        keep_freed_memory([path])
        import chathpc
        from chathpc.reports.rows import tree_record

        profile = chathpc.load(path)
        profile = profile.everything if all_threads else profile
        rest = form != "json"
        record = tree_record(profile, metric=metric, by=by, min_share=min_share, depth=depth, rest=rest)
    if form == "json":
        answer_json({"schema": "chathpc-tree/1"} | record.model_dump(), output)
    else:
        answer(_text(profile, record, style_for(output)), output)


def _text(profile: Profile, record: TreeRecord, style: Style) -> str:
    from chathpc.diagnosis.coverage import HOST_TIME
    from chathpc.profile import numbers
    from chathpc.reports.page import Page

    page = Page(style)
    total, title = numbers.quantity(record.total, record.unit), profile.metric(record.metric).title
    total = total if title.endswith(record.unit) and record.unit in total else f"{total} of {title}"
    shown = sum(not row.label.startswith("…") for row in record.rows)
    contexts = f"{numbers.count(shown)} of {numbers.quantity(len(profile.tree), 'contexts')}"
    page.paragraph(" · ".join((profile.title, profile.shape, total, contexts)), indent=0, style="dim")
    if profile.helpers.sentence:
        page.paragraph(profile.helpers.sentence, indent=0, style="dim")
    if record.metric in HOST_TIME and "gpu.time" in profile.metrics:
        page.paragraph("What devices do: --metric gpu.time", indent=0, style="dim")
    page.blank()
    page.tree(record)
    return page.text()
