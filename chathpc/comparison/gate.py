"""The gate for continuous integration: has the run grown by more than is allowed, beyond noise?"""

from __future__ import annotations

import math

from chathpc.comparison.noise import NoiseKind
from chathpc.comparison.record import GateRecord, TotalRecord
from chathpc.comparison.thresholds import threshold
from chathpc.comparison.words import relative
from chathpc.errors import UsageError
from chathpc.profile import numbers


def gate(total: TotalRecord | None, limit: float, kind: NoiseKind, what: str = "the run") -> GateRecord:
    """Whether `what` has grown: failed if the lower end of the interval of growth is above `limit` (a part of what was before), passed if its upper end
    is not, undecided in between. UsageError if there is nothing that could be told.
    """
    if total is None:
        raise UsageError(
            "Cannot decide whether this is a regression: the sides ran with different numbers of threads or ranks.",
            hint="Measure both sides alike, or with a wall clock (hpcrun -e REALTIME).",
        )
    allowed = f"the limit of +{limit * 100:g} %"
    if total.ratio is None or total.ratio_low is None or total.ratio_high is None:
        if total.after > 0 and total.beyond_noise:
            return GateRecord(limit=limit, outcome="failed", statement="The value was zero before and is not now.")
        return GateRecord(limit=limit, outcome="passed", statement=f"Nothing has grown; {allowed} is met.")
    if total.ratio_low > 1 + limit:
        return GateRecord(
            limit=limit,
            outcome="failed",
            statement=f"{what[0].upper()}{what[1:]} has grown beyond {allowed}: {relative(total)}.",
        )
    if total.ratio_high <= 1 + limit:
        return GateRecord(
            limit=limit, outcome="passed", statement=f"{allowed[0].upper()}{allowed[1:]} is met: {relative(total)}."
        )
    return GateRecord(
        limit=limit,
        outcome="undecided",
        statement=f"Whether {allowed} is met cannot be decided: {relative(total)}.{_what_would(total, limit, kind)}",
    )


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
