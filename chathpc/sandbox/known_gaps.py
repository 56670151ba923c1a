"""What each sandbox is known not to stop, in words for the user; tests/sandbox proves those that are open on a new kernel."""

from __future__ import annotations

from dataclasses import dataclass

from chathpc.sandbox.contract import Sandbox
from chathpc.sandbox.landlock import abi
from chathpc.sandbox.seccomp import filter_program


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
