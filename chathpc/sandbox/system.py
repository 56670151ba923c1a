"""What of the machine every sandbox shows (compilers, libraries and what MPI and OpenMP look at; nothing of a user), and resource limits."""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Mapping
from pathlib import Path

from chathpc.errors import UsageError
from chathpc.sandbox.contract import Request

#: Programs and libraries, shown read-only.
#: ncu and nsys below /usr are scripts that start what NVIDIA's packages put below /opt.
PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt/nvidia")
#: What compilers, the loader, MPI and Perl-written build tools read below /etc. No keys, no users, no mounts.
SETTINGS = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mpich",
    "/etc/openmpi",
    "/etc/openmpi-x86_64",
    "/etc/perl",
)
#: Processors and memory as the kernel describes them: thread placement (OpenMP, hwloc) and perf need them.
HARDWARE = ("/sys/devices/system", "/sys/devices/cpu", "/sys/bus/event_source", "/sys/devices/software")
#: Device files of GPUs, by the beginning of their names.
_GPU_DEVICES = ("nvidia", "kfd", "dri")

_DEFAULTS = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "LANG": "C.UTF-8"}
_FORBIDDEN = ("/", "/dev", "/etc", "/home", "/proc", "/root", "/run", "/sys", "/tmp", "/usr", "/var")  # noqa: S108


def environment(request: Request, temporary: str) -> dict[str, str]:
    """The command's environment: the request's, and what it lacks of the least that programs need."""
    values = _DEFAULTS | {"HOME": temporary, "TMPDIR": temporary}
    if os.getuid() == 0:
        values |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return values | dict(request.environment)


def gpu_devices() -> tuple[str, ...]:
    """Device files of the GPUs that are there."""
    return tuple(sorted(entry.path for entry in os.scandir("/dev") if entry.name.startswith(_GPU_DEVICES)))


def settings_of_kernel() -> tuple[str, ...]:
    """What below /proc is no process's and could be written by its owner, root, or holds what could."""
    return tuple(
        sorted(
            entry.path
            for entry in os.scandir("/proc")
            if not entry.name.isdigit()
            and not entry.is_symlink()
            and (entry.is_dir() or entry.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
        )
    )


def check(request: Request) -> None:
    """Raise a UsageError for a request that no sandbox can carry out, or that would open what it is to keep shut."""
    if not request.command:
        raise UsageError("A sandbox was given no command.", hint="Name the program to run.")
    if any("\0" in text for text in (*request.command, *_texts(request.environment))):
        raise UsageError("A command or an environment variable holds a zero byte.", hint="Remove it.")
    if any(not name or "=" in name for name in request.environment):
        raise UsageError("A name of an environment variable is empty or holds '='.", hint="Correct it.")
    for path in (request.folder, *request.writable):
        _check_writable(path)
    for path in request.readable:
        if not path.is_absolute() or not path.exists() or str(path) == "/":
            raise UsageError(f"A sandbox cannot show {path}.", hint="Name an absolute path that exists and is not /.")
    if request.shown is not None and not (request.shown.is_absolute() and len(request.shown.parts) > 2):
        raise UsageError(
            f"A sandbox cannot show a folder as {request.shown}.", hint="Name an absolute path below a work folder."
        )
    if not request.folder.is_dir():
        raise UsageError(f"{request.folder} is no folder.", hint="Name an absolute path of a folder to work in.")


def _texts(environment: Mapping[str, str]) -> tuple[str, ...]:
    return (*environment, *environment.values())


def _check_writable(path: Path) -> None:
    if not path.is_absolute() or os.path.normpath(path) in (*_FORBIDDEN, os.path.expanduser("~")):
        raise UsageError(
            f"A sandbox does not open {path} for writing.", hint="Name an absolute path below a home or work folder."
        )
    try:
        mode = path.lstat().st_mode
    except OSError as error:
        raise UsageError(f"{path} cannot be opened for a sandbox: {error.strerror}.", hint="Make it first.") from error
    if stat.S_ISLNK(mode):
        raise UsageError(f"{path} is a link; it might lead anywhere.", hint="Name the folder that it leads to.")


#: All addresses of a process on x86-64 (bytes). So much is no limit, and none must be set then: ThreadSanitizer ends a program that has one.
ALL_ADDRESSES = 1 << 47


def resource_limits(request: Request) -> tuple[tuple[int, int], ...]:
    """Pairs of resource and value, soft and hard alike. No core dumps: they are large and hold what memory held.

    Address space is not bounded with a GPU: CUDA reserves more of it than the machine has memory (CUDA C++ Programming Guide, unified
    virtual address space).
    """
    limits = request.limits
    return (
        *(() if request.gpu or limits.memory >= ALL_ADDRESSES else ((resource.RLIMIT_AS, limits.memory),)),
        (resource.RLIMIT_FSIZE, limits.file),
        (resource.RLIMIT_NPROC, limits.processes + _tasks_of_user()),
        (resource.RLIMIT_CORE, 0),
    )


def _tasks_of_user() -> int:
    """Threads that the user has now: RLIMIT_NPROC counts them all, whatever started them."""
    user, count = os.getuid(), 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == user:
                    # Links of the folder: itself, its parent, and one for each thread.
                    count += os.stat(f"/proc/{entry.name}/task").st_nlink - 2
            except OSError:
                continue
    return count
