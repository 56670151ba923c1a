"""A page of text for a terminal: styled lines, wrapped and aligned by the width that characters have on the screen."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from chathpc.report import TreeRecord
from chathpc.reports.blocks import INDENT, LABEL, Blocks, Rows, Said, Titles, around, pieces, plain
from chathpc.reports.calltree import legend, tree_lines
from chathpc.reports.style import Style
from chathpc.reports.table import shortened, table_lines

#: Columns in which a text is still wrapped behind something; with fewer it goes below.
_LEAST = 24
#: Columns of a tab in code.
_TAB = 4

#: Holds a number and its unit together on a line; a private character, so that no text that comes in has it.
_TIE = "\ue000"
_NUMBER_AND_UNIT = re.compile(r"(?<=\d) (?=(?:%|[numk]?s|µs|h|[kMGTPE]?B|x)(?:\W|$))|(?<=±) (?=\d)")
#: How pieces of a sentence look that are more than text.
_ROLES = {"code": "cyan", "cite": "cyan", "strong": "bold"}


class Page(Blocks):
    """Collects the lines of a report and gives them with or without colours. All text that comes in is escaped here."""

    def __init__(self, style: Style) -> None:
        super().__init__(style)
        self.whole = style.verbose
        self.lines: list[Text] = []
        # Only measures and wraps; its own ideas of a terminal are not asked for.
        self._console = Console(file=io.StringIO(), width=style.width, color_system=None, _environ={})

    def blank(self) -> None:
        """One empty line, never two."""
        if self.lines and self.lines[-1].plain:
            self.lines.append(Text())

    def head(self, words: Sequence[Said]) -> None:
        self.paragraph(" · ".join(map(plain, words)), indent=0, style="dim")
        self.blank()

    def verdict(self, word: str, colour: str, said: Said, *, bold: bool = True) -> None:
        if bold:
            self.flow([Text(word.upper(), style=colour), Text(), self.sentence(said, "bold")], indent=0)
        else:
            self.paragraph(said, label=word, label_style=colour, indent=0)

    def titled(self, number: str, title: str, where: tuple[str, str], *, suspected: bool = False) -> None:
        """`1  OpenMP load imbalance      triangular_work  stencil.c:47`."""
        left = Text.assemble(
            (number.ljust(INDENT), "bold magenta" if suspected else "bold cyan"), (self.style.prose(title), "bold")
        )
        self.ends(left, self.where(where))

    def where(self, where: tuple[str, str]) -> Text:
        """`triangular_work   stencil.c:47`, in at most two thirds of the line."""
        room = self.style.width * 2 // 3 - INDENT
        at = self.style.shorten_path(self.style.name(where[1]), room // 2)
        name = self.style.shorten(self.style.name(where[0]), room - cell_len(at) - 2)
        return Text.assemble((name, "bold"), "  " if name and at else "", (at, "blue"))

    def heading(self, title: str, detail: str = "", *, fold: bool = False) -> None:
        """A section's title, its detail in brackets."""
        self.blank()
        text = Text(self.style.prose(title), style="bold")
        if detail:
            text.append(f" ({self.style.prose(detail)})", style="dim")
        self._wrapped(text, indent=0)

    def paragraph(
        self, said: Said, *, label: str = "", label_style: str = "bold", style: str = "", indent: int = INDENT
    ) -> None:
        """A wrapped paragraph; with a label, the label stands in a column of its own at the left."""
        self._wrapped(self.sentence(said, style), indent=indent, label=label, label_style=label_style)

    def pieces(self, texts: Sequence[str], *, label: str, most: int) -> None:
        """Texts with ` · ` between them on at most `most` lines, each whole; what does not fit is left out."""
        room = self.style.width - INDENT - LABEL
        lines: list[str] = []
        for text in map(self.style.prose, texts):
            joined = f"{lines[-1]} · {text}" if lines else text
            if lines and cell_len(joined) <= room:
                lines[-1] = joined
            elif len(lines) < most and cell_len(text) <= room:
                lines.append(text)
            else:
                break
        for at, line in enumerate(lines):
            first = Text(" " * INDENT + (label if at == 0 else "").ljust(LABEL), style="bold")
            self.lines.append(Text.assemble(first, self.style.fit(line)))

    def item(self, said: Said) -> None:
        """A wrapped paragraph behind a dash."""
        self._wrapped(self.sentence(said), indent=INDENT - 2, label="-", gap=2)

    def sentence(self, said: Said, style: str = "") -> Text:
        """A sentence ready for wrapping: numbers stay with their units."""
        if isinstance(said, str):
            return Text(_NUMBER_AND_UNIT.sub(_TIE, self.style.prose(said)), style=style)
        text = Text(style=style)
        for content, role in pieces(said):
            text.append(around(content, lambda part: self.sentence(part).plain), style=_ROLES.get(role))
        return text

    def command(self, text: str, *, indent: int = INDENT + LABEL) -> None:
        """Text to copy: on a line of its own and never wrapped, however long."""
        self.lines.append(Text(" " * indent + self.style.prose(text), style="cyan", no_wrap=True))

    def code(self, text: str, *, indent: int = INDENT + LABEL) -> None:
        """Lines of code or of a script: as they are, with their indentation, and never wrapped."""
        for line in text.rstrip().splitlines():
            shown = self.style.name(line.rstrip().expandtabs(_TAB))
            self.lines.append(Text(f"{' ' * indent}{shown}" if shown else "", style="cyan", no_wrap=True))

    def diff(self, lines: Sequence[str], *, cut: bool = False) -> None:
        """Lines of a change, whole as they would be applied, or each `cut` to the width of the page."""
        room = self.style.width - INDENT - LABEL
        for line in lines:
            text = self.style.name(line)
            text = text if not cut or cell_len(text) <= room else set_cell_size(text, room - 1) + self.style.fit("…")
            self.lines.append(Text(" " * (INDENT + LABEL) + text, style="cyan", no_wrap=True))

    def tree(self, record: TreeRecord) -> None:
        self.lines += tree_lines(record, self.style)
        self.paragraph(legend(self.style), indent=0, style="dim")

    def remedy(self, what: str, command: str, purpose: str) -> None:
        self.paragraph(what)
        self.command(command, indent=INDENT + 2)
        if purpose:
            self.paragraph(purpose, indent=INDENT + 2)

    def ends(self, left: Text, right: Text) -> None:
        """Two texts at the two ends of a line; if they do not fit together, the right one goes below."""
        gap = self.style.width - left.cell_len - right.cell_len
        if gap >= 2:
            self.lines.append(Text.assemble(left, " " * gap, right))
            return
        if left.cell_len <= self.style.width:
            self.lines.append(left)
        else:
            self.hanging(left[:INDENT], left[INDENT:])
        if right.plain:
            self.hanging(Text(" " * INDENT), right)

    def row(self, text: Text) -> None:
        """A line that is laid out already."""
        self.lines.append(text)

    def table(
        self, header: Sequence[str], rows: Rows, *, right: Titles = "", whole: Titles = "", indent: int = 0
    ) -> None:
        for line in table_lines(header, [[*map(plain, row)] for row in rows], self.style, right=right, whole=whole):
            self.lines.append(Text.assemble(" " * indent, line))

    def notes(self, texts: Sequence[str], label: str = "Notes") -> None:
        """Paragraphs beside their one label."""
        for number, text in enumerate(texts):
            self.paragraph(text, label="" if number else label, indent=INDENT + LABEL if number else INDENT)

    def foot(self, said: Said) -> None:
        self.blank()
        self.paragraph(said, indent=0, style="dim")

    def flow(self, pieces: list[Text], *, indent: int = INDENT) -> None:
        """Pieces of text one after the other as one wrapped paragraph."""
        self._wrapped(Text(" ").join(pieces), indent=indent)

    def hanging(self, first: Text, text: Text) -> None:
        """A text wrapped at its blanks behind `first`, whose width is kept free below it; where that leaves no room, below it.

        A word that has no room on a line of its own is shortened, never broken in two.
        """
        if first.plain.strip() and self.style.width - first.cell_len < _LEAST:
            self.lines.append(first)
            first = Text(" " * (INDENT + 2))
        room = max(_LEAST, self.style.width - first.cell_len)
        if any(cell_len(word) > room for word in text.plain.split(" ")):
            words = text.split(" ", allow_blank=True)
            text = Text(" ").join(word if word.cell_len <= room else self._short(word, room) for word in words)
        self._behind(first, text, room)

    def form(self, text: str) -> None:
        """A line of source or of another form: no blank is lost, and a word that is too long goes on below."""
        self._behind(Text(), Text(self.style.name(text)), self.style.width)

    def _short(self, word: Text, room: int) -> Text:
        return Text(shortened(word.plain, room, self.style), style=word.spans[0].style if word.spans else word.style)

    def _behind(self, first: Text, text: Text, room: int) -> None:
        for number, line in enumerate(text.wrap(self._console, room, overflow="fold")):
            line.rstrip()
            line.plain = line.plain.replace(_TIE, " ")
            self.lines.append(Text.assemble(first if number == 0 else " " * first.cell_len, line))

    def _wrapped(self, text: Text, *, indent: int, label: str = "", label_style: str = "", gap: int = LABEL) -> None:
        first = Text(" " * indent)
        if label:
            first.append(self.style.fit(label), style=label_style)
            first.append(" " * max(1, gap - cell_len(label)))
        self.hanging(first, text)

    def text(self) -> str:
        """The page, one newline at the end; ANSI colours only if the style has them."""
        while self.lines and not self.lines[-1].plain:
            self.lines.pop()
        if not self.style.colour:
            return "".join(f"{line.plain.rstrip()}\n" for line in self.lines)
        stream = io.StringIO()
        console = Console(
            file=stream, force_terminal=True, color_system="standard", width=100_000, legacy_windows=False, _environ={}
        )
        for line in self.lines:
            line.rstrip()
            console.print(line, soft_wrap=True, highlight=False, markup=False, emoji=False)
        return stream.getvalue()
