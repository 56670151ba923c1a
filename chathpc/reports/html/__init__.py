"""A report, a comparison or what `chathpc fix` found as one page: a file that needs no network and trusts no name in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chathpc.comparison.record import Diff
    from chathpc.fix.report import FixReport
    from chathpc.report import Report
    from chathpc.reports.style import Style


def render(report: Report | Diff | FixReport, style: Style) -> str:
    """The page of `report` as HTML."""
    from chathpc.reports.html.data import page_of
    from chathpc.reports.html.document import document

    return document(page_of(report))
