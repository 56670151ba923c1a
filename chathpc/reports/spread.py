"""How a run is spread over its ranks and threads: groups, those that stand out with their nodes, the places that differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import hypot

from chathpc.profile import numbers
from chathpc.profile.names import shorten
from chathpc.reports.blocks import Blocks
from chathpc.scale.record import SpreadPlaceRecord, SpreadRecord

_PLACES, _ODD, _NODES, _NAME, _WIDTH = 8, 5, 4, 40, 34
#: Of fewer locations it is not said that they are alike, and the median alone is shown.
_FEWEST = 8
#: They are alike if their values deviate by less than this part of their mean: as much as one needs to stand out.
_ALIKE = 0.1


def build(page: Blocks, record: SpreadRecord) -> None:
    """The whole answer; -v names more places and more that stand out."""
    style = page.style
    count = record.locations
    size = (
        f"{count:,} {'ranks and threads' if count > 1 else 'rank or thread'}",
        numbers.quantity(record.contexts, "contexts"),
        numbers.quantity(record.values, "values"),
    )
    page.head([record.title, record.what or record.metric, *size])
    few = f"{count:,} {'are' if count > 1 else 'is'} too few to tell groups, or who stands out."
    for sentence in [*sentences(record, 20 if style.verbose else _ODD)] or [few]:
        page.paragraph(sentence)
    page.heading("Where the time is", f"per rank or thread, itself{'' if record.unit == 's' else f', {record.unit}'}")
    shown = record.places if style.verbose else record.places[:_PLACES]
    many = record.locations >= _FEWEST
    by = not many and count > 1
    titles = ("", "mean", "least", *(("10 %", "median", "90 %") if many else ("median",)), "most")
    rows = []
    names = [style.shorten(place.name, _WIDTH) for place in shown]
    for place, name, caller in zip(shown, names, _callers(shown, names), strict=True):
        middle = place.quantiles if many else place.quantiles[1:2]
        cells = [cell(each, record.unit) for each in (place.mean, place.least, *middle, place.most)]
        rows.append((name, *cells, *([place.busiest] if by else [])))
        if caller:
            rows.append((f"  from {style.shorten(caller, _WIDTH - 7)}", *[""] * (len(rows[-1]) - 1)))
    page.table((*titles, *(["by"] if by else [])), rows, right=titles[1:])


def _callers(places: Sequence[SpreadPlaceRecord], names: Sequence[str]) -> Iterator[str]:
    """Of places that share their names where they are called from: the last step on which their ways differ; else nothing."""
    for place, name in zip(places, names, strict=True):
        others = [each.path for each, its in zip(places, names, strict=True) if its == name and each.path != place.path]
        steps = (at for at in range(2, len(place.path) + 1) if any(way[-at:] != place.path[-at:] for way in others))
        yield place.path[-at] if (at := next(steps, 0)) else ""


def cell(value: float, unit: str) -> str:
    """A time with its unit, any other number without, which stands beside."""
    return numbers.quantity(value, unit).removesuffix("" if unit == "s" else f" {unit}")


def sentences(record: SpreadRecord, odd: int = _ODD) -> Iterator[str]:
    """Groups and those that stand out, where they say something."""

    def time(value: float) -> str:
        return numbers.quantity(value, record.unit)

    if len(record.groups) > 1:
        told = [
            f"{each.members:,} like {each.representative}{_nodes(each.nodes)} "
            f"({time(each.here)} in {shorten(each.place, _NAME)}, the others {time(each.elsewhere)})"
            for each in record.groups
        ]
        yield f"{len(record.groups)} groups: {'; '.join(told)}."
    elif record.groups and record.locations >= _FEWEST:
        count, alike = record.locations, record.locations - record.all_odd
        these = f"{alike:,} of {count:,}" if alike < count else f"All {count:,}"
        if record.all_odd or _are_alike(record.places):
            yield f"{these} behave alike; {record.groups[0].representative} stands for them."
        else:
            yield f"The {count:,} differ without clear groups, and none stands out."
    if record.all_odd:
        shown = record.odd[:odd]
        told = []
        for place in dict.fromkeys(each.place for each in shown):
            there = [each for each in shown if each.place == place]
            who = ", ".join(
                each.label if each.node is None or (at + 1 < len(there) and there[at + 1].node == each.node)
                else f"{each.label} on node {each.node}"
                for at, each in enumerate(there)
            )  # fmt: skip
            here, usual = (_between([getattr(each, name) for each in there], time) for name in ("here", "usual"))
            told.append(f"{who} ({here} in {shorten(place, _NAME)}, usually {usual})")
        more = f", and {record.all_odd - len(shown):,} more" if record.all_odd > len(shown) else ""
        one = "stands" if record.all_odd == 1 else "stand"
        yield f"{record.all_odd:,} {one} out: {'; '.join(told)}{more}."


def _are_alike(places: Sequence[SpreadPlaceRecord]) -> bool:
    """Whether amounts vary little, by the places that cost most."""
    return hypot(*(each.deviation for each in places)) <= _ALIKE * hypot(*(each.mean for each in places))


def _between(values: Sequence[float], write: Callable[[float], str]) -> str:
    low, high = write(min(values)), write(max(values))
    return low if low == high else f"{low} to {high}"


def _nodes(nodes: Sequence[int]) -> str:
    """Where a group has few nodes for itself."""
    if not 0 < len(nodes) <= _NODES:
        return ""
    return f" on node{'s' if len(nodes) > 1 else ''} {', '.join(map(str, nodes))}"
