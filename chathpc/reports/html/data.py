"""What a page shows, as data with the words of all renderers: made of a report, a comparison or what `chathpc fix` found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chathpc.profile import numbers
from chathpc.profile.text import clean
from chathpc.report import EvidenceRecord, FindingRecord, HypothesisRecord, PlaceRecord, Report
from chathpc.reports import renderers, wording
from chathpc.reports.blocks import sentence
from chathpc.reports.style import Style

if TYPE_CHECKING:
    from chathpc.comparison.record import Diff
    from chathpc.fix.report import FixReport
    from chathpc.view.records import View

#: How the text for readers without scripts is written.
PLAIN = Style(width=100)
#: The parts of a page by the names that its script knows them by; what a page lacks stays empty.
_EMPTY: dict[str, Any] = {
    "kind": "", "title": "", "run": [], "verdict": "", "verdict_words": "", "headline": "", "checked": "", "author": "", "short": [],
    "flat": [], "note": "", "findings": [], "readers": "", "suspected": [], "statements": [], "evidence": [], "uncited": [], "limits": [],
    "missing": [], "examined": [], "making": [], "comparison": None, "fix": None,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageData:
    """Everything that a page shows: its `parts`, `text` for readers without scripts, and `view`, what is drawn."""

    parts: dict[str, Any]
    text: str
    view: View | None


def page(kind: str, text: str, view: View | None, **parts: object) -> PageData:
    """A page of a kind (report, diff, fix); names and sentences in its parts are made safe to show."""
    return PageData({**_EMPTY, "kind": kind, **cleaned(parts)}, text, view)


def cleaned(value: Any) -> Any:
    """Plain values with each text in them safe to show."""
    if isinstance(value, dict):
        return {key: cleaned(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(each) for each in value]
    return clean(value) if isinstance(value, str) else value


def page_of(report: Report | Diff | FixReport) -> PageData:
    """The page of a report, a comparison, or what `chathpc fix` found."""
    if isinstance(report, Report):
        return _of_report(report)
    from chathpc.comparison.record import Diff

    if isinstance(report, Diff):
        from chathpc.reports.html.changes import page_of_diff

        return page_of_diff(report)
    from chathpc.reports.html.tried import page_of_fix

    return page_of_fix(report)


def _of_report(report: Report) -> PageData:
    from chathpc.reports.html.outlined import view_of_rows

    several, mends, pruning = wording.several_tools(report), wording.mends(report), report.pruning
    making = [
        ("Time", wording.stages(report)),
        ("With", wording.versions(report.versions)),
        ("From", ", ".join(report.profile.paths)),
        ("Contexts", numbers.count(pruning.contexts_before)),
    ]
    return page(
        "report",
        renderers()["text"](report, PLAIN),
        report.view or (view_of_rows(report.tree) if report.tree is not None else None),
        title=f"{report.profile.title or 'Profile'}: {report.headline}",
        run=wording.run_line(report),
        verdict=report.verdict,
        verdict_words=wording.VERDICTS[report.verdict],
        headline=report.headline,
        checked=wording.checked(report),
        author=sentence(wording.author(report)),
        short=[_said(wording.words(one), one.cites) for one in wording.told(report)],
        flat=[(row.name, row.share, row.own) for row in report.flat],
        note=report.explanation.note or "",
        findings=[_finding(one, report.headline, mends=mends) for one in report.findings],
        readers=sentence(wording.readers(report)) if report.suspected else "",
        suspected=[_suspicion(one) for one in report.suspected],
        statements=[_said(one.text, one.cites) for one in wording.statements(report)],
        evidence=[_fact(one, several=several) for one in report.evidence],
        uncited=wording.uncited(report),
        limits=[*report.profile.caveats, *report.notes],
        missing=[
            (what, wording.command_of(how), wording.purpose_of(how))
            for what, how in report.profile.not_collected.items()
        ],
        examined=wording.examined(report),
        making=[(label, text) for label, text in making if text],
    )


def _said(text: str, cites: list[str]) -> dict[str, str]:
    """A sentence with the facts that it cites."""
    return {"text": text, "cites": ", ".join(cites)}


def _where(place: PlaceRecord) -> dict[str, str]:
    """A place: the function or kernel, file and line, and the name by which the call tree finds it."""
    name, at = wording.spot(place)
    return {"name": name, "place": at, "find": name}


def _fact(record: EvidenceRecord, *, several: bool) -> dict[str, object]:
    whole, where = record.whole, record.where
    parts = [("Value", numbers.quantity(record.value, record.unit))]
    if whole is not None and whole.value is not None:
        parts.append(("Of", f"{numbers.quantity(whole.value, whole.unit)} {whole.of}".rstrip()))
    parts += [(part.label, numbers.quantity(part.value, part.unit)) for part in record.parts if part.value is not None]
    return {
        "id": record.id,
        "statement": wording.statement(record, several),
        "source": record.source,
        "metric": record.metric or "",
        "place": "" if where is None else wording.named(where),
        "parts": [{"label": label, "value": value} for label, value in parts],
    }


def _finding(finding: FindingRecord, headline: str, *, mends: bool) -> dict[str, object]:
    cost, path = numbers.percent(finding.share), finding.where.path
    proposed, diff = wording.proposed(finding.change if mends else None)
    return {
        "title": finding.title,
        "where": _where(finding.where),
        "cost": cost if finding.seconds is None else f"{numbers.seconds(finding.seconds)} · {cost}",
        "share": finding.share,
        "summary": wording.summary(finding, headline),
        "evidence": finding.evidence,
        "path": " › ".join(path) if len(path) > 1 else "",
        "source": finding.source or "",
        # The proposed lines do what the first piece of advice says.
        "advice": finding.advice[bool(diff) :] if mends else [],
        "proposed": proposed,
        "diff": diff,
        "gain": wording.gain(finding) if mends else "",
        "sure": wording.sure(finding),
        "next": finding.next_measurement or "",
    }


def _suspicion(hypothesis: HypothesisRecord) -> dict[str, object]:
    return {
        "id": hypothesis.id,
        "title": hypothesis.name,
        "where": _where(hypothesis.where),
        "mechanism": wording.mechanism(hypothesis),
        "standing": wording.standing(hypothesis),
        "against": hypothesis.against,
        "trial": hypothesis.measurement,
        "change": wording.change_lines(hypothesis),
    }
