"""What a page shows, as data with the words of all renderers: made of a report, a comparison or what `chathpc fix` found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from chathpc.profile import numbers
from chathpc.profile.text import clean
from chathpc.report import EvidenceRecord, FindingRecord, HypothesisRecord, PlaceRecord, Report
from chathpc.reports import wording
from chathpc.reports.style import Style

if TYPE_CHECKING:
    from chathpc.comparison.record import Diff
    from chathpc.fix.report import FixReport
    from chathpc.reports.html.changes import ComparisonData
    from chathpc.reports.html.tried import TriedData
    from chathpc.view.records import View

#: Columns of the text for readers without scripts.
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Where:
    """A place: the function or kernel, file and line, and the name by which the call tree finds it."""

    name: str
    place: str
    find: str

    @classmethod
    def of(cls, place: PlaceRecord) -> Where:
        """A place of a report."""
        name = clean(place.kernel or place.function or "")
        return cls(name=name, place=clean(wording.place(place)), find=name)


@dataclass(frozen=True, slots=True)
class Value:
    """A labelled value."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class FactData:
    """A fact, and where it comes from."""

    id: str
    statement: str
    source: str
    metric: str
    place: str
    parts: list[Value]


@dataclass(frozen=True, slots=True)
class FindingData:
    """A finding, in words."""

    title: str
    where: Where
    cost: str
    share: float
    summary: str
    evidence: list[str]
    path: str
    source: str
    advice: list[str]
    proposed: str
    diff: list[str]
    gain: str
    sure: str
    next: str


@dataclass(frozen=True, slots=True)
class SuspicionData:
    """What a model suspects, in its words."""

    id: str
    title: str
    where: Where
    mechanism: str
    standing: str
    against: list[str]
    trial: str
    change: list[str]


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence with the facts that it cites."""

    text: str
    cites: str


@dataclass(frozen=True, slots=True)
class PageData:
    """Everything that a page shows. `text` is the report for readers without scripts; `view` what is drawn."""

    kind: Literal["report", "diff", "fix"]
    title: str
    run: list[str]
    verdict: str
    verdict_words: str
    headline: str
    text: str
    checked: str
    author: str = ""
    short: list[Said] = field(default_factory=list)
    flat: list[tuple[str, float, bool]] = field(default_factory=list)
    note: str = ""
    findings: list[FindingData] = field(default_factory=list)
    readers: str = ""
    suspected: list[SuspicionData] = field(default_factory=list)
    statements: list[Said] = field(default_factory=list)
    evidence: list[FactData] = field(default_factory=list)
    uncited: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    missing: list[tuple[str, str, str]] = field(default_factory=list)
    examined: list[str] = field(default_factory=list)
    making: list[tuple[str, str]] = field(default_factory=list)
    comparison: ComparisonData | None = None
    fix: TriedData | None = None
    view: View | None = None


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


def plain_style() -> Style:
    """How the text for readers without scripts is written."""
    return Style(width=_WIDTH)


def _of_report(report: Report) -> PageData:
    from chathpc.reports import terminal
    from chathpc.reports.html.outlined import view_of_rows

    several = wording.several_tools(report)
    author = wording.author(report)
    return PageData(
        kind="report",
        title=clean(f"{report.profile.title or 'Profile'}: {report.headline}"),
        run=[clean(word) for word in wording.run_line(report)],
        verdict=report.verdict,
        verdict_words=wording.VERDICTS[report.verdict],
        headline=clean(report.headline),
        text=terminal.render(report, plain_style()),
        checked=clean(wording.checked(report)),
        author=sentence(author),
        short=[Said(clean(wording.words(one)), ", ".join(one.cites)) for one in wording.told(report)],
        flat=[(row.name, row.share, row.own) for row in report.flat],
        note=clean(report.explanation.note or ""),
        findings=[_finding(one, report.headline, mends=wording.mends(report)) for one in report.findings],
        readers=sentence(wording.readers(report)) if report.suspected else "",
        suspected=[_suspicion(one) for one in report.suspected],
        statements=[Said(clean(one.text), ", ".join(one.cites)) for one in wording.statements(report)],
        evidence=[_fact(one, several=several) for one in report.evidence],
        uncited=wording.uncited(report),
        limits=[clean(text) for text in (*report.profile.caveats, *report.notes)],
        missing=[
            (clean(what), clean(wording.command_of(how)), clean(wording.purpose_of(how)))
            for what, how in report.profile.not_collected.items()
        ],
        examined=[clean(line) for line in wording.examined(report)],
        making=_making(report),
        view=report.view or (view_of_rows(report.tree) if report.tree is not None else None),
    )


def sentence(text: str) -> str:
    """Words of a renderer as a sentence of their own."""
    return clean(f"{text[0].upper()}{text[1:]}.") if text else ""


def _fact(record: EvidenceRecord, *, several: bool) -> FactData:
    whole = record.whole
    parts = [Value("Value", numbers.quantity(record.value, record.unit))]
    if whole is not None and whole.value is not None:
        parts.append(Value("Of", f"{numbers.quantity(whole.value, whole.unit)} {clean(whole.of)}".rstrip()))
    parts += [
        Value(clean(part.label), numbers.quantity(part.value, part.unit))
        for part in record.parts
        if part.value is not None
    ]
    where = Where.of(record.where) if record.where is not None else None
    return FactData(
        id=record.id,
        statement=clean(wording.statement(record, several)),
        source=clean(record.source),
        metric=clean(record.metric or ""),
        place="" if where is None else " at ".join(word for word in (where.name, where.place) if word),
        parts=parts,
    )


def _finding(finding: FindingRecord, headline: str, *, mends: bool) -> FindingData:
    cost = numbers.percent(finding.share)
    path = finding.where.path
    proposed, diff = wording.proposed(finding.change if mends else None)
    return FindingData(
        title=clean(finding.title),
        where=Where.of(finding.where),
        cost=cost if finding.seconds is None else f"{numbers.seconds(finding.seconds)} · {cost}",
        share=finding.share,
        summary=clean(wording.summary(finding, headline)),
        evidence=list(finding.evidence),
        path=clean(" › ".join(path)) if len(path) > 1 else "",
        source=clean(finding.source or ""),
        # The proposed lines do what the first piece of advice says.
        advice=[clean(text) for text in finding.advice[bool(diff) :] if mends],
        proposed=clean(proposed),
        diff=[clean(line) for line in diff],
        gain=clean(wording.gain(finding)) if mends else "",
        sure=clean(wording.sure(finding)),
        next=clean(finding.next_measurement or ""),
    )


def _suspicion(hypothesis: HypothesisRecord) -> SuspicionData:
    return SuspicionData(
        id=hypothesis.id,
        title=clean(hypothesis.name),
        where=Where.of(hypothesis.where),
        mechanism=clean(wording.mechanism(hypothesis)),
        standing=clean(wording.standing(hypothesis)),
        against=[clean(text) for text in hypothesis.against],
        trial=clean(hypothesis.measurement),
        change=[clean(line) for line in wording.change_lines(hypothesis)],
    )


def _making(report: Report) -> list[tuple[str, str]]:
    pruning = report.pruning
    rows = [
        ("Time", ", ".join(f"{name} {numbers.seconds(value)}" for name, value in report.timings.items())),
        ("With", ", ".join(f"{name} {version}" for name, version in report.versions.items())),
        ("From", ", ".join(report.profile.paths)),
        ("Contexts", numbers.count(pruning.contexts_before)),
    ]
    return [(label, clean(text)) for label, text in rows if text]
