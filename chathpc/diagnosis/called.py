"""Findings about time in functions that the program only calls (allocators, locks, compilers, the kernel): all are written one way."""

from __future__ import annotations

from dataclasses import dataclass

from chathpc.diagnosis.catalogue.entry import Cause
from chathpc.diagnosis.draft import Draft, calling_function, fact, part_of, share_here, total
from chathpc.diagnosis.fact import Form, Kind
from chathpc.diagnosis.facts import Facts, HotPlace
from chathpc.profile.tree import FloatArray


@dataclass(frozen=True, slots=True)
class CalledTime:
    """Time in functions of one kind, the program's function that calls for most of it, and whether a loop is seen around that."""

    entry: Cause
    cost: float
    hot: HotPlace
    in_loop: bool

    @property
    def caller(self) -> str | None:
        """Name of that function."""
        return self.hot.place.function


def called_time(facts: Facts, entry: Cause, weight: FloatArray) -> CalledTime | None:
    """The time `weight` (exclusive, per node) as a possible finding; None where it is not above the `min_share` of the catalogue
    by more than sampling explains, or no function of the program calls for it.
    """
    cost = float(weight.sum())
    if facts.total == 0 or not facts.above(cost / facts.total, entry.threshold("min_share")):
        return None
    hot = facts.hot_place(weight)
    if hot is None:
        return None
    return CalledTime(entry, cost, hot, facts.below_loop(hot.line if hot.line >= 0 else hot.node))


def called_draft(
    facts: Facts,
    time: CalledTime,
    does: str,
    *,
    subject: str,
    form: Form = Form.ONE,
    how: str,
    by: str,
    signs: int,
    against: tuple[str, ...] = (),
    of: str = "",
) -> Draft:
    """The finding: `does` is a sentence about the caller, which gets its share (of `of`); `subject` is all such time;
    `how` and `by` say how that, and the caller's part of it, were computed."""
    return Draft(
        cause=time.entry.id,
        where=time.hot.place,
        summary=f"{does}: {share_here(facts, time.hot.weight, time.cost, of=of)}.",
        cost=time.cost,
        share=time.cost / facts.total,
        threshold=time.entry.threshold("min_share"),
        evidence=(
            fact(facts, Kind.AMOUNT, time.cost, subject=subject, form=form, whole=total(facts), how=how),
            calling_function(facts, time.hot, part_of(facts, time.cost, subject), how=by),
        ),
        signs=signs,
        against=against,
    )
