"""Entries of the catalogue as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.text import Text

from chathpc.diagnosis.catalogue.entry import FAMILIES, Advice, Cause
from chathpc.diagnosis.catalogue.search import Hit
from chathpc.profile import numbers
from chathpc.reports.blocks import INDENT, LABEL
from chathpc.reports.page import Page
from chathpc.reports.style import Style

_NO_RULE = "no rule detects it yet"


def listing(causes: Sequence[Cause], style: Style) -> str:
    """One line an entry: id and title, by family."""
    page = Page(style)
    widest = max((len(cause.id) for cause in causes), default=0)
    for family, members in groupby(causes, key=lambda cause: cause.family):
        page.heading(FAMILIES[family])
        for cause in members:
            _line(page, cause, widest)
    return page.text()


def hits_text(hits: Sequence[Hit], style: Style) -> str:
    """Entries that were found, each with the passage that says most of what was looked for."""
    page = Page(style)
    widest = max((len(hit.cause.id) for hit in hits), default=0)
    for hit in hits:
        page.blank()
        _line(page, hit.cause, widest)
        page.paragraph(hit.text, indent=INDENT + LABEL - 1, style="dim")
    return page.text()


def _line(page: Page, cause: Cause, widest: int) -> None:
    title = page.sentence(cause.title)
    marks = [mark for mark, is_so in ((_NO_RULE, not cause.detected), ("your own", bool(cause.origin))) if is_so]
    if marks:
        title.append(f" ({', '.join(marks)})", style="dim")
    page.hanging(Text.assemble(" " * INDENT, (page.style.name(cause.id).ljust(widest), "bold cyan"), "  "), title)


def entry_text(cause: Cause, style: Style) -> str:
    """A whole entry: what happens, its signs, what can be won, what to do, the next measurement, thresholds, references."""
    page = Page(style)
    page.ends(Text(page.style.prose(cause.title), style="bold"), Text(page.style.prose(cause.id), style="cyan"))
    origin = f"{FAMILIES[cause.family]}{'' if cause.detected else f' · {_NO_RULE}'}"
    page.paragraph(origin, indent=0, style="dim")
    for file in cause.origin:
        page.paragraph(f"From {file}", indent=0, style="dim")
    for text in (cause.what, cause.why):
        page.blank()
        page.paragraph(text, indent=0)
    page.section("Evidence", cause.evidence)
    page.section("What speaks against it", cause.speaks_against)
    page.heading("Gain", f"typically {numbers.percent(cause.headroom)} of the cost")
    page.paragraph(cause.gain)
    page.paragraph(f"Source: {cause.headroom_source}", style="dim")
    page.heading("What to do")
    for advice in cause.advice:
        _advice(page, advice)
    page.heading("Next measurement")
    page.code(cause.next_measurement.command, indent=INDENT)
    page.paragraph(cause.next_measurement.tells)
    if cause.functions:
        page.section("Found where these functions take time", cause.functions)
    if cause.thresholds:
        page.heading("Thresholds")
        for name, each in cause.thresholds.items():
            page.paragraph(f"{name} = {each.value:g} {each.unit}. {each.source}")
    page.section("References", cause.references)
    return page.text()


def _advice(page: Page, advice: Advice) -> None:
    page.item(f"{advice.do} ({', '.join(advice.applies)})")
    for title, code in (("before", advice.example_before), ("after", advice.example_after)):
        if code:
            page.paragraph(f"{title}:", indent=INDENT + 2, style="dim")
            page.code(code, indent=INDENT + 4)
