"""A report as remarks on lines of source, which tools of continuous integration show beside a change: SARIF, GitHub, GitLab."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from chathpc.diagnosis.catalogue import cause as entry
from chathpc.diagnosis.catalogue import ids
from chathpc.profile.names import shorten
from chathpc.profile.source_text import file_finder
from chathpc.profile.text import clean
from chathpc.report import PlaceRecord, Report
from chathpc.reports import wording
from chathpc.reports.style import Style

#: What a remark rests on: a measured cause, one that was read in source or machine code, what a model suspects.
Weight = Literal["measured", "derived", "suspected"]


@dataclass(frozen=True, slots=True)
class Remark:
    """What is said of a place; `file` and `line` are None where the profile does not have them."""

    cause: str
    title: str
    text: str
    weight: Weight
    file: str | None
    line: int | None
    function: str | None


def remarks(report: Report) -> list[Remark]:
    """The findings of a report, then what a model suspects under its name."""
    found = []
    for finding in report.findings:
        said = [finding.summary]
        if wording.mends(report):
            said += [
                f"Gain: {wording.gain(finding)}.",
                *(f"Do: {each.rstrip('.')}." for each in wording.doing(finding)[0][:1]),
            ]
        found.append(
            _remark(
                finding.cause,
                finding.title,
                [*said, f"Confidence: {wording.sure(finding)}"],
                finding.status,
                finding.where,
            )
        )
    for each in report.suspected:
        said = [
            wording.mechanism(each),
            f"Suspected by {each.by}, a language model, not measured: {wording.standing(each)}.",
        ]
        found.append(_remark(each.cause, each.name, said, "suspected", each.where))
    return found


def _remark(cause: str, title: str, said: list[str], weight: Weight, where: PlaceRecord) -> Remark:
    text = flat(" ".join(said))
    return Remark(
        cause=clean(cause),
        title=clean(flat(title)) or "chathpc",
        text=clean(text),
        weight=weight,
        file=_below_here(clean(where.file)) if where.file and where.file.strip() else None,
        line=where.line if where.line and where.line > 0 else None,
        function=None
        if where.kernel is None and where.function is None
        else clean(where.kernel or where.function or ""),
    )


def in_repository(report: Report, named: Sequence[Path]) -> Report:
    """The report with its places in the files that are in the folders `named` or below the current one, in place of the paths that the
    program was compiled from.
    """
    find = file_finder(named, Path.cwd())

    def moved(where: PlaceRecord) -> PlaceRecord:
        found = find(where.file) if where.file else None
        return where if found is None else where.model_copy(update={"file": os.path.abspath(found)})

    return report.model_copy(
        update={
            "findings": [each.model_copy(update={"where": moved(each.where)}) for each in report.findings],
            "hypotheses": [each.model_copy(update={"where": moved(each.where)}) for each in report.hypotheses],
        }
    )


def flat(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def _below_here(file: str) -> str:
    """A file below the current folder relative to it, as repositories name their files; others as they were recorded."""
    here = os.getcwd().rstrip("/") + "/"
    return os.path.normpath(file.removeprefix(here)) if file.startswith(here) else file


_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#: A slow place is no error; what nobody measured is only a note (section 3.27.10).
_SARIF_LEVELS = {"measured": "warning", "derived": "warning", "suspected": "note"}


def sarif(report: Report, style: Style) -> str:
    """The findings as SARIF 2.1.0 (OASIS, docs.oasis-open.org/sarif/sarif/v2.1.0), which code scanning and editors show at lines of source: one
    run with a rule for each cause and a result for each finding; `style` is not used.
    """
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
        "level": _SARIF_LEVELS[remark.weight],
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


#: Characters of the name of a function.
_NAME = 80
_GITHUB_LEVELS = {"measured": "warning", "derived": "warning", "suspected": "notice"}


def github(report: Report, style: Style) -> str:
    """The findings as annotations of GitHub Actions, lines that a step prints (docs.github.com, "Workflow commands for GitHub Actions"): one a
    finding, the verdict last.
    """
    lines = [_line(each) for each in remarks(report)]
    lines.append(f"::notice title=chathpc::{_data(clean(flat(report.headline)))}")
    return style.fit("\n".join(lines) + "\n")


def _line(remark: Remark) -> str:
    where = {"file": remark.file, "line": remark.line if remark.file else None, "title": remark.title}
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in where.items() if value)
    at = f" ({shorten(remark.function, _NAME)})" if remark.function else ""
    return f"::{_GITHUB_LEVELS[remark.weight]} {properties}::{_data(remark.text + at)}"


def _data(text: str) -> str:
    """Escaped as GitHub's own toolkit does, so that no text begins a command of its own."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


_SEVERITIES = {"measured": "major", "derived": "minor", "suspected": "info"}


def gitlab(report: Report, style: Style) -> str:
    """The findings as a Code Quality report of GitLab (docs.gitlab.com, "Code Quality report format"): an entry for each that has a file, which
    GitLab needs; `style` is not used.
    """
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
