"""Conversations in files: written whole or not at all, and checked when they are read."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from chathpc import validation
from chathpc.chat.record import Chat
from chathpc.errors import UsageError
from chathpc.reports.write import write_atomically

#: A conversation of a thousand turns has some megabytes (bytes).
_LARGEST = 64 << 20


def save(path: Path, chat: Chat) -> None:
    """Write a conversation as JSON; the file then holds all of it, or what it held before."""
    if path.exists() and not _is_chat(path):
        raise UsageError(f"{path} is not a saved conversation.", hint="Name another file.")
    write_atomically(path, chat.model_dump_json(by_alias=True, indent=1) + "\n")


def _is_chat(path: Path) -> bool:
    try:
        restore(path)
    except UsageError:
        return False
    return True


def restore(path: Path) -> Chat:
    """The conversation in a file; UsageError, which names the field, if it is none."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {error.strerror}.", hint="Name a file that /save wrote.") from error
    if len(data) > _LARGEST:
        raise UsageError(f"{path} is too large for a conversation.", hint="Name a file that /save wrote.")
    try:
        return Chat.model_validate(json.loads(data))
    except ValidationError as error:
        what = validation.words(error)
        raise UsageError(f"{path} is not a saved conversation: {what}.", hint="Name a file that /save wrote.") from None
    except (ValueError, RecursionError):
        raise UsageError(
            f"{path} is not a saved conversation: not JSON.", hint="Name a file that /save wrote."
        ) from None
