"""The standard streams of the process, which may be closed, full or a pipe that nobody reads any more."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress

from chathpc.profile.text import clean

#: Exit code of a program whose reader went away: 128 + SIGPIPE.
BROKEN_PIPE = 141
#: What a command to copy begins with, behind what it does.
_COMMAND = ": chathpc "


def complain(message: str, hint: str = "") -> None:
    """Print an error and what to do about it on stderr; a closed or full stderr is no further error."""
    lines = [clean(line) for line in f"chathpc: {message}\n{hint}".splitlines() if line.strip()]
    if sys.stderr is None:
        return
    try:
        if sys.stderr.isatty():
            lines = [part for line in lines for part in wrapped(line, shutil.get_terminal_size().columns)]
        sys.stderr.write("\n".join(lines) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        drop(2)


def wrapped(line: str, columns: int) -> list[str]:
    """A line as lines of at most so many columns, broken at blanks; a command of ours to copy stays whole, on a line of its own."""
    import textwrap

    if len(line) <= columns:
        return [line]
    said, mark, command = line.partition(_COMMAND)
    rows = textwrap.wrap(f"{said}:" if mark else said, columns, break_long_words=False, break_on_hyphens=False)
    return [*rows, f"  {mark[2:]}{command}"] if mark else rows


def drop(descriptor: int) -> None:
    """Let what is still in the buffer of a full or closed stream go nowhere, lest Python fails over it at its exit."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
