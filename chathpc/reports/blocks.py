"""What an answer is made of, block by block: a function writes it once, to whatever `Blocks` it is given (terminal, Markdown, HTML)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from chathpc.report import TreeRecord
from chathpc.reports.style import Style

#: What a piece of a sentence is: a name of the program's, source or a command, what is cited, what is stressed.
Role = Literal["name", "code", "cite", "strong"]
Piece = str | tuple[str, Role]
#: A sentence, or its pieces, of which those with a role may be shown in another way; all text is made safe by the blocks.
Said = str | Sequence[Piece]
Rows = Sequence[Sequence[Said]]
#: Titles of columns, as words or, where they have blanks, one by one.
Titles = str | Sequence[str]
#: Column at which a terminal begins a text, and the width of the labels before it: `   Gain       at most 1.35x`.
INDENT = 3
LABEL = 11
#: Styles of what is said aside.
ASIDE = ("dim", "italic")


class Blocks(ABC):
    """The parts of an answer, one after the other; what only a terminal needs (columns, colours) the others leave aside."""

    #: Whether all is told, since a reader can scroll or fold it.
    whole = True

    def __init__(self, style: Style) -> None:
        self.style = style

    @abstractmethod
    def head(self, words: Sequence[Said]) -> None:
        """What the answer is about, in a few words; the first is its title."""

    @abstractmethod
    def verdict(self, word: str, colour: str, said: Said, *, bold: bool = True) -> None:
        """The verdict in a word, and the sentence that states it."""

    @abstractmethod
    def heading(self, title: str, detail: str = "", *, fold: bool = False) -> None:
        """A section's title, and what is to be known of all of it; a section that few need is folded where that can be."""

    @abstractmethod
    def titled(self, number: str, title: str, where: tuple[str, str], *, suspected: bool = False) -> None:
        """The title of one of several, with the name and the place that it is about."""

    @abstractmethod
    def paragraph(
        self, said: Said, *, label: str = "", label_style: str = "bold", style: str = "", indent: int = INDENT
    ) -> None:
        """A paragraph, behind its label if it has one; `style` is dim or italic for what is said aside."""

    @abstractmethod
    def item(self, said: Said) -> None:
        """One of a list."""

    @abstractmethod
    def table(self, header: Sequence[str], rows: Rows, *, right: Titles = "", indent: int = 0) -> None:
        """A table; `right` tells the columns of numbers."""

    @abstractmethod
    def code(self, text: str, *, indent: int = INDENT + LABEL) -> None:
        """Lines that keep their form."""

    @abstractmethod
    def diff(self, lines: Sequence[str]) -> None:
        """Lines of a change, if there are any."""

    @abstractmethod
    def tree(self, record: TreeRecord) -> None:
        """A call tree."""

    @abstractmethod
    def remedy(self, what: str, command: str, purpose: str) -> None:
        """What is lacking, the command that shows it, to be copied, and what that tells."""

    def section(self, title: str, items: Iterable[Said], detail: str = "", *, fold: bool = False) -> None:
        """A heading with its list, if it has any."""
        for number, said in enumerate(items):
            if number == 0:
                self.heading(title, detail, fold=fold)
            self.item(said)

    def notes(self, texts: Sequence[str], label: str = "Notes") -> None:
        """What else is to be known, if there is anything."""
        if texts:
            self.paragraph(f"{label}:")
        for text in texts:
            self.item(text)

    @abstractmethod
    def foot(self, said: Said) -> None:
        """The last line: where all comes from."""

    @abstractmethod
    def text(self) -> str:
        """The whole answer."""

    def blank(self) -> None:  # noqa: B027 (only a terminal needs it)
        """Some room on a terminal."""


def pieces(said: Said) -> Iterator[tuple[str, str]]:
    """Text and role of each piece; no role for what is only text, no piece without text."""
    for each in [said] if isinstance(said, str) else said:
        text, role = (each, "") if isinstance(each, str) else each
        if text:
            yield text, role


def named(text: str) -> list[Piece]:
    """A name as a sentence of its own."""
    return [(text, "name")] if text else []


def plain(said: Said) -> str:
    """A sentence as text alone."""
    return "".join(text for text, _ in pieces(said))


def between(parts: Iterable[Sequence[Piece]], separator: str) -> list[Piece]:
    """The pieces of several sentences as those of one."""
    return [piece for part in parts for piece in (separator, *part)][1:]


def around(text: str, write: Callable[[str], str]) -> str:
    """A piece of a sentence, written, with the blanks that part it from the others."""
    return f"{' ' * text[0].isspace()}{write(text)}{' ' * text[-1].isspace()}" if text.strip() else " "


def sentence(words: str) -> str:
    """Words as a sentence of their own."""
    first = words.partition(" ")[0]
    words = (
        f"{words[0].upper()}{words[1:]}" if first.rstrip(",").isalpha() else words
    )  # other than a word keeps its form, as a name does
    return f"{words.removesuffix('.')}." if words else ""


def columns(header: Sequence[str], titles: Titles) -> frozenset[int]:
    """Where the columns of these titles are."""
    named = titles.split() if isinstance(titles, str) else titles
    return frozenset(at for at, title in enumerate(header) if title in named)
