"""Reading back what `--format json` wrote: a report, a comparison, or what `chathpc fix` found."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

from pydantic import ValidationError

from chathpc.errors import UsageError
from chathpc.profile.text import clean
from chathpc.report import Record

#: A report with all that a page draws has a few megabytes.
LARGEST = 64 << 20
#: Where the record of each schema is; imported when it is read.
_RECORDS = {
    "chathpc-report/2": ("chathpc.report", "Report"),
    "chathpc-diff/1": ("chathpc.comparison.record", "Diff"),
    "chathpc-fix/1": ("chathpc.fix.report", "FixReport"),
    "chathpc-scale/1": ("chathpc.scale.record", "Scaling"),
}
_HINT = "Write one with: chathpc explain PATH --view -o report.json"


def read_record(file: Path) -> Record:
    """The record in a JSON file, by its key `schema`; UsageError for anything else."""
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
        module, kind = _RECORDS[schema]
        record: Record = getattr(import_module(module), kind).model_validate_json(text)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}.", hint=_HINT) from None
    except ValidationError:
        raise UsageError(f"{name} is not a JSON report: its keys are not those of {schema}.", hint=_HINT) from None
    except (ValueError, RecursionError):
        raise UsageError(f"{name} is not JSON.", hint=_HINT) from None
    return record
