"""Help pages: lines end at blanks, at any width of the terminal."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable

import click

#: What click would take for a place to break a word at, and what stands for it meanwhile.
_HYPHEN = re.compile(r"(?<=\S)-(?=\S)|-(?=-)")
_WHOLE = "\N{NON-BREAKING HYPHEN}"
_WIDEST = 80
_NARROWEST = 30
#: A page of fewer columns is narrow; names of options get a third of it.
_NARROW = 60


class Formatter(click.HelpFormatter):
    """Lays out help pages as click does, and breaks no line at a hyphen (`--show-prompt`), nor ever sets lines wider than the terminal."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        if width is None:
            width = max(_NARROWEST, min(shutil.get_terminal_size().columns, max_width or _WIDEST) - 2)
        super().__init__(indent_increment, width, max_width)

    def write_text(self, text: str) -> None:
        """A paragraph or several."""
        super().write_text(_HYPHEN.sub(_WHOLE, text))

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """The line that begins with `Usage:`."""
        super().write_usage(prog, _HYPHEN.sub(_WHOLE, args), prefix)

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Options or commands, each with what it does."""
        whole = [(name, _HYPHEN.sub(_WHOLE, said)) for name, said in rows]
        super().write_dl(whole, col_max if self.width >= _NARROW else self.width // 3, col_spacing)

    def getvalue(self) -> str:
        """The page."""
        return super().getvalue().replace(_WHOLE, "-")


class Context(click.Context):
    """What a command is called with; its help page is laid out by Formatter."""

    formatter_class = Formatter


def laid_out(command: click.Command) -> click.Command:
    """The command itself; its help page, and those of its sub-commands, are laid out by Formatter."""
    command.context_class = Context
    if isinstance(command, click.Group):
        for each in command.commands.values():
            laid_out(each)
    return command
