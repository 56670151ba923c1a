"""Landlock: the kernel refuses files, sockets and signals outside of a list, without namespaces; where bubblewrap cannot be used."""

from __future__ import annotations

import ctypes
import functools
import os

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


@functools.cache
def abi() -> int:
    """Version of Landlock that the kernel has; 0 for none."""
    libc = ctypes.CDLL(None, use_errno=True)
    # landlock_create_ruleset with LANDLOCK_CREATE_RULESET_VERSION; the number is the same on every machine.
    found: int = libc.syscall(444, None, ctypes.c_size_t(0), 1)
    return max(0, found)


class Landlock:
    """Runs commands behind Landlock, a filter of system calls, and without capabilities. `choice.GAPS` says what this leaves open."""

    name = "landlock"
    relocates = False

    def run(self, request: Request) -> Completed:
        """Run it to its end or its limits. Errors: UsageError for an impossible request, ChathpcError without Landlock."""
        if abi() == 0:
            raise ChathpcError("This kernel has no Landlock.", hint="Install the package bubblewrap.")
        return supervise(request, _walls)


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
        if os.getuid():
            # NVIDIA's driver gives up if it cannot name its threads. Root could write the kernel's settings there as well.
            rules.append(("/proc", (_READ | _WRITE_FILE | _TRUNCATE) & handled))
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
