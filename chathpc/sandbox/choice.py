"""The strongest sandbox that really works on this machine, and what each is known not to stop (tests/sandbox proves those that are open)."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from chathpc.errors import ChathpcError, UsageError
from chathpc.sandbox.bubblewrap import Bubblewrap
from chathpc.sandbox.contract import Limits, Request, Sandbox
from chathpc.sandbox.landlock import Landlock, abi
from chathpc.sandbox.seccomp import filter_program
from chathpc.sandbox.supervised import Plain

_HINT = (
    "Install the package bubblewrap (it needs user namespaces), use a kernel with Landlock (5.13 or newer), or say --no-sandbox if "
    "you trust the code: then it runs with all your rights."
)
_STRONGEST_FIRST: tuple[Callable[[], Sandbox], ...] = (Bubblewrap, Landlock)
_lock = threading.Lock()
#: Tries to do what is allowed, then what is not; says "yes" only if the first works and the second does not.
_PROBE = 'echo a > new && ! cat "$0/secret" && ! echo a > "$0/written" && echo yes'


def choose(allow_none: bool = False) -> Sandbox:
    """The strongest sandbox that works here: bubblewrap, else Landlock; with `allow_none`, always none (`--no-sandbox`).

    Each is tried once in a process. Errors: UsageError if none works, with what to install.
    """
    if allow_none:
        return Plain()
    with _lock:
        found = _tried()
    for sandbox, fault in found:
        if not fault:
            return sandbox
    said = "; ".join(f"{sandbox.name}: {fault}" for sandbox, fault in found)
    raise UsageError(f"There is no sandbox for changed code on this machine ({said}).", hint=_HINT)


def states() -> tuple[tuple[str, str], ...]:
    """Each sandbox with what is wrong with it here, strongest first; an empty text if it works."""
    with _lock:
        return tuple((sandbox.name, fault) for sandbox, fault in _tried())


@functools.cache
def _tried() -> tuple[tuple[Sandbox, str], ...]:
    return tuple((sandbox, _fault(sandbox)) for sandbox in (make() for make in _STRONGEST_FIRST))


def _fault(sandbox: Sandbox) -> str:
    """What is wrong with it; empty if it shows the folder and nothing beside it."""
    outer = Path(tempfile.mkdtemp(prefix="chathpc-"))
    try:
        folder, beside = outer / "inside", outer / "beside"
        folder.mkdir()
        beside.mkdir()
        (beside / "secret").write_text("secret")
        request = Request(("/bin/sh", "-c", _PROBE, os.fspath(beside)), folder, limits=Limits(seconds=20.0))
        done = sandbox.run(request)
    except ChathpcError as error:
        return error.message
    finally:
        shutil.rmtree(outer, ignore_errors=True)
    return "" if done.succeeded and done.stdout == b"yes\n" else "its own test failed"


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that `sandbox` does not stop.

    `until` is the version (ABI) of Landlock that closes it, None for none; `filtered` says that our filter of system calls does, on
    machines for which there is one (x86-64 and 64-bit ARM).
    """

    sandbox: str
    name: str
    what: str
    until: int | None = None
    filtered: bool = False


GAPS = (
    Gap("bubblewrap", "kernel-keys", "keys in the kernel's key ring of the session can be read", filtered=True),
    Gap("bubblewrap", "set-user-id", "set-user-id files can be left behind", filtered=True),
    Gap("bubblewrap", "hypervisor", "a virtual machine's own sockets (vsock) can be used", filtered=True),
    Gap(
        "landlock",
        "processes",
        "names and arguments of all processes can be read, though not their environment or memory",
    ),
    Gap(
        "landlock",
        "metadata",
        "modes and times of the user's files elsewhere can be changed, though not what is in them",
    ),
    Gap(
        "landlock",
        "names",
        "whether a file elsewhere exists, its size and its owner can be seen, though not what is in it",
    ),
    Gap("landlock", "truncate", "files elsewhere can be emptied", until=3),
    Gap("landlock", "signals", "other processes of the user can be killed", until=6),
    Gap("landlock", "tcp", "TCP connections can be made", until=4, filtered=True),
    Gap("landlock", "sockets", "UDP and Unix sockets can be used", filtered=True),
    Gap("landlock", "shared-memory", "shared memory segments (System V) of the user can be read", filtered=True),
    Gap("landlock", "set-user-id", "set-user-id files can be left behind", filtered=True),
    Gap("none", "everything", "it reads, writes and sends whatever you may read, write and send"),
)


def gaps(sandbox: Sandbox | str) -> tuple[Gap, ...]:
    """What this sandbox leaves open on this machine."""
    name = sandbox if isinstance(sandbox, str) else sandbox.name
    version, filtered = abi(), bool(filter_program())
    return tuple(
        gap
        for gap in GAPS
        if gap.sandbox == name
        and not (gap.until is not None and version >= gap.until)
        and not (gap.filtered and filtered)
    )
