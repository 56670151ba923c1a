"""How a run is spread over its ranks and threads, as text: groups, those that stand out with their nodes, the places that differ."""

from __future__ import annotations

from collections.abc import Iterator

from chathpc.profile import numbers
from chathpc.reports.page import Page
from chathpc.reports.style import Style
from chathpc.reports.table import table_lines
from chathpc.scale.record import SpreadRecord

_PLACES, _ODD = 8, 5


def render(record: SpreadRecord, style: Style) -> str:
    """The whole answer; -v names more places and more that stand out."""
    page = Page(style)
    size = f"{record.locations:,} ranks and threads · {record.contexts:,} contexts · {record.values:,} values"
    page.paragraph(f"{record.title} · {record.metric} · {size}", indent=0, style="dim")
    page.blank()
    for sentence in sentences(record, 20 if style.verbose else _ODD):
        page.paragraph(sentence)
    page.heading("Where the time is", "per rank or thread, itself")
    shown = record.places if style.verbose else record.places[:_PLACES]
    titles = ("", "mean", "least", "10 %", "median", "90 %", "most")
    rows = [
        (
            style.shorten(place.name, 34),
            *(numbers.quantity(each, record.unit) for each in (place.mean, place.least, *place.quantiles, place.most)),
        )
        for place in shown
    ]
    for line in table_lines(titles, rows, style, right=" ".join(titles[1:])):
        page.row(line)
    return page.text()


def sentences(record: SpreadRecord, odd: int = _ODD) -> Iterator[str]:
    """Groups and those that stand out, where they say something."""

    def time(value: float) -> str:
        return numbers.quantity(value, record.unit)

    if len(record.groups) > 1:
        told = [
            f"{each.members:,} like {each.representative} ({time(each.here)} in {each.place}, the others {time(each.elsewhere)})"
            for each in record.groups
        ]
        yield f"{len(record.groups)} groups: {'; '.join(told)}."
    elif record.groups:
        alike = (
            f"{record.locations - record.all_odd:,} of {record.locations:,}"
            if record.all_odd
            else f"All {record.locations:,}"
        )
        yield f"{alike} behave alike; {record.groups[0].representative} stands for them."
    if record.all_odd:
        told = [
            f"{each.label}{'' if each.node is None else f' on node {each.node}'} ({time(each.here)} in {each.place}, usually {time(each.usual)})"
            for each in record.odd[:odd]
        ]
        more = f", and {record.all_odd - len(told):,} more" if record.all_odd > len(told) else ""
        one = "stands" if record.all_odd == 1 else "stand"
        yield f"{record.all_odd:,} {one} out: {'; '.join(told)}{more}."
