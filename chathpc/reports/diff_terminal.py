"""A comparison as text: what became of the run, then where, why, and how sure."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from chathpc.comparison import words
from chathpc.comparison.record import ChangeRecord, Diff, FindingChange, RunRecord, ShareRecord, SideRecord
from chathpc.profile import numbers
from chathpc.profile.names import middle
from chathpc.reports.page import INDENT, Page
from chathpc.reports.style import Style
from chathpc.reports.table import column
from chathpc.reports.wording import place

VERDICTS = {
    "faster": ("FASTER", "bold green"),
    "slower": ("SLOWER", "bold red"),
    "less": ("LESS", "bold green"),
    "more": ("MORE", "bold red"),
    "unchanged": ("UNCHANGED", "bold"),
    "not-comparable": ("NOT COMPARABLE", "bold yellow"),
}
_GATES = {"passed": "bold green", "failed": "bold red", "undecided": "bold yellow"}
#: Shares and rows that a page shows; with -v all.
_SHARES, _ROWS = 10, 12
#: Shares smaller than this part of the largest are shown with -v only.
_SMALL = 0.02
_BAR = 8
#: Units that are too long for a column.
_COUNTS = ("samples", "cycles")
#: How a bar is drawn.
_FULL = "━"


def render(diff: Diff, style: Style) -> str:
    """The whole comparison, at most `style.width` columns wide."""
    page = Page(style)
    page.paragraph(" · ".join(words.comparison(diff)), indent=0, style="dim")
    page.blank()
    title, colour = VERDICTS[diff.verdict]
    page.flow([Text(title, style=colour), Text(), page.sentence(diff.headline, "bold")], indent=0)
    if diff.gate is not None:
        page.paragraph(
            diff.gate.statement,
            label=f"GATE {diff.gate.outcome.upper()}",
            label_style=_GATES[diff.gate.outcome],
            indent=0,
        )
    page.blank()
    _sides(page, diff)
    _shares(page, diff)
    _findings(page, diff.findings)
    _table(page, "By kind of work", "", diff.activities, diff.unit, None)
    _table(page, "By function", "exclusive, without callees", diff.functions, diff.unit, diff.functions_rest)
    _table(page, "By GPU kernel", "", diff.kernels, "s", None)
    _measurements(page, diff)
    if diff.notes:
        page.heading("Bear in mind")
        for note in diff.notes:
            page.item(note)
    if diff.noise is not None:
        page.blank()
        page.paragraph(diff.noise.statement, indent=0, style="dim")
    return page.text()


def _sides(page: Page, diff: Diff) -> None:
    rows: list[tuple[str, ...]] = []
    for name, side in (("Before", diff.before), ("After", diff.after)):
        rows += [_side(name if number == 0 else "", side, run, diff) for number, run in enumerate(side.runs)]
    header = ("", "total", "wall time", "samples", "ran with", "profile")
    empty = {at for at in range(1, len(header)) if not any(row[at] for row in rows)}
    others = sum(max(len(row[at]) for row in (header, *rows)) + 2 for at in range(len(header) - 1) if at not in empty)
    room = max(page.style.width // 3, page.style.width - others)
    rows = [(*row[:-1], page.style.shorten_path(page.style.name(row[-1]), room)) for row in rows]
    page.table(
        [text for at, text in enumerate(header) if at not in empty],
        [[text for at, text in enumerate(row) if at not in empty] for row in rows],
        right="total wall time samples",
    )


def _side(name: str, side: SideRecord, run: RunRecord, diff: Diff) -> tuple[str, ...]:
    return (
        name,
        "" if run.total is None else numbers.quantity(run.total, diff.unit or ""),
        words.wall(run, diff),
        "" if run.samples is None else numbers.count(round(run.samples)),
        words.shape(side),
        run.paths[0] if run.paths else "",
    )


def _shares(page: Page, diff: Diff) -> None:
    if diff.rest is None or diff.total is None or not diff.shares:
        return
    style = page.style
    largest = max(abs(share.change) for share in diff.shares)
    shown = [share for share in diff.shares if abs(share.change) >= _SMALL * largest][:_SHARES]
    if style.verbose or len(diff.shares) == len(shown) + 1:
        shown = list(diff.shares)
    hidden = diff.shares[len(shown) :]
    counted = f"in {diff.unit}; " if diff.unit in _COUNTS else ""
    page.heading("Where it changed", f"{counted}each part is counted once: the lines add up to the total")
    lines: list[ChangeRecord] = [*shown, diff.rest, diff.total]
    if hidden:
        lines.insert(-2, _sum(hidden))
    unit = diff.unit or ""
    top = largest  # as many decimals as its number has, so that the changes add up
    changes = [
        _sign(text, line.change)
        for text, line in zip(_cells([abs(line.change) for line in lines], top, unit), lines, strict=True)
    ]
    old, new = (_cells([getattr(line, what) for line in lines], top, unit) for what in ("before", "after"))
    widths = [
        max(map(cell_len, [*cells, head])) for cells, head in ((changes, "change"), (old, "before"), (new, "after"))
    ]
    heads = [head.rjust(width) for head, width in zip(("change", "before", "after"), widths, strict=True)]
    page.row(Text(style.fit(f"{heads[0]}  {' ' * _BAR}  {heads[1]}  {heads[2]}"), style="dim"))
    for number, line in enumerate(lines):
        cells = [
            text.rjust(width) for text, width in zip((changes[number], old[number], new[number]), widths, strict=True)
        ]
        told = line if isinstance(line, ShareRecord) else None
        row = Text.assemble(
            (style.fit(cells[0]), _colour(line)), "  ",
            (style.fit(_FULL * _length(line, largest)).ljust(_BAR) if told else " " * _BAR, _colour(line)), "  ",
            style.fit(cells[1]), "  ", style.fit(cells[2]), "  ",
        )  # fmt: skip
        if told is not None:
            _what(page, row, told)
            continue
        last = (
            "total"
            if number == len(lines) - 1
            else "everything else"
            if line is diff.rest
            else f"{len(hidden)} smaller changes"
        )
        if line is diff.rest and not line.beyond_noise:
            last += ", no change beyond noise"
        last = middle(last, max(8, style.width - row.cell_len), ellipsis=style.fit("…"))
        row.append(style.fit(last), style="bold" if number == len(lines) - 1 else "dim")
        page.row(row)


def _cells(values: Sequence[float], top: float, unit: str) -> list[str]:
    """Numbers below each other; the unit of counts stands elsewhere."""
    cells = column(values, top, unit)
    return [cell.removesuffix(f" {unit}") for cell in cells] if unit in _COUNTS else cells


def _sum(hidden: Sequence[ShareRecord]) -> ChangeRecord:
    return ChangeRecord(
        before=sum(share.before for share in hidden),
        after=sum(share.after for share in hidden),
        change=sum(share.change for share in hidden),
        error=0.0,
        beyond_noise=True,
    )


def _what(page: Page, row: Text, share: ShareRecord) -> None:
    """The subject of a share and its place, and on a second line how one gets there and what else there is to say."""
    style = page.style
    start = row.cell_len
    room = max(12, style.width - start)
    where = words.spot(share)
    spot = style.name(place(where)) if where is not None else ""
    spot = style.shorten_path(spot, max(10, room // 2))
    left = max(12, room - (cell_len(spot) + 2 if spot else 0))
    # What is shortened as a name of C++ is a name and no phrase around it.
    phrase = words.subject(share).removesuffix(share.function) if share.call is not None else ""
    name = words.subject(share)
    if phrase and cell_len(name) > left:
        phrase = middle(style.name(phrase), max(6, left // 2), ellipsis=style.fit("…"))
    name = (
        phrase + style.shorten(style.name(share.function), max(6, left - cell_len(phrase)))
        if name.endswith(share.function)
        else style.shorten(style.name(name), left)
    )
    row.append(name, style="bold")
    gap = style.width - row.cell_len - cell_len(spot)
    if spot and gap >= 2:
        row.append(" " * gap)
        row.append(spot, style="blue")
    page.row(row)
    if said := words.aside(share):
        page.hanging(Text(" " * start), page.sentence(said, "dim"))


def _length(line: ChangeRecord, largest: float) -> int:
    return max(1, round(abs(line.change) / largest * _BAR)) if largest > 0 else 0


def _colour(line: ChangeRecord) -> str:
    if not line.beyond_noise or line.change == 0:
        return "dim"
    return "green" if line.change < 0 else "red"


def _sign(text: str, change: float) -> str:
    """The number with its sign, unless nothing is left of it."""
    nothing = not any(digit in text for digit in "123456789")
    return text if nothing else f"{'+' if change > 0 else '−'}{text}"


def _findings(page: Page, findings: Sequence[FindingChange]) -> None:
    told = [finding for finding in findings if finding.status != "same"]
    same = [finding for finding in findings if finding.status == "same"]
    if not findings:
        return
    page.heading("Findings", "what 'chathpc explain' says of each side")
    widest = max((len(words.fate(finding)) for finding in told), default=0) + 2
    for finding in told:
        where = words.found_at(finding)
        name = "" if where is None else page.style.name(where.kernel or where.function or "")
        spot = "" if where is None else page.style.name(place(where))
        head = Text.assemble(
            (" " * INDENT),
            (words.fate(finding).ljust(widest), "green" if finding.status in ("gone", "shrunk") else "red"),
            (page.style.prose(finding.title), "bold"),
        )
        page.ends(
            head,
            Text.assemble(
                (page.style.shorten(name, page.style.width // 3), "bold"), "  " if name and spot else "", (spot, "blue")
            ),
        )
        page.paragraph(words.cost(finding), indent=INDENT + widest)
    if same:
        titles = "; ".join(f"{finding.title}{_in(finding)}" for finding in same)
        page.paragraph(f"As before: {titles}.")


def _in(finding: FindingChange) -> str:
    where = words.found_at(finding)
    name = "" if where is None else where.kernel or where.function or ""
    return f" ({name})" if name else ""


def _table(
    page: Page, title: str, detail: str, rows: Sequence[ChangeRecord], unit: str | None, rest: ChangeRecord | None
) -> None:
    changed = [row for row in rows if row.beyond_noise]
    if not changed or (len(rows) == 1 and rest is None):  # one kind of work is the total again
        return
    shown = list(rows) if page.style.verbose else changed[:_ROWS]
    page.heading(title, detail)
    top = max(max(row.before, row.after) for row in shown)
    unit = unit or ""
    old, new, changes, errors = (
        _cells([getattr(row, what) for row in shown], top, unit) for what in ("before", "after", "change", "error")
    )
    cells = [
        (getattr(row, "name", ""), before, after, _sign(change.lstrip("-"), row.change), error, words.part(row))
        for row, before, after, change, error in zip(shown, old, new, changes, errors, strict=True)
    ]
    header = ("name", "before", "after", "change", "±", "relative")
    page.table(header, cells, right="before after change ± relative")
    left = len(changed) - len(shown)
    others = [
        text for text in (f"{left} more changed (-v shows them)" if left > 0 else "", _rest_words(rest, unit)) if text
    ]
    if others:
        page.paragraph(f"{'; '.join(others)}.", indent=0, style="dim")


def _rest_words(rest: ChangeRecord | None, unit: str) -> str:
    return "" if rest is None or rest.change == 0 else f"all small functions together {words.signed(rest.change, unit)}"


def _measurements(page: Page, diff: Diff) -> None:
    rows = [
        (each.id, numbers.quantity(each.before, each.unit), numbers.quantity(each.after, each.unit), words.ratio(each))
        for each in diff.measurements
        if each.before != each.after
    ]
    if not rows:
        return
    page.heading("Also measured", "noise unknown")
    page.table(("metric", "before", "after", "relative"), rows, right="before after relative")
