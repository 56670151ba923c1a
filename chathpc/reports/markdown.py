"""Answers as Markdown (CommonMark, GitHub's dialect included), safe to show whatever names a profile holds.

A word that could mean something in Markdown is set as code, where no link, image, mention or HTML can hide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from functools import partial

from chathpc.profile.names import shorten
from chathpc.profile.text import clean
from chathpc.report import TreeRecord
from chathpc.reports.blocks import ASIDE, Blocks, Rows, Said, Titles, around, columns, pieces, plain, sentence
from chathpc.reports.calltree import legend, tree_lines
from chathpc.reports.style import Style
from chathpc.reports.table import table_lines

#: Words of these characters mean nothing in Markdown except at the beginning of a line.
_INERT = re.compile(r"[\w.,;:?!%'\"/()×±µ=+−–…“”‘’-]+")
#: Code within a sentence, and what may stand between it and the blanks around it.
_SPAN = re.compile(r"(?<!\S)([(\"'“‘]*)`([^`]+)`([.,;:?!)\"'”’]*)(?!\S)")
#: Words that some dialects turn into links although no character in them is special.
_LINK = re.compile(r"//|www\.|@|#|_|^https?:|^mailto:", re.IGNORECASE)
#: A line that begins like this would become a list or a heading.
_LINE_START = re.compile(r"^(\d+)([.)])(?=\s|$)|^([-+=~>#*])")
#: Brackets and quotation marks, and how many marks around a word are looked at.
#: A word; an index or a call with blanks in it (`a[i * n + j]`, `f(x, y)`) is one.
_EXPRESSION = re.compile(r"\w[\w.:>-]*(?:[\[(][^\[\]()`]{1,80}[\])])+\S*|\S+")
_PAIRS = {"(": ")", "[": "]", "“": "”", "‘": "’"}
_OPENED = {closing: opening for opening, closing in _PAIRS.items()}
_STOPS = ".,;:?!"
_MOST_AROUND = 4
_CITATION = re.compile(r"\[[A-Za-z0-9]+\]")
_BRACKETS, _ESCAPED = re.compile(r"[\[\]]"), r"\\\g<0>"
_TREE_WIDTH = 100
_NAME_WIDTH = 120


class Markdown(Blocks):
    """Blocks as Markdown; lines are not wrapped, for Markdown viewers do that. Tables are those of GitHub's dialect."""

    def __init__(self, style: Style) -> None:
        super().__init__(style)
        self._parts: list[str] = []

    def head(self, words: Sequence[Said]) -> None:
        self._parts += [f"# {_said(words[0])}", " · ".join(map(_said, words[1:]))]

    def verdict(self, word: str, colour: str, said: Said, *, bold: bool = True) -> None:
        word = word.capitalize() if word.isupper() else word[0].upper() + word[1:]
        self._parts.append(f"**{word}.** {_said(said)}")

    def heading(self, title: str, detail: str = "", *, fold: bool = False) -> None:
        self._parts += [f"## {prose(title)}", _aside(prose(sentence(detail)))]

    def titled(self, number: str, title: str, where: tuple[str, str], *, suspected: bool = False) -> None:
        names = (code(shorten(name, _NAME_WIDTH)) for name in where if name)
        self._parts += [f"{'###' if suspected else '##'} {number}. {prose(title)}", " at ".join(names)]

    def paragraph(
        self, said: Said, *, label: str = "", label_style: str = "", style: str = "", indent: int = 0
    ) -> None:
        if label:
            self._item(f"**{prose(label[0].upper() + label[1:])}** {_said(said)}")
        else:
            self._parts.append(_aside(_said(said)) if style in ASIDE else _said(said))

    def item(self, said: Said) -> None:
        self._item(_said(said))

    def _item(self, text: str) -> None:
        """One more of the list before, if there is one."""
        if self._parts and self._parts[-1].startswith("- "):
            self._parts[-1] += f"\n- {text}"
        else:
            self._parts.append(f"- {text}")

    def table(self, header: Sequence[str], rows: Rows, *, right: Titles = "", indent: int = 0) -> None:
        texts = [[*map(plain, row)] for row in rows]
        if any(cell.startswith(" ") for row in texts for cell in row):  # Markdown would lose what an indentation says
            lines = table_lines(header, texts, Style(width=_TREE_WIDTH), right=right)
            self.code("\n".join(line.plain for line in lines))
        else:
            cells = [[_said(cell, cell_of) for cell in row] for row in rows]
            self._parts.append(table([*map(cell_of, header)], cells, columns(header, right)))

    def code(self, text: str, *, indent: int = 0) -> None:
        self._parts.append(fenced(text.rstrip()))

    def diff(self, lines: Sequence[str]) -> None:
        self._parts += [fenced("\n".join(lines))] if lines else []

    def tree(self, record: TreeRecord) -> None:
        plain = Style(width=_TREE_WIDTH)
        lines = [line.plain.rstrip() for line in tree_lines(record, plain)]
        self._parts.append(fenced("\n".join([*lines, legend(plain)])))

    def remedy(self, what: str, command: str, purpose: str) -> None:
        self._item(f"{prose(what)}: {code(command)}{f' ({prose(purpose)})' if purpose else ''}")

    def foot(self, said: Said) -> None:
        self._parts.append(f"---\n\n{_said(said)}")

    def text(self) -> str:
        return self.style.fit("\n\n".join(part for part in self._parts if part) + "\n")


def _aside(text: str) -> str:
    return f"*{text}*" if text else ""


def prose(text: str) -> str:
    """A sentence as Markdown that shows exactly this sentence; what stands between two backticks is one code span."""
    return _LINE_START.sub(_escape_start, cell_of(text))


def cell_of(text: str) -> str:
    """The same where no line begins, as in a table."""
    text = clean(" ".join(text.split()))
    parts = []
    end = 0
    for span in _SPAN.finditer(text):
        if span[2].strip():
            parts += [*_words(text[end : span.start()]), f"{span[1]}{code(span[2])}{span[3]}"]
            end = span.end()
    return " ".join([*parts, *_words(text[end:])])


def _words(text: str) -> list[str]:
    return [_word(word) for word in _EXPRESSION.findall(text)]


def _escape_start(match: re.Match[str]) -> str:
    return f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}"


def _word(word: str) -> str:
    if _INERT.fullmatch(word) and not _LINK.search(word):
        return word
    if not any(character.isalnum() for character in word):
        return "".join(f"\\{c}" if c.isascii() else c for c in word)
    start, core, end = _taken_apart(word)
    inert = _INERT.fullmatch(core) and not _LINK.search(core)
    return f"{_BRACKETS.sub(_ESCAPED, start)}{core if inert else code(core)}{_BRACKETS.sub(_ESCAPED, end)}"


def _taken_apart(word: str) -> tuple[str, str, str]:
    """A word between what belongs to the sentence: brackets and quotation marks that are not closed or opened in the word, and stops."""
    first, last = 0, len(word)
    for _ in range(_MOST_AROUND):
        if _CITATION.fullmatch(word, first, last):
            return word[: first + 1], word[first + 1 : last - 1], word[last - 1 :]
        if word[first] in _PAIRS and word.count(word[first], first, last) > word.count(
            _PAIRS[word[first]], first, last
        ):
            first += 1
        end = word[last - 1]
        opener = _OPENED.get(end)
        if end in _STOPS or (opener and word.count(end, first, last) > word.count(opener, first, last)):
            last -= 1
    return word[:first], word[first:last], word[last:]


def code(text: str) -> str:
    """`text` as a code span, in which nothing is markup: its fence is longer than any run of backticks inside."""
    text = clean(" ".join(text.split()))
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def fenced(text: str) -> str:
    """Lines as a code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Set[int] = frozenset()) -> str:
    """A table of cells that are Markdown already, columns of numbers to the right; empty without rows. A bar would end a cell, also in code."""
    if not rows:
        return ""
    rule = ["---:" if at in right else "---" for at in range(len(header))]
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in (header, rule, *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in escaped)


def _said(said: Said, write: Callable[[str], str] = prose) -> str:
    if isinstance(said, str):
        return write(said)
    return "".join(around(text, partial(_piece, role)) for text, role in pieces(said))


def _piece(role: str, text: str) -> str:
    if role == "cite":  # square brackets would have to be escaped
        return f"({prose(text.strip().strip('[]'))})"
    return code(text) if role in ("name", "code") else f"**{prose(text)}**" if role == "strong" else prose(text)
