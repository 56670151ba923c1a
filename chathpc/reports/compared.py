"""A comparison: what became of the run, then where, why, and how sure."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from chathpc.comparison import words
from chathpc.comparison.record import ChangeRecord, Diff, FindingChange, RunRecord, ShareRecord, SideRecord
from chathpc.profile import numbers
from chathpc.profile.names import middle, shorten
from chathpc.reports import wording
from chathpc.reports.blocks import INDENT, Blocks, Piece, Said, between, named, plain
from chathpc.reports.page import Page
from chathpc.reports.table import column

VERDICTS = {
    "faster": ("FASTER", "bold green"),
    "slower": ("SLOWER", "bold red"),
    "less": ("LESS", "bold green"),
    "more": ("MORE", "bold red"),
    "unchanged": ("UNCHANGED", "bold"),
    "undecided": ("UNDECIDED", "bold yellow"),
    "not-comparable": ("NOT COMPARABLE", "bold yellow"),
}
_GATES = {"passed": "bold green", "failed": "bold red", "undecided": "bold yellow"}
#: Colours of findings that cost less, or as much elsewhere.
_FATES = {"gone": "green", "shrunk": "green", "same": "bold"}
#: Shares and rows that a page shows; with -v all.
_SHARES, _ROWS = 10, 12
#: Rows of a table where they can be scrolled; characters of a name there.
_MOST, _NAME = 20, 80
#: Shares smaller than this part of the largest are shown with -v only.
_SMALL = 0.02
_BAR = 8
#: Units that are too long for a column.
_COUNTS = ("samples", "cycles")
#: How a bar is drawn.
_FULL = "━"


def build(page: Blocks, diff: Diff) -> None:
    """The whole comparison."""
    page.head(words.comparison(diff))
    page.verdict(*VERDICTS[diff.verdict], diff.headline)
    if diff.gate is not None:
        page.verdict(f"GATE {diff.gate.outcome.upper()}", _GATES[diff.gate.outcome], diff.gate.statement, bold=False)
    page.blank()
    _sides(page, diff)
    _shares(page, diff)
    _findings(page, diff.findings)
    if len(diff.activities) > 1:  # one kind of work is the total again
        _table(page, "By kind of work", "", diff.activities, diff.unit, None)
    _table(page, "By function", "exclusive, without callees", diff.functions, diff.unit, diff.functions_rest)
    # Of a device's time kernels are the functions.
    if not {*map(_figures, diff.kernels)} <= {*map(_figures, diff.functions)}:
        _table(page, "By GPU kernel", "", diff.kernels, "s", None)
    _measurements(page, diff)
    page.section("Bear in mind", diff.notes, fold=True)
    if diff.noise is not None:
        page.foot(diff.noise.statement)


def _sides(page: Blocks, diff: Diff) -> None:
    rows: list[tuple[str, ...]] = []
    for name, side in (("Before", diff.before), ("After", diff.after)):
        rows += [_side(name if number == 0 else "", side, run, diff) for number, run in enumerate(side.runs)]
    header = ("", "total", "wall time", "samples", "ran with", "profile")
    kept = [at for at in range(len(header)) if at == 0 or any(row[at] for row in rows)]
    if len(kept) == 1:
        return
    cells = [(*row[:-1], named(row[-1])) for row in rows]
    page.table(
        [header[at] for at in kept],
        [[row[at] for at in kept] for row in cells],
        right=("total", "wall time", "samples"),
    )


def _side(name: str, side: SideRecord, run: RunRecord, diff: Diff) -> tuple[str, ...]:
    return (
        name,
        "" if run.total is None else numbers.quantity(run.total, diff.unit or ""),
        words.wall(run, diff),
        "" if run.samples is None else numbers.count(round(run.samples)),
        words.shape(side, run),
        run.paths[0] if run.paths else "",
    )


def _shares(page: Blocks, diff: Diff) -> None:
    """The parts of the change: on a terminal with bars, in as few columns as can be."""
    if diff.rest is None or diff.total is None or not diff.shares:
        return
    largest = max(abs(share.change) for share in diff.shares)
    shown = [share for share in diff.shares if abs(share.change) >= _SMALL * largest][:_SHARES]
    if page.whole or len(diff.shares) == len(shown) + 1:
        shown = list(diff.shares)
    hidden = diff.shares[len(shown) :]
    counted = f"in {diff.unit}; " if diff.unit in _COUNTS else ""
    page.heading("Where it changed", f"{counted}each part is counted once: the lines add up to the total")
    left = [diff.rest] if diff.rest.before or diff.rest.after else []
    lines = [*shown, *([_sum(hidden)] if hidden else []), *left, diff.total]
    rest = "everything else" + ("" if diff.rest.beyond_noise else ", no change beyond noise")
    names: list[Said] = [
        *([f"{len(hidden)} smaller changes"] if hidden else []), *([rest] if left else []), [("total", "strong")]
    ]  # fmt: skip
    unit, top = diff.unit or "", largest  # as many decimals as its number has, so that the changes add up
    changes = [
        words.with_sign(text, line.change)
        for text, line in zip(_cells([abs(line.change) for line in lines], top, unit), lines, strict=True)
    ]
    old, new, errors = (
        _cells([getattr(line, what) for line in lines], top, unit) for what in ("before", "after", "error")
    )
    if isinstance(page, Page):
        _bars(page, largest, lines, names, (changes, old, new))
        return
    told = [[*_subject(share), *([", ", *aside] if (aside := words.aside(share)) else [])] for share in shown]
    places = [named(wording.spot(words.spot(share))[1]) for share in shown]
    rows = zip(changes, errors, old, new, [*told, *names], [*places, *[""] * len(names)], strict=True)
    page.table(("change", "±", "before", "after", "what", "where"), list(rows), right="change ± before after")


def _subject(share: ShareRecord) -> list[Piece]:
    name = [*named(shorten(share.function, _NAME))]
    return name if share.call is None else [*named(shorten(share.call, _NAME)), " in ", *name]


def _bars(
    page: Page, largest: float, lines: Sequence[ChangeRecord], names: Sequence[Said], columns: Sequence[Sequence[str]]
) -> None:
    """In as few columns as can be, with a bar for each change; names of the last lines, which are no shares."""
    style = page.style
    heads = ("change", "before", "after")
    widths = [max(map(cell_len, [*cells, head])) for cells, head in zip(columns, heads, strict=True)]
    titles = [head.rjust(width) for head, width in zip(heads, widths, strict=True)]
    page.row(Text(style.fit(f"{titles[0]}  {' ' * _BAR}  {titles[1]}  {titles[2]}"), style="dim"))
    for number, line in enumerate(lines):
        cells = [text.rjust(width) for text, width in zip([each[number] for each in columns], widths, strict=True)]
        told = line if isinstance(line, ShareRecord) else None
        row = Text.assemble(
            (style.fit(cells[0]), _colour(line)), "  ",
            (style.fit(_FULL * _length(line, largest)).ljust(_BAR) if told else " " * _BAR, _colour(line)), "  ",
            style.fit(cells[1]), "  ", style.fit(cells[2]), "  ",
        )  # fmt: skip
        if told is not None:
            _what(page, row, told)
            continue
        last = plain(names[number - len(lines)])
        last = middle(last, max(8, style.width - row.cell_len), ellipsis=style.fit("…"))
        row.append(style.fit(last), style="bold" if number == len(lines) - 1 else "dim")
        page.row(row)


def _cells(values: Sequence[float], top: float, unit: str) -> list[str]:
    """Numbers below each other; the unit of counts stands elsewhere."""
    if unit == "s" and "." not in numbers.quantity(top, unit):
        top /= 10  # one decimal beside 182 ms: of 4 ms more is known
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
    spot = style.name(wording.spot(words.spot(share))[1])
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


def _findings(page: Blocks, findings: Sequence[FindingChange]) -> None:
    told = [finding for finding in findings if not words.stays(finding)]
    same = [finding for finding in findings if words.stays(finding)]
    if not findings:
        return
    page.heading("Findings", "what 'chathpc explain' says of each side")
    widest = max((len(words.fate(finding)) for finding in told), default=0) + 2
    for finding in told:
        status, where = words.fate(finding), wording.spot(words.found_at(finding))
        if not isinstance(page, Page):
            within = [" in ", *named(where[0])] if where[0] else []
            page.item([(status, "strong"), f" {finding.title}", *within, f". {words.cost(finding)}"])
            continue
        head = Text.assemble(
            (" " * INDENT),
            (status.ljust(widest), _FATES.get(finding.status, "red")),
            (page.style.prose(finding.title), "bold"),
        )
        name, spot = map(page.style.name, where)
        short = page.style.shorten(name, page.style.width // 3)
        page.ends(head, Text.assemble((short, "bold"), "  " if name and spot else "", (spot, "blue")))
        page.paragraph(words.cost(finding), indent=INDENT + widest)
    if same:
        titles = between(([finding.title, *_in(finding)] for finding in same), "; ")
        page.paragraph(["As before: ", *titles, "."])


def _in(finding: FindingChange) -> list[Piece]:
    name = shorten(wording.spot(words.found_at(finding))[0], _NAME // 2)
    return [" (", *named(name), ")"] if name else []


def _table(
    page: Blocks, title: str, detail: str, rows: Sequence[ChangeRecord], unit: str | None, rest: ChangeRecord | None
) -> None:
    changed = [row for row in rows if row.beyond_noise]
    if not changed:
        return
    shown = list(rows) if page.style.verbose else changed[: _MOST if page.whole else _ROWS]
    page.heading(title, detail)
    top = max(max(row.before, row.after) for row in shown)
    unit = unit or ""
    old, new, changes, errors = (
        _cells([getattr(row, what) for row in shown], top, unit) for what in ("before", "after", "change", "error")
    )
    cells = [
        (
            named(getattr(row, "name", "")),
            before,
            after,
            words.with_sign(change.lstrip("-"), row.change),
            error,
            words.part(row),
        )
        for row, before, after, change, error in zip(shown, old, new, changes, errors, strict=True)
    ]
    header = ("name", "before", "after", "change", "±", "relative")
    page.table(header, cells, right="before after change ± relative")
    left = len(changed) - len(shown)
    noise = [] if page.style.verbose else [row.change for row in rows if not row.beyond_noise]
    others = [
        text
        for text in (
            f"{len(noise)} more within noise, together {words.signed(sum(noise), unit)}" if noise else "",
            f"{left} more changed{' (-v shows them)' if isinstance(page, Page) else ''}" if left > 0 else "",
            _rest_words(rest, unit),
        )
        if text
    ]
    if others:
        page.paragraph(f"{'; '.join(others)}.", indent=0, style="dim")


def _figures(row: ChangeRecord) -> tuple[str, str]:
    return f"{row.before:.5g}", f"{row.after:.5g}"


def _rest_words(rest: ChangeRecord | None, unit: str) -> str:
    return "" if rest is None or rest.change == 0 else f"all small functions together {words.signed(rest.change, unit)}"


def _measurements(page: Blocks, diff: Diff) -> None:
    rows = [
        (
            named(each.id),
            numbers.quantity(each.before, each.unit),
            numbers.quantity(each.after, each.unit),
            words.ratio(each),
        )
        for each in diff.measurements
        if each.before != each.after
    ]
    if not rows:
        return
    page.heading("Also measured", "noise unknown")
    page.table(("metric", "before", "after", "relative"), rows, right="before after relative")
