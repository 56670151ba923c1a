"""`chathpc view`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from chathpc.commands.output import answer, check_output, output_options, style_for
from chathpc.commands.paths import PROFILE
from chathpc.reports import FORMATS

if TYPE_CHECKING:
    from chathpc.report import Record


@click.command("view")
@click.argument("file", metavar="REPORT", type=PROFILE)
@output_options(FORMATS)
@click.option("-v", "--verbose", is_flag=True, help="Show everything.")
def command(file: Path, form: str, output: str | None, verbose: bool) -> None:
    """Render a JSON report again, as a page or as text.

    REPORT is what explain, diff, fix or scale wrote with --format json. A page of it has trees, tables, threads and source if --view was
    given then, else the verdict, the findings and the pruned tree.

    For example: chathpc explain db --view -o report.json

    Then, where there is a browser: chathpc view report.json -o report.html
    """
    check_output(output, [file])
    if output not in (None, "-") and Path(str(output)).exists() and file.exists() and Path(str(output)).samefile(file):
        raise click.UsageError("The report would overwrite itself.")
    from chathpc.reports.read import read_record

    record = read_record(file)
    answer(_rendered(record, form, output, verbose=verbose), output)


def _rendered(record: Record, form: str, output: str | None, *, verbose: bool) -> str:
    from chathpc.comparison.record import Diff
    from chathpc.fix.report import FixReport
    from chathpc.report import Report
    from chathpc.reports import diff_renderers, fix_renderers, renderers, scale_renderers
    from chathpc.scale.record import Scaling

    style = style_for(output, verbose=verbose)
    match record:
        case Report():
            return renderers()[form](record, style)
        case Diff():
            return diff_renderers()[form](record, style)
        case FixReport():
            return fix_renderers()[form](record, style)
        case Scaling():
            return scale_renderers()[form](record, style)
    raise TypeError(type(record).__name__)
