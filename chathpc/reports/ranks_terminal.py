"""How a run is spread over its ranks and threads, as text: groups, those that stand out with their nodes, the places that differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from chathpc.profile import numbers
from chathpc.profile.names import shorten
from chathpc.reports.page import Page
from chathpc.reports.style import Style
from chathpc.reports.table import table_lines
from chathpc.scale.record import SpreadRecord

_PLACES, _ODD, _NODES, _NAME = 8, 5, 4, 40
#: Of fewer locations it is not said that they are alike, and the median alone is shown.
_FEWEST = 8


def render(record: SpreadRecord, style: Style) -> str:
    """The whole answer; -v names more places and more that stand out."""
    page = Page(style)
    count = record.locations
    size = f"{count:,} {'ranks and threads' if count > 1 else 'rank or thread'} · {record.contexts:,} contexts · {record.values:,} values"
    page.paragraph(f"{record.title} · {record.metric} · {size}", indent=0, style="dim")
    page.blank()
    few = f"{count:,} {'are' if count > 1 else 'is'} too few to tell groups, or who stands out."
    for sentence in [*sentences(record, 20 if style.verbose else _ODD)] or [few]:
        page.paragraph(sentence)
    page.heading("Where the time is", f"per rank or thread, itself{'' if record.unit == 's' else f', {record.unit}'}")
    shown = record.places if style.verbose else record.places[:_PLACES]
    many = record.locations >= _FEWEST
    titles = ("", "mean", "least", *(("10 %", "median", "90 %") if many else ("median",)), "most")
    rows = []
    for place in shown:
        middle = place.quantiles if many else place.quantiles[1:2]
        cells = (cell(each, record.unit) for each in (place.mean, place.least, *middle, place.most))
        rows.append((style.shorten(place.name, 34), *cells))
    for line in table_lines(titles, rows, style, right=titles[1:]):
        page.row(line)
    return page.text()


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
        yield f"{these} behave alike; {record.groups[0].representative} stands for them."
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


def _between(values: Sequence[float], write: Callable[[float], str]) -> str:
    low, high = write(min(values)), write(max(values))
    return low if low == high else f"{low} to {high}"


def _nodes(nodes: Sequence[int]) -> str:
    """Where a group has few nodes for itself."""
    if not 0 < len(nodes) <= _NODES:
        return ""
    return f" on node{'s' if len(nodes) > 1 else ''} {', '.join(map(str, nodes))}"
