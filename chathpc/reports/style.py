"""What the place that a report is written to can show: its width, its colours, its characters."""

from __future__ import annotations

from dataclasses import dataclass

from chathpc.profile.names import shorten, shorten_path
from chathpc.profile.text import clean

#: Wider lines are harder to read, however wide the terminal is.
WIDEST = 110
NARROWEST = 40

#: What stands for a character that the encoding lacks; anything else becomes a question mark.
_PLAIN = {
    "µ": "u",
    "μ": "u",
    "×": "x",
    "·": "-",
    "…": "...",
    "–": "-",
    "—": "-",
    "−": "-",
    "→": "->",
    "←": "<-",
    "›": ">",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "±": "+/-",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "━": "=",
    "─": "-",
    "\N{NO-BREAK SPACE}": " ",
}


@dataclass(frozen=True, slots=True)
class Style:
    """How to write: columns, lines that are seen at once (None where nothing scrolls), colours or none, the encoding of the stream.

    `verbose` adds timings, versions, sources; `statements` each statement of a model with its fate.
    """

    width: int = 80
    height: int | None = None
    colour: bool = False
    encoding: str = "utf-8"
    verbose: bool = False
    statements: bool = False

    def fit(self, text: str) -> str:
        """`text` with what the encoding lacks written in other characters; the result can always be encoded."""
        try:
            text.encode(self.encoding)
        except (UnicodeEncodeError, LookupError):
            return "".join(self._fit(character) for character in text)
        return text

    def _fit(self, character: str) -> str:
        try:
            character.encode(self.encoding)
        except (UnicodeEncodeError, LookupError):
            return character if character.isascii() else _PLAIN.get(character, "?")
        return character

    def name(self, text: str) -> str:
        """A name from a profile, safe to print on one line: control and formatting characters are made visible."""
        return self.fit(clean(text))

    def prose(self, text: str) -> str:
        """A sentence, safe to print: as `name`, with every run of white space as one space."""
        return self.fit(clean(" ".join(text.split())))

    def shorten(self, name: str, width: int) -> str:
        """A name that is safe to print, in at most `width` columns; see chathpc.profile.names.shorten."""
        return self._cut(shorten(name, width, ellipsis=self.fit("…")), width)

    def shorten_path(self, path: str, width: int) -> str:
        """A path that is safe to print, in at most `width` columns; its last part goes last."""
        return self._cut(shorten_path(path, width, ellipsis=self.fit("…")), width)

    def _cut(self, text: str, width: int) -> str:
        """Characters of double width (CJK) need more columns than they are many."""
        if text.isascii():
            return text
        from rich.cells import cell_len, set_cell_size

        if cell_len(text) <= width:
            return text
        ellipsis = self.fit("…")
        return set_cell_size(text, max(width - len(ellipsis), 0)).rstrip() + ellipsis[: max(width, 0)]
