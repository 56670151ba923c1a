"""What `chathpc fix` found as part of a page."""

from __future__ import annotations

from chathpc.fix.report import AttemptRecord, FixReport
from chathpc.profile import numbers
from chathpc.reports import fixed, renderers, wording
from chathpc.reports.html.changes import comparison_of
from chathpc.reports.html.data import PLAIN, PageData, page
from chathpc.reports.html.outlined import view_of_rows
from chathpc.view.records import View


def page_of_fix(report: FixReport) -> PageData:
    """The page of what `chathpc fix` found."""
    figures = [
        ("Before", "" if report.seconds_before is None else numbers.seconds(report.seconds_before)),
        ("After", "" if report.seconds_after is None else numbers.seconds(report.seconds_after)),
        ("Speed-up", "" if report.speedup is None else fixed.interval(report.speedup)),
    ]
    proof = [f"{label}: {said}" for label, said in fixed.proof(report)]
    tried = [*((one, True) for one in report.taken), *((one, False) for one in report.not_taken)]
    return page(
        "fix",
        renderers("fix")["text"](report, PLAIN),
        _view(report),
        title=report.headline,
        run=[report.folder, report.command],
        verdict=report.verdict,
        verdict_words=fixed.verdict_words(report)[0],
        headline=report.headline,
        checked=f"Sandbox: {report.sandbox}. Ledger, builds and profiles: {report.work}",
        note=report.diagnosis,
        limits=[*proof, *report.given_up, *report.remarks],
        making=[("With", wording.versions(report.versions))],
        comparison=None if report.comparison is None else comparison_of(report.comparison),
        fix={
            "figures": [(label, value) for label, value in figures if value],
            "patch": [line.replace("\t", "    ") for line in report.patch.splitlines()],
            "attempts": [_attempt(one, accepted=accepted) for one, accepted in tried],
            "baselines": [{"flags": one.flags, "statement": one.statement} for one in report.baselines],
        },
    )


def _view(report: FixReport) -> View | None:
    """The trees before and after, laid on each other."""
    if report.comparison is not None and report.comparison.view is not None:
        return report.comparison.view
    shown = report.tree_after or report.tree_before
    return None if shown is None else view_of_rows(shown, report.tree_before if report.tree_after is not None else None)


def _attempt(record: AttemptRecord, *, accepted: bool) -> dict[str, object]:
    return {
        "id": record.id,
        "title": record.title,
        "verdict": record.verdict,
        "accepted": accepted,
        "speedup": "" if record.speedup is None else numbers.speedup(record.speedup.estimate),
        "reason": record.reason,
        "finding": record.finding or "",
        "files": record.files,
        "flags": record.flags or "",
        "proposer": record.proposer,
        "gates": [{"gate": one.gate, "passed": one.passed, "statement": one.statement} for one in record.gates],
    }
