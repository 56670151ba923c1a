"""Two sides in, one comparison out: `chathpc.diff()`; and the gate for continuous integration."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Literal

import numpy as np

from chathpc import __version__
from chathpc.comparison import tables, words
from chathpc.comparison.attribution import attribute
from chathpc.comparison.comparable import common_metric, launches_differ, remarks
from chathpc.comparison.findings import Pair, compare_findings, place_key, work_of
from chathpc.comparison.function_names import common_key
from chathpc.comparison.matching import join
from chathpc.comparison.noise import NoiseKind, critical
from chathpc.comparison.record import Diff, FindingChange, GateRecord, NoiseRecord, RunRecord, SideRecord, TotalRecord
from chathpc.comparison.run import Run
from chathpc.comparison.shares import share_records
from chathpc.comparison.sides import Sides
from chathpc.comparison.thresholds import threshold
from chathpc.comparison.words import relative
from chathpc.diagnosis.coverage import HOST_TIME
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.records import Diagnosis, Finding
from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.activity import Activity
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean
from chathpc.profile.tree import BoolArray
from chathpc.report import PlaceRecord

Progress = Callable[[str], None]
Given = Profile | str | Path


def diff(
    before: Given | Sequence[Given],
    after: Given | Sequence[Given],
    *,
    metric: str | None = None,
    fail_on_regression: float | None = None,
    view: bool = False,
    progress: Progress | None = None,
) -> Diff:
    """What changed from `before` to `after`, each a profile (or its path) or several repetitions of one run.

    The time of the host is compared, or the metric `metric` (id or the tool's own name; UsageError if a side lacks it).
    `fail_on_regression` is the growth that is allowed, as a part of what was before (0.05); the outcome is in `Diff.gate`,
    and nothing is raised for it. UsageError where it is given and the sides cannot be compared. `progress` is told the stage
    that begins. With `view` the comparison has what a page draws.
    """
    tell = progress or (lambda stage: None)
    tell("reading the profiles")
    first, second = _profiles(before), _profiles(after)
    metrics, notes = common_metric(first, second, metric)
    notes += remarks(first, second, metrics)
    if metrics:
        each_launch = launches_differ((*first, *second), metrics)
        runs = tuple(Run(profile, one, each_launch) for profile, one in zip((*first, *second), metrics, strict=True))
        if each_launch:
            notes.append(words.per_launch(runs, len(first)))
        return _compared(
            Sides.of(runs, len(first), chosen=metric is not None), notes, fail_on_regression, tell, view=view
        )
    if fail_on_regression is not None:
        raise UsageError(
            f"Cannot decide whether this is a regression: {notes[0]}", hint="Measure both sides in the same way."
        )
    tell("diagnosing")
    return _findings_alone(first, second, notes)


def _profiles(given: Given | Sequence[Given]) -> list[Profile]:
    several = [given] if isinstance(given, (Profile, str, Path)) else list(given)
    if not several:
        raise UsageError("A side of the comparison has no profile.", hint="Give one at least.")
    from chathpc.adapters.load import load, refuse_repeated, refuse_same

    places = [Path(each) for each in several if not isinstance(each, Profile)]
    refuse_repeated(places)
    read = {place: load(place) for place in places}
    refuse_same(places, list(read.values()))
    return [each if isinstance(each, Profile) else read[Path(each)] for each in several]


def _compared(sides: Sides, notes: list[str], limit: float | None, tell: Progress, *, view: bool) -> Diff:
    """The comparison of sides that are measured in the same way."""
    tell("diagnosing")
    diagnoses = [diagnose(sides.runs[at].profile, sides.runs[at].facts) for at in sides.typical]
    tell("matching the trees")
    joint = join(sides.runs, sides.count)
    functions = tables.by_function(joint)
    mean = functions.own.mean(axis=0)
    large = mean >= threshold("min_told") * max(float(mean.sum()), np.finfo(np.float64).tiny)
    sides = sides.learned(functions.own[:, large])
    judged = sides.noise.judge(functions.own)
    level = critical(judged.p[large])
    changed = (judged.p <= level) & (judged.change != 0)
    doubted = large & ~changed & (np.abs(judged.change) > judged.error)
    tell("attributing the difference")
    pairs = _pairs(sides, diagnoses, functions, changed)
    alike = len({run.profile.format for run in sides.runs}) == 1
    found = attribute(joint, sides.noise, level, ~changed, callers=alike)
    shares, rest = share_records(sides, joint, found, pairs, level)
    function_rows, functions_rest = tables.function_rows(sides, functions, judged, changed)
    records = [_run_record(run.profile, run, each) for run, each in zip_longest(sides.runs, sides.took)]
    before, after = _side(records[: sides.count], diagnoses[0]), _side(records[sides.count :], diagnoses[1])
    if not sides.same_shape:
        notes.append(words.different_shapes(before, after, sides.elapsed is not None))
    waited = bool(sides.elapsed and sides.starved and not sides.without_waits)
    if starved := words.without_core(sides):
        notes.append(starved)
    drawn = None
    if view:
        from chathpc.comparison.drawn import view_of

        drawn = view_of(sides, joint)
    return Diff(
        verdict=words.verdict(sides),
        headline=words.headline(sides, shares, function_rows, pairs),
        metric=sides.metric.id,
        unit=sides.metric.unit.value,
        metric_name=sides.metric.source_name,
        before=before,
        after=after,
        noise=NoiseRecord(
            kind=sides.noise.kind.value, statement=words.noise(sides, level if doubted.any() else None), level=level
        ),
        total=sides.total,
        elapsed=sides.elapsed,
        shares=shares,
        rest=rest,
        functions=function_rows,
        functions_rest=functions_rest,
        activities=tables.activity_rows(sides),
        kernels=tables.kernel_rows(sides),
        findings=[_finding_change(pair) for pair in pairs],
        measurements=tables.measurements(sides),
        notes=notes,
        gate=None
        if limit is None
        else gate(sides.decisive, limit, sides.decisive_kind, words.whole(sides), starved=waited),
        versions={"chathpc": __version__},
        view=drawn,
    )


def _findings_alone(first: Sequence[Profile], second: Sequence[Profile], notes: list[str]) -> Diff:
    """The comparison of sides that have no metric in common."""
    mine, theirs = diagnose(first[0]), diagnose(second[0])
    pairs = compare_findings(mine.findings, theirs.findings, lambda finding: True, comparable=False)
    before, after = (
        _side([_run_record(profile, None, None) for profile in profiles], diagnosis)
        for profiles, diagnosis in ((first, mine), (second, theirs))
    )
    return Diff(
        verdict="not-comparable",
        headline=notes[0],
        metric=None,
        unit=None,
        metric_name="",
        before=before,
        after=after,
        noise=None,
        total=None,
        elapsed=None,
        shares=[],
        rest=None,
        functions=[],
        functions_rest=None,
        activities=[],
        kernels=[],
        findings=[_finding_change(pair) for pair in pairs],
        measurements=[],
        notes=notes[1:],
        gate=None,
        versions={"chathpc": __version__},
    )


# -- findings ------------------------------------------------------------------------------------------------


def _pairs(sides: Sides, diagnoses: Sequence[Diagnosis], functions: tables.Table, changed: BoolArray) -> list[Pair]:
    known = {**_moved_host(sides), **_moved(sides, functions, changed)}
    worked = _changed_work(sides)

    def has_changed(finding: Finding) -> bool:
        at_the_place = known.get(place_key(finding), sides.total.beyond_noise)
        return at_the_place or not worked.isdisjoint(work_of(finding))

    comparable = not sides.runs[0].per_launch
    # More ranks or threads have more seconds of anything.
    return compare_findings(
        diagnoses[0].findings, diagnoses[1].findings, has_changed, comparable=comparable, as_parts=not sides.same_shape
    )


def _moved(sides: Sides, functions: tables.Table, changed: BoolArray | bool) -> dict[str, bool]:
    """For functions with a time that is worth a line, whether it changed by more than noise, with what they call or without."""
    within = sides.noise.judge(functions.within)
    moved = changed | ((within.p <= critical(within.p)) & (within.change != 0))
    large = np.maximum(within.before, within.after) >= threshold("min_told") * max(
        sides.total.before, sides.total.after
    )
    return {common_key(functions.names[at]): bool(moved[at]) for at in np.flatnonzero(large).tolist()}


def _moved_host(sides: Sides) -> dict[str, bool]:
    """The same by the time of the host, where another time is compared: devices wait for functions that have none of that."""
    if sides.metric.id in HOST_TIME or not all("host.time" in run.profile.metrics for run in sides.runs):
        return {}
    runs = tuple(replace(run, metric=run.profile.metrics["host.time"], per_launch=False) for run in sides.runs)
    host = Sides.of(runs, sides.count, chosen=True)
    return _moved(host, tables.by_function(join(runs, sides.count)), changed=False)


def _changed_work(sides: Sides) -> set[Activity]:
    """Kinds of work whose time changed by more than noise."""
    if not sides.is_host_time:
        return set()
    judged = sides.noise.judge(tables.by_activity(sides.runs).own)
    changed = (judged.p <= critical(judged.p)) & (judged.change != 0)
    return {Activity(at) for at in np.flatnonzero(changed).tolist()}


# -- records -------------------------------------------------------------------------------------------------


def _side(runs: list[RunRecord], diagnosis: Diagnosis) -> SideRecord:
    return SideRecord(
        runs=runs,
        ranks=runs[0].ranks or 0,
        threads=runs[0].threads or 0,
        verdict=diagnosis.verdict.value,
        headline=diagnosis.headline,
    )


def _run_record(profile: Profile, run: Run | None, took: float | None) -> RunRecord:
    return RunRecord(
        paths=[clean(str(source.path)) for source in profile.sources],
        title=profile.title,
        format=profile.format,
        total=None if run is None else run.total,
        elapsed=took,
        samples=None if run is None else run.samples,
        contexts=len(profile.tree),
        ranks=None if run is None else run.ranks,
        threads=None if run is None else run.threads,
    )


def _finding_change(pair: Pair) -> FindingChange:
    mine, theirs = pair.before, pair.after
    return FindingChange(
        cause=pair.finding.cause,
        title=pair.finding.title,
        status=pair.status,
        where_before=None if mine is None else PlaceRecord.model_validate(mine.where),
        where_after=None if theirs is None else PlaceRecord.model_validate(theirs.where),
        seconds_before=None if mine is None else mine.seconds,
        seconds_after=None if theirs is None else theirs.seconds,
        share_before=None if mine is None else mine.share,
        share_after=None if theirs is None else theirs.share,
        beyond_noise=pair.beyond_noise,
        summary=pair.finding.summary,
    )


def gate(
    total: TotalRecord | None, limit: float, kind: NoiseKind, what: str = "the run", *, starved: bool = False
) -> GateRecord:
    """Whether `what` has grown: failed if the lower end of the interval of growth is above `limit` (a part of what was before), passed if its upper end
    is not, undecided in between. `starved` if the interval allows for threads without a core. UsageError if there is nothing that could be told.
    """
    if total is None:
        raise UsageError(
            "Cannot decide whether this is a regression: the sides ran with different numbers of threads or ranks.",
            hint="Measure both sides alike, or with a wall clock (hpcrun -e REALTIME).",
        )
    allowed = f"the limit of +{limit * 100:g} %"

    def told(outcome: Literal["passed", "failed", "undecided"], statement: str) -> GateRecord:
        return GateRecord(limit=limit, outcome=outcome, statement=statement[0].upper() + statement[1:])

    if total.ratio is None or total.ratio_low is None or total.ratio_high is None:
        if total.after > 0 and total.beyond_noise:
            return told("failed", "The value was zero before and is not now.")
        return told("passed", f"Nothing has grown; {allowed} is met.")
    if total.ratio_low > 1 + limit:
        return told("failed", f"{what} has grown beyond {allowed}: {relative(total, kind)}.")
    if total.ratio_high <= 1 + limit:
        return told("passed", f"{allowed} is met: {relative(total, kind)}.")
    would = (
        " Threads had no core for a part of it: measure again on an idle machine, or compare CPU time (--metric cpu.time)."
        if starved
        else _what_would(total, limit, kind)
    )
    return told("undecided", f"Whether {allowed} is met cannot be decided: {relative(total, kind)}.{would}")


def _what_would(total: TotalRecord, limit: float, kind: NoiseKind) -> str:
    """How much more would have to be measured: the interval shrinks with the root of the number of samples or runs."""
    if total.ratio is None or total.ratio_high is None or kind == NoiseKind.ASSUMED:
        return " Give several runs per side with --before and --after." if kind == NoiseKind.ASSUMED else ""
    distance = abs(math.log1p(limit) - math.log(total.ratio))
    width = math.log(total.ratio_high / total.ratio)
    more = (width / distance) ** 2 if distance > 0 else math.inf
    if (width / math.log1p(limit)) ** 2 > threshold("worthwhile"):
        return " The noise is too large for such a limit: measure on an idle machine, or allow more."
    if more > threshold("worthwhile"):
        return " The growth is too close to the limit to decide."
    what = "runs" if kind == NoiseKind.REPETITIONS else "samples"
    return f" About {numbers.number(math.ceil(more * 10) / 10, 2)} times as many {what} would decide it."
