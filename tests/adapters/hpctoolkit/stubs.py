"""Readers that fail in every way that the harness must notice."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from chathpc.errors import AdapterError


class Empty:
    """Stands for a profile."""

    caveats = ("nothing in it",)


def reads(path: Path) -> Empty:
    return Empty()


def refuses(path: Path) -> None:
    raise AdapterError("it is damaged", path=path, offset=7, hint="Measure again.")


def refuses_with_an_escape_sequence(path: Path) -> None:
    raise AdapterError("function '\x1b[2J' is damaged", path=path)


def raises(path: Path) -> None:
    raise KeyError("an undocumented exception")


def exits(path: Path) -> None:
    raise SystemExit(0)


def recurses(path: Path) -> None:
    recurses(path)


def sleeps(path: Path) -> None:
    time.sleep(60)


def spins(path: Path) -> Empty:
    began = time.process_time()
    while time.process_time() - began < 0.4:
        pass
    return Empty()


def takes_memory(path: Path) -> Empty:
    block = bytearray(100 << 20)
    block[::4096] = b"x" * len(block[::4096])
    return Empty()


def takes_all_memory(path: Path) -> None:
    blocks = []
    while True:
        blocks.append(b"x" * (64 << 20))


def aborts(path: Path) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def ends_the_process(path: Path) -> None:
    os._exit(0)


def opens(path: Path) -> Empty:
    path.read_bytes()
    return Empty()


KEPT: list[bytes] = []


def as_its_name_says(path: Path) -> Empty:
    """Behaves as the reader whose name the input has."""
    found: Empty = globals()[path.name](path)
    return found


def leaks(path: Path) -> Empty:
    """Keeps 30 MiB each time: harmless alone, and no fault of the cases that come after it."""
    KEPT.append(b"x" * (30 << 20))
    return reads(path)
