"""While a client's question is answered, this process reads; it writes no file, starts no program and uses no network.

Nothing in chathpc does such things for a question, so this refuses what a mistake, or the reader of a format that is opened by a
client, would do all the same. It sees what Python code does (PEP 578), not what a library in C does by itself.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import MappingProxyType

from chathpc.errors import ChathpcError

#: Audit events (docs.python.org/3/library/audit_events.html) that are refused, and what they are in words.
_REFUSED: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn"),
            "starts no program",
        ),
        **dict.fromkeys(
            ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"),
            "uses no network",
        ),
        **dict.fromkeys(
            (
                "os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.truncate",
                "os.utime", "tempfile.mkdtemp", "tempfile.mkstemp",
            ),
            "writes no files",
        ),
    }
)  # fmt: skip
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_reading_only: ContextVar[bool] = ContextVar("reading only", default=False)


class ReadOnlyError(ChathpcError, PermissionError):
    """Something other than reading was about to happen for a client. Also an OSError, which is what callers are ready for."""

    def __init__(self, does: str) -> None:
        super().__init__(
            f"The server {does} for a client, and this needs it.",
            hint="Name the profile on the command line of 'chathpc mcp', where the reader may do so.",
        )
        self.strerror = f"the server {does} for a client"


@contextmanager
def reading_only() -> Iterator[None]:
    """While this lasts, in this thread, ReadOnlyError for whatever would write, start a program or use the network."""
    _install()
    token = _reading_only.set(True)
    try:
        yield
    finally:
        _reading_only.reset(token)


@cache
def _install() -> None:
    tempfile.gettempdir()  # tries the folder by writing to it, once; packages ask for it when they are imported
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        flags = arguments[2] if len(arguments) > 2 else 0
        if isinstance(flags, int) and flags & _WRITES and arguments[0] != os.devnull and _reading_only.get():
            raise ReadOnlyError("writes no files")
    elif event in _REFUSED and _reading_only.get():
        raise ReadOnlyError(_REFUSED[event])
