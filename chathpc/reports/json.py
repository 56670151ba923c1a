"""The report as JSON, schema chathpc-report/1 (docs/report-schema.json)."""

from __future__ import annotations

import json

from chathpc.report import Report
from chathpc.reports.style import Style


def render(report: Report, style: Style) -> str:
    """The report as JSON in ASCII; what is beyond is escaped, so that no name acts on a terminal or breaks an encoding."""
    return f"{json.dumps(json.loads(report.to_json()), indent=2)}\n"
