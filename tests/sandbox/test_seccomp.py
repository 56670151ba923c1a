"""The filter of system calls, run by a small interpreter of classic BPF, for both machines that it knows."""

from __future__ import annotations

import errno
import struct

import pytest

from chathpc.sandbox.seccomp import filter_program, keyctl

ALLOW, ENOSYS, EPERM = 0x7FFF0000, 0x50000 | errno.ENOSYS, 0x50000 | errno.EPERM
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def answer(program: bytes, number: int, *arguments: int, audit: int) -> int:
    """What the filter says of a call: loads, comparisons and jumps as linux/filter.h defines them."""
    data = struct.pack("=iIQ6Q", number, audit, 0, *(arguments + (0,) * 6)[:6])
    steps = list(struct.iter_unpack("=HBBI", program))
    place, held = 0, 0
    while True:
        code, yes, no, value = steps[place]
        place += 1
        match code:
            case 0x20:
                held = struct.unpack_from("=I", data, value)[0]
            case 0x06:
                return int(value)
            case _:
                true = {0x15: held == value, 0x35: held >= value, 0x45: held & value != 0}[code]
                place += yes if true else no


# read, perf_event_open, ptrace, socket, clone, unshare, ioctl, chmod by folder, openat, keyctl
CALLS = {
    "x86_64": (0, 298, 101, 41, 56, 272, 16, 268, 257, 250),
    "aarch64": (63, 241, 117, 198, 220, 97, 29, 53, 56, 219),
}


@pytest.mark.parametrize("machine", CALLS)
def test_what_is_refused_and_what_is_not(machine: str) -> None:
    read, perf, ptrace, socket, clone, unshare, ioctl, chmod, openat, keys = CALLS[machine]
    audit = AUDIT[machine]
    for sockets in (True, False):
        program = filter_program(sockets=sockets, machine=machine)
        assert len(program) // 8 < 4096

        def ask(number: int, *arguments: int, program: bytes = program) -> int:
            return answer(program, number, *arguments, audit=audit)

        assert {ask(number) for number in (read, perf, ptrace, 12345)} == {ALLOW}
        assert ask(keys) == EPERM
        assert {ask(number) for number in (425, 426, 427, 435, 437)} == {ENOSYS}
        assert ask(clone, 17) == ask(unshare, 0x400) == ALLOW
        assert ask(clone, 0x10000000 | 17) == ask(unshare, 0x80) == EPERM
        assert ask(ioctl, 0, 0x5413) == ALLOW
        assert ask(ioctl, 0, 0x5412) == ask(ioctl, 0, 0xFFFFFFFF_00005412) == EPERM
        assert ask(chmod, 0, 0, 0o755) == ALLOW
        assert ask(chmod, 0, 0, 0o4755) == ask(chmod, 0, 0, 0o2755) == EPERM
        assert ask(openat, 0, 0, 0, 0o4755) == ask(openat, 0, 0, 0o100, 0o644) == ALLOW
        assert ask(openat, 0, 0, 0o101, 0o4755) == EPERM
        assert [ask(socket, family) for family in (1, 2, 10, 16)] == [ALLOW if sockets else EPERM] * 4
        assert ask(socket, 40) == ((0x50000 | errno.EAFNOSUPPORT) if sockets else EPERM)
        assert answer(program, read, audit=0x40000003) == ENOSYS
    assert keyctl(machine) == keys


def test_the_second_interface_of_x86_is_refused() -> None:
    assert answer(filter_program(machine="x86_64"), 0x40000000, audit=AUDIT["x86_64"]) == ENOSYS


def test_an_unknown_machine_has_no_filter() -> None:
    assert filter_program(machine="s390x") == b""
    assert keyctl("s390x") == -1
