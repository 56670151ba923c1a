"""Work in a child process that cannot harm its parent: a crash, a hang, too much memory or a signal ends the child only."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import NoReturn

from chathpc.errors import ChathpcError

#: What batch systems and users send to end a job, and what the kernel sends at a CPU-time limit.
_ENDING = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU)
#: The child gives way to whatever else runs on the node.
_NICENESS = 10
#: Variables by which numerical libraries learn how many threads they may start.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
#: A message longer than this is no message; also keeps it within one write to a pipe.
_LONGEST = 4000


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the work ended: with an answer, or with a reason why there is none."""

    done: bool
    message: str


class _Stopped(Exception):
    """A signal asks to end, or the time is over."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def supervise(work: Callable[[], str], limit: float) -> Outcome:
    """Run `work` in a child process for at most `limit` seconds; its text, or why there is none. Raises nothing.

    The child runs at low priority, with one thread for numerical libraries, and leaves no core file. When the time is over,
    and on a signal that asks to end, it is killed: also in the middle of a long call into a library.
    """
    child = 0
    reading = -1
    try:
        _on_signals(_stop)
        reading, writing = os.pipe()
        sys.stdout and sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _child(work, writing)
        os.close(writing)
        signal.setitimer(signal.ITIMER_REAL, max(limit, 0.001))
        answer = _read_all(reading)
        return _outcome(answer, _wait(child))
    except _Stopped as stop:
        _on_signals(signal.SIG_IGN)
        if stop.number == signal.SIGALRM:
            return Outcome(False, f"stopped after {limit:.3g} s: the time limit is reached")
        return Outcome(False, f"stopped by {signal.Signals(stop.number).name}")
    except OSError as error:
        return Outcome(False, f"cannot start: {error.strerror}")
    finally:
        _on_signals(signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if child:
            _end(child)
        if reading >= 0:
            os.close(reading)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise _Stopped(number)


def _on_signals(handler: Callable[[int, FrameType | None], NoReturn] | signal.Handlers) -> None:
    for number in (*_ENDING, signal.SIGALRM):
        signal.signal(number, handler)


def _read_all(descriptor: int) -> bytes:
    parts = []
    while part := os.read(descriptor, 65536):
        parts.append(part)
    return b"".join(parts)


def _wait(child: int) -> int:
    """Exit status of the child, which remains to be collected."""
    found = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    return 0 if found is None else found.si_status


def _end(child: int) -> None:
    """Kill the child with all that it started, and collect it."""
    for kill in (lambda: os.killpg(child, signal.SIGKILL), lambda: os.kill(child, signal.SIGKILL)):
        with suppress(ProcessLookupError, PermissionError):
            kill()
    with suppress(ChildProcessError):
        os.waitpid(child, 0)


def _outcome(answer: bytes, status: int) -> Outcome:
    try:
        content = json.loads(answer)
        return Outcome(bool(content["done"]), str(content["message"]))
    except (ValueError, KeyError, TypeError):
        return Outcome(False, f"ended unexpectedly (status {status}), perhaps for lack of memory")


def _child(work: Callable[[], str], writing: int) -> NoReturn:
    """The child: works, tells how it went, and leaves without running what the parent has to run at its exit."""
    try:
        os.setpgid(0, 0)
        _on_signals(signal.SIG_DFL)
        _be_modest()
        message, done = work(), True
    except ChathpcError as error:
        message, done = f"{error.message} {error.hint}".strip(), False
    except MemoryError:
        message, done = "out of memory", False
    except BaseException as error:  # noqa: BLE001  # whatever it is, the job must not fail
        if os.environ.get("CHATHPC_DEBUG", "") not in ("", "0"):
            traceback.print_exc()
        message, done = f"internal error, please report it: {type(error).__name__}: {error}", False
    with suppress(OSError):
        text = " ".join(message.split())[:_LONGEST]
        os.write(writing, json.dumps({"done": done, "message": text}).encode("ascii"))
    os._exit(0)


def _be_modest() -> None:
    with suppress(OSError):
        os.nice(_NICENESS)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for variable in _THREADS:
        os.environ[variable] = "1"
    if os.environ.get("CHATHPC_DEBUG", "") in ("", "0"):
        # Libraries write to these whatever one tells them, and the job's log is to get one line.
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
