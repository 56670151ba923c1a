"""Which findings have gone, come, grown or shrunk between two diagnoses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from chathpc.comparison.function_names import common_key
from chathpc.comparison.thresholds import threshold
from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.records import Finding
from chathpc.profile.activity import GPU_RUNTIME, OPENMP, Activity

#: Kinds of work that a family of causes shows in, beside the time of the function at the place.
_WORK = {
    "openmp": OPENMP,
    "mpi": (Activity.MPI,),
    "gpu-system": GPU_RUNTIME,
}

Status = Literal["gone", "new", "grown", "shrunk", "same"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A cause at a place on both sides; None where that side has no such finding."""

    before: Finding | None
    after: Finding | None
    status: Status
    beyond_noise: bool

    @property
    def is_moved(self) -> bool:
        """True for a cause that is at one place before and at another after."""
        return self.before is not None and self.after is not None and place_key(self.before) != place_key(self.after)

    @property
    def finding(self) -> Finding:
        """The finding of the side that has it, the later one if both do."""
        found = self.after or self.before
        if found is None:
            raise ValueError("a pair without findings")
        return found


def place_key(finding: Finding) -> str:
    """The function or kernel of a finding, as it is compared."""
    return common_key(finding.where.kernel or finding.where.function or "")


def work_of(finding: Finding) -> tuple[Activity, ...]:
    """Kinds of work that the cause of a finding shows in wherever they are, a wait being seldom where its cause is."""
    return _WORK.get(cause(finding.cause).family, ())


def compare_findings(
    before: Sequence[Finding],
    after: Sequence[Finding],
    changed: Callable[[Finding], bool],
    *,
    comparable: bool,
    as_parts: bool = False,
) -> list[Pair]:
    """Findings of both sides in pairs: by cause and place, then by cause alone; those that differ first, the costlier first.

    `changed` tells whether the time that a finding is about changed by more than noise: where it did not, a finding that
    comes or goes has only crossed a threshold. Costs are compared in seconds where both have them, else (or `as_parts`) as parts of the
    run; not at all unless the sides are `comparable`.
    """
    left = [finding for finding in after if not cause(finding.cause).where_only]
    pairs: list[tuple[Finding | None, Finding | None]] = []
    alone = []
    for finding in (finding for finding in before if not cause(finding.cause).where_only):
        partner = _partner(finding, left, lambda mine, theirs: place_key(mine) == place_key(theirs))
        if partner is None:
            alone.append(finding)
        else:
            pairs.append((finding, partner))
    for finding in alone:
        pairs.append((finding, _partner(finding, left, lambda mine, theirs: True)))
    pairs += [(None, finding) for finding in left]
    found = [_judged(mine, theirs, changed, comparable, as_parts) for mine, theirs in pairs]
    return sorted(found, key=lambda pair: (pair.status == "same", not pair.beyond_noise, -pair.finding.share))


def _partner(finding: Finding, left: list[Finding], fits: Callable[[Finding, Finding], bool]) -> Finding | None:
    for other in left:
        if other.cause == finding.cause and fits(finding, other):
            left.remove(other)
            return other
    return None


def _judged(
    mine: Finding | None, theirs: Finding | None, changed: Callable[[Finding], bool], comparable: bool, as_parts: bool
) -> Pair:
    beyond = any(changed(finding) for finding in (mine, theirs) if finding is not None)
    if mine is None or theirs is None:
        return Pair(mine, theirs, "gone" if theirs is None else "new", beyond)
    if mine.seconds is not None and theirs.seconds is not None and not as_parts:
        first, second = mine.seconds, theirs.seconds
    else:
        first, second = mine.share, theirs.share
    if not comparable or not beyond or abs(second - first) <= threshold("same_cost") * max(first, second):
        return Pair(mine, theirs, "same", beyond)
    return Pair(mine, theirs, "grown" if second > first else "shrunk", beyond)
