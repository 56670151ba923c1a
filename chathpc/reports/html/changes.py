"""A comparison as part of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chathpc.comparison import words
from chathpc.comparison.record import ChangeRecord, Diff, FindingChange, RowRecord, SideRecord
from chathpc.profile import numbers
from chathpc.profile.text import clean
from chathpc.reports import diff_terminal, wording
from chathpc.reports.html.data import PageData, plain_style


@dataclass(frozen=True, slots=True)
class ChangeData:
    """A row: what changed, by how much, in the unit of the comparison."""

    name: str
    place: str
    before: float
    after: float
    change: float
    error: float
    beyond_noise: bool


@dataclass(frozen=True, slots=True)
class FindingChangeData:
    """What became of a finding."""

    title: str
    status: str
    status_words: str
    place: str
    cost: str


@dataclass(frozen=True, slots=True)
class SideData:
    """One side."""

    title: str
    total: str
    paths: list[str]
    headline: str


@dataclass(frozen=True, slots=True)
class ComparisonData:
    """The tables of a comparison."""

    unit: str
    before: SideData
    after: SideData
    shares: list[ChangeData]
    functions: list[ChangeData]
    activities: list[ChangeData]
    kernels: list[ChangeData]
    findings: list[FindingChangeData]


def page_of_diff(diff: Diff) -> PageData:
    """The page of a comparison."""
    said = [text for text in (diff.noise.statement if diff.noise is not None else "", *diff.notes) if text]
    gate = [] if diff.gate is None else [f"Gate {diff.gate.outcome}: {diff.gate.statement}"]
    return PageData(
        kind="diff",
        title=clean(diff.headline),
        run=[clean(word) for word in words.comparison(diff)],
        verdict=diff.verdict,
        verdict_words=diff_terminal.VERDICTS[diff.verdict][0],
        headline=clean(diff.headline),
        text=diff_terminal.render(diff, plain_style()),
        checked="Every number above was computed from the profiles.",
        limits=[clean(text) for text in (*gate, *said)],
        making=[("With", clean(", ".join(f"{name} {version}" for name, version in diff.versions.items())))],
        comparison=comparison_of(diff),
        view=diff.view,
    )


def comparison_of(diff: Diff) -> ComparisonData:
    """The tables of `diff`."""
    unit = diff.unit or ""
    shares = [
        _change(one, words.subject(one), wording.place(place) if (place := one.where_after or one.where_before) else "")
        for one in diff.shares
    ]
    if diff.rest is not None and diff.shares:
        shares.append(_change(diff.rest, "everything else"))
    return ComparisonData(
        unit=unit,
        before=_side(diff.before, diff),
        after=_side(diff.after, diff),
        shares=shares,
        functions=_rows(diff.functions),
        activities=_rows(diff.activities),
        kernels=_rows(diff.kernels),
        findings=[_finding(one) for one in diff.findings],
    )


def _rows(rows: Sequence[RowRecord]) -> list[ChangeData]:
    return [_change(one, one.name) for one in rows]


def _change(record: ChangeRecord, name: str, place: str = "") -> ChangeData:
    return ChangeData(
        name=clean(name),
        place=clean(place),
        before=record.before,
        after=record.after,
        change=record.change,
        error=record.error,
        beyond_noise=record.beyond_noise,
    )


def _finding(finding: FindingChange) -> FindingChangeData:
    where = finding.where_after or finding.where_before
    named = [] if where is None else [where.kernel or where.function or "", wording.place(where)]
    return FindingChangeData(
        title=clean(finding.title),
        status=finding.status,
        status_words=words.STATUS[finding.status],
        place=clean(" at ".join(word for word in named if word)),
        cost=clean(words.cost(finding)),
    )


def _side(side: SideRecord, diff: Diff) -> SideData:
    totals = [run.total for run in side.runs if run.total is not None]
    total = numbers.quantity(sum(totals) / len(totals), diff.unit or "") if totals else ""
    walls = [run.elapsed for run in side.runs if run.elapsed is not None and words.wall(run, diff)]
    wall = f"{numbers.seconds(sum(walls) / len(walls))} wall" if walls else ""
    runs = f"{len(side.runs)} runs" if len(side.runs) > 1 else ""
    return SideData(
        title=clean(" · ".join(word for word in (side.runs[0].title, words.shape(side), wall, runs) if word)),
        total=total,
        paths=[clean(path) for run in side.runs for path in run.paths],
        headline=clean(side.headline),
    )
