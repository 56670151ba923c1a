"""A comparison in words: verdict, headline, how noise was told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import fmean
from typing import Literal

from chathpc.comparison.findings import Pair
from chathpc.comparison.function_names import common_key
from chathpc.comparison.noise import NoiseKind
from chathpc.comparison.record import (
    ChangeRecord,
    Diff,
    FindingChange,
    FunctionRecord,
    MeasurementRecord,
    RunRecord,
    ShareRecord,
    SideRecord,
    TotalRecord,
)
from chathpc.comparison.run import Run
from chathpc.comparison.sides import Sides
from chathpc.comparison.thresholds import threshold
from chathpc.diagnosis.coverage import HOST_TIME
from chathpc.profile import numbers
from chathpc.profile.merge import kernels
from chathpc.profile.metric import Clock, Unit
from chathpc.profile.names import shorten
from chathpc.report import PlaceRecord

#: A piece of a sentence; names are marked.
_Piece = str | tuple[str, Literal["name"]]
Verdict = Literal["faster", "slower", "less", "more", "unchanged", "undecided", "not-comparable"]
#: Units of what stands for time.
_TIMELIKE = (Unit.SECONDS, Unit.CYCLES, Unit.SAMPLES)

#: What the total is, where the time is not that of threads of the host.
_TIMES = {
    "gpu.time": "GPU busy time",
    "host.time": "the time in calls of the host",
    "io.time": "the time in input and output",
}

#: So many names of a list are told.
_NAMES = 3
#: The name of what has no function.
THE_RUN = "the run"
#: What became of a finding.
STATUS = {"gone": "Gone", "shrunk": "Costs less", "new": "New", "grown": "Costs more", "same": "As before"}
#: The same where the time there is what it was: its part of the run has crossed what a finding has at least.
_CROSSED = {"gone": "Below limit", "new": "Above limit"}
#: A headline names not more shares of the difference than this.
_MOST = 2
#: Units of values that have fractions.
_FRACTIONS = ("s", "ratio", "percent")
#: Smaller parts are written with fewer digits.
_SMALL = 0.001
#: Steps of a path that are shown, and characters of each.
_STEPS, _NAME = 4, 32
#: Some tools write the unit behind the name of a metric: `REALTIME (sec)`.
UNIT = re.compile(r"\s*\([^()]*\)$")


def verdict(sides: Sides) -> Verdict:
    """What became of the run, by the quantity that decides."""
    decisive, unit = sides.decisive, sides.metric.unit
    if decisive is None:
        return "not-comparable"
    if not decisive.beyond_noise:
        return "undecided" if sides.undecided else "unchanged"
    if unit in _TIMELIKE:
        return "faster" if decisive.change < 0 else "slower"
    return "less" if decisive.change < 0 else "more"


def amount(value: float, unit: str) -> str:
    """A value in its unit; a large mean of counts without a fraction, as in the tables: `1,185 samples`."""
    whole = unit not in _FRACTIONS and float(numbers.rounded(value)).is_integer()
    return numbers.quantity(round(value) if whole else value, unit)


def signed(value: float, unit: str) -> str:
    """`+1.2 s`, `−340 ms`, `0 s`."""
    return with_sign(amount(abs(value), unit), value)


def with_sign(text: str, value: float) -> str:
    """The text of an amount with the sign of its value, unless that is nothing."""
    return text if value == 0 else f"{'+' if value > 0 else '−'}{text}"


def signed_percent(part: float) -> str:
    """`+5.2 %`, `−81.5 %`."""
    # `<0.1 %` has no sign.
    text = numbers.percent(abs(part)) if abs(part) >= _SMALL or part == 0 else f"{numbers.number(abs(part) * 100, 1)} %"
    return with_sign(text, part)


def relative(total: TotalRecord, kind: NoiseKind) -> str:
    """`−81.4 %, 95 % interval −84.3 % to −77.9 %`, or that with what it assumes; empty where there is no ratio."""
    if total.ratio is None or total.ratio_low is None or total.ratio_high is None:
        return ""
    change = signed_percent(total.ratio - 1)
    if total.ratio_low == total.ratio_high:
        return change
    low, high = signed_percent(total.ratio_low - 1), signed_percent(total.ratio_high - 1)
    if kind == NoiseKind.ASSUMED:
        return f"{change}; {low} to {high} if runs vary by {round(threshold('assumed_difference') * 100)} %"
    return f"{change}, {round(threshold('confidence') * 100)} % interval {low} to {high}"


def shape(side: SideRecord, *runs: RunRecord) -> str:
    """`4 ranks and 8 threads`, `1 thread`, of several runs `1 to 2 ranks`; empty where neither is known. By default of all runs."""
    counted = [_shape(side, run) for run in runs or side.runs]
    words = []
    if any(ranks > 1 or (ranks and threads) for ranks, threads in counted):
        words.append(_counted([ranks for ranks, _ in counted], "rank"))
    if any(threads not in (0, ranks) for ranks, threads in counted):
        words.append(_counted([threads for _, threads in counted], "thread"))
    return " and ".join(words)


def _shape(side: SideRecord, run: RunRecord) -> tuple[int, int]:
    """Ranks and threads of a run; a file of an older version tells those of the side alone."""
    return (
        side.ranks if run.ranks is None else run.ranks,
        side.threads if run.threads is None else run.threads,
    )


def _counted(values: Sequence[int], what: str) -> str:
    low, high = min(values), max(values)
    return f"{low:,}{f' to {high:,}' if high > low else ''} {what}{'s' if high != 1 else ''}"


def wall(run: RunRecord, diff: Diff) -> str:
    """How long a run took, where that is another number than its total in any of the runs."""
    unit = diff.unit or ""
    told = [
        (numbers.quantity(each.elapsed, "s"), numbers.quantity(each.total, unit))
        for each in (*diff.before.runs, *diff.after.runs)
        if each.elapsed is not None and each.total is not None
    ]
    differ = any(elapsed != total for elapsed, total in told)
    return numbers.quantity(run.elapsed, "s") if differ and run.elapsed is not None else ""


def subject(share: ShareRecord) -> str:
    """`memory allocation in gather`, `Registry::merge`."""
    if share.call is None:
        return share.function
    return share.call if share.function == THE_RUN else f"{share.call} in {share.function}"


def spot(share: ShareRecord) -> PlaceRecord | None:
    """Where a share is, in the source of the side that has more of it: what is gone from a line is seen there no longer."""
    return _larger(share.where_before, share.where_after, share.before > share.after)


def _larger(mine: PlaceRecord | None, theirs: PlaceRecord | None, before: bool) -> PlaceRecord | None:
    return (mine or theirs) if before else (theirs or mine)


def found_at(finding: FindingChange) -> PlaceRecord | None:
    """Where a finding is, on the side where it costs more."""
    first, second = finding.seconds_before, finding.seconds_after
    if first is None or second is None:
        first, second = finding.share_before, finding.share_after
    return _larger(finding.where_before, finding.where_after, (first or 0.0) > (second or 0.0))


def _moved(finding: FindingChange) -> bool:
    names = [place and (place.kernel or place.function) for place in (finding.where_before, finding.where_after)]
    return all(names) and len({common_key(name) for name in names if name}) > 1


def fate(finding: FindingChange) -> str:
    """What became of a finding: `Gone`, `Costs less`, `Moved`, though it may cost as much as before; but not where only noise chose the place."""
    if finding.beyond_noise:
        return "Moved" if _moved(finding) else STATUS[finding.status]
    return _CROSSED.get(finding.status, STATUS[finding.status])


def stays(finding: FindingChange) -> bool:
    """Whether a finding is as it was."""
    return fate(finding) == STATUS["same"]


def whole(sides: Sides) -> str:
    """What the verdict is about, in words: the run where it is about how long it took, else what was added up, and over what."""
    metric = sides.metric
    if sides.elapsed is not None:
        return "the run without waits for a core" if sides.without_waits else "the run"
    if metric.unit != Unit.SECONDS:
        return "the total"
    return f"{_summed(sides)}{_over(sides)}"


def per_launch(runs: Sequence[Run], count: int) -> str:
    """That times of launches are compared, since the numbers of them differ."""
    total = [sum(each[2] for each in kernels(run.profile).values()) for run in runs]
    before, after = (numbers.count(round(fmean(side))) for side in (total[:count], total[count:]))
    return f"Launches profiled: {before} before, {after} after. Times of one launch of each kernel are compared."


def _summed(sides: Sides) -> str:
    metric = sides.metric
    if sides.runs[0].per_launch:
        several = any(len(kernels(run.profile)) > 1 for run in sides.runs)
        return f"the time of one launch{' of each kernel' if several else ''}"
    if metric.id not in HOST_TIME:
        return _TIMES.get(metric.id, f"the total of {metric.id}")
    return "the CPU time" if metric.clock == Clock.CPU else "the recorded time"


def _over(sides: Sides) -> str:
    """Over what a time was added up; empty where it is that of one."""
    ranks, threads = max(run.ranks for run in sides.runs), max(run.threads for run in sides.runs)
    return " of all ranks" if ranks > 1 and threads <= ranks else " of all threads" if threads > 1 else ""


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]


def headline(
    sides: Sides, shares: Sequence[ShareRecord], functions: Sequence[FunctionRecord], pairs: Sequence[Pair]
) -> str:
    """The outcome in one or two sentences."""
    metric, decisive = sides.metric, sides.decisive
    outcome, unit = verdict(sides), metric.unit.value
    if decisive is None:
        why = f"{metric.id} is a sum over them" if sides.chosen else "how long they took was not measured"
        return (
            f"The sides ran with different numbers of threads or ranks, and {why}; the cost of all threads together is compared "
            "below."
        )
    before, after = amount(decisive.before, unit), amount(decisive.after, unit)
    what, run = whole(sides), sides.elapsed is not None
    part = relative(decisive, sides.decisive_kind)
    part = f" ({part})" if part else ""
    if outcome in ("unchanged", "undecided"):
        # More ranks or threads have more seconds of anything: no place has changed for that.
        inside = f"{_together(sides)}{_inside(shares, functions, unit) if sides.same_shape else ''}"
        if decisive.change == 0:
            has = "has" if run else "is"
            return f"No difference: {what} {has} {before} on both sides.{inside}"
        if outcome == "undecided":
            return f"Waits for a core leave open whether the run changed: {before} before, {after} after{part}.{inside}"
        about = "" if what == "the run" else f" in {what}"
        return f"No difference beyond noise{about}: {before} before, {after} after{part}.{inside}"
    if decisive.ratio is None:
        lead = f"{what} changed: {before} became {after}"
    elif run:
        how = "is {} times as fast" if outcome == "faster" else "takes {} times as long"
        times = how.format(numbers.number(max(decisive.ratio, 1 / decisive.ratio)))
        lead = f"{what} {times}: {before} became {after}"
    elif metric.unit == Unit.SECONDS:
        lead = f"{what} went from {before} to {after}"
    else:
        lead = f"{what} is {numbers.number(decisive.ratio)} times what it was: {before} became {after}"
    return f"{_upper(lead)}{part}.{_explained(sides, shares)}{_cause(decisive, pairs)}"


def _together(sides: Sides) -> str:
    """The change of what is divided below, where that is not the change of the run."""
    total, elapsed = sides.total, sides.elapsed
    if elapsed is None or total.ratio is None or elapsed.ratio is None:
        return ""
    if sides.same_shape and abs(total.ratio - elapsed.ratio) <= threshold("alike") * elapsed.ratio:
        return ""
    several = _over(sides).removeprefix(" of ")
    of_host = sides.metric.id in HOST_TIME
    what = f"{several} together" if several and of_host else f"{_summed(sides)}{_over(sides)}"
    return f" {_upper(what.removeprefix('the '))}: {signed(total.change, sides.metric.unit.value)}."


def _off_cpu(sides: Sides) -> str:
    """That most of the change is time in which the busiest thread did not run, by a CPU clock."""
    elapsed, metric = sides.elapsed, sides.metric
    if elapsed is None or metric.clock != Clock.CPU or metric.id not in HOST_TIME or elapsed.change == 0:
        return ""
    busy = [run.busiest for run in sides.runs]
    off = elapsed.change - (fmean(busy[sides.count :]) - fmean(busy[: sides.count]))
    if off / elapsed.change <= threshold("mostly"):
        return ""
    return f" Most of the change, {signed(off, 's')}, is time off the CPU: waits, or other programs on the cores."


def _inside(shares: Sequence[ShareRecord], functions: Sequence[FunctionRecord], unit: str) -> str:
    """What moved inside a run that as a whole did not change: a function as a whole, as what it gains on one path it may lose on another."""
    if not shares:
        return ""
    moved = [(row.name, row.change) for row in functions if row.beyond_noise]
    name, change = moved[0] if moved else _by_subject(shares)[0][:2]
    return f" Inside, {name} changed by {signed(change, unit)}."


def _by_subject(shares: Sequence[ShareRecord]) -> list[tuple[str, float, str | None]]:
    """What changed, by how much over all its contexts, and what below it has most of that; the largest change first."""
    found: dict[str, tuple[str, float, str | None]] = {}
    for share in shares:
        name = subject(share)
        _, change, mostly = found.get(name, (name, 0.0, share.mostly_in))
        found[name] = (name, change + share.change, mostly)
    return sorted(found.values(), key=lambda each: -abs(each[1]))


def _explained(sides: Sides, shares: Sequence[ShareRecord]) -> str:
    """The largest shares in the direction of the total; where the run went the other way, as parts of the total alone."""
    decisive, unit = sides.total, sides.metric.unit.value
    lead, off = _together(sides), _off_cpu(sides)
    opposed = sides.elapsed is not None and sides.elapsed.change * decisive.change < 0
    apart = bool(off) or opposed
    if apart and not lead:
        return off
    chosen: list[tuple[str, float, str | None]] = []
    for each in [each for each in _by_subject(shares) if each[1] * decisive.change > 0][:_MOST]:
        chosen.append(each)
        if sum(change for _, change, _ in chosen) / decisive.change >= threshold("explained"):
            break
    if not chosen:
        return f"{lead}{off}"
    parts = " and ".join(
        f"{name} ({signed(change, unit)}{f', most in {mostly}' if mostly else ''})" for name, change, mostly in chosen
    )
    most = sum(change for _, change, _ in chosen) / decisive.change > threshold("mostly")
    if apart:
        # Nobody should take it for the reason of what the run did.
        that = f"That {'growth' if decisive.change > 0 else 'saving'}" if opposed else "That"
        return f"{lead} {f'{that} is mostly' if most else 'Its largest parts:'} {parts}.{off}"
    return f"{lead} {'Mostly' if most else 'The largest parts:'} {parts}."


def _cause(decisive: TotalRecord, pairs: Sequence[Pair]) -> str:
    """The finding that has gone or come with the change."""
    wanted = ("gone", "shrunk") if decisive.change < 0 else ("new", "grown")
    for pair in pairs:
        if pair.status in wanted and pair.beyond_noise and not pair.is_moved:
            place = pair.finding.where.kernel or pair.finding.where.function
            return f" {STATUS[pair.status]}: {pair.finding.title}{f' ({place})' if place else ''}."
    return ""


def noise(sides: Sides, doubted: float | None) -> str:
    """How noise is told from change, in a sentence or two; `doubted` is the level that some function missed whose change is beyond its ±."""
    kind, before, after = sides.noise.kind, sides.count, len(sides.runs) - sides.count
    level = f"{round(threshold('confidence') * 100)} %"
    if kind == NoiseKind.REPETITIONS:
        many = (
            ""
            if doubted is None
            else f" Of several functions, one counts as changed only if chance is below {numbers.percent(doubted)}: more than its ± asks for."
        )
        more = " Three or more per side would show more." if min(before, after) < threshold("few_runs") else ""
        return f"± holds {level}, from {before} run{'s' if before > 1 else ''} before and {after} after.{more}{many}"
    if kind == NoiseKind.SAMPLING:
        counted = " and ".join(numbers.count(round(run.samples or 0)) for run in sides.runs)
        assumed = numbers.percent(threshold("assumed_difference"))
        wall = (
            f" For the wall-clock time {assumed} of run-to-run variation is assumed."
            if sides.decisive_kind == NoiseKind.ASSUMED
            else ""
        )
        return (
            f"± is the error of counting {counted} samples ({level}).{wall} One run per side cannot show how much runs vary: "
            "give several with --before and --after."
        )
    if kind == NoiseKind.EXACT:
        return "Events were counted, not sampled: the numbers have no sampling error."
    return (
        f"One run per side, and no sampled values: {numbers.percent(threshold('assumed_difference'))} of a value is assumed as run-to-run variation. "
        "Give several runs with --before and --after to measure it."
    )


def different_shapes(before: SideRecord, after: SideRecord, timed: bool) -> str:
    """What different numbers of threads or ranks mean for the comparison."""
    clock = (
        "The verdict is about how long the runs took." if timed else "This metric does not show how long the runs took."
    )
    mixed = any(len({_shape(side, run) for run in side.runs}) > 1 for side in (before, after))
    uneven = " Runs of one side that differ in that are no repetitions." if mixed else ""
    return (
        f"Before, the program ran with {shape(before)}, after with {shape(after)}.{uneven} The time of all threads together is what "
        f"a run costs, not how long it takes. {clock}"
    )


def without_core(sides: Sides) -> str:
    """That threads of a side could run and had no core for a good part of the time, as a sentence; empty where they had one."""
    lacked = [run.without_core for run in sides.runs]
    if not sides.starved:
        return ""
    told = []
    for name, side in (("before", lacked[: sides.count]), ("after", lacked[sides.count :])):
        known = [waits for waits in side if waits is not None]
        told += [f"{numbers.seconds(fmean(known))} {name}"] if known else []
    verdict = (
        "The times compared are without such waits."
        if sides.elapsed is None or sides.without_waits
        else "The verdict is about wall-clock time, which such waits make longer: its interval allows for them, the times below are without them."
    )
    return (
        f"Threads that could run had no core for {' and '.join(told)}: other programs were running, or there are more threads than "
        f"cores. {verdict} Measure again on an idle machine."
    )


def comparison(diff: Diff) -> list[str]:
    """What is compared, in a few words: programs, formats, the metric."""
    mine, theirs = diff.before.runs[0], diff.after.runs[0]
    words = [
        mine.title if mine.title == theirs.title else f"{mine.title or 'before'} → {theirs.title or 'after'}",
        mine.format if mine.format == theirs.format else f"{mine.format} → {theirs.format}",
    ]
    if diff.metric is not None:
        what = "thread time" if diff.metric.startswith("cpu.time") else diff.metric
        words.append(f"{what} by {UNIT.sub('', diff.metric_name)}")
    return [word for word in words if word]


def aside(share: ShareRecord) -> list[_Piece]:
    """What else there is to say of a share, as pieces with its names: the way there, what only one side has, what was weighed with it."""
    callers = share.contexts[0][: -2 if share.call is not None else -1]
    said = []
    if callers:
        said.append(["below … > " if len(callers) > _STEPS else "below ", *_named(callers[-_STEPS:], " > ")])
    if share.mostly_in is not None:
        said.append(["with what it calls, most in ", *_named([share.mostly_in])])
    if len(share.contexts) > 1:
        said.append([f"and {len(share.contexts) - 1} more path{'s' if len(share.contexts) > 2 else ''}"])
    if share.only is not None:
        said.append([f"{share.only} only"])
    for side, merged in (("before", share.merged_before), ("after", share.merged_after)):
        if merged:
            more = "" if len(merged) <= _NAMES else f" and {len(merged) - _NAMES} more"
            said.append(["with ", *_named(merged[:_NAMES]), f"{more} {side}"])
    return [piece for part in said for piece in (" · ", *part)][1:]


def _named(names: Sequence[str], separator: str = ", ") -> list[_Piece]:
    pieces: list[_Piece] = []
    for name in names:
        pieces += [separator, (shorten(name, _NAME), "name")]
    return pieces[1:]


def cost(finding: FindingChange) -> str:
    """What a finding costs on the sides that have it, with the place on that where it is elsewhere, and the doubt where there is one."""
    if {finding.share_before, finding.share_after} - {None} == {0.0}:
        return "It costs memory, not time."
    sides = []
    here, moved = found_at(finding), _moved(finding)
    for name, seconds, share, where in (
        ("before", finding.seconds_before, finding.share_before, finding.where_before),
        ("after", finding.seconds_after, finding.share_after, finding.where_after),
    ):
        if share is not None:
            time = "" if seconds is None else f"{numbers.seconds(seconds)}, "
            there = (
                f" (at {shorten(where.kernel or where.function or '', _NAME)})"
                if moved and where and where != here
                else ""
            )
            sides.append(f"{time}{numbers.percent(share)} of the run {name}{there}")
    doubt = "" if finding.beyond_noise else "; but the time there did not change beyond noise"
    return f"Cost {'; '.join(sides)}{doubt}."


def part(row: ChangeRecord) -> str:
    """The change as a part of what was before: `−81.4 %`, `new`, `gone`."""
    if row.before == 0:
        return "new" if row.after else ""
    return "gone" if row.after == 0 else signed_percent(row.change / row.before)


def ratio(measurement: MeasurementRecord) -> str:
    """The change of another metric as a part of what was before."""
    return signed_percent(measurement.after / measurement.before - 1) if measurement.before else "new"
