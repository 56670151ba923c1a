"""The report as text for a terminal, a log file or a mail: the verdict first, what it means in short, then what it rests on."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from chathpc.diagnosis.facts import readable_function
from chathpc.profile import numbers
from chathpc.profile.kernel_names import is_launcher, kernel_title
from chathpc.report import EvidenceRecord, FindingRecord, PlaceRecord, ProfileRecord, Report
from chathpc.reports import wording
from chathpc.reports.calltree import largest, legend, tree_lines
from chathpc.reports.page import INDENT, LABEL, Page
from chathpc.reports.style import Style

_VERDICT_STYLES = {
    "bottleneck": "bold red",
    "suspected": "bold red",
    "hot-spot": "bold yellow",
    "healthy": "bold green",
    "insufficient-data": "bold yellow",
}
#: A call path is shown by its outermost and its innermost names.
_PATH_HEAD, _PATH_TAIL = 1, 4


def render(report: Report, style: Style) -> str:
    """The whole report, at most `style.width` columns wide except for commands to copy."""
    page = Page(style)
    page.paragraph(" · ".join(wording.run_line(report)), indent=0, style="dim")
    page.blank()
    verdict(page, report)
    _explanation(page, report)
    if wording.looked_first(report):
        _examined(page, report)
    evidence = {record.id: record for record in report.evidence}
    told: set[str] = set()
    several = wording.several_tools(report)
    for number, finding in enumerate(report.findings, start=1):
        summary, mends = wording.summary(finding, report.headline), wording.mends(report)
        _finding(page, number, finding, summary, evidence, told, several=several, mends=mends)
    _suspected(page, report)
    _measured(page, [evidence[identifier] for identifier in wording.uncited(report)], several=several)
    if style.statements:
        _fates(page, report)
    _tree(page, report)
    _limits(page, report.profile, report.notes)
    if not wording.looked_first(report):
        _examined(page, report)
    if style.verbose:
        _making(page, report)
    page.blank()
    page.paragraph(wording.checked(report), indent=0, style="dim")
    return page.text()


def verdict(page: Page, report: Report) -> None:
    """The verdict and the sentence that states it."""
    word = Text(wording.VERDICTS[report.verdict], style=_VERDICT_STYLES[report.verdict])
    page.flow([word, Text(), page.sentence(wording.headline(report), "bold")], indent=0)


def _examined(page: Page, report: Report) -> None:
    lines = wording.examined(report)
    if lines:
        page.blank()
    for line in lines:
        page.paragraph(line, indent=0)


def _finding(
    page: Page,
    number: int,
    finding: FindingRecord,
    summary: str,
    evidence: dict[str, EvidenceRecord],
    told: set[str],
    *,
    several: bool,
    mends: bool,
) -> None:
    page.blank()
    title = Text.assemble((f"{number}".ljust(INDENT), "bold cyan"), (page.style.prose(finding.title), "bold"))
    page.ends(title, where(page, finding.where))
    if summary:
        page.paragraph(summary)
    for identifier in finding.evidence:
        if identifier in evidence and identifier not in told:
            page.paragraph(wording.statement(evidence[identifier], several), label=identifier, label_style="cyan")
    again = [identifier for identifier in finding.evidence if identifier in told or identifier not in evidence]
    if again:
        page.paragraph(f"{', '.join(again)} (above)", label="And", label_style="dim")
    told.update(finding.evidence)
    if len(finding.where.path) > 1:
        page.paragraph(path(page, finding.where.path), label="Path")
    if finding.source:
        page.paragraph(finding.source, label="Code", style="cyan")
    if mends:
        page.paragraph(wording.gain(finding), label="Gain")
    doing, lines = wording.doing(finding) if mends else ([], [])
    for position, advice in enumerate(doing):
        page.paragraph(advice, label="Do" if position == 0 else "or")
        if position == 0:
            page.diff(lines)
    page.paragraph(wording.sure(finding), label="Confidence")
    if finding.next_measurement:
        page.paragraph(finding.next_measurement, label="Next")


def _suspected(page: Page, report: Report) -> None:
    """What a model suspects, under its name, and what else it read."""
    if report.suspected:
        page.heading("Suspected", wording.readers(report))
    for each in report.suspected:
        title = Text.assemble((each.id.ljust(INDENT), "bold magenta"), (page.style.prose(each.name), "bold"))
        page.ends(title, where(page, each.where))
        page.paragraph(wording.mechanism(each), style="italic")
        page.paragraph(wording.standing(each), label="Confidence")
        for against in each.against:
            page.paragraph(against, label="Against", label_style="bold")
        if each.change:
            page.paragraph("proposed, not tried", label="Change")
        for line in wording.change_lines(each):
            page.row(Text(" " * (INDENT + LABEL) + page.style.name(line), style="cyan", no_wrap=True))
        if each.measurement:
            page.paragraph(each.measurement, label="Trial")
    statements = wording.statements(report)
    if statements:
        page.heading(
            "Read in the source" if report.suspected else "No suspicions; read in the source",
            report.explanation.model or "",
        )
    for statement in statements:
        cited = f" [{', '.join(statement.cites)}]" if statement.cites else ""
        page.item(f"{statement.text}{cited}")


def _fates(page: Page, report: Report) -> None:
    """All that models said, with what became of it."""
    page.heading("Statements")
    for said in wording.fates(report) or ["No model contributed."]:
        page.item(said)


def where(page: Page, place: PlaceRecord) -> Text:
    """`triangular_work   stencil.c:47`, in at most two thirds of the line."""
    room = page.style.width * 2 // 3 - INDENT
    at = page.style.shorten_path(page.style.name(wording.place(place)), room // 2)
    name = place.kernel or place.function or ""
    name = page.style.name(kernel_title(name) if place.kernel and is_launcher(name) else name)
    name = page.style.shorten(name, room - cell_len(at) - 2)
    return Text.assemble((name, "bold"), "  " if name and at else "", (at, "blue"))


def path(page: Page, names: list[str]) -> str:
    """The call path on about one line: names shortened, the middle of a long path left out."""
    each = page.style.width // 3
    # What compilers append to a name, or stand before it, would be all that is left of a long one.
    told = (readable_function(name) if len(name) > each or name.startswith("_Z") else name for name in names)
    short = [page.style.shorten(page.style.name(name), each) for name in told]
    if len(short) > _PATH_HEAD + _PATH_TAIL + 1:
        short = [*short[:_PATH_HEAD], page.style.fit("…"), *short[-_PATH_TAIL:]]
    return " > ".join(short)


def _measured(page: Page, evidence: list[EvidenceRecord], *, several: bool) -> None:
    """Facts that belong to no finding: what a verdict without findings rests on."""
    if evidence:
        page.heading("Measured")
    for record in evidence:
        page.paragraph(wording.statement(record, several), label=record.id, label_style="cyan")


def _explanation(page: Page, report: Report) -> None:
    explanation, kept = report.explanation, wording.told(report)
    if kept:
        page.heading("In short", wording.author(report))
    pieces = []
    for one in kept:
        text = page.sentence(wording.words(one))
        if one.cites:
            text.append(f" [{page.style.prose(', '.join(one.cites))}]", style="cyan")
        pieces.append(text)
    if pieces:
        page.flow(pieces)
    if explanation.note:
        if not pieces:
            page.blank()
        page.paragraph(explanation.note, indent=INDENT if pieces else 0, style="dim")


def _tree(page: Page, report: Report) -> None:
    if report.tree is None or not report.tree.rows:
        return
    tree = report.tree if page.style.verbose else largest(report.tree)
    page.heading("Where the time is" if tree.unit == "s" else "Where it is", wording.coverage(report, len(tree.rows)))
    for line in tree_lines(tree, page.style):
        page.row(line)
    page.paragraph(legend(page.style), indent=0, style="dim")


def _limits(page: Page, profile: ProfileRecord, notes: list[str]) -> None:
    """What the data cannot tell, and how to see it."""
    if profile.caveats or notes:
        page.heading("Bear in mind")
        for text in (*profile.caveats, *notes):
            page.item(text)
    if profile.not_collected:
        page.heading("Not collected", "what would show it")
        for missing, command in profile.not_collected.items():
            page.paragraph(missing)
            page.command(wording.command_of(command), indent=INDENT + 2)
            if remark := wording.purpose_of(command):
                page.paragraph(remark, indent=INDENT + 2)


def _making(page: Page, report: Report) -> None:
    """How the report was made: stages with their times, the pruning, versions."""
    page.heading("How this was made")
    stages = ", ".join(f"{name} {numbers.seconds(value)}" for name, value in report.timings.items())
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    pruning = report.pruning
    contexts = f"{numbers.count(pruning.contexts_after)} of {numbers.count(pruning.contexts_before)} contexts"
    metrics = f"{pruning.metrics_after} of {pruning.metrics_before} metrics"
    rows = (
        ("Time", stages),
        ("Kept", f"{contexts}, {metrics}, {numbers.count(pruning.tokens)} tokens of prompt"),
        ("With", versions),
        ("From", ", ".join(report.profile.paths)),
    )
    for label, text in rows:
        if text:
            page.paragraph(text, label=label)
    for record in report.evidence:
        page.paragraph(f"{record.id} from {record.source}", label="", style="dim")
