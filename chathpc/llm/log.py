"""The log of prompts and answers: what was sent to a model and what it said, for its user alone.

Each entry is a JSON file of its own: on file systems that machines share the locks of one file for all do not hold. Entries are
added and never changed; the oldest go when there are too many.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.errors import UsageError
from chathpc.llm.places import state_folder

if TYPE_CHECKING:
    from chathpc.llm.settings import Settings

#: So many entries are kept, of so many bytes in all, of so many characters a text.
MOST_ENTRIES = 1000
MOST_BYTES = 64 << 20
LONGEST_TEXT = 1 << 20
_OFF = "logs-off"
_TEXTS = ("system", "user", "answer", "error")

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Entry:
    """One question to a model as it was sent, and the answer as it came: with placeholders, if there were any. `id` and `time` (UTC,
    ISO 8601) are given by the log.
    """

    model: str
    label: str
    confidential: str
    system: str
    user: str
    answer: str
    finish: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    error: str = ""
    id: str = ""
    time: str = ""

    def to_json(self) -> str:
        """The entry as a line of JSON."""
        return json.dumps(asdict(self))


def open_log(settings: Settings, environ: Mapping[str, str] | None = None) -> Log | None:
    """The log that is in use; None where the settings or the user turned it off, or there is no place for it."""
    environ = os.environ if environ is None else environ
    return log_of(environ) if settings.log and not is_off(environ) else None


def log_of(environ: Mapping[str, str]) -> Log | None:
    """The log of this user, in use or not; None without a home folder."""
    folder = state_folder(environ)
    return None if folder is None else Log(folder / "log")


def is_off(environ: Mapping[str, str]) -> bool:
    """Whether `chathpc logs off` holds."""
    folder = state_folder(environ)
    return folder is not None and (folder / _OFF).exists()


def turn(environ: Mapping[str, str], *, on: bool) -> None:
    """Turn the log on or off until it is turned again; raises UsageError if that cannot be kept."""
    folder = state_folder(environ)
    if folder is None:
        raise UsageError("There is no home folder to keep a log in.", hint="Set XDG_STATE_HOME.")
    try:
        _own_folder(folder)
        if on:
            (folder / _OFF).unlink(missing_ok=True)
        else:
            os.close(os.open(folder / _OFF, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be written: {error.strerror}.",
            hint="Set XDG_STATE_HOME to a folder that can be written.",
        ) from error


def find(log: Log, wanted: str) -> Entry:
    """The entry whose id is or begins with `wanted`, or the `last` one; UsageError if there is none or more than one."""
    every = list(log.entries())
    found = every[-1:] if wanted == "last" else [entry for entry in every if entry.id.startswith(wanted)]
    if len(found) != 1 or not wanted:
        raise UsageError(
            f"{'Several entries begin' if found else 'No entry of the log begins'} with '{wanted[:40]}'.",
            hint="chathpc logs list shows them.",
        )
    return found[0]


class Log:
    """Entries as files of their own in the folder `path`; two machines never write the same one."""

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        self.path = path
        self._clock = clock or (lambda: datetime.now(UTC))

    def append(self, entry: Entry) -> None:
        """Add an entry; a log that cannot be written is told of once, and never an error."""
        try:
            stamped = _stamped(entry, self._clock())
            _own_folder(self.path)
            unfinished = self.path / f".{stamped.id}.part"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with open(os.open(unfinished, flags, 0o600), "w", encoding="utf-8") as file:
                file.write(stamped.to_json())
            os.rename(unfinished, self.path / f"{stamped.id}.json")
            self._forget()
        except OSError as error:
            if self.path not in _told:
                _told.add(self.path)
                logging.getLogger("chathpc").warning(
                    "chathpc: the log of prompts cannot be written: %s: %s", self.path, error.strerror or error
                )

    def entries(self) -> Iterator[Entry]:
        """All entries, the oldest first."""
        for file in sorted(self.path.glob("*.json")):
            with suppress(OSError, UnicodeDecodeError):  # another process may just have removed it
                entry = _read(file.read_text("utf-8"))
                if entry is not None:
                    yield entry

    def _forget(self) -> None:
        held = 0
        for place, file in enumerate(sorted(self.path.glob("*.json"), reverse=True), 1):
            with suppress(OSError):
                held += file.stat().st_size
                if place > 1 and (place > MOST_ENTRIES or held > MOST_BYTES):
                    file.unlink()


_told: set[Path] = set()


def _stamped(entry: Entry, now: datetime) -> Entry:
    cut = {name: text[:LONGEST_TEXT] for name in _TEXTS if len(text := getattr(entry, name)) > LONGEST_TEXT}
    stamp = f"{now:%Y%m%dT%H%M%S.%f}-{secrets.token_hex(3)}"
    return replace(entry, id=stamp, time=now.isoformat(timespec="seconds"), **cut)


def _read(line: str) -> Entry | None:
    """An entry as written; None for what is none."""
    try:
        return Entry(**json.loads(line))
    except (ValueError, TypeError, RecursionError):
        return None


def _own_folder(folder: Path) -> None:
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
