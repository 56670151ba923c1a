"""Answers and call trees as fragments of HTML, for notebooks.

They are put together from parts: whatever is not HTML already is escaped, and cannot become anything else. Only what is written here
stands in a tag: no links, no images, no scripts, no class or address that comes from a profile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from chathpc.profile import numbers
from chathpc.profile.names import shorten
from chathpc.profile.text import clean
from chathpc.report import TreeRecord
from chathpc.reports.blocks import Blocks, Rows, Said, Titles, columns, pieces, plain, sentence
from chathpc.reports.style import Style
from chathpc.reports.table import column

_NAME = 120
_PAGE = "max-width:60em"
_DIM = "opacity:0.7"
_BAR = "display:inline-block;height:0.7em;background:"
#: Width of the bar of a node that has all of the time.
_BAR_EM = 8.0
_INDENT_EM = 1.0
_DEEPEST = 30


class Fragment(Blocks):
    """Blocks as HTML."""

    def __init__(self, style: Style) -> None:
        super().__init__(style)
        self._parts: list[Html] = []
        self._items: list[Html] = []
        #: The title of what is folded, and its first part.
        self._folded: tuple[str, int] | None = None

    def _add(self, *parts: Html) -> None:
        """More parts, behind the list that they end."""
        self._parts += [part for part in (listed(self._items), *parts) if part]
        self._items = []

    def head(self, words: Sequence[Said]) -> None:
        self.paragraph(" · ".join(map(plain, words)), style="dim")

    def verdict(self, word: str, colour: str, said: Said, *, bold: bool = True) -> None:
        self._add(tag("p", tag("b", word.upper()), " ", tag("b", _said(said)) if bold else _said(said)))

    def heading(self, title: str, detail: str = "", *, fold: bool = False) -> None:
        self._unfold()
        if fold:
            self._folded = (title, len(self._parts))
        else:
            self._add(tag("h4", title))
        if detail:
            self.paragraph(sentence(detail), style="dim")

    def _unfold(self) -> None:
        self._add()
        if self._folded is not None:
            title, first = self._folded
            self._parts[first:] = [folded(title, *self._parts[first:])]
            self._folded = None

    def titled(self, number: str, title: str, where: tuple[str, str], *, suspected: bool = False) -> None:
        self._unfold()
        names = joined((tag("code", shorten(name, _NAME)) for name in where if name), " at ")
        self._add(tag("h4", f"{number}. {title}"), tag("p", names))

    def paragraph(
        self, said: Said, *, label: str = "", label_style: str = "", style: str = "", indent: int = 0
    ) -> None:
        if label:
            self._items.append(joined((tag("b", label[0].upper() + label[1:]), " ", _said(said))))
        elif said:
            self._add(tag("p", _said(said), style={"dim": _DIM, "italic": "font-style:italic"}.get(style, "")))

    def item(self, said: Said) -> None:
        self._items.append(_said(said))

    def table(self, header: Sequence[str], rows: Rows, *, right: Titles = "", indent: int = 0) -> None:
        self._add(table(header, [[*map(_said, row)] for row in rows], numbers=columns(header, right)))

    def code(self, text: str, *, indent: int = 0) -> None:
        self._add(tag("pre", joined(text.rstrip().splitlines(), Html("\n"))))

    def diff(self, lines: Sequence[str]) -> None:
        if lines:
            self.code("\n".join(lines))

    def tree(self, record: TreeRecord) -> None:
        self._add(tree(record))

    def remedy(self, what: str, command: str, purpose: str) -> None:
        self.item([f"{what}: ", (command, "code"), f" ({purpose})" if purpose else ""])

    def foot(self, said: Said) -> None:
        self._unfold()
        self.paragraph(said, style="dim")

    def text(self) -> str:
        self._unfold()
        return str(tag("div", *self._parts, style=_PAGE))


def _said(said: Said) -> Html:
    shown = {"name": "code", "code": "code", "strong": "b"}
    return joined(tag(shown[role], content) if role in shown else content for content, role in pieces(said))


def tree(record: TreeRecord) -> Html:
    """A call tree: share with a bar (dark: in the place itself), value, name indented by depth, place."""
    values = column((row.inclusive for row in record.rows), record.total, record.unit)
    rows = [
        (
            joined((numbers.percent_cell(row.share), " ", _bar(row.share, row.exclusive, record.total))),
            value,
            tag("span", shorten(row.label, _NAME), style=f"margin-left:{_INDENT_EM * min(row.depth, _DEEPEST):g}em"),
            shorten(row.place, _NAME),
        )
        for row, value in zip(record.rows, values, strict=True)
    ]
    return table(("share", record.metric, "context", "place"), rows, numbers=frozenset({1}))


def _bar(share: float, exclusive: float, total: float) -> Html:
    whole = _BAR_EM * min(max(share, 0.0), 1.0)
    own = min(whole, _BAR_EM * max(exclusive, 0.0) / total) if total > 0 else 0.0
    return joined(
        (
            tag("span", style=f"{_BAR}#c0392b;width:{own:.2f}em"),
            tag("span", style=f"{_BAR}#95a5a6;width:{whole - own:.2f}em"),
        )
    )


_WHITE = re.compile(r"\s")
_MATHEMATICS = re.compile(r"[$\\]")
#: Notebooks have a style for tables, other pages that show these parts have none.
_CELL = "vertical-align:top;padding:0.1em 0.6em"


class Html(str):
    """Text that is HTML and safe."""

    __slots__ = ()


def text(content: str) -> Html:
    """`content` as HTML that shows it on one line; blanks are kept, for elements that show them.

    Each dollar sign and backslash is an element of its own: notebooks set what stands between two of them as mathematics, in which
    there are links (MathJax looks for its marks within one element).
    """
    safe = escape(clean(_WHITE.sub(" ", content)))
    return Html(_MATHEMATICS.sub(r"<span>\g<0></span>", safe))


def tag(name: str, *children: str, style: str = "") -> Html:
    """An element with its children, those that are no HTML as text. `style` is CSS of ours."""
    inner = "".join(child if isinstance(child, Html) else text(child) for child in children)
    attribute = f' style="{style}"' if style else ""
    return Html(f"<{name}{attribute}>{inner}</{name}>")


def joined(parts: Iterable[str], separator: str = "") -> Html:
    """Parts one after the other."""
    between = separator if isinstance(separator, Html) else text(separator)
    return Html(between.join(part if isinstance(part, Html) else text(part) for part in parts))


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: frozenset[int] = frozenset()) -> Html:
    """A table; the columns `numbers` are aligned to the right."""

    def row(cells: Sequence[str], kind: str) -> Html:
        return tag(
            "tr",
            *(
                tag(
                    kind,
                    cell,
                    style=f"{'text-align:right;white-space:pre' if at in numbers else 'text-align:left;white-space:pre-wrap'};{_CELL}",
                )
                for at, cell in enumerate(cells)
            ),
        )

    return tag("table", tag("thead", row(header, "th")), tag("tbody", *(row(cells, "td") for cells in rows)))


def listed(items: Iterable[str]) -> Html:
    """A list; nothing for no items."""
    parts = [tag("li", item) for item in items]
    return tag("ul", *parts) if parts else Html()


def folded(title: str, *content: str) -> Html:
    """Content that a reader opens by a click on its title."""
    return tag("details", tag("summary", title), *content)


def document(title: str, style: str, body: str) -> str:
    """A page without scripts; its style and `body`, which are HTML already, may load nothing (Content Security Policy Level 3)."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en" data-ready>\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )
