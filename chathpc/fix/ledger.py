"""What was tried and found out, event by event, in a file that only grows: chathpc can be killed at any moment and go on later.

A line is a JSON object {"seq", "time", "event", "data", "previous", "hash"}; `hash` is SHA-256 over the others, `previous` the hash of
the line before. So a line that was changed, left out or put in is found. Each is on the disk before the work goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chathpc.errors import ChathpcError

#: The hash before the first line.
NONE = "0" * 64
#: A ledger that is larger was not written by chathpc (bytes).
_LARGEST = 1 << 30
_KEYS = frozenset({"seq", "time", "event", "data", "previous", "hash"})


@dataclass(frozen=True, slots=True)
class Event:
    """A line: its number from 0, when it was written (seconds since 1970), its kind, and what it says."""

    seq: int
    time: float
    event: str
    data: Mapping[str, Any]
    previous: str
    hash: str


class Ledger:
    """An open ledger. Read whole when it is opened; a last line that was not written to its end is taken away, and said."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        #: `dropped` are the bytes of a torn last line.
        self.events, self.dropped, whole = read(path)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.ftruncate(self._descriptor, whole)
        os.lseek(self._descriptor, whole, os.SEEK_SET)
        _sync_folder(path.parent)
        if self.dropped:
            self.append("recovered", {"dropped_bytes": self.dropped})

    def append(self, event: str, data: Mapping[str, Any]) -> Event:
        """Write one event; it is on the disk when this returns. ChathpcError if it cannot be written."""
        previous = self.events[-1].hash if self.events else NONE
        body = {
            "seq": len(self.events),
            "time": round(self._clock(), 3),
            "event": event,
            "data": _plain(data),
            "previous": previous,
        }
        line = json.dumps({**body, "hash": _hash(body)}, ensure_ascii=True, allow_nan=False) + "\n"
        try:
            content = line.encode("ascii")
            while content:
                content = content[os.write(self._descriptor, content) :]
            os.fsync(self._descriptor)
        except OSError as error:
            raise ChathpcError(
                f"Cannot write {self._path}: {error.strerror}.",
                hint="Free some space, or name another folder with --work.",
            ) from error
        written = Event(**json.loads(line))
        self.events.append(written)
        return written

    def of(self, *kinds: str) -> Iterator[Event]:
        """Events of some kinds, the oldest first."""
        return (event for event in self.events if event.event in kinds)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def read(path: Path) -> tuple[list[Event], int, int]:
    """The events of a ledger, bytes of a torn last line, and of the whole lines. ChathpcError if a line was changed since it was
    written.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(_LARGEST + 1)
    except FileNotFoundError:
        return [], 0, 0
    except OSError as error:
        raise ChathpcError(f"Cannot read {path}: {error.strerror}.", hint="Name another folder with --work.") from error
    if len(content) > _LARGEST:
        raise ChathpcError(f"{path} is too large for a ledger.", hint="Start over with --fresh.")
    events: list[Event] = []
    at = 0
    while at < len(content):
        end = content.find(b"\n", at)
        found = None if end < 0 else _parsed(content[at:end], len(events), events[-1].hash if events else NONE)
        if found is None:
            if end >= 0 and content.find(b"\n", end + 1) >= 0:
                raise ChathpcError(
                    f"{path}: line {len(events) + 1} is not as it was written.", hint="Start over with --fresh."
                )
            return events, len(content) - at, at
        events.append(found)
        at = end + 1
    return events, 0, at


def _parsed(line: bytes, seq: int, previous: str) -> Event | None:
    """The event, or None if it is none or does not follow the line before."""
    try:
        body = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict) or body.keys() != _KEYS or not isinstance(body["data"], dict):
        return None
    told = body.pop("hash")
    if told != _hash(body) or body["seq"] != seq or body["previous"] != previous:
        return None
    return Event(**body, hash=told)


def _hash(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=True, allow_nan=False).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """The same as JSON can hold it: no NaN, no infinity, lists and dictionaries only."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if hasattr(value, "item"):
        return _plain(value.item())
    return value


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError:
        pass  # some network file systems cannot
    finally:
        os.close(descriptor)
