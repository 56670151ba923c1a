"""What Caliper's attribute names mean: operators that were applied, outermost first, then what was measured.

`avg#inclusive#sum#time.duration` is the mean over ranks of the inclusive sum of times. One operator alone works on the
visits of a region (`min#time.duration`: its shortest visit); one before another sum works on the ranks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from chathpc.adapters.caliper.table import Attribute
from chathpc.adapters.hpctoolkit.vocabulary import metric_for
from chathpc.profile.metric import Aggregation, Metric, Unit, slug

_STATISTICS = ("sum", "min", "max", "avg", "avg.sum", "avg.count", "count", "variance", "percent_total", "any")
_INCLUSIVE = ("inclusive", "inclusive_sum", "inclusive_scale", "iscale")
_SCALED = ("scale", "inclusive_scale", "iscale")

#: Measured times of host threads, and of GPU activities.
_HOST = ("time.duration", "time.duration.ns", "time.inclusive.duration", "time.inclusive.duration.ns")
_HOST_ELSEWHERE = ("cupti.host.duration", "rocm.host.duration")
_DEVICE = ("cupti.activity.duration", "rocm.activity.duration", "gpu.activity.duration")
#: Names that cali-query and the hatchet profiles give to columns, in lower case: what is measured, statistic, inclusive.
_ALIASES = {
    "time": ("host", "sum", False),
    "time (exc)": ("host", "sum", False),
    "time (e)": ("host", "sum", False),
    "time (inc)": ("host", "sum", True),
    "time (i)": ("host", "sum", True),
    "total time": ("host", "sum", False),
    "total time (inc)": ("host", "sum", True),
    "total time (i)": ("host", "sum", True),
    "total time (e)": ("host", "sum", False),
    "host time": ("host", "sum", True),
    "gpu time": ("device", "sum", False),
    "gpu time (e)": ("device", "sum", False),
    "gpu time (i)": ("device", "sum", True),
} | {
    f"{word} time/rank{end}": ("host", statistic, inclusive)
    for word, statistic in (("min", "min"), ("max", "max"), ("avg", "avg"))
    for end, inclusive in (("", False), (" (exc)", False), (" (e)", False), (" (inc)", True), (" (i)", True))
}  # fmt: skip
_SECONDS = {"sec": 1.0, "s": 1.0, "msec": 1e-3, "ms": 1e-3, "usec": 1e-6, "us": 1e-6, "nsec": 1e-9, "ns": 1e-9}
#: What was measured → id, unit, what it is. Sums only.
_SUMS = {
    "region.count": ("calls.count", Unit.COUNT, "visits of regions"),
    "io.bytes.read": ("io.read.bytes", Unit.BYTES, "bytes read"),
    "io.bytes.written": ("io.write.bytes", Unit.BYTES, "bytes written"),
    "alloc.total_size": ("memory.allocated.bytes", Unit.BYTES, "memory allocated"),
}
_BYTES = re.compile(r"(^|\.)(bytes|size|highwatermark)($|\.)")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a column holds. `what` is host, device or the name of something else; `scale` turns times into seconds.

    `statistic` says how values were combined, `over_ranks` whether over ranks (else over visits of a region).
    """

    attribute: Attribute
    what: str
    statistic: str
    over_ranks: bool
    inclusive: bool
    scale: float

    @property
    def adds_up(self) -> bool:
        """True if values of different places may be added."""
        return self.statistic in ("sum", "")


def meaning(attribute: Attribute) -> Meaning:
    """What the column `attribute` holds."""
    *operators, base = attribute.parts
    statistics = [one for one in operators if one in _STATISTICS]
    known = _ALIASES.get(attribute.alias.lower().strip() or base.lower()) if not operators else None
    known = known or (_ALIASES.get(base.lower()) if not operators else None)
    if known is not None:
        what, statistic, inclusive = known
        return Meaning(attribute, what, statistic, statistic != "sum", inclusive, _scale(attribute, base, operators))
    what = "host" if base in _HOST + _HOST_ELSEWHERE else "device" if base in _DEVICE else base
    return Meaning(
        attribute,
        what,
        statistics[0] if statistics else "",
        len(statistics) > 1,
        any(one in _INCLUSIVE for one in operators) or base.startswith("time.inclusive."),
        _scale(attribute, base, operators) if what in ("host", "device") else 1.0,
    )


def _scale(attribute: Attribute, base: str, operators: list[str]) -> float:
    """Seconds in one unit of the column: as the file says, else nanoseconds for what is counted in them, else seconds."""
    if attribute.unit.lower() in _SECONDS:
        return _SECONDS[attribute.unit.lower()]
    if any(one in _SCALED for one in operators):
        return 1.0
    return 1e-9 if base.endswith(".ns") or base in _HOST_ELSEWHERE + _DEVICE else 1.0


def other_metric(given: Meaning, taken: set[str]) -> Metric:
    """The metric of a column that is no time, with an id that is not `taken`."""
    name, base = given.attribute.name, given.attribute.parts[-1]
    aggregation = (
        Aggregation.SUM if given.adds_up else Aggregation.MAX if given.statistic == "max" else Aggregation.DERIVED
    )
    unit, words = Unit.BYTES if _BYTES.search(base) else Unit.COUNT, given.attribute.alias or name
    identifier = "other." + slug(name)
    counter = metric_for(base.removeprefix("papi."))
    if given.adds_up and base in _SUMS:
        identifier, unit, words = _SUMS[base]
    elif given.adds_up and base.startswith("papi.") and counter.id.startswith("cpu."):
        identifier, unit, words = counter.id, counter.unit, counter.description.replace(" (sampled)", "")
    elif "/" in base or given.statistic in ("percent_total", "variance"):
        unit, aggregation = Unit.RATIO, Aggregation.DERIVED
    first, copies = identifier, 2
    while identifier in taken:
        identifier, copies = f"{first}.{copies}", copies + 1
    return Metric(identifier, unit, words, name, given.attribute.unit, aggregation=aggregation)
