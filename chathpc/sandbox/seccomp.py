"""A filter of system calls (seccomp, classic BPF) for what namespaces and Landlock do not cover.

Refused are the kernel's key rings, new namespaces and mounts, io_uring, userfaultfd, bpf, typing into a terminal (TIOCSTI), set-user-id
and set-group-id files (they would stay when the sandbox is gone), sockets of families that a network namespace does not separate
(vsock), and calls of a foreign instruction set, whose numbers differ. With
`sockets=False` no socket and no System V IPC at all. perf_event_open and ptrace stay, since profilers, debuggers and sanitizers need them.

Numbers: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux 6.12; layout: linux/filter.h,
linux/seccomp.h.
"""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass

# Instructions of classic BPF, seccomp's answers, and where seccomp_data keeps what is compared.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
#: CLONE_NEWTIME is a signal number for clone(), so it is looked for in unshare() only.
_NEW_NAMESPACE = 0x7E020000
_NEW_TIME = 0x80
_TYPING = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink


@dataclass(frozen=True, slots=True)
class _Calls:
    """Numbers of system calls; `modes` and `opens` with the argument that is a mode, `x32` where a second interface begins."""

    audit: int
    refused: tuple[int, ...]
    clone: int
    unshare: int
    ioctl: int
    socket: int
    shared: tuple[int, ...]
    modes: tuple[tuple[int, int], ...]
    opens: tuple[tuple[int, int], ...]
    x32: int | None = None


#: The same everywhere: io_uring (3), the calls that replaced mount, and openat2, whose mode cannot be seen.
_NEWER = (425, 426, 427, 428, 429, 430, 431, 432, 433, 442, 437)
#: S_ISUID and S_ISGID.
_SET_ID = 0o6000
#: O_CREAT and O_TMPFILE without O_DIRECTORY, the same on both.
_MAKING = 0x400040
_CLONE3 = 435
_CALLS = {
    # add_key request_key keyctl userfaultfd bpf mount umount2 pivot_root setns open_by_handle_at; shmget shmat semget msgget mq_open;
    # chmod fchmod fchmodat fchmodat2 creat mknod mknodat; open openat
    "x86_64": _Calls(
        0xC000003E,
        (248, 249, 250, 323, 321, 165, 166, 155, 308, 304),
        56,
        272,
        16,
        41,
        (29, 30, 64, 68, 240),
        ((90, 1), (91, 1), (268, 2), (452, 2), (85, 1), (133, 1), (259, 2)),
        ((2, 2), (257, 3)),
        0x40000000,
    ),
    "aarch64": _Calls(
        0xC00000B7,
        (217, 218, 219, 282, 280, 40, 39, 41, 268, 265),
        220,
        97,
        29,
        198,
        (194, 196, 190, 186, 180),
        ((52, 1), (53, 2), (452, 2), (33, 2)),
        ((56, 3),),
    ),
}


def filter_program(*, sockets: bool = True, machine: str | None = None) -> bytes:
    """The filter as `struct sock_filter[]`; empty for a machine whose numbers are not known here (no filter then)."""
    calls = _CALLS.get(platform.machine() if machine is None else machine)
    if calls is None:
        return b""
    program = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, calls.audit, yes=1),
        _refuse(errno.ENOSYS),
        _step(_LOAD, _NUMBER),
    ]
    if calls.x32 is not None:
        program += [_step(_AT_LEAST, calls.x32, no=1), _refuse(errno.ENOSYS)]
    # ENOSYS lets the C library fall back: to clone(), whose flags can be looked at, and to plain input and output.
    for number in (_CLONE3, *_NEWER):
        program += _on(number, [_refuse(errno.ENOSYS)])
    for number in (*calls.refused, *(() if sockets else (calls.socket, *calls.shared))):
        program += _on(number, [_refuse(errno.EPERM)])
    program += _on(calls.clone, _refuse_bits(0, _NEW_NAMESPACE))
    program += _on(calls.unshare, _refuse_bits(0, _NEW_NAMESPACE | _NEW_TIME))
    for number, index in calls.modes:
        program += _on(number, _refuse_bits(index, _SET_ID))
    for number, index in calls.opens:
        # The mode counts only where a file may be made; the flags stand before it.
        making = [_argument(index - 1), _step(_ANY_BIT, _MAKING, yes=1), _step(_RETURN, _ALLOW)]
        program += _on(number, [*making, *_refuse_bits(index, _SET_ID)])
    typing = [step for code in _TYPING for step in _on(code, [_refuse(errno.EPERM)])]
    program += _on(calls.ioctl, [_argument(1), *typing, _step(_RETURN, _ALLOW)])
    if sockets:
        allowed = [step for family in _FAMILIES for step in _on(family, [_step(_RETURN, _ALLOW)])]
        program += _on(calls.socket, [_argument(0), *allowed, _refuse(errno.EAFNOSUPPORT)])
    program.append(_step(_RETURN, _ALLOW))
    return b"".join(program)


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def _refuse(error: int) -> bytes:
    return _step(_RETURN, _ERRNO | error)


def _argument(index: int) -> bytes:
    # The low half of the 64 bits: all arguments looked at here are 32 bits wide.
    return _step(_LOAD, _ARGUMENTS + 8 * index)


def _on(value: int, block: list[bytes]) -> list[bytes]:
    return [_step(_EQUAL, value, no=len(block)), *block]


def _refuse_bits(index: int, bits: int) -> list[bytes]:
    return [_argument(index), _step(_ANY_BIT, bits, no=1), _refuse(errno.EPERM), _step(_RETURN, _ALLOW)]


def keyctl(machine: str | None = None) -> int:
    """Give the number of the call keyctl; −1, which no call has, for a machine that is not known here."""
    calls = _CALLS.get(platform.machine() if machine is None else machine)
    return -1 if calls is None else calls.refused[2]
