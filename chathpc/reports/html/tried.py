"""What `chathpc fix` found as part of a page."""

from __future__ import annotations

from dataclasses import dataclass

from chathpc.fix.report import AttemptRecord, FixReport
from chathpc.profile import numbers
from chathpc.profile.text import clean
from chathpc.reports import fix_terminal
from chathpc.reports.html.changes import comparison_of
from chathpc.reports.html.data import PageData, plain_style
from chathpc.reports.html.outlined import view_of_rows
from chathpc.view.records import View


@dataclass(frozen=True, slots=True)
class GateData:
    """What one gate said."""

    gate: str
    passed: bool
    statement: str


@dataclass(frozen=True, slots=True)
class AttemptData:
    """A change that was tried."""

    id: str
    title: str
    verdict: str
    accepted: bool
    speedup: str
    reason: str
    finding: str
    files: list[str]
    flags: str
    proposer: str
    gates: list[GateData]


@dataclass(frozen=True, slots=True)
class BaselineData:
    """What the compiler alone would do."""

    flags: str
    statement: str


@dataclass(frozen=True, slots=True)
class TriedData:
    """The change that was kept, and all that was tried."""

    figures: list[tuple[str, str]]
    patch: list[str]
    attempts: list[AttemptData]
    baselines: list[BaselineData]


def page_of_fix(report: FixReport) -> PageData:
    """The page of what `chathpc fix` found."""
    taken = report.taken
    figures = [
        ("Before", "" if report.seconds_before is None else numbers.seconds(report.seconds_before)),
        ("After", "" if report.seconds_after is None else numbers.seconds(report.seconds_after)),
        ("Speed-up", "" if report.speedup is None else fix_terminal.interval(report.speedup)),
    ]
    proof = [f"{label}: {said}" for label, said in fix_terminal.proof(report)]
    return PageData(
        kind="fix",
        title=clean(report.headline),
        run=[clean(report.folder), clean(report.command)],
        verdict=report.verdict,
        verdict_words=fix_terminal.verdict_words(report)[0],
        headline=clean(report.headline),
        text=fix_terminal.render(report, plain_style()),
        checked=clean(f"Sandbox: {report.sandbox}. Ledger, builds and profiles: {report.work}"),
        note=clean(report.diagnosis),
        limits=[clean(text) for text in (*proof, *report.given_up, *report.remarks)],
        making=[("With", clean(", ".join(f"{name} {version}" for name, version in report.versions.items())))],
        comparison=None if report.comparison is None else comparison_of(report.comparison),
        fix=TriedData(
            figures=[(label, value) for label, value in figures if value],
            patch=[clean(line.replace("\t", "    ")) for line in report.patch.splitlines()],
            attempts=[_attempt(one, accepted=True) for one in taken]
            + [_attempt(one, accepted=False) for one in report.not_taken],
            baselines=[BaselineData(clean(one.flags), clean(one.statement)) for one in report.baselines],
        ),
        view=_view(report),
    )


def _view(report: FixReport) -> View | None:
    """The trees before and after, laid on each other."""
    if report.comparison is not None and report.comparison.view is not None:
        return report.comparison.view
    shown = report.tree_after or report.tree_before
    return None if shown is None else view_of_rows(shown, report.tree_before if report.tree_after is not None else None)


def _attempt(record: AttemptRecord, *, accepted: bool) -> AttemptData:
    return AttemptData(
        id=clean(record.id),
        title=clean(record.title),
        verdict=clean(record.verdict),
        accepted=accepted,
        speedup="" if record.speedup is None else numbers.speedup(record.speedup.estimate),
        reason=clean(record.reason),
        finding=clean(record.finding or ""),
        files=[clean(file) for file in record.files],
        flags=clean(record.flags or ""),
        proposer=clean(record.proposer),
        gates=[GateData(gate.gate, gate.passed, clean(gate.statement)) for gate in record.gates],
    )
