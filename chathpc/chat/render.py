"""Answers as text for a terminal or a pipe, and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from chathpc.chat.asker import CHAT, Asker
from chathpc.chat.slash import usages
from chathpc.chat.tools.record import SHARE, Cell, Column
from chathpc.profile import numbers
from chathpc.reports import written as blocks_of

if TYPE_CHECKING:
    from chathpc.chat.record import Answer, StepRecord
    from chathpc.chat.tools.record import Result
    from chathpc.reports.blocks import Blocks
    from chathpc.reports.style import Style

#: Columns on the screen that sentences in a table get at least.
_LEAST_PROSE = 24
#: Significant digits that a number in a table has.
_DIGITS = 2
#: Characters from which a command stands above what it does.
_LONG_USAGE = 36
NO_QUESTION = "I did not understand the question."


def step_text(step: StepRecord | Result, style: Style) -> str:
    """What a tool said as text."""
    return blocks_of(build_step, "text", step, style)


def build_step(page: Blocks, step: StepRecord | Result) -> None:
    """What a tool said: sentences, table, and lines that keep their form; or why it could not answer."""
    from chathpc.reports.page import Page

    if step.error:
        page.paragraph(step.error, indent=0)
        if step.hint:
            page.paragraph(step.hint, indent=0, style="dim")
        return
    if step.text:
        page.paragraph(step.text, indent=0)
    if step.rows:
        page.blank()
        _table(page, [Column(each.title, each.unit, each.prose) for each in step.columns], step.rows)
    if step.lines:
        page.blank()
        if isinstance(page, Page):
            for text in step.lines:
                page.form(text)
        else:
            page.code("\n".join(step.lines))
    if step.omitted:
        page.paragraph(f"({numbers.count(step.omitted)} more)", indent=0, style="dim")


def _table(page: Blocks, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> None:
    """The rows below each other; sentences in the last column are wrapped beside the others."""
    from rich.text import Text

    from chathpc.reports.page import Page
    from chathpc.reports.table import table_lines

    style = page.style
    cells = written(columns, rows)
    titles = [column.title for column in columns]
    right = [column.title for column in columns if column.unit is not None]
    if not columns[-1].prose or not isinstance(page, Page):
        page.table(titles, cells, right=right)
        return
    narrow = replace(style, width=style.width - _LEAST_PROSE)
    lines = table_lines(titles[:-1], [row[:-1] for row in cells], narrow, right=right)
    widest = max(line.cell_len for line in lines) + 2
    for number, line in enumerate(lines):
        line.pad_right(widest - line.cell_len)
        sentence = columns[-1].title if number == 0 else cells[number - 1][-1]
        page.hanging(line, Text(style.prose(sentence), style="bold" if number == 0 else ""))


def written(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """The rows as text, the numbers of a column in one unit as far as they can be read in it."""
    from chathpc.reports.table import column as aligned

    found = []
    for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
        figures = [cell for cell in cells if isinstance(cell, (int, float)) and not isinstance(cell, bool)]
        if column.unit in (None, SHARE) or len(figures) < len(cells):
            found.append([column.written(cell) for cell in cells])
        else:
            found.append(aligned(figures, max(figures, key=abs), str(column.unit), digits=_DIGITS))
    return [list(row) for row in zip(*found, strict=True)]


def answer_text(answer: Answer, style: Style, asker: Asker = CHAT) -> str:
    """An answer as a whole, as text."""
    return blocks_of(partial(build, asker=asker), "text", answer, style)


def build(page: Blocks, answer: Answer, asker: Asker = CHAT) -> None:
    """An answer as a whole: what was looked up, then a model's words under its name."""
    for step in answer.steps:
        build_step(page, step)
        page.blank()
    _words(page, answer, asker, said=True)


def words_text(answer: Answer, style: Style, asker: Asker = CHAT, *, said: bool = True) -> str:
    """What stands below the results, as text; the model's words unless they were `said` already."""
    return blocks_of(partial(_words, asker=asker, said=said), "text", answer, style)


def _words(page: Blocks, answer: Answer, asker: Asker, *, said: bool) -> None:
    """The model's words, notes, and what to ask instead."""
    for each in answer.said if said else ():
        page.paragraph(each, indent=0, style="italic")
    if answer.model and answer.said:  # else the note says that nothing can be printed
        page.paragraph(provenance(answer), indent=0, style="dim")
    if not answer.matched:
        page.paragraph(NO_QUESTION, indent=0)
        page.paragraph(nearest(answer, asker), indent=0, style="dim")
    if answer.note:
        page.paragraph(answer.note, indent=0, style="dim")


def provenance(answer: Answer) -> str:
    """Who said what stands in italics, and what of it is not printed."""
    dropped = sum(each.dropped_because is not None for each in answer.statements)
    left = f"; {dropped} of its {len(answer.statements)} statements dropped" if dropped else ""
    return f"Written by {answer.model}, a language model, not measured{left}."


def nearest(answer: Answer, asker: Asker) -> str:
    """What may be asked instead of a question that nothing matched, and where all commands are listed."""
    asked = ", ".join(f'"{question}"' for question in answer.suggestions)
    return f"You can ask, for example: {asked}. {asker.commands}".strip() if asked else asker.commands


def help_text(style: Style) -> str:
    """All commands, each with what it does beside it, or below where it is long."""
    from rich.text import Text

    from chathpc.reports.page import Page

    page = Page(style)
    page.paragraph("Ask in plain language, or:", indent=0)
    width = max(len(usage) for usage, _ in usages() if len(usage) < _LONG_USAGE)
    for usage, what in usages():
        if len(usage) > width:
            page.row(Text(f"  {usage}"))
        lead = "" if len(usage) > width else usage
        page.hanging(Text(f"  {lead.ljust(width)}  "), Text(what))
    page.paragraph("Places are functions (solve), call paths (main > solve), files and lines (heat.c:12).", indent=0)
    page.paragraph("Options: limit=N metric=M depth=N.", indent=0)
    return page.text()


def statements_text(answer: Answer, style: Style) -> str:
    """Each statement of the model, and what became of it."""
    from chathpc.reports.page import Page

    page = Page(style)
    if not answer.statements:
        page.paragraph("No model commented on the last answer.", indent=0)
    for one in answer.statements:
        on = f" [{', '.join(one.cites)}]" if one.cites else ""
        page.item(f"{one.dropped_because or 'printed'}: {one.text}{on}")
    return page.text()


def markdown(answer: Answer, style: Style, asker: Asker = CHAT) -> str:
    """The question and its answer as Markdown, safe to show whatever names a profile holds."""

    def asked(page: Blocks, answer: Answer) -> None:
        page.paragraph([(answer.question, "strong")])
        build(page, answer, asker)

    return blocks_of(asked, "markdown", answer, style)
