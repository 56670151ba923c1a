"""What `chathpc fix` found: on the first screen what was won, what was checked and what it costs; then the patch, and what was tried."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from chathpc.fix.report import AttemptRecord, BaselineRecord, FixReport, SpeedupRecord, UntriedRecord
from chathpc.fix.speed import span
from chathpc.profile import numbers
from chathpc.report import TreeRecord
from chathpc.reports.blocks import Blocks, named
from chathpc.reports.page import Page

VERDICTS = {
    "improved": ("IMPROVED", "bold green"),
    "improved-if": ("IMPROVED IF", "bold yellow"),
    "healthy": ("HEALTHY", "bold green"),
    "nothing-passed": ("NOTHING PASSED", "bold yellow"),
    "insufficient-data": ("TOO LITTLE DATA", "bold yellow"),
    "unfinished": ("UNFINISHED", "bold yellow"),
}
#: Lines of a patch that a page shows; with -v all.
_PATCH_LINES = 60
#: Attempts that a page shows; with -v all.
_ATTEMPTS = 20


def build(page: Blocks, report: FixReport) -> None:
    """The whole report; on a terminal no wider than it but for the patch."""
    page.head([named(report.folder), named(report.command)])
    page.verdict(*verdict_words(report), report.headline)
    page.blank()
    said = [("Found", report.diagnosis)]
    if report.speedup is not None:
        said.append(("Time", times(report)))
    said += [("Flags", compiler(report, baseline)) for baseline in report.baselines]
    if report.new_flags is not None and report.new_flags != report.flags:
        said.append(("Set", f"The flags {report.new_flags} are part of it; a patch cannot set them."))
    for label, text in (*said, *proof(report)):
        page.paragraph(text, label=label)
    for attempt in report.taken if page.whole else ():
        page.heading("Why trust it", attempt.title)
        for gate in attempt.gates:
            page.paragraph(gate.statement, label=f"{gate.gate:<13}", label_style="green")
    _patch(page, report)
    for title, tree in (("Before", report.tree_before), ("After", report.tree_after)):
        if page.whole and isinstance(tree, TreeRecord) and tree.rows:
            page.heading(title)
            page.tree(tree)
    _tried(page, report)
    page.section("Not tried", map(untried, report.untried))
    page.section("Bear in mind", report.remarks)
    page.foot([f"Sandbox: {report.sandbox}. Ledger, builds and profiles: ", *named(report.work)])


def verdict_words(report: FixReport) -> tuple[str, str]:
    """The verdict in words, and its colour."""
    if report.verdict == "nothing-passed" and not report.attempts:
        return "NOTHING PROPOSED", VERDICTS[report.verdict][1]
    return VERDICTS[report.verdict]


def times(report: FixReport) -> str:
    """Before, after, and the ratio of the pairs with its interval, which is not that of the medians."""
    said = interval(report.speedup)
    if report.seconds_before is None or report.seconds_after is None:
        return said
    medians = (
        f"{numbers.seconds(report.seconds_before)} before, {numbers.seconds(report.seconds_after)} after (medians)"
    )
    return f"{medians}; pair by pair {said}"


def interval(speedup: SpeedupRecord | None) -> str:
    """`3.10x (95 % interval 2.90 to 3.31, 10 pairs of runs)`, or `1.02x (1.00 to 1.05 in 3 pairs of runs)`."""
    if speedup is None:
        return "not measured"
    return span(speedup.estimate, speedup.low, speedup.high, speedup.pairs, "pairs of runs")


def compiler(report: FixReport, baseline: BaselineRecord) -> str:
    """What the compiler alone would have done."""
    if not report.patch and report.accepted:
        return f"Nothing but flags changes; for comparison, the original with {baseline.flags} is {interval(baseline.speedup)}."
    alone = (
        "Compiler flags alone achieve as much" if report.compiler_alone else "Compiler flags alone do not achieve this"
    )
    said = f"{alone}: the original with {baseline.flags} is {interval(baseline.speedup)}"
    if baseline.changed is not None:
        said += f"; with these flags on both sides the change is still {interval(baseline.changed)}"
    return f"{said}."


def proof(report: FixReport) -> list[tuple[str, str]]:
    """What was checked of the whole change, what went down by each part, and what it costs in clarity; each with its label."""
    parts = report.taken
    if not parts:
        return []
    whole = {gate.gate: gate.statement for gate in parts[-1].gates}
    said = [("Tested", " ".join(whole[gate] for gate in ("correctness", "effects") if gate in whole))]
    said.append(("Moved", " ".join(gate.statement for each in parts for gate in each.gates if gate.gate == "cause")))
    rows = report.patch.split("\n")
    added, removed = (sum(row[:1] == sign and row[:3] != sign * 3 for row in rows) for sign in "+-")
    files = sorted({file for each in parts for file in each.files})
    if files:
        count = (
            f"{numbers.count(added)} lines added, {numbers.count(removed)} removed"
            if added != 1 or removed != 1
            else "1 line"
        )
        said.append(("Costs", f"{count} in {', '.join(files)}."))
    return [(label, text) for label, text in said if text]


def _patch(page: Blocks, report: FixReport) -> None:
    if not report.patch:
        return
    rows = report.patch.split("\n")[:-1]
    shown = rows if page.whole else rows[:_PATCH_LINES]
    page.heading("The change")
    if isinstance(page, Page):
        for row in shown:
            colour = {"+": "green", "-": "red", "@": "cyan"}.get(row[:1], "")
            page.row(Text(page.style.name(row.expandtabs(4)), style=colour, no_wrap=True))
    else:
        page.code(report.patch)
    if len(shown) < len(rows):
        page.paragraph(f"… and {len(rows) - len(shown)} more lines (-v shows all).", style="dim")


def _tried(page: Blocks, report: FixReport) -> None:
    others = report.not_taken
    if not others:
        return
    page.heading("Tried and not taken")
    shown = others if page.whole else others[:_ATTEMPTS]
    for attempt in shown:
        page.paragraph(
            f"{attempt.title}. {outcome(attempt, report.taken)}",
            label=f"{'passed' if attempt.verdict == 'accepted' else attempt.verdict.replace('-', ' '):<14}",
        )
    if len(others) > len(shown):
        page.paragraph(f"… and {len(others) - len(shown)} more (-v shows all).", style="dim")


def untried(each: UntriedRecord) -> str:
    """A finding for which no change was tried, why, and what to do."""
    return f"{each.finding} ({each.place}): {each.why}. {'In general' if each.general else 'By hand'}: {each.advice}"


def outcome(attempt: AttemptRecord, taken: Sequence[AttemptRecord]) -> str:
    """What became of an attempt that is not the result; `taken` are those that are."""
    if attempt.verdict == "accepted" and not taken:
        return f"Passed all gates with {interval(attempt.speedup)}; the same command takes it."
    if attempt.verdict == "accepted":
        within = (
            ", which includes it"
            if any(attempt.recipe in each.recipe.split("+") for each in taken if "+" in each.recipe)
            else ""
        )
        return f"Passed all gates with {interval(attempt.speedup)}, no more than the change that was taken{within}."
    if attempt.verdict == "improved-if":
        given_up = next((gate.statement for gate in attempt.gates if gate.gate == "effects"), "")
        return f"Passed all gates with {interval(attempt.speedup)}, but weakens durability (--allow durability). {given_up}"
    return attempt.reason
