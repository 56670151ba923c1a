"""A report or a comparison as JSON: schemas chathpc-report/2 and chathpc-diff/1 (docs/report-schema.json, docs/diff-schema.json)."""

from __future__ import annotations

import json
import re

from chathpc.profile.text import REPLACEMENT
from chathpc.report import Record
from chathpc.reports.style import Style

#: How Python holds bytes of file names that are not UTF-8 (PEP 383); no JSON reader has to take them.
_SURROGATE = re.compile("[\ud800-\udfff]")


def render(report: Record, style: Style) -> str:
    """The report as JSON in ASCII; what is beyond is escaped, so that no name acts on a terminal or breaks an encoding.

    A number that is not finite becomes null.
    """
    text = json.dumps(report.model_dump(by_alias=True), ensure_ascii=False)
    content = json.loads(_SURROGATE.sub(REPLACEMENT, text), parse_constant=lambda constant: None)
    # What a page draws has a hundred thousand numbers, which need no lines of their own.
    indent = None if content.get("view") else 2
    return f"{json.dumps(content, indent=indent)}\n"
