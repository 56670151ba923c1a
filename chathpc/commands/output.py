"""Where an answer goes: stdout or a file; and what that place can show."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from chathpc.commands.streams import BROKEN_PIPE, drop
from chathpc.errors import ChathpcError, UsageError
from chathpc.reports.style import NARROWEST, WIDEST, Style
from chathpc.reports.write import write_atomically

_PIPED_WIDTH = 80
#: What the ending of a file's name says of its format.
SUFFIXES = {
    ".html": "html", ".htm": "html", ".json": "json", ".md": "markdown", ".markdown": "markdown", ".txt": "text", ".log": "text",
    ".sarif": "sarif", ".svg": "svg", ".png": "png",
}  # fmt: skip

Function = TypeVar("Function", bound=Callable[..., Any])

output_option = click.option("-o", "--output", metavar="FILE", help="Write to FILE, replacing it. Default: stdout (-).")


def output_options(formats: Collection[str]) -> Callable[[Function], Function]:
    """Decorator: adds `--format` (one of `formats`) and `-o` to a command, as parameters `form` and `output`.

    `form` is the format that was chosen, which is known before any work is done.
    """
    choice = click.Choice(list(formats))
    form = click.option("--format", "form", type=choice, help="Default: by the extension of -o, else text.")

    def decorated(function: Function) -> Function:
        @wraps(function)
        def run(*arguments: Any, **options: Any) -> Any:
            options["form"] = chosen_format(options["form"], options["output"], formats)
            return function(*arguments, **options)

        return form(output_option(run))  # type: ignore[return-value]

    return decorated


def chosen_format(form: str | None, output: str | None, formats: Collection[str]) -> str:
    """The format that was asked for: by option, else by the ending of the file's name, else text.

    UsageError for an ending that says none of `formats`. A name without an ending, and a device or pipe, are given text.
    """
    if form is not None:
        return form
    if output in (None, "-"):
        return "text"
    ending = Path(str(output)).suffix.lower()
    found = SUFFIXES.get(ending)
    if found is not None and found in formats:
        return found
    if not ending or _is_special(Path(str(output))):
        return "text"
    known = ", ".join(suffix for suffix, name in SUFFIXES.items() if name in formats)
    raise UsageError(
        f"{output} has an unknown extension.", hint=f"Use one of {known}, or name the format with --format."
    )


def _is_special(path: Path) -> bool:
    """True for a device or pipe, whose name says nothing of what goes in."""
    try:
        return not stat.S_ISREG(path.stat().st_mode) and not path.is_dir()
    except OSError:
        return False


def style_for(
    output: str | None, *, verbose: bool = False, statements: bool = False, environ: Mapping[str, str] = os.environ
) -> Style:
    """What the place that the answer goes to can show. Colours only on a terminal, and not with NO_COLOR (no-color.org)."""
    plain = _plain_locale(environ)
    if output not in (None, "-") or sys.stdout is None:
        return Style(width=_PIPED_WIDTH, encoding="ascii" if plain else "utf-8", verbose=verbose, statements=statements)
    terminal = sys.stdout.isatty()
    size = shutil.get_terminal_size((_PIPED_WIDTH, 24))
    return Style(
        width=min(WIDEST, max(NARROWEST, size.columns)),
        height=size.lines if terminal else None,
        colour=terminal and not environ.get("NO_COLOR") and environ.get("TERM") not in ("dumb", "", None),
        encoding="ascii" if plain else sys.stdout.encoding or "ascii",
        verbose=verbose,
        statements=statements,
    )


def _plain_locale(environ: Mapping[str, str]) -> bool:
    """True if the user chose the C locale. Python itself then speaks UTF-8 all the same and sets LC_CTYPE (PEP 538)."""
    chosen = environ.get("LC_ALL") or environ.get("LC_CTYPE", "").removeprefix("C.UTF-8") or environ.get("LANG", "")
    return chosen in ("C", "POSIX")


def check_output(output: str | None, inputs: Iterable[Path]) -> None:
    """Refuse, before any work is done, an output file that is part of a profile that is read."""
    if output in (None, "-"):
        return
    target = Path(os.path.realpath(str(output)))
    for place in inputs:
        source = Path(os.path.realpath(place))
        if target == source or (source in target.parents and target.exists()):
            raise UsageError(f"{output} is part of the profile {place}.", hint="Name another file.")


def answer_json(content: object, output: str | None) -> None:
    """Write plain values as JSON."""
    answer(json.dumps(content, indent=2) + "\n", output)


def answer(content: str | bytes, output: str | None) -> None:
    """Write the answer to the file `output`, or to stdout if there is none or it is `-`."""
    if output not in (None, "-"):
        write_atomically(str(output), content)
        return
    if sys.stdout is None:
        raise ChathpcError("Standard output is closed.", hint="Name a file with -o.")
    try:
        if isinstance(content, bytes):
            sys.stdout.buffer.write(content)
        else:
            sys.stdout.write(content)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough. What is still in the buffer must not raise again when Python exits.
        drop(1)
        raise SystemExit(BROKEN_PIPE) from None
    except OSError as error:
        drop(1)
        raise ChathpcError(f"Cannot write to standard output: {error.strerror}.") from error
