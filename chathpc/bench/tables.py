"""The scores of cases by what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chathpc.bench.case import HEALTHY, Label
from chathpc.bench.figures import within
from chathpc.bench.score import FIRST_THREE, Score
from chathpc.bench.statistics import reciprocal_rank


@dataclass(frozen=True, slots=True)
class Row:
    """A part of the cases: how many, and how many of them are answered rightly first, among three, and at the right place.

    `placed` is of `places`, the faults with a place in the label.
    """

    name: str
    cases: int
    first: int
    three: int
    reciprocal_rank: float
    placed: int
    places: int


def table(scores: Sequence[Score], key: Callable[[Score], str]) -> tuple[Row, ...]:
    """The scores by what `key` says of each, sorted; twins are left out, for their labels have no right answer."""
    parts: dict[str, list[Score]] = {}
    for each in scores:
        if each.case.label != Label.TWIN:
            parts.setdefault(key(each), []).append(each)
    return tuple(_row(name, parts[name]) for name in sorted(parts))


def _row(name: str, scores: Sequence[Score]) -> Row:
    places = [each.function for each in scores if each.function is not None]
    return Row(
        name=name,
        cases=len(scores),
        first=sum(within(each.rank, 1) for each in scores),
        three=sum(within(each.rank, FIRST_THREE) for each in scores),
        reciprocal_rank=reciprocal_rank([each.rank for each in scores]),
        placed=sum(places),
        places=len(places),
    )


def tables(scores: Sequence[Score]) -> tuple[tuple[str, tuple[Row, ...]], ...]:
    """All tables with their titles: by half, family of causes, origin, cause and format."""
    return (
        ("split", table(scores, lambda each: str(each.case.split))),
        ("family", table(scores, lambda each: each.case.family)),
        ("origin", table(scores, lambda each: each.case.origin)),
        ("cause", table(scores, lambda each: HEALTHY if each.case.healthy else each.case.cause)),
        ("format", table(scores, lambda each: each.case.format or each.outcome.format or "unreadable")),
    )
