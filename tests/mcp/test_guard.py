from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from chathpc.errors import ChathpcError
from chathpc.mcp import guard
from chathpc.mcp.guard import ReadOnlyError, reading_only


def connect(path: Path) -> None:
    with socket.socket() as one:
        one.connect(("127.0.0.1", 9))


FORBIDDEN: dict[str, Callable[[Path], object]] = {
    "write": lambda path: (path / "new").write_text("x"),
    "append": lambda path: (path / "old").open("a"),
    "change": lambda path: (path / "old").open("r+b"),
    "os.open": lambda path: os.open(path / "new", os.O_CREAT | os.O_RDONLY),
    "remove": lambda path: (path / "old").unlink(),
    "rename": lambda path: (path / "old").rename(path / "new"),
    "mkdir": lambda path: (path / "new").mkdir(),
    "link": lambda path: (path / "new").symlink_to(path / "old"),
    "temporary file": lambda path: tempfile.TemporaryFile(dir=path),  # noqa: SIM115  # it is never made
    "temporary folder": lambda path: tempfile.mkdtemp(dir=path),
    "program": lambda path: subprocess.run([sys.executable, "-c", "open('new', 'w')"], cwd=path, check=False),
    "shell": lambda path: os.system(f"touch {path}/new"),
    "fork": lambda path: os.fork(),
    "connect": connect,
    "look up": lambda path: socket.getaddrinfo("localhost", 80),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_nothing_is_written_started_or_sent_while_only_reading(name: str, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("precious")
    with reading_only(), pytest.raises(ReadOnlyError) as raised:
        FORBIDDEN[name](tmp_path)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"old": "precious"}
    assert isinstance(raised.value, ChathpcError)
    assert isinstance(raised.value, OSError)
    assert raised.value.hint


@pytest.mark.parametrize(
    ("event", "arguments", "words"),
    [
        ("open", ("new", "w", os.O_WRONLY | os.O_CREAT), "writes no files"),
        ("os.mkdir", ("new", 511, -1), "writes no files"),
        ("os.system", ("touch new",), "starts no program"),
        ("socket.connect", (), "uses no network"),
        ("open", ("old", "r", os.O_RDONLY), ""),
        ("open", (os.devnull, "w", os.O_WRONLY), ""),
        ("import", ("os",), ""),
    ],
)
def test_what_is_refused_is_told(event: str, arguments: tuple[object, ...], words: str) -> None:
    """The hook itself: called by Python it is not seen by the measurement of coverage."""
    guard._refuse(event, arguments)  # nobody only reads
    with reading_only():
        if not words:
            guard._refuse(event, arguments)
        else:
            with pytest.raises(ReadOnlyError, match=words):
                guard._refuse(event, arguments)


def test_reading_and_the_null_device_are_open(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("precious")
    with reading_only():
        assert (tmp_path / "old").read_text() == "precious"
        assert os.listdir(tmp_path) == ["old"]
        with open(os.devnull, "w", encoding="utf-8") as nothing:
            nothing.write("x")


def test_afterwards_and_in_other_threads_everything_is_as_before(tmp_path: Path) -> None:
    entered, left = threading.Event(), threading.Event()

    def read_only() -> None:
        with reading_only():
            entered.set()
            left.wait(30)

    thread = threading.Thread(target=read_only)
    thread.start()
    entered.wait(30)
    (tmp_path / "one").write_text("x")
    left.set()
    thread.join()
    with reading_only():
        pass
    (tmp_path / "two").write_text("x")
    assert sorted(os.listdir(tmp_path)) == ["one", "two"]


def test_an_error_inside_ends_it_too(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), reading_only():
        raise ZeroDivisionError
    (tmp_path / "one").write_text("x")
