"""The last gate: measured again, what was diagnosed went down, and nothing else went up beyond noise."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import sqrt

from chathpc.comparison.function_names import common_key, library_key
from chathpc.comparison.record import ChangeRecord, Diff, FindingChange, FunctionRecord, ShareRecord, TotalRecord
from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.records import Finding
from chathpc.fix.gates.plausibility import Lost
from chathpc.fix.records import Figure, GateResult, Verdict
from chathpc.fix.thresholds import threshold
from chathpc.profile import numbers
from chathpc.profile.activity import ACTIVITY_WORDS, BLOCKED, STARTERS, Activity, activity_of_name
from chathpc.profile.text import clean

#: What no change of a program's sources makes more expensive, and what differs most from run to run: how ranks and threads begin and
#: end, what libraries and the profiler do in threads of their own, and the time in which the system has other things to do than to run a
#: thread: where that made the run longer, the speed has shown it.
_NOT_THE_PROGRAMS = (
    {BLOCKED} | STARTERS | {ACTIVITY_WORDS[each] for each in (Activity.MPI_SETUP, Activity.HELPER, Activity.PROFILER)}
)


def judge(
    found: Diff,
    finding: Finding | None,
    others: Collection[str] = (),
    inside: Collection[str] = (),
    earlier: Diff | None = None,
) -> GateResult:
    """Whether the comparison of the profiles before and after a change says what the change claims. `others` are functions that
    the program did not define before: what those that the change brings, and libraries, take more counts with the place of the finding, whose
    work they may do now. What functions `inside` take more, which are called from that place alone, before and after, is part of its time: what a
    copy had brought into the cache, its reader brings now. With an `earlier`
    comparison of the same two programs, what a change costs has to show in both, above all that either measured before: noise is
    elsewhere each time. What was diagnosed has to go down in one of them, as in a single one.
    """
    figures: dict[str, Figure] = {"verdict": found.verdict, "headline": found.headline}
    known = _wholes(found)
    if not known:
        return _no("The measurements before and after are not comparable.", figures)
    # A run that other programs held up took longer, but its threads no more time.
    total = next((each for each in known if each.after < each.before), known[0])
    figures |= {"before": total.before, "after": total.after, "unit": found.unit, "error": total.error}
    # How much faster the run is was timed in many runs; one profile of each side tells what the time went from.
    if total.before <= total.after:
        return _no(
            f"The profiled run is not shorter: {_amount(total.after, found)} after {_amount(total.before, found)}.",
            figures,
        )
    at_the_place = {*others, *inside}
    grown = _grown_elsewhere(found, finding, at_the_place)
    if earlier is not None:
        grown = _in_both(grown, _grown_elsewhere(earlier, finding, at_the_place), _least(found))
    if grown:
        name, worst = max(grown.items(), key=lambda each: each[1].change)
        figures["grown"] = {"function": name, "before": worst.before, "after": worst.after}
        return _no(f"{clean(name)} takes {_amount(worst.change, found)} more than before, beyond noise.", figures)
    if finding is None:
        said = f"Under the profiler, the run {_went(total.before, total.after, found)}."
        return GateResult("cause", True, said, None, figures)
    looks = [_gone_down(each, finding, others) for each in (found, earlier) if each is not None]
    fell, statement, more = next((look for look in looks if look[0]), looks[0])
    figures |= more
    return GateResult("cause", True, statement, None, figures) if fell else _no(statement, figures)


def _gone_down(found: Diff, finding: Finding, others: Collection[str]) -> tuple[bool, str, dict[str, Figure]]:
    """`moved`, with what functions take more that were not the program's counted to the place."""
    successors = _successors(found, others)
    still = _still_there(found, finding, successors) if successors else None
    return moved(found, finding) if still is None else (False, still, {})


def _successors(found: Diff, others: Collection[str]) -> list[FunctionRecord]:
    return [
        row
        for row in found.functions
        if row.name in others and row.name not in _NOT_THE_PROGRAMS and row.change > 0 and row.beyond_noise
    ]


def _grown_elsewhere(found: Diff, finding: Finding | None, others: Collection[str]) -> dict[str, ChangeRecord]:
    return {name: row for name, row in _grown(found, finding, _least(found)) if name not in others}


def _in_both(
    grown: Mapping[str, ChangeRecord], earlier: Mapping[str, ChangeRecord], least: float
) -> dict[str, ChangeRecord]:
    """What takes by more than `least` more after a change than before it, whichever of two measurements of either is taken."""
    return {
        name: row
        for name, row in grown.items()
        if name in earlier and min(row.after, earlier[name].after) - max(row.before, earlier[name].before) > least
    }


def _least(found: Diff) -> float:
    """What counts as a cost that was moved: a part of what was gained over all threads, as shares are."""
    if found.total is None:
        return 0.0
    # In no more than the threads had: the run may also have been held up.
    gains = [min(each.before, found.total.before) - min(each.after, found.total.after) for each in _wholes(found)]
    return threshold("grown") * max(*gains, 0.0)


def _wholes(found: Diff) -> list[TotalRecord]:
    """How long the run took, and all of what was measured; of devices the latter alone, since a trace of them has more in it."""
    of_host = found.metric is not None and found.metric.startswith("cpu.")
    return [each for each in (found.elapsed if of_host else None, found.total) if each is not None]


def vanished(before: float, cost: float, after: float) -> GateResult | None:
    """The verdict where a changed program is too short to be profiled: seconds over all threads of the whole run `before`, what was
    diagnosed (`cost`), and the most that the changed run can have taken (`after`). None where that is too much to tell anything.

    All of the changed run together is less than what was diagnosed has to lose, and less than anything else may grow by.
    """
    if after > (1 - threshold("shrunk")) * cost or after > threshold("grown") * (before - after):
        return None
    said = (
        f"The changed program runs too briefly to be profiled: {numbers.quantity(after, 's')} at most over all threads, where "
        f"{numbers.quantity(cost, 's')} of {numbers.quantity(before, 's')} were diagnosed."
    )
    return GateResult("cause", True, said, None, {"before": before, "after": after, "finding_before": cost})


def unknown(why: str) -> GateResult:
    """A change of which no profile came: what it did to the cost that was diagnosed is not known."""
    return _no(f"The changed program could not be profiled. {why}", {})


def lost(found: Diff) -> list[Lost]:
    """Functions that have less time by themselves than before, beyond noise, the largest loss first."""
    whole = found.total.before if found.total is not None else sum(row.before for row in found.functions)
    rows = [row for row in found.functions if row.change < 0 and row.beyond_noise]
    return [
        Lost(row.name, -row.change, -row.change / whole if whole else 0.0)
        for row in sorted(rows, key=lambda row: row.change)
    ]


def _no(statement: str, figures: dict[str, Figure]) -> GateResult:
    return GateResult("cause", False, statement, Verdict.CAUSE_UNMOVED, figures)


def _is_place(name: str, finding: Finding | None) -> bool:
    return (
        finding is not None
        and finding.where.function is not None
        and common_key(name) == common_key(finding.where.function)
    )


def _grown(found: Diff, finding: Finding | None, least: float) -> list[tuple[str, ChangeRecord]]:
    """What takes more than before, beyond noise and by more than `least`: functions of the host wherever they are called from (another
    thread may do the work now) that also take more with all that they call (what they called may have been inlined, or be done once
    before); of a device's profile the parts of the difference. The place of the finding is not meant.
    """
    if not found.functions:
        return [
            (share.function, share)
            for share in found.shares
            if share.beyond_noise and share.change > max(least, 0.0) and not _is_place(share.function, finding)
        ]
    return [
        (row.name, row)
        for row in found.functions
        if row.beyond_noise
        and row.change > max(least, 0.0)
        and row.inclusive_after >= row.inclusive_before
        and row.name not in _NOT_THE_PROGRAMS
        and not _is_place(row.name, finding)
    ]


def _still_there(found: Diff, finding: Finding, successors: Sequence[FunctionRecord]) -> str | None:
    """What is wrong if the place together with what its successors take more has not gone down by what a finding has to."""
    row, name = _row(found, finding.where.function or ""), finding.where.function or ""
    total = found.total
    if row is None or total is None:
        return None
    if row.inclusive_before + row.error < finding.share * total.before:
        return None  # what was diagnosed is waiting that is spent elsewhere
    # They may call each other, so that their sum is too much; no more than the whole is theirs.
    after = min(row.inclusive_after + sum(map(_more, successors)), total.after)
    if row.inclusive_before - after >= _must_go(finding, row):
        return None
    names = ", ".join(sorted(clean(each.name) for each in successors))
    return (
        f"The time in {clean(name)} was {_amount(row.inclusive_before, found)}; with the growth of {names} it is up to "
        f"{_amount(after, found)} now: the diagnosed problem remains."
    )


def _must_go(finding: Finding, row: FunctionRecord) -> float:
    """How much less time the place has to take. A hot spot has no cause that could be gone: less beyond noise is enough there."""
    return row.error if cause(finding.cause).where_only else threshold("shrunk") * finding.share * row.inclusive_before


def _more(row: FunctionRecord) -> float:
    return max(row.inclusive_after - row.inclusive_before, row.change)


def moved(found: Diff, finding: Finding) -> tuple[bool, str, dict[str, Figure]]:
    """Whether the time of the finding went down, a sentence, and the figures."""
    change = _same_finding(found, finding)
    name = finding.where.kernel or finding.where.function or ""
    if change is not None and change.status in ("gone", "shrunk") and change.beyond_noise:
        before, after = change.seconds_before, change.seconds_after
        figures: dict[str, Figure] = {"finding_before": before, "finding_after": after, "status": change.status}
        if change.status == "gone":
            return True, f"'{clean(finding.title)}'{_at(name)} is gone.", figures
        if before is None or after is None or before - after >= threshold("shrunk") * before:
            return True, f"'{clean(finding.title)}'{_at(name)} {_went(before, after, found)}.", figures
    row = _row(found, name)
    if row is not None:
        figures = {"place_before": row.inclusive_before, "place_after": row.inclusive_after}
        less = row.inclusive_before - row.inclusive_after
        if less >= _must_go(finding, row) and less > row.error and less > 0:
            return (
                True,
                f"The time in {clean(name)} {_went(row.inclusive_before, row.inclusive_after, found)}.",
                figures,
            )
        said = f"was {_amount(row.inclusive_before, found)} and is {_amount(row.inclusive_after, found)}"
        return False, f"The time in {clean(name)} {said}: the diagnosed problem remains.", figures
    share = _share(found, name)
    if share is not None:
        figures = {"place_before": share.before, "place_after": share.after}
        return True, f"The time in {clean(name)} {_went(share.before, share.after, found)}.", figures
    if not name and change is None:
        return True, f"'{clean(finding.title)}' is gone.", {}
    return False, f"The time{_at(name)} did not change beyond noise: the diagnosed problem remains.", {}


def _same_finding(found: Diff, finding: Finding) -> FindingChange | None:
    if cause(finding.cause).where_only:
        return None
    name = finding.where.kernel or finding.where.function or ""
    same = [each for each in found.findings if each.cause == finding.cause]
    for each in same:
        where = each.where_before
        if where is not None and common_key(where.kernel or where.function or "") == common_key(name):
            return each
    return None


def _row(found: Diff, name: str) -> FunctionRecord | None:
    """The row of a function; those of libraries stand there by plain names or by what they do (`memset` or `copying memory` for
    `__memset_avx2_unaligned_erms`). What is inside of MPI's calls has none: there all of MPI is the row.
    """
    activity = activity_of_name(name)
    names = [common_key(name), library_key(name, Activity.COMPUTE)]
    names += [library_key(name, activity)] if activity is not None else []
    rows = {common_key(row.name): row for row in reversed(found.functions)} if name else {}
    row = next((rows[each] for each in names if each in rows), None)
    return _all_of_mpi(name, rows.values()) if row is None and activity == Activity.MPI else row


def _all_of_mpi(name: str, rows: Iterable[FunctionRecord]) -> FunctionRecord | None:
    """All calls of MPI in one row: how the library waits inside of them is its own affair, and is otherwise in each run."""
    calls = [row for row in rows if activity_of_name(row.name) == Activity.MPI]
    if not calls:
        return None
    before, after = sum(row.before for row in calls), sum(row.after for row in calls)
    error = sqrt(sum(row.error**2 for row in calls))
    return FunctionRecord(
        name=name, before=before, after=after, change=after - before, error=error, beyond_noise=abs(after - before) > error,
        inclusive_before=before, inclusive_after=after,
    )  # fmt: skip


def _share(found: Diff, name: str) -> ShareRecord | None:
    for share in found.shares:
        if name and (
            common_key(share.function) == common_key(name) or common_key(name) in map(common_key, share.merged_before)
        ):
            return share if share.change < 0 and share.beyond_noise else None
    return None


def _at(name: str) -> str:
    return f" in {clean(name)}" if name else ""


def _went(before: float | None, after: float | None, found: Diff) -> str:
    return f"went from {_amount(before, found)} to {_amount(after, found)}"


def _amount(value: float | None, found: Diff) -> str:
    return "nothing" if value is None else numbers.quantity(value, found.unit or "")
