"""HTML that is put together from parts: whatever is not HTML already is escaped, and cannot become anything else.

Only what is written here and in chathpc.reports.fragments stands in a tag: no links, no images, no scripts, no class or address that
comes from a profile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from chathpc.profile.text import clean

_WHITE = re.compile(r"\s")
_MATHEMATICS = re.compile(r"[$\\]")
#: Notebooks have a style for tables, other pages that show these parts have none.
_CELL = "white-space:pre-wrap;vertical-align:top;padding:0.1em 0.6em"


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
                tag(kind, cell, style=f"text-align:{'right' if at in numbers else 'left'};{_CELL}")
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
