"""Landlock: the kernel refuses files, sockets and signals outside of a list, without namespaces; where bubblewrap cannot be used."""

from __future__ import annotations

import ctypes
import functools
import shutil
import tempfile
from dataclasses import dataclass

from chathpc.errors import ChathpcError
from chathpc.sandbox import system
from chathpc.sandbox.contract import Completed, Request
from chathpc.sandbox.seccomp import filter_program, keyctl
from chathpc.sandbox.supervised import supervise

# Rights on files, linux/landlock.h: those of the first version, then what later versions (ABI) brought.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FIRST = (1 << 13) - 1
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_READ = _READ_FILE | _READ_DIR
_RUN = _READ | _EXECUTE
#: Rights that a single file can have; the others are of folders.
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_BIND_TCP, _CONNECT_TCP = 1, 2
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
#: Devices that hold nothing.
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
#: Facts about processors, memory and processes. What belongs to a process of others, its environment and memory, Landlock
#: guards by itself, as it does ptrace.
_FACTS = ("/proc", "/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf")


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that Landlock does not stop. `until` is the version (ABI) that closes it; `filtered` where our filter closes it."""

    name: str
    what: str
    until: int | None = None
    filtered: bool = False


#: What is known to stay open, told to the user; tests/sandbox holds attempts that prove each that is open on a new kernel.
GAPS = (
    Gap("processes", "the names and arguments of all processes can be read, though not their environment or memory"),
    Gap("metadata", "modes and times of the user's files elsewhere can be changed, though not what is in them"),
    Gap("names", "whether a file elsewhere exists, its size and its owner can be seen, though not what is in it"),
    Gap("truncate", "files elsewhere can be emptied", until=3),
    Gap("signals", "other processes of the user can be killed", until=6),
    Gap("tcp", "TCP connections can be made", until=4, filtered=True),
    Gap("sockets", "UDP and Unix sockets can be used", filtered=True),
    Gap("shared-memory", "shared memory segments (System V) of the user can be read", filtered=True),
    Gap("set-user-id", "set-user-id files can be left behind", filtered=True),
)


def gaps() -> tuple[Gap, ...]:
    """Those of GAPS that are open on this machine."""
    version, filtered = abi(), bool(filter_program())
    return tuple(
        gap for gap in GAPS if not (gap.until is not None and version >= gap.until) and not (gap.filtered and filtered)
    )


@functools.cache
def abi() -> int:
    """Version of Landlock that the kernel has; 0 for none."""
    libc = ctypes.CDLL(None, use_errno=True)
    # landlock_create_ruleset with LANDLOCK_CREATE_RULESET_VERSION; the number is the same on every machine.
    found: int = libc.syscall(444, None, ctypes.c_size_t(0), 1)
    return max(0, found)


class Landlock:
    """Runs commands behind Landlock, a filter of system calls, and without capabilities. `gaps` says what this leaves open."""

    name = "landlock"

    def run(self, request: Request) -> Completed:
        """Run it to its end or its limits. Errors: UsageError for an impossible request, ChathpcError without Landlock."""
        system.check(request)
        if abi() == 0:
            raise ChathpcError("This kernel has no Landlock.", hint="Install the package bubblewrap.")
        temporary = tempfile.mkdtemp(prefix="chathpc-")
        try:
            return supervise(request, system.environment(request, temporary), _walls(request, temporary))
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _walls(request: Request, temporary: str) -> dict[str, object]:
    version = abi()
    every = _FIRST | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    handled = every | (_IOCTL_DEVICE if version >= 5 else 0)
    # Nothing below these folders can be a device that was made there: that takes a capability.
    rules: list[tuple[str, int]] = [(path, _RUN) for path in (*system.PROGRAMS, *system.SETTINGS)]
    rules += [(path, _READ) for path in (*system.HARDWARE, *_FACTS)]
    rules += [(path, (_READ_FILE | _WRITE_FILE | _TRUNCATE) & handled) for path in _DEVICES]
    if request.gpu:
        rules += [(path, handled) for path in system.gpu_devices()] + [("/sys", _READ)]
    rules += [(str(path), _RUN) for path in request.readable]
    rules += [(str(path), every) for path in (temporary, request.folder, *request.writable)]
    return {
        "masks": [
            handled,
            _BIND_TCP | _CONNECT_TCP if version >= 4 else 0,
            _ABSTRACT_SOCKETS | _SIGNALS if version >= 6 else 0,
        ],
        "rules": rules,
        "inner": _OF_FILES,
        "filter": filter_program(sockets=False).hex(),
        "keyctl": keyctl(),
    }
