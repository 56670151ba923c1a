"""A call tree as lines of text: share, time, a bar, the name indented by depth, the place at the right."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from chathpc.profile import numbers
from chathpc.profile.names import shorten_apart
from chathpc.report import TreeRecord, TreeRow
from chathpc.reports.style import Style
from chathpc.reports.table import column

BAR = 10
#: The same on a narrow terminal, and the width from which one is no longer narrow.
_SHORT_BAR, _WIDE = 4, 60
#: The part of a bar that is spent in the place itself, and the part that is spent below it.
OWN, CALLED = "━", "─"
#: A place that itself costs this share of the whole is printed in bold.
_HOT = 0.1
#: Rows of a tree that a reader takes in.
PAGE = 40
#: A row or a bar is drawn from this share on.
_VISIBLE = 0.01
_STEP = 2
#: Columns that a place gets even if the name has to be shortened.
_PLACE = 16
#: Columns that a name gets at least, with its depth before it.
_NAME = 13
#: The widest share, and what is between two columns.
_SHARE, _GAP = "100.0 %", "  "


def legend(style: Style) -> str:
    """What the two halves of a bar mean."""
    return style.fit(f"{OWN}{OWN} self, {CALLED}{CALLED} below it")


def largest(tree: TreeRecord, most: int = PAGE) -> TreeRecord:
    """The tree without its smallest rows: at most `most` are left, unless several are equally large, and none under 1 %.

    A row is never larger than the one it hangs below, so what is left is a tree.
    """
    shares = sorted((row.share for row in tree.rows), reverse=True)
    smallest = max(_VISIBLE, shares[most - 1] if len(shares) > most else 0.0)
    return tree.model_copy(update={"rows": [row for row in tree.rows if row.share >= smallest]})


def tree_lines(tree: TreeRecord, style: Style) -> list[Text]:
    """One line a row, at most `style.width` columns wide."""
    times = [style.fit(text) for text in column((row.inclusive for row in tree.rows), tree.total, tree.unit)]
    widest = max(map(len, times), default=0)
    head = len(_SHARE) + widest + _bar_columns(style) + 3 * len(_GAP)
    step, deepest = _indentation(tree.rows, min(style.width // 4, max(0, style.width - head - _NAME)))
    owns = [row.exclusive / tree.total if tree.total > 0 else 0.0 for row in tree.rows]
    lines = [
        _head(row, time.rjust(widest), own, step, deepest, style)
        for row, time, own in zip(tree.rows, times, owns, strict=True)
    ]
    rooms = [max(8, style.width - line.cell_len) for line in lines]
    places = [_place(row, room, style) for row, room in zip(tree.rows, rooms, strict=True)]
    rooms = [max(6, room - (cell_len(place) + 2 if place else 0)) for room, place in zip(rooms, places, strict=True)]
    names = _names([style.name(row.label) for row in tree.rows], rooms, style)
    for line, name, place, own in zip(lines, names, places, owns, strict=True):
        line.append(name, style="bold" if own >= _HOT else "")
        gap = style.width - line.cell_len - cell_len(place)
        if place and gap >= 2:
            line.append(" " * gap)
            line.append(place, style="blue")
    return lines


def _names(labels: Sequence[str], rooms: Sequence[int], style: Style) -> list[str]:
    """What each row is called in its room; of names that are cut and would be alike what differs is told."""
    short = [style.shorten(label, room) for label, room in zip(labels, rooms, strict=True)]
    alike: dict[str, list[int]] = {}
    ellipsis = style.fit("…")
    for at, name in enumerate(short):
        if ellipsis in name:
            alike.setdefault(name, []).append(at)
    for group in (each for each in alike.values() if len({labels[at] for at in each}) > 1):
        apart = shorten_apart([labels[at] for at in group], min(rooms[at] for at in group), ellipsis=ellipsis)
        for at, name in zip(group, apart, strict=True):
            short[at] = style.shorten(name, rooms[at])
    return short


def _indentation(rows: Sequence[TreeRow], room: int) -> tuple[int, int]:
    """Columns a level, of `room` in all, and the depth from which rows are no longer moved to the right but tell their depth."""
    deepest = max((row.depth for row in rows), default=0)
    step = _STEP if deepest * _STEP <= room else 1
    return step, room // step


def _head(row: TreeRow, time: str, own: float, step: int, deepest: int, style: Style) -> Text:
    """What stands before the name."""
    line = Text.assemble(
        numbers.percent_cell(row.share).rjust(len(_SHARE)), _GAP, time, _GAP, bar(row.share, own, style), _GAP,
        " " * (step * min(row.depth, deepest)),
    )  # fmt: skip
    if row.depth > deepest:
        line.append(f"({row.depth}) ", style="dim")
    return line


def _place(row: TreeRow, room: int, style: Style) -> str:
    """Where it is, unless the name says so."""
    label, place = style.name(row.label), style.name(row.place)
    if place and place in label:
        return ""
    return style.shorten_path(place, max(_PLACE if room >= 2 * _PLACE else 8, room // 3, room - cell_len(label) - 2))


def bar(share: float, own: float, style: Style) -> Text:
    """A bar of BAR columns, or of few on a narrow terminal: as long as the inclusive share, its first part the exclusive one."""
    whole = _bar_columns(style)
    length = _columns(share, whole)
    inner = min(length, _columns(own, whole))
    return Text.assemble(
        (style.fit(OWN * inner), "red"), (style.fit(CALLED * (length - inner)), "dim"), " " * (whole - length)
    )


def _bar_columns(style: Style) -> int:
    return BAR if style.width >= _WIDE else _SHORT_BAR


def _columns(share: float, whole: int) -> int:
    """Columns for a share of `whole`; one at least for what is worth a look."""
    return max(1 if share >= _VISIBLE else 0, min(whole, round(share * whole)))
