"""A world in which nothing may happen: whatever touches a file, a process or the network is noted."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from chathpc.llm import hosted
from tests.llm.scripted import SCRIPTS
from tests.security import puppet

#: Events (sys.addaudithook; "Audit events table" of the Python documentation) that change something outside of this process.
_ACTS = (
    "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link",
    "os.symlink", "os.truncate", "os.chmod", "os.chown", "os.putenv", "os.unsetenv", "os.kill", "shutil.",
    "socket.connect", "socket.bind", "socket.getaddrinfo",
    "socket.sendto", "socket.sendmsg", "socket.__new__", "urllib.", "http.client.", "ftplib.", "smtplib.", "webbrowser.", "pty.", "tempfile.", "ctypes.dlopen",
    "sqlite3.connect",
)  # fmt: skip
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass
class World:
    """What happened while it was watched, and the bodies that went to the hosted model."""

    happened: list[str] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    watching: bool = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        self.watching = True
        try:
            yield
        finally:
            self.watching = False

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.watching:
            return
        if event == "open":
            name, mode, flags = (*arguments, None, None)[:3]
            if isinstance(flags, int) and flags & _WRITES and name not in (os.devnull, 0, 1, 2):
                self.happened.append(f"open {name!r} {mode} {flags}")
        elif event.startswith(_ACTS):
            self.happened.append(f"{event} {arguments!r}")


_WORLD = World()
_HOOKED: list[bool] = []


def _connect(self: hosted.HostedBackend) -> Any:
    """The client of a hosted back end whose server is the puppet, without a network between."""
    import openai

    transport = import_module(openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])

    def respond(message: Any) -> Any:
        if message.method == "GET":
            return transport.Response(404, json={})
        _WORLD.sent.append(message.read())
        return transport.Response(
            200, content=puppet.answer(_WORLD.sent[-1]), headers={"content-type": "text/event-stream"}
        )

    http = openai.DefaultHttpxClient(transport=transport.MockTransport(respond), trust_env=False)
    return openai.OpenAI(base_url="http://127.0.0.1:9/v1", api_key="none", max_retries=0, http_client=http)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[World]:
    """Watches; `scripted:puppet` and `openai:puppet` obey."""
    monkeypatch.setenv("CHATHPC_TEST_BACKENDS", "tests.llm.scripted")
    monkeypatch.setenv("CHATHPC_LOG", "false")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setitem(SCRIPTS, "puppet", puppet.prose)
    monkeypatch.setattr(hosted.HostedBackend, "_connect", _connect)
    monkeypatch.chdir(tmp_path)
    if not _HOOKED:  # a hook stays for the life of the process
        _HOOKED.append(True)
        hook: Callable[[str, tuple[Any, ...]], None] = _WORLD.note
        sys.addaudithook(hook)
    _WORLD.happened.clear()
    _WORLD.sent.clear()
    yield _WORLD
    _WORLD.watching = False
