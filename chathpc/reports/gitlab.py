"""The findings as a Code Quality report of GitLab: a JSON list (docs.gitlab.com, "Code Quality report format")."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

from chathpc.report import Report
from chathpc.reports.remarks import remarks
from chathpc.reports.style import Style

_SEVERITIES = {"measured": "major", "derived": "minor", "suspected": "info"}


def render(report: Report, style: Style) -> str:
    """An entry for each finding that has a file, which GitLab needs; `style` is not used."""
    seen: Counter[tuple[str, ...]] = Counter()
    entries = []
    for each in remarks(report):
        if not each.file:
            continue
        # Without the line, so that a finding stays the same one when code above it changes.
        key = (each.cause, each.file, each.function or "")
        seen[key] += 1
        entries.append(
            {
                "description": f"{each.title}: {each.text}",
                "check_name": each.cause,
                "fingerprint": hashlib.sha256("\0".join((*key, str(seen[key]))).encode()).hexdigest(),
                "severity": _SEVERITIES[each.weight],
                "location": {"path": each.file, "lines": {"begin": each.line or 1}},
            }
        )
    return json.dumps(entries, indent=2) + "\n"
