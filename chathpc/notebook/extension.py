"""What `%load_ext chathpc` does: magics, and how our types are shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from chathpc.errors import ChathpcError
from chathpc.notebook.display import register, unregister
from chathpc.notebook.magics import Magics
from chathpc.profile.text import clean

Value = TypeVar("Value")
#: `%ask …`, and `answer = %ask …`.
_ASK = re.compile(r"\s*(?:\w+\s*=\s*)?%ask\s")
_MAGICS = (("chathpc", "line"), ("ask", "line_cell"))


def load(shell: Any) -> None:
    """Make IPython's `shell` know `%chathpc`, `%ask` and how reports, profiles, trees and answers look."""
    magics = Magics()
    for name, kind in _MAGICS:
        shell.register_magic_function(_in_one_sentence(getattr(magics, name)), magic_kind=kind, magic_name=name)
    shell.input_transformers_cleanup.append(without_question_mark)
    register(shell.display_formatter)


def unload(shell: Any) -> None:
    """Take that back."""
    for name, kind in _MAGICS:
        for one in kind.split("_"):
            shell.magics_manager.magics[one].pop(name, None)
    if without_question_mark in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(without_question_mark)
    unregister(shell.display_formatter)


def without_question_mark(lines: list[str]) -> list[str]:
    """The lines of a cell, `%ask` without the question mark at its end: IPython would take that for a call for help."""
    return [f"{line.rstrip().rstrip('?')}\n" if _ASK.match(line) else line for line in lines]


def _in_one_sentence(magic: Callable[..., Value]) -> Callable[..., Value]:
    """`magic` with our errors as IPython's UsageError, which is shown without a traceback."""

    @wraps(magic)
    def run(*arguments: Any) -> Value:
        try:
            return magic(*arguments)
        except ChathpcError as error:
            from IPython.core.error import UsageError

            raise UsageError(clean(f"{error.message} {error.hint}".rstrip())) from None

    return run
