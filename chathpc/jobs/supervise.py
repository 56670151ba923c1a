"""Work in a child process that cannot harm its parent: a crash, a hang, too much memory or a signal ends the child only."""

from __future__ import annotations

import json
import os
import resource
import signal
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from chathpc.errors import ChathpcError

#: What batch systems and users send to end a job, and what the kernel sends at a CPU-time limit.
_ENDING = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU, signal.SIGALRM)
_AWAITED = (*_ENDING, signal.SIGCHLD)
#: No limit is longer (seconds): a week.
_LONGEST_LIMIT = 604_800.0
#: The child gives way to whatever else runs on the node.
_NICENESS = 10
#: Variables by which numerical libraries learn how many threads they may start.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
#: Characters of a message and of a note; even escaped as JSON both fit into a pipe (64 KiB), so that the child never waits for its parent.
_LONGEST_MESSAGE = 2000


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the work ended: with an answer, or with a reason why there is none; `note` is what went wrong all the same."""

    done: bool
    message: str
    note: str = ""


#: An answer, and what went wrong all the same.
Work = Callable[[], tuple[str, str]]


def supervise(work: Work, limit: float) -> Outcome:
    """Run `work` in a child process for at most `limit` seconds; its text, or why there is none. Raises nothing.

    The child runs at low priority, with one thread for numerical libraries, and leaves no core file. When the time is over,
    and on a signal that asks to end, it is killed: also in the middle of a long call into a library. Such signals are
    blocked in this process from here on, and are waited for; none can interrupt it at an unfortunate moment.
    """
    limit = min(limit, _LONGEST_LIMIT)
    signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        reading, writing = os.pipe()
        child = os.fork()
    except OSError as error:
        return Outcome(False, f"cannot start a process: {error.strerror}")
    if child == 0:
        os.close(reading)
        _child(work, writing, limit)
    os.close(writing)
    try:
        ended = _wait(child, time.monotonic() + limit)
        if ended is None:
            return _outcome(_answer(reading), _reap(child))
        _kill(child)
        return Outcome(
            False,
            f"stopped at the time limit of {limit:.3g} s" if ended == 0 else f"stopped by {signal.Signals(ended).name}",
        )
    finally:
        os.close(reading)


def _wait(child: int, until: float) -> int | None:
    """Wait for the child to end (None), for the time to be over (0), or for a signal that asks to end (its number)."""
    while True:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return None
        received = signal.sigtimedwait(_AWAITED, max(0.0, until - time.monotonic()))
        if received is None:
            return 0
        if received.si_signo != signal.SIGCHLD:
            return received.si_signo


def _answer(reading: int) -> bytes:
    """What the child wrote. Does not wait: something that the child started may still hold the pipe open."""
    os.set_blocking(reading, False)
    with suppress(BlockingIOError):
        return os.read(reading, 1 << 20)
    return b""


def _reap(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _kill(child: int) -> None:
    """Kill the child with all that it started, and collect it."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    _reap(child)


def _outcome(answer: bytes, status: int) -> Outcome:
    try:
        content = json.loads(answer)
        return Outcome(bool(content["done"]), str(content["message"]), str(content["note"]))
    except (ValueError, KeyError, TypeError):
        how = signal.Signals(-status).name if status < 0 else f"status {status}"
        return Outcome(False, f"ended unexpectedly with {how}{', possibly out of memory' if status == -9 else ''}")


def _child(work: Work, writing: int, limit: float) -> NoReturn:
    """The child: works, tells how it went, and leaves without running what the parent has to run at its exit."""
    done, note = False, ""
    try:
        _be_modest(limit)
        message, note = work()
        done = True
    except ChathpcError as error:
        message = f"{error.message.rstrip('.')}. {error.hint}" if error.hint else error.message
    except MemoryError:
        message = "out of memory"
    except BaseException as error:  # noqa: BLE001  # whatever it is, the job must not fail
        if _debugging():
            traceback.print_exc()
        message = f"internal error, please report it: {type(error).__name__}: {error}"
    with suppress(OSError):
        message, note = (" ".join(text.split())[:_LONGEST_MESSAGE] for text in (message, note))
        os.write(writing, json.dumps({"done": done, "message": message, "note": note}).encode("ascii"))
    os._exit(0)


def _debugging() -> bool:
    return os.environ.get("CHATHPC_DEBUG", "") not in ("", "0")


def _be_modest(limit: float) -> None:
    """Low priority, few threads, no core file, silent; and an end of its own should the parent be killed."""
    with suppress(OSError):
        os.setpgid(0, 0)
    for number in _ENDING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _AWAITED)
    signal.setitimer(signal.ITIMER_REAL, limit + 1)
    with suppress(OSError):
        os.nice(_NICENESS)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for variable in _THREADS:
        os.environ[variable] = "1"
    if not _debugging():
        # Libraries write to these whatever one tells them, and the job's log is to get one line.
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
