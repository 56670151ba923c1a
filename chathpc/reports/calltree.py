"""A call tree as lines of text: share, time, a bar, the name indented by depth, the place at the right."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from chathpc.profile import numbers
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
    return [
        _line(row, time.rjust(widest), tree.total, step, deepest, style)
        for row, time in zip(tree.rows, times, strict=True)
    ]


def _indentation(rows: Sequence[TreeRow], room: int) -> tuple[int, int]:
    """Columns a level, of `room` in all, and the depth from which rows are no longer moved to the right but tell their depth."""
    deepest = max((row.depth for row in rows), default=0)
    step = _STEP if deepest * _STEP <= room else 1
    return step, room // step


def _line(row: TreeRow, time: str, total: float, step: int, deepest: int, style: Style) -> Text:
    own = row.exclusive / total if total > 0 else 0.0
    hot = "bold" if own >= _HOT else ""
    line = Text.assemble(
        numbers.percent_cell(row.share).rjust(len(_SHARE)), _GAP, time, _GAP, bar(row.share, own, style), _GAP,
        " " * (step * min(row.depth, deepest)),
    )  # fmt: skip
    if row.depth > deepest:
        line.append(f"({row.depth}) ", style="dim")
    room = max(8, style.width - line.cell_len)
    label, place = style.name(row.label), style.name(row.place)
    if place and place in label:
        place = ""
    place = style.shorten_path(place, max(_PLACE if room >= 2 * _PLACE else 8, room // 3, room - cell_len(label) - 2))
    label = style.shorten(label, max(6, room - (cell_len(place) + 2 if place else 0)))
    line.append(label, style=hot)
    gap = style.width - line.cell_len - cell_len(place)
    if place and gap >= 2:
        line.append(" " * gap)
        line.append(place, style="blue")
    return line


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
