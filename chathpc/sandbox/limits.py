"""Resource limits (setrlimit(2)) of a request."""

from __future__ import annotations

import os
import resource

from chathpc.sandbox.contract import Request

#: All addresses of a process on x86-64 (bytes). So much is no limit, and none must be set then: ThreadSanitizer ends a program that has one.
ALL_ADDRESSES = 1 << 47


def resource_limits(request: Request) -> tuple[tuple[int, int], ...]:
    """Pairs of resource and value, soft and hard alike. No core dumps: they are large and hold what memory held.

    Address space is not bounded with a GPU: CUDA reserves more of it than the machine has memory (CUDA C++ Programming Guide, unified
    virtual address space).
    """
    limits = request.limits
    bounded = limits.memory < ALL_ADDRESSES and not request.gpu
    return (
        *(((resource.RLIMIT_AS, limits.memory),) if bounded else ()),
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
