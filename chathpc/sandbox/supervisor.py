"""Holds one command and all that it starts, where there is no namespace to do so; runs alone, as `python -I -S -c`.

It is the child subreaper (prctl(2)), so that processes which fork twice and leave their session stay below it, and it ends only when
none is left. It takes a job (JSON) from one descriptor and reports on another, a line of JSON; a mark on
stderr says that the command begins. Only the standard library is imported: the process must start fast and stand apart.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import time
from typing import Any

_SET_DEATH_SIGNAL, _SET_SUBREAPER, _SET_NO_NEW_PRIVILEGES = 1, 36, 38
_SET_SECCOMP, _DROP_BOUNDING, _CLEAR_AMBIENT = 22, 24, (47, 4)
_ADD_RULE, _RESTRICT_SELF, _CREATE_RULESET = 445, 446, 444
_CAPABILITY_VERSION = 0x20080522
#: Asks it to end, with all below it.
STOP = signal.SIGTERM


def descendants(pid: int) -> list[int]:
    """Processes below `pid`, from one reading of /proc."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    # The name of a program may hold spaces and parentheses; the last one closes it.
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(name))
    found = list(children.get(pid, ()))
    for child in found:
        found.extend(children.get(child, ()))
    return found


def more_than(limit: int, pid: int) -> bool:
    """Whether more than `limit` processes are below `pid`: read from its tree alone where the kernel tells children (proc(5)).

    A process that just ends may be passed over, so this bounds a tree but does not end one.
    """
    found = [pid]
    for process in found:
        try:
            tasks = os.listdir(f"/proc/{process}/task")
        except OSError:
            continue
        for task in tasks:
            try:
                with open(f"/proc/{process}/task/{task}/children", "rb") as file:
                    found.extend(map(int, file.read().split()))
            except (FileNotFoundError, ProcessLookupError):
                if process == pid and task == str(pid):
                    return len(descendants(pid)) > limit
            except OSError:
                continue
            if len(found) - 1 > limit:
                return True
    return False


def cpu_time(pid: int) -> float:
    """CPU seconds so far of `pid`, all below it, and those that they have waited for."""
    ticks = 0
    for process in (pid, *descendants(pid)):
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{process}/stat", "rb") as file:
            ticks += sum(int(field) for field in file.read().rpartition(b")")[2].split()[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


class _Attribute(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("folder", ctypes.c_int32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("steps", ctypes.c_void_p))


def _must(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _prctl(*arguments: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    _must(libc.prctl(*(ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:5])))


def drop_capabilities() -> None:
    """Give up every capability for good: root is then bound by the permissions of files as others are."""
    libc = ctypes.CDLL(None, use_errno=True)
    with contextlib.suppress(OSError):
        _prctl(*_CLEAR_AMBIENT)
    for capability in range(64):
        # Numbers that the kernel does not know, and users who have none to drop, are refused.
        with contextlib.suppress(OSError):
            _prctl(_DROP_BOUNDING, capability)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _must(libc.capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)())))


def landlock(masks: list[int], rules: list[list[Any]], inner: int) -> None:
    """Shut this process in: `rules` are paths with what is allowed below them; `inner` are the rights that single files can have."""
    libc = ctypes.CDLL(None, use_errno=True)
    attribute = _Attribute(*masks)
    size = 24 if masks[2] else 16 if masks[1] else 8
    ruleset = _must(libc.syscall(_CREATE_RULESET, ctypes.byref(attribute), ctypes.c_size_t(size), 0))
    for path, access in rules:
        try:
            folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        rule = _PathRule(access if os.path.isdir(path) else access & inner, folder)
        _must(libc.syscall(_ADD_RULE, ruleset, 1, ctypes.byref(rule), 0))
        os.close(folder)
    _must(libc.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _filter(steps: bytes) -> None:
    buffer = ctypes.create_string_buffer(steps, len(steps))
    program = _Program(len(steps) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    _prctl(_SET_SECCOMP, 2, ctypes.addressof(program))


def _become(job: dict[str, Any], began: int) -> None:
    """In the child: limits, walls, the time at which it begins (into `began`), then the command."""
    _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    os.setsid()
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    for number, value in job["limits"]:
        hard = resource.getrlimit(number)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (value, value))
    os.chdir(job["folder"])
    if job["walls"] is not None:
        walls = job["walls"]
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall(walls["keyctl"], 1, None)  # a session key ring of its own
        drop_capabilities()
        _prctl(_SET_NO_NEW_PRIVILEGES, 1)
        landlock(walls["masks"], walls["rules"], walls["inner"])
        if walls["filter"]:
            _filter(bytes.fromhex(walls["filter"]))
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and what is ignored stays so
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.write(began, repr(time.monotonic()).encode())
    os.write(2, job["mark"].encode())
    try:
        os.execvpe(job["command"][0], job["command"], job["environment"])  # noqa: S606
    except FileNotFoundError:
        os.write(2, b"%s: not found\n" % os.fsencode(job["command"][0]))
        os._exit(127)
    except OSError as error:
        os.write(2, b"%s: %s\n" % (os.fsencode(job["command"][0]), os.fsencode(str(error.strerror))))
        os._exit(126)


def _reap(child: int) -> int | None:
    """Collect all that have ended; the wait status of `child` if it is among them."""
    status = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, ended = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == child:
                status = ended
    return status


def _sweep(child: int) -> int | None:
    """Kill all that is left below, stopped first so that none can fork away; the status of `child` if it ended only now."""
    status = None
    held: set[int] = set()
    while fresh := set(descendants(os.getpid())) - held:
        for pid in fresh:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)
        held |= fresh
    while left := descendants(os.getpid()):
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        signal.sigtimedwait({signal.SIGCHLD}, 0.01)
        ended = _reap(child)
        status = ended if status is None else status
    return status


def written() -> int | None:
    """Bytes that this process and all whose end it has seen handed to calls that write; None where the kernel does not count."""
    try:
        with open("/proc/self/io") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("wchar:"))
    except (OSError, ValueError, StopIteration):
        return None


def main(job_descriptor: int, report: int) -> None:
    """Run the job to its end, leave nothing behind, and report."""
    with open(job_descriptor, "rb") as file:
        job = json.load(file)
    os.set_inheritable(report, False)
    _prctl(_SET_SUBREAPER, 1)
    _prctl(_SET_DEATH_SIGNAL, STOP)
    asked = {STOP, signal.SIGINT, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, asked | {signal.SIGCHLD})
    begun, began = os.pipe()  # closed by exec
    child = os.fork()
    if child == 0:
        try:
            _become(job, began)
        except (OSError, ValueError) as error:
            os.write(2, os.fsencode(f"{error}\n"))
        finally:
            os._exit(125)
    os.close(began)
    # Its own ends of the pipes would keep them open.
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    status = None
    while status is None and os.getppid() == job["parent"]:
        told = signal.sigtimedwait(asked | {signal.SIGCHLD}, 1.0)
        status = _reap(child)
        if told is not None and told.si_signo in asked:
            break
    end = time.monotonic()
    last = _sweep(child)
    status = last if status is None else status
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = -signal.SIGKILL if status is None else os.waitstatus_to_exitcode(status)
    # Whoever reads the mark may be late.
    begin = float(os.read(begun, 64) or end)
    found = {"code": code, "begin": begin, "end": end, "cpu": usage.ru_utime + usage.ru_stime, "written": written()}
    with contextlib.suppress(OSError):
        os.write(report, json.dumps(found).encode() + b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
