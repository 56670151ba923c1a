"""A comparison as part of a page."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.comparison import words
from chathpc.comparison.record import ChangeRecord, Diff, FindingChange, RowRecord, SideRecord
from chathpc.profile import numbers
from chathpc.reports import compared, renderers, wording
from chathpc.reports.html.data import PLAIN, PageData, page


def page_of_diff(diff: Diff) -> PageData:
    """The page of a comparison."""
    gate = [] if diff.gate is None else [f"Gate {diff.gate.outcome}: {diff.gate.statement}"]
    noise = [] if diff.noise is None or not diff.noise.statement else [diff.noise.statement]
    return page(
        "diff",
        renderers("diff")["text"](diff, PLAIN),
        diff.view,
        title=diff.headline,
        run=words.comparison(diff),
        verdict=diff.verdict,
        verdict_words=compared.VERDICTS[diff.verdict][0],
        headline=diff.headline,
        checked="Every number above was computed from the profiles.",
        limits=[*gate, *noise, *diff.notes],
        making=[("With", wording.versions(diff.versions))],
        comparison=comparison_of(diff),
    )


def comparison_of(diff: Diff) -> dict[str, object]:
    """The tables of `diff`, values in its unit."""
    shares = [_change(one, words.subject(one), wording.spot(words.spot(one))[1]) for one in diff.shares]
    if diff.rest is not None and diff.shares:
        shares.append(_change(diff.rest, "everything else"))
    return {
        "unit": diff.unit or "",
        "before": _side(diff.before, diff),
        "after": _side(diff.after, diff),
        "shares": shares,
        "functions": _rows(diff.functions),
        "activities": _rows(diff.activities),
        "kernels": _rows(diff.kernels),
        "findings": [_finding(one) for one in diff.findings],
    }


def _rows(rows: Sequence[RowRecord]) -> list[dict[str, object]]:
    return [_change(one, one.name) for one in rows]


def _change(record: ChangeRecord, name: str, place: str = "") -> dict[str, object]:
    return {"name": name, "place": place, **record.model_dump(include={*ChangeRecord.model_fields})}


def _finding(finding: FindingChange) -> dict[str, object]:
    where = words.found_at(finding)
    return {
        "title": finding.title,
        "status": finding.status,
        "status_words": words.fate(finding),
        "place": "" if where is None else wording.named(where),
        "cost": words.cost(finding),
    }


def _side(side: SideRecord, diff: Diff) -> dict[str, object]:
    totals = [run.total for run in side.runs if run.total is not None]
    walls = [run.elapsed for run in side.runs if run.elapsed is not None and words.wall(run, diff)]
    wall = f"{numbers.seconds(sum(walls) / len(walls))} wall" if walls else ""
    runs = f"{len(side.runs)} runs" if len(side.runs) > 1 else ""
    return {
        "title": " · ".join(word for word in (side.runs[0].title, words.shape(side), wall, runs) if word),
        "total": numbers.quantity(sum(totals) / len(totals), diff.unit or "") if totals else "",
        "paths": [path for run in side.runs for path in run.paths],
        "headline": side.headline,
    }
