"""The whole report: the verdict first, what it means in short, then what it rests on."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.diagnosis.facts import readable_function
from chathpc.profile import numbers
from chathpc.profile.names import shorten
from chathpc.report import FindingRecord, ProfileRecord, Report, StatementRecord
from chathpc.reports import wording
from chathpc.reports.blocks import INDENT, Blocks, Piece, Said, between, named
from chathpc.reports.calltree import largest
from chathpc.reports.page import Page

_VERDICT_STYLES = {
    "bottleneck": "bold red",
    "suspected": "bold red",
    "hot-spot": "bold yellow",
    "healthy": "bold green",
    "insufficient-data": "bold yellow",
}
#: A call path is shown by its outermost and its innermost names.
_PATH_HEAD, _PATH_TAIL = 1, 4
#: Characters of a name.
_NAME = 120


def build(page: Blocks, report: Report) -> None:
    """The whole report."""
    page.head(wording.run_line(report))
    verdict(page, report)
    _explanation(page, report)
    if wording.looked_first(report):
        _examined(page, report)
    told: set[str] = set()
    for number, finding in enumerate(report.findings, start=1):
        _finding(page, number, finding, report, told)
    _suspected(page, report)
    _measured(page, report)
    if page.style.statements:
        page.section("Statements", wording.fates(report) or ["No model contributed."])
    _places(page, report)
    _limits(page, report.profile, report.notes)
    if not wording.looked_first(report):
        _examined(page, report)
    if page.style.verbose:
        _making(page, report)
    if page.whole and report.evidence:
        page.heading("Where the evidence comes from", fold=True)
        for record in report.evidence:
            page.paragraph(record.source, label=record.id, label_style="cyan")
    page.foot(wording.checked(report))


def verdict(page: Blocks, report: Report) -> None:
    """The verdict and the sentence that states it."""
    page.verdict(wording.VERDICTS[report.verdict], _VERDICT_STYLES[report.verdict], wording.headline(report))


def _examined(page: Blocks, report: Report) -> None:
    page.blank()
    for line in wording.examined(report):
        said, gap, remedy = line.partition("; ")
        page.paragraph([f"{said}{gap}", *(_measurement(remedy) if gap else [])], indent=0)


def _finding(page: Blocks, number: int, finding: FindingRecord, report: Report, told: set[str]) -> None:
    mends, evidence = wording.mends(report), {record.id: record for record in report.evidence}
    page.blank()
    page.titled(str(number), finding.title, wording.spot(finding.where))
    if summary := wording.summary(finding, report.headline):
        page.paragraph(summary)
    new = [identifier for identifier in finding.evidence if identifier in evidence and identifier not in told]
    _facts(page, report, new)
    if again := [identifier for identifier in finding.evidence if identifier not in new]:
        page.paragraph(f"{', '.join(again)} (above)", label="And", label_style="dim")
    told.update(finding.evidence)
    if len(names := finding.where.path) > 1:
        steps = [named(shorten(name, _NAME)) for name in names]
        page.paragraph(path(page, names) if isinstance(page, Page) else between(steps, " › "), label="Path")
    if finding.source:
        page.paragraph([(finding.source, "code")], label="Code")
    doing, lines = wording.doing(finding) if mends else ([], [])
    if mends:
        page.paragraph(wording.gain(finding), label="Gain")
    for position, advice in enumerate(doing):
        page.paragraph(advice, label="Do" if position == 0 else "or")
        if position == 0:
            page.diff(lines)
    page.paragraph(wording.sure(finding), label="Confidence")
    if finding.next_measurement:
        page.paragraph(_measurement(finding.next_measurement), label="Next")


def _measurement(text: str) -> Said:
    """A command, and what it tells."""
    command = wording.command_of(text)
    return [(command, "code"), text.strip().removeprefix(command)]


def _suspected(page: Blocks, report: Report) -> None:
    """What a model suspects, under its name, and what else it read."""
    if report.suspected:
        page.heading("Suspected", wording.readers(report))
    for each in report.suspected:
        page.titled(each.id, each.name, wording.spot(each.where), suspected=True)
        page.paragraph(wording.mechanism(each), style="italic")
        page.paragraph(wording.standing(each), label="Confidence")
        for against in each.against:
            page.paragraph(against, label="Against")
        if each.change:
            page.paragraph("proposed, not tried", label="Change")
            page.code("\n".join(wording.change_lines(each)))
        if each.measurement:
            page.paragraph(_measurement(each.measurement), label="Trial")
    title = "Read in the source" if report.suspected else "No suspicions; read in the source"
    by = f"by {report.explanation.model}" if report.explanation.model else ""
    page.section(title, (_cited(each.text, each) for each in wording.statements(report)), by)


def _cited(text: str, statement: StatementRecord) -> list[Piece]:
    return [text, (f" [{', '.join(statement.cites)}]" if statement.cites else "", "cite")]


def path(page: Page, names: list[str]) -> str:
    """The call path on about one line: names shortened, the middle of a long path left out."""
    each = page.style.width // 3
    # What compilers append to a name, or stand before it, would be all that is left of a long one.
    told = (readable_function(name) if len(name) > each or name.startswith("_Z") else name for name in names)
    short = [page.style.shorten(page.style.name(name), each) for name in told]
    if len(short) > _PATH_HEAD + _PATH_TAIL + 1:
        short = [*short[:_PATH_HEAD], page.style.fit("…"), *short[-_PATH_TAIL:]]
    return " > ".join(short)


def _measured(page: Blocks, report: Report) -> None:
    """Facts that belong to no finding: what a verdict without findings rests on."""
    if uncited := wording.uncited(report):
        page.heading("Measured")
        _facts(page, report, uncited)


def _facts(page: Blocks, report: Report, identifiers: Sequence[str]) -> None:
    several = wording.several_tools(report)
    for record in (each for key in identifiers for each in report.evidence if each.id == key):
        page.paragraph(wording.statement(record, several), label=record.id, label_style="cyan")


def _explanation(page: Blocks, report: Report) -> None:
    said = [_cited(wording.words(one), one) for one in wording.told(report)]
    if said:
        page.heading("In short", wording.author(report))
        page.paragraph(between(said, " "))
    if report.explanation.note:
        if not said:
            page.blank()
        page.paragraph(report.explanation.note, indent=INDENT if said else 0, style="dim")


def _places(page: Blocks, report: Report) -> None:
    """The flat profile, which a terminal shows on the first screen, and the call tree."""
    if report.verdict != "insufficient-data" and not isinstance(page, Page):
        rows = ([f"{numbers.percent(row.share)} ", *named(shorten(row.name, _NAME))] for row in report.flat)
        page.section("Flat profile", rows)
    if report.tree is not None and report.tree.rows:
        tree = report.tree if page.style.verbose else largest(report.tree)
        title = "Where the time is" if tree.unit == "s" else "Where it is"
        page.heading(title, wording.coverage(report, len(tree.rows)))
        page.tree(tree)


def _limits(page: Blocks, profile: ProfileRecord, notes: list[str]) -> None:
    """What the data cannot tell, and how to see it."""
    page.section("Bear in mind", (*profile.caveats, *notes), fold=True)
    if profile.not_collected:
        page.heading("Not collected", "what would show it", fold=True)
        for missing, command in profile.not_collected.items():
            page.remedy(missing, wording.command_of(command), wording.purpose_of(command))


def _making(page: Blocks, report: Report) -> None:
    """How the report was made: stages with their times, the pruning, versions."""
    page.heading("How this was made", fold=True)
    pruning = report.pruning
    contexts = f"{numbers.count(pruning.contexts_after)} of {numbers.count(pruning.contexts_before)} contexts"
    metrics = f"{pruning.metrics_after} of {pruning.metrics_before} metrics"
    rows = (
        ("Time", wording.stages(report)),
        ("Kept", f"{contexts}, {metrics}, {numbers.count(pruning.tokens)} tokens of prompt"),
        ("With", wording.versions(report.versions)),
        ("From", ", ".join(report.profile.paths)),
    )
    for label, text in rows:
        if text:
            page.paragraph(text, label=label)
