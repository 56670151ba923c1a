"""`chathpc view`: what `--format json` wrote, read back and rendered."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chathpc.commands.options import PROFILE, quiet_option
from chathpc.commands.output import answer, check_output, output_options, style_for
from chathpc.commands.progress import Progress
from chathpc.errors import UsageError
from chathpc.profile.text import clean
from chathpc.reports import FORMATS, renderers

if TYPE_CHECKING:
    from chathpc.report import Record

#: A report with all that a page draws has a few megabytes.
LARGEST = 64 << 20
#: Where the record of each schema is, which is imported when it is read, and what it is for renderers.
_RECORDS = {
    "chathpc-report/2": ("chathpc.report", "Report", "report"),
    "chathpc-diff/1": ("chathpc.comparison.record", "Diff", "diff"),
    "chathpc-fix/1": ("chathpc.fix.report", "FixReport", "fix"),
    "chathpc-scale/1": ("chathpc.scale.record", "Scaling", "scale"),
}
_HINT = "Write one with: chathpc explain PATH --view -o report.json"


@click.command("view")
@click.argument("file", metavar="REPORT", type=PROFILE)
@output_options(FORMATS)
@quiet_option
@click.option("-v", "--verbose", is_flag=True, help="Show everything.")
def command(file: Path, form: str, output: str | None, quiet: bool, verbose: bool) -> None:
    """Render a JSON report again, as a page or as text.

    REPORT is what explain, diff, fix or scale wrote with --format json. A page of it has trees, tables, threads and source if --view was
    given then, else the verdict, the findings and the pruned tree.

    For example: chathpc explain db --view -o report.json

    Then, where there is a browser: chathpc view report.json -o report.html
    """
    check_output(output, [file])
    if output not in (None, "-") and Path(str(output)).exists() and file.exists() and Path(str(output)).samefile(file):
        raise click.UsageError("The report would overwrite itself.")
    with Progress(quiet=quiet) as progress:
        progress("reading the report")
        record, kind = _read(file)
        text = renderers(kind)[form](record, style_for(output, verbose=verbose))
    answer(text, output)


def _read(file: Path) -> tuple[Record, str]:
    """The record in a JSON file, by its key `schema`, and what renderers call such a record; UsageError for anything else."""
    from pydantic import ValidationError

    name = clean(str(file))
    try:
        if file.stat().st_size > LARGEST:
            raise UsageError(f"{name} is too large for a report.", hint=_HINT)
        text = file.read_bytes()
        content = json.loads(text)
        schema = content.get("schema") if isinstance(content, dict) else None
        if not isinstance(schema, str) or schema not in _RECORDS:
            known = ", ".join(_RECORDS)
            raise UsageError(f"{name} is not a JSON report: its key `schema` is none of {known}.", hint=_HINT)
        module, name_of_type, kind = _RECORDS[schema]
        record: Record = getattr(import_module(module), name_of_type).model_validate_json(text)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}.", hint=_HINT) from None
    except ValidationError:
        raise UsageError(f"{name} is not a JSON report: its keys are not those of {schema}.", hint=_HINT) from None
    except (ValueError, RecursionError):
        raise UsageError(f"{name} is not JSON.", hint=_HINT) from None
    return record, kind
