"""Native readers of other makers, run in a process of their own: a crash, a hang or a flood of memory there is an error here.

A child is a script that imports nothing of chathpc. It reads one request (JSON) from standard input, and writes one JSON value
a line to standard output. Nothing but JSON comes back.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from chathpc.adapters.packed import unreadable
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

#: The wall clock is only to end a child that does nothing at all: a multiple of its processor time.
_WALL = 4


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may take: bytes of memory, bytes of its answer, seconds of processor time."""

    memory: int
    answer: int
    seconds: int


class Child:
    """A child that has ended: its answers and their size in bytes, and how it ended, in words."""

    def __init__(self, answer: IO[bytes], ended: str, path: Path) -> None:
        self._answer = answer
        self.size = answer.seek(0, os.SEEK_END)
        self.ended = ended
        self._path = path

    def answers(self) -> Iterator[dict[str, Any]]:
        """The values that it wrote, one after the other; a line that it was stopped in is left out."""
        self._answer.seek(0)
        for line in self._answer:
            if not line.endswith(b"\n"):
                return
            try:
                yield json.loads(line)
            except MemoryError:
                raise AdapterError(
                    "needs more memory than is available", path=self._path, hint="Record a shorter run."
                ) from None


def installed(package: str) -> bool:
    """True if a package can be imported, without importing it."""
    try:
        return find_spec(package) is not None and bool(sys.executable)
    except (ImportError, ValueError):
        return False


def size_of(path: Path) -> int:
    """Bytes of the file that a child shall read; AdapterError if it is not there."""
    try:
        return path.stat().st_size
    except OSError as error:
        raise unreadable(error, path) from None


@contextmanager
def run(script: Path, request: Mapping[str, Any], limits: Limits, path: Path) -> Iterator[Child]:
    """Run the child `script` on a request about the file at `path`, to its end.

    The limits are set before the child gets its request, so it does nothing without them. The request is given the
    paths that packages are imported from, as `import_path`.
    """
    command = [sys.executable, "-P", str(script)]
    with tempfile.TemporaryFile("w+b") as answer:
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=answer, stderr=subprocess.DEVNULL)
        except OSError as error:
            raise AdapterError(
                f"no process can be started to read it ({clean(str(error.strerror))})",
                path=path,
                hint="Free some memory.",
            ) from None
        try:
            _bind(process.pid, limits)
            process.communicate(
                json.dumps({**request, "import_path": [one for one in sys.path if isinstance(one, str)]}).encode(),
                timeout=_WALL * limits.seconds,
            )
            code = process.returncode
            ended = f"crashed (signal {-code})" if code < 0 else f"ended with status {code}"
        except subprocess.TimeoutExpired:
            ended = "did not finish"
        finally:
            process.kill()
            process.wait()
        yield Child(answer, ended, path)


def _bind(pid: int, limits: Limits) -> None:
    """Set the limits of a process; systems other than Linux have no way to do that from outside."""
    try:
        import resource

        prlimit = resource.prlimit
    except (ImportError, AttributeError):
        return
    for kind, wanted in (
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_CPU, limits.seconds),
        (resource.RLIMIT_FSIZE, limits.answer),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = prlimit(pid, kind)[1]
        bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        prlimit(pid, kind, (bound, hard))
