"""Runs commands as a shell does, with the user's own streams: the runner of `chathpc measure`. No sandbox."""

from __future__ import annotations

import os
import re
import selectors
import signal
import stat
import subprocess
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from resource import RUSAGE_SELF, getrusage, struct_rusage
from typing import IO, Literal

from chathpc.errors import Terminated
from chathpc.sandbox import Completed, Request
from chathpc.sandbox.contract import Status

_PIECE = 1 << 16
#: After the command has ended, something that it started may still hold its streams open (seconds that are waited).
_GRACE = 0.5
#: What is asked to end is killed after so many seconds.
_ENDING = 2.0
#: How often it is looked whether the command has ended though its streams are open (seconds).
_LOOK = 0.1
#: How the status of a process begins that measures others.
_PROFILER = re.compile(r"Name:\s*(perf|hpcrun|nsys|ncu|rocprof|py-spy)")


@dataclass(frozen=True, slots=True)
class Direct:
    """Runs requests directly. With `shown` what a command prints is passed on as it comes, to the descriptors of `shown`.

    `reads` is its standard input, where the request has none: nothing, the user's own, or the user's own read anew if that is a file
    (nothing if not). Of the request's limits only time is held, and `output` bounds what is kept, not what is passed on.
    """

    shown: tuple[int, int] | None = None
    reads: Literal["nothing", "own", "file"] = "nothing"

    def __call__(self, request: Request) -> Completed:
        """Run it to its end. Ctrl-C goes to the command, and its end is waited for: KeyboardInterrupt unless it then ends well. A second one
        kills it and what it has started; SIGTERM, where it is Terminated, ends them.
        """
        begin = time.monotonic()
        with ExitStack() as open_files:
            streams = [_Stream(self._terminal(number), open_files) for number in (0, 1)]
            try:
                process = subprocess.Popen(
                    request.command,
                    cwd=request.folder,
                    env=dict(request.environment),
                    stdin=self._stdin(request, open_files),
                    stdout=streams[0].child,
                    stderr=streams[1].child,
                )
            except (OSError, ValueError) as error:
                said = f"{request.command[0]}: {getattr(error, 'strerror', None) or error}\n".encode()
                return Completed("exited", 127, b"", said, time.monotonic() - begin, 0.0)
            for stream in streams:
                stream.close_child()
            before = getrusage(RUSAGE_SELF).ru_maxrss
            status, code, used, held = self._follow(process, streams, request, begin)
        kept = [bytes(stream.kept) for stream in streams]
        # The kernel counts what a process held before it became the command, which is what this one holds, and what a profiler holds; a larger
        # figure without one is the command's.
        counted = used.ru_maxrss > before and not held.profiled
        cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss if counted else held.most or used.ru_maxrss
        return Completed(
            status, code, kept[0], kept[1], time.monotonic() - begin, cpu, peak=peak * 1024, queued=held.queued
        )

    def _terminal(self, number: int) -> bool:
        """Whether the user's stream is a terminal: then the command gets one too, and writes line by line as it would alone."""
        return self.shown is not None and os.isatty(self.shown[number])

    def _stdin(self, request: Request, open_files: ExitStack) -> int | IO[bytes] | None:
        if request.stdin:
            file = open_files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # closed by the stack
            file.write(request.stdin)
            file.seek(0)
            return file
        if self.reads == "own":
            return None
        if self.reads == "file":
            with suppress(OSError):
                if stat.S_ISREG(os.fstat(0).st_mode):
                    return open_files.enter_context(open("/proc/self/fd/0", "rb"))  # a position of its own
        return subprocess.DEVNULL

    def _follow(
        self, process: subprocess.Popen[bytes], streams: list[_Stream], request: Request, begin: float
    ) -> tuple[Status, int, struct_rusage, _Held]:
        status: Status = "exited"
        held, looked = _Held(), begin
        ended: tuple[int, struct_rusage] | None = None
        until = begin + request.limits.seconds
        interrupted = False
        with selectors.DefaultSelector() as selector:
            for number, stream in enumerate(streams):
                selector.register(stream.parent, selectors.EVENT_READ, number)
            while selector.get_map() or ended is None:
                try:
                    for key, _ in selector.select(_LOOK if selector.get_map() else 0):
                        piece = streams[key.data].read(request.limits.output)
                        if not piece:
                            selector.unregister(key.fileobj)
                        elif self.shown is not None:
                            _pass_on(self.shown[key.data], piece)
                    if ended is None and time.monotonic() - looked >= _LOOK:
                        held.look(process.pid)
                        looked = time.monotonic()
                    if ended is None:
                        ended = _ended(process, wait=not selector.get_map() and until == float("inf"))
                        if ended is not None:
                            until = time.monotonic() + _GRACE
                        elif not selector.get_map():
                            time.sleep(0.005)
                    if time.monotonic() > until:
                        if ended is not None:
                            break
                        process.kill()
                        status, until = "timed-out", float("inf")
                except KeyboardInterrupt as interrupt:
                    if interrupted or isinstance(interrupt, Terminated):
                        if ended is None:
                            _end(process, gently=not interrupted)
                        raise
                    interrupted = True
        code, used = ended
        if interrupted and code != 0:
            raise KeyboardInterrupt
        return ("killed" if code < 0 and status == "exited" else status), code, used, held


@dataclass(slots=True)
class _Held:
    """Kilobytes that any one process of a command, which is no profiler, has held at once so far (VmHWM of proc(5)), and nanoseconds that
    each thread of such has waited for a core.
    """

    most: int = 0
    profiled: bool = False
    waited: dict[str, int] = field(default_factory=dict)

    @property
    def queued(self) -> float | None:
        """Seconds that all threads together have waited for a core; None where that was not seen."""
        return sum(self.waited.values()) * 1e-9 if self.waited else None

    def look(self, pid: int) -> None:
        """Look at the process and those below it."""
        for each in _family(pid):
            with suppress(OSError, IndexError):
                status = Path(f"/proc/{each}/status").read_text("utf-8", "replace")
                if _PROFILER.match(status):
                    self.profiled = True
                    continue
                if known := re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE):
                    self.most = max(self.most, int(known[1]))
                for thread in Path(f"/proc/{each}/task").iterdir():
                    self.waited[thread.name] = int((thread / "schedstat").read_text().split()[1])


def _family(pid: int) -> list[int]:
    """The process and those below it."""
    found = [pid]
    for each in found:
        with suppress(OSError):
            for thread in Path(f"/proc/{each}/task").iterdir():
                found += map(int, (thread / "children").read_text().split())
    return found


@dataclass(slots=True)
class _Stream:
    """One of the two streams of a command: a terminal or a pipe, and what came out of it."""

    terminal: bool
    open_files: ExitStack
    parent: int = -1
    child: int = -1
    kept: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self.parent, self.child = _terminal_pair() if self.terminal else os.pipe()
        self.open_files.callback(os.close, self.parent)
        self.open_files.callback(self.close_child)

    def close_child(self) -> None:
        """Leave the other end to the command alone, so that its end is seen."""
        if self.child >= 0:
            os.close(self.child)
            self.child = -1

    def read(self, most: int) -> bytes:
        """What is there now; nothing at the end."""
        try:
            piece = os.read(self.parent, _PIECE)
        except OSError:  # a terminal whose other end is closed
            return b""
        self.kept += piece[: max(0, most - len(self.kept))]
        return piece


def _terminal_pair() -> tuple[int, int]:
    """A pseudo-terminal that leaves bytes as they are and is as wide as the user's."""
    import fcntl
    import termios

    parent, child = os.openpty()
    mode = termios.tcgetattr(child)
    mode[1] &= ~termios.OPOST
    termios.tcsetattr(child, termios.TCSANOW, mode)
    with suppress(OSError):
        fcntl.ioctl(child, termios.TIOCSWINSZ, fcntl.ioctl(1, termios.TIOCGWINSZ, b"\0" * 8))
    return parent, child


def _ended(process: subprocess.Popen[bytes], *, wait: bool) -> tuple[int, struct_rusage] | None:
    """(exit status or minus the signal, what it and its children used) if it has ended."""
    pid, status, used = os.wait4(process.pid, 0 if wait else os.WNOHANG)
    if pid == 0:
        return None
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used


def _end(process: subprocess.Popen[bytes], *, gently: bool) -> None:
    """End it and all below it, `gently` with a while for their own end; what a profiler has started would outlive it."""
    family = _family(process.pid)
    until = time.monotonic() + _ENDING
    for number in (signal.SIGTERM, signal.SIGKILL) if gently else (signal.SIGKILL,):
        for pid in family:
            with suppress(OSError):
                os.kill(pid, number)
        while (
            number == signal.SIGTERM
            and time.monotonic() < until
            and any(Path(f"/proc/{pid}").exists() for pid in family)
        ):
            if process.returncode is None:
                _ended(process, wait=False)
            time.sleep(0.01)
    if process.returncode is None:
        _ended(process, wait=True)


def _pass_on(descriptor: int, piece: bytes) -> None:
    """Write all of it; a reader that went away is no reason to stop measuring."""
    with suppress(OSError):
        while piece:
            piece = piece[os.write(descriptor, piece) :]
