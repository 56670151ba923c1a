"""A report as remarks on lines of source, which tools of continuous integration show beside a change: SARIF, GitHub, GitLab."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chathpc.profile.source_text import file_finder
from chathpc.profile.text import clean
from chathpc.report import PlaceRecord, Report
from chathpc.reports import wording

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
