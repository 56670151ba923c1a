"""The findings as SARIF 2.1.0 (OASIS, docs.oasis-open.org/sarif/sarif/v2.1.0), which code scanning and editors show at lines of source."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from chathpc.diagnosis.catalogue import cause as entry
from chathpc.diagnosis.catalogue import ids
from chathpc.profile.text import clean
from chathpc.report import Report
from chathpc.reports.remarks import Remark, flat, remarks
from chathpc.reports.style import Style

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#: A slow place is no error; what nobody measured is only a note (section 3.27.10).
_LEVELS = {"measured": "warning", "derived": "warning", "suspected": "note"}


def render(report: Report, style: Style) -> str:
    """One run with a rule for each cause and a result for each finding; `style` is not used."""
    found = remarks(report)
    causes = list(dict.fromkeys(each.cause for each in found))
    driver = {
        "name": "chathpc",
        "version": report.versions.get("chathpc", "unknown"),
        "rules": [_rule(cause, found) for cause in causes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, causes.index(each.cause)) for each in found],
        "properties": {"verdict": report.verdict, "headline": clean(report.headline)},
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(cause: str, found: list[Remark]) -> dict[str, Any]:
    title = next(each.title for each in found if each.cause == cause)
    if cause not in ids():
        return {"id": cause, "shortDescription": {"text": title}}
    known = entry(cause)
    return {
        "id": cause,
        "shortDescription": {"text": known.title},
        "fullDescription": {"text": flat(f"{known.what} {known.why}")},
        "help": {"text": "\n".join(f"- {flat(each.do)}" for each in known.advice)},
    }


def _result(remark: Remark, rule: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": remark.cause,
        "ruleIndex": rule,
        "level": _LEVELS[remark.weight],
        "message": {"text": f"{remark.title}: {remark.text}"},
        "properties": {"weight": remark.weight},
    }
    location: dict[str, Any] = {}
    if remark.file:
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(remark.file)}}
        if remark.line:
            location["physicalLocation"]["region"] = {"startLine": remark.line}
    if remark.function:
        location["logicalLocations"] = [{"fullyQualifiedName": remark.function, "kind": "function"}]
    if location:
        result["locations"] = [location]
    return result


def _uri(file: str) -> str:
    """A file as a URI (RFC 3986): relative as it is, absolute with the scheme `file`."""
    return f"file://{quote(file)}" if file.startswith("/") else quote(file)
