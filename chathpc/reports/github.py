"""The findings as annotations of GitHub Actions: lines that a step prints (docs.github.com, "Workflow commands for GitHub Actions")."""

from __future__ import annotations

from chathpc.profile.names import shorten
from chathpc.profile.text import clean
from chathpc.report import Report
from chathpc.reports.remarks import Remark, flat, remarks
from chathpc.reports.style import Style

_NAME = 80
_LEVELS = {"measured": "warning", "derived": "warning", "suspected": "notice"}


def render(report: Report, style: Style) -> str:
    """One line a finding, the verdict last."""
    lines = [_line(each) for each in remarks(report)]
    lines.append(f"::notice title=chathpc::{_data(clean(flat(report.headline)))}")
    return style.fit("\n".join(lines) + "\n")


def _line(remark: Remark) -> str:
    where = {"file": remark.file, "line": remark.line if remark.file else None, "title": remark.title}
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in where.items() if value)
    at = f" ({shorten(remark.function, _NAME)})" if remark.function else ""
    return f"::{_LEVELS[remark.weight]} {properties}::{_data(remark.text + at)}"


def _data(text: str) -> str:
    """Escaped as GitHub's own toolkit does, so that no text begins a command of its own."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
