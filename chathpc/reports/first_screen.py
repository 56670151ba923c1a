"""The report's first screen: the verdict, where the time is, the first finding with its change, one command; the rest in a line each."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from chathpc.profile import numbers
from chathpc.profile.names import shorten, shorten_apart
from chathpc.report import (
    ChangeRecord,
    FindingRecord,
    FlatRecord,
    HypothesisRecord,
    PlaceRecord,
    Report,
)
from chathpc.reports import wording
from chathpc.reports.blocks import INDENT, LABEL
from chathpc.reports.explained import path, verdict
from chathpc.reports.page import Page
from chathpc.reports.style import Style

#: Lines and words of a screen that a tired reader takes in (DESIGN.md, section 9).
LINES, WORDS = 40, 350
#: Places of the flat profile, if they fit.
_PLACES = 6
#: A variable of the environment that is set: `MALLOC_TRIM_THRESHOLD_=-1`.
_SETTING = re.compile(r"\b[A-Z][A-Z_]{4,}=")
#: Characters of a name in a sentence.
_LONG = 40
#: The last line stays one: a longer path is left out.
_SHORT = 78
#: So many paths of views of one run are named.
_PATHS = 4


@dataclass(frozen=True, slots=True)
class _Detail:
    """How much is told: pieces of evidence, lines of a changed text, one-line findings and hypotheses, caveats, pieces of advice; whether
    the call path and what a command is for are told, what would mend the other findings, and whether blank lines part it.
    """

    evidence: int
    diff: int
    others: int
    notes: int
    advice: int = 1
    around: bool = False
    mends: bool = False
    apart: bool = True


#: Lines of what a model says of a hypothesis.
_SAID = 2
#: Characters of a function's name behind what is done in it.
_LEAST = 12
#: From the fullest to the shortest; the first that fits is taken.
_DETAILS = (
    _Detail(4, 8, 4, 2, advice=2, around=True, mends=True),
    _Detail(3, 8, 3, 2, advice=2, around=True),
    _Detail(3, 6, 3, 1, around=True),
    _Detail(2, 6, 3, 1),
    _Detail(2, 4, 2, 0),
    _Detail(1, 4, 2, 0),
    _Detail(1, 0, 1, 0),
    _Detail(1, 0, 1, 0, apart=False),
    _Detail(0, 0, 0, 0, apart=False),
)
#: Where a model's words take room: what was measured and what is advised is more than the path.
_BESIDE_A_MODEL = _Detail(3, 8, 4, 1, advice=2, mends=True)


@dataclass(frozen=True, slots=True)
class _Row:
    """A finding or hypothesis in a line: its number, what it is, its share, its place, what would mend it, and what a model says of it."""

    number: str
    style: str
    title: str
    share: str
    where: PlaceRecord
    mend: str = ""
    said: str = ""


def render(report: Report, style: Style) -> str:
    """The report in at most LINES lines and WORDS words, and on a terminal in no more than it shows at once."""
    most = LINES if style.height is None else min(LINES, max(style.height - 1, 1))
    page, report = Page(style), _brief(report)
    for detail in (_DETAILS[0], _BESIDE_A_MODEL, *_DETAILS[1:]) if report.suspected else _DETAILS:
        page = _screen(report, style, detail)
        if len(page.lines) <= most and len(" ".join(line.plain for line in page.lines).split()) <= WORDS:
            break
    else:  # a headline without end, or a terminal of a few lines
        page.lines = page.lines[:most]
    return page.text()


def _brief(report: Report) -> Report:
    """The report with what it says of long names said of short ones: template arguments, parameters and scopes left out."""
    names = {each.where.function or "" for each in report.findings} | {
        each.where.function or "" for each in report.evidence if each.where is not None
    }
    long = {name: shorten(name, _LONG) for name in sorted(names, key=len, reverse=True) if len(name) > _LONG}
    if not long:
        return report

    def said(text: str) -> str:
        for name, short in long.items():
            text = text.replace(name, short)
        return text

    return report.model_copy(
        update={
            "headline": said(report.headline),
            "findings": [each.model_copy(update={"summary": said(each.summary)}) for each in report.findings],
            "evidence": [each.model_copy(update={"statement": said(each.statement)}) for each in report.evidence],
        }
    )


def _screen(report: Report, style: Style, detail: _Detail) -> Page:
    page = Page(style)
    part = page.blank if detail.apart else _nothing
    page.paragraph(" · ".join(wording.run_line(report)), indent=0, style="dim")
    part()
    verdict(page, report)
    part()
    _flat(page, report)
    _told(page, report)
    findings, suspected = list(report.findings), list(report.suspected)
    if suspected and report.verdict != "bottleneck":
        # Where nothing was measured that is worth removing, what a model suspects comes first.
        part()
        _hypothesis(page, suspected.pop(0), detail)
    elif findings:
        part()
        _finding(page, report, findings.pop(0), detail)
    suspected = [each for each in suspected if not any(wording.repeats(each, found) for found in report.findings)]
    _others(page, report, findings, suspected, detail)
    part()
    _lacking(page, report, detail)
    _more(page, report)
    return page


def _nothing() -> None:
    """No line between two parts."""


def _flat(page: Page, report: Report) -> None:
    """The flat profile in one line."""
    if not report.flat or report.verdict == "insufficient-data":
        return
    room, rows = (page.style.width - INDENT - LABEL) // 2, report.flat[:_PLACES]
    own = [page.style.name(row.name) for row in rows if row.own]
    short = iter(shorten_apart(own, max(room, _LEAST), ellipsis=page.style.fit("…")))
    names = (next(short) if row.own else _row(page, row, room) for row in rows)
    places = [f"{numbers.percent_cell(row.share)} {name}" for row, name in zip(rows, names, strict=True)]
    tree = report.tree
    of_tree = tree is None or report.flat_metric in (None, tree.metric)
    label = "GPU time" if not of_tree else "Time" if tree is None or tree.unit == "s" else "Cost"
    page.pieces(places, label=label, most=2)


def _row(page: Page, row: FlatRecord, width: int) -> str:
    """What is done in a function, whose name gives way first."""
    what, within, place = row.name.rpartition(" in ")
    room = max(width - len(what) - len(within), _LEAST)
    return f"{what}{within}{page.style.shorten(page.style.name(place), room)}"


def _told(page: Page, report: Report) -> None:
    """For readers other than experts, the explanation in the length that is theirs."""
    if report.explanation.audience == "expert":
        return
    kept = wording.told(report)
    if kept:
        page.blank()
        page.paragraph(" ".join(wording.words(one) for one in kept), indent=0)


def _same(report: Report, finding: FindingRecord) -> str:
    """Which model suspects what was found; empty if none does."""
    found = next((each for each in report.suspected if wording.repeats(each, finding)), None)
    return "" if found is None else f"{found.by} suspects the same ({found.id}, {found.confidence})"


def _finding(page: Page, report: Report, finding: FindingRecord, detail: _Detail) -> None:
    page.titled("1", finding.title, wording.spot(finding.where))
    # A place that only computes is what the headline says already.
    hot = report.verdict == "hot-spot"
    summary = "" if hot else wording.summary(finding, report.headline)
    if summary:
        page.paragraph(summary)
    known = {record.id: record for record in report.evidence}
    several = wording.several_tools(report)
    telling = [known[each] for each in finding.evidence if each in known and not wording.is_plain(known[each])]
    for record in telling[: detail.evidence]:
        page.paragraph(wording.statement(record, several), label=record.id, label_style="cyan")
    if detail.around and len(finding.where.path) > 1:
        page.paragraph(path(page, finding.where.path), label="Path")
    if wording.mends(report):
        _change(page, finding.change, finding.advice, detail)
        if not hot:
            page.paragraph(wording.gained(finding), label="Gain")
            page.paragraph(wording.certainty(finding), label="Confidence")
    if same := _same(report, finding):
        page.paragraph(same, label="Model")
    _verify(page, finding.next_measurement, detail)


def _change(page: Page, change: ChangeRecord | None, advice: Sequence[str], detail: _Detail) -> None:
    """The changed lines as they would stand, or what the catalogue advises."""
    says, lines = wording.proposed(change)
    at = "" if change is None else wording.changed_at(change)
    short, room = wording.replaced(lines), page.style.width - INDENT - LABEL
    if short and cell_len(short) <= page.style.width:
        page.paragraph(f"{at}: {short} (untested)", label="Change")
    elif (
        change is not None
        and len(lines) <= detail.diff
        and all(cell_len(line) <= room for line in lines if line[0] in "+-")
    ):
        _diff(page, f"{at} (untested):", lines)
    elif change is not None:
        page.paragraph(says, label="Change")
    if change is None and advice:
        page.paragraph(advice[0], label="Change")
    # A change says what the first piece of advice does; what needs none of the code is tried first by whoever is in a hurry.
    for each in sorted(advice[1:], key=lambda each: _SETTING.search(each) is None)[: detail.advice - 1]:
        page.paragraph(each, label="or")


def _diff(page: Page, title: str, lines: Sequence[str]) -> None:
    page.paragraph(title, label="Change")
    page.diff(lines, cut=True)


def _verify(page: Page, measurement: str | None, detail: _Detail) -> None:
    """The command that would settle it, on a line of its own, and what it tells."""
    command = wording.command_of(measurement)
    if not command:
        return
    page.row(
        Text.assemble(" " * INDENT, ("Verify".ljust(LABEL), "bold"), (page.style.prose(command), "cyan"), no_wrap=True)
    )
    purpose = wording.purpose_of(measurement)
    if detail.around and purpose:
        page.paragraph(purpose, indent=INDENT + LABEL, style="dim")


def _hypothesis(page: Page, each: HypothesisRecord, detail: _Detail) -> None:
    """The first hypothesis of a model, under its name."""
    page.titled(each.id, each.name, wording.spot(each.where), suspected=True)
    page.paragraph(f"{wording.mechanism(each)} ({each.by}; not measured)", style="italic")
    lines = wording.diff(each.change)
    if lines and len(lines) <= detail.diff:
        _diff(page, "proposed, untested:", lines)
    elif lines:
        page.paragraph(f"proposed, untested: {numbers.count(len(lines))} lines, see --full", label="Change")
    page.paragraph(wording.standing(each), label="Confidence")
    _verify(page, each.measurement, detail)


def _others(
    page: Page,
    report: Report,
    findings: Sequence[FindingRecord],
    suspected: Sequence[HypothesisRecord],
    detail: _Detail,
) -> None:
    """What else was found and suspected, a line each, with what a model says; of either at least one, else what is suspected."""
    if not (findings or suspected) or not detail.others:
        return
    most = detail.others - min(len(suspected), max(detail.others // 2, 1))
    rows = [
        _Row(
            str(report.findings.index(each) + 1),
            "bold cyan",
            each.title,
            "" if numbers.percent(each.share) in each.title else numbers.percent(each.share),
            each.where,
            _mend(each),
            _same(report, each),
        )
        for each in findings[: max(most, detail.others - len(suspected))]
    ]
    rows += [
        _Row(
            each.id,
            "bold magenta",
            f"{each.name} (suspected)",
            "" if each.share is None else numbers.percent(each.share),
            each.where,
            said=f"{each.by} ({each.confidence}, not measured): {wording.reason(each)}",
        )
        for each in suspected[: detail.others - len(rows)]
    ]
    page.blank()
    told = {_mend(each) for each in report.findings[:1]}
    for row in rows:
        _line(page, row)
        if detail.mends and wording.mends(report) and row.mend and row.mend not in told:
            page.paragraph(row.mend, label="Change")
            told.add(row.mend)
        if row.said:
            lines = textwrap.wrap(row.said, page.style.width - INDENT, max_lines=_SAID, placeholder=" …")
            page.paragraph(" ".join(lines), style="italic")
    left = len(findings) + len(suspected) - len(rows)
    if left:
        page.paragraph(f"{numbers.count(left)} more with --full", indent=INDENT, style="dim")


def _line(page: Page, row: _Row) -> None:
    """Number and title at the left; share and as much of the place as there is room for at the right."""
    left = Text.assemble((row.number.ljust(INDENT), row.style), page.style.prose(row.title))
    room = page.style.width - left.cell_len - 2
    for place in (page.where(wording.spot(row.where)), Text(page.style.prose(wording.place(row.where))), Text()):
        right = Text("  ").join(each for each in (Text(row.share), place) if each.plain)
        if right.cell_len <= room:
            break
    page.ends(left, right)


def _mend(finding: FindingRecord) -> str:
    """What would mend a finding, in a line; nothing for a place that only computes."""
    if finding.change is not None:
        return f"{wording.changed_at(finding.change)}: {wording.replaced(wording.diff(finding.change.edits)) or finding.change.says} (untested)"
    return finding.advice[0] if finding.advice and finding.speedup_bound is not None else ""


def _lacking(page: Page, report: Report, detail: _Detail) -> None:
    """What limits the reading: caveats, and what was not examined with the command that would show it."""
    said = (report.explanation.note,) if report.explanation.model is not None and report.explanation.note else ()
    for note in (*said, *report.notes, *report.profile.caveats)[: detail.notes]:
        page.paragraph(f"Note: {note}", indent=0)
    missing = [(f"Not examined: {each.reason}", each.remedy) for each in report.examined.skipped]
    if report.verdict == "insufficient-data":
        missing += [(f"Not measured: {what}", command) for what, command in report.profile.not_collected.items()][:1]
    for lacks, remedy in missing[: max(detail.notes, 1)]:
        command = f"chathpc explain … {remedy}" if remedy.startswith("--") else remedy
        if cell_len(line := f"{lacks}: {command}") <= page.style.width:
            page.paragraph(line, indent=0)
        else:
            page.paragraph(f"{lacks}:", indent=0)
            page.command(command, indent=INDENT)


def _more(page: Page, report: Report) -> None:
    """How to see and to ask more; a command that does not fit behind the rest stands whole on a line of its own, to be copied."""
    given = list(dict.fromkeys(report.profile.paths))
    paths = shlex.join(given[:_PATHS]) + (" …" if len(given) > _PATHS else "")
    more, chat = "More: --full · -o report.html", f"chathpc chat {paths}" if paths else ""
    line = f"{more} · {chat}" if chat else more
    if len(line) <= _SHORT:
        page.paragraph(line, indent=0, style="dim")
    else:
        page.paragraph(f"{more} ·", indent=0, style="dim")
        page.command(chat, indent=INDENT)
