"""The standard streams of the process, which may be closed, full or a pipe that nobody reads any more."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from chathpc.profile.text import clean


def complain(message: str, hint: str = "") -> None:
    """Print an error and what to do about it on stderr; a closed or full stderr is no further error."""
    lines = [clean(line) for line in f"chathpc: {message}\n{hint}".splitlines() if line.strip()]
    if sys.stderr is None:
        return
    try:
        sys.stderr.write("\n".join(lines) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        drop(2)


def drop(descriptor: int) -> None:
    """Let what is still in the buffer of a full or closed stream go nowhere, lest Python fails over it at its exit."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
