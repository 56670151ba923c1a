"""Starting a tree of processes and seeing it to its end: pipes, limits and the kill, the same for every sandbox."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from chathpc.errors import ChathpcError
from chathpc.sandbox.contract import Completed, Request, Status
from chathpc.sandbox.supervisor import cpu_time, more_than

#: Seconds between two looks at the number of processes and the free space of the disk.
_LOOK = 0.1
#: Seconds that setting up may take, and that a killed tree has to be gone and its pipes to be empty.
_SET_UP, _GRACE = 30.0, 5.0
_CHUNK = 1 << 16
#: What the sandbox itself may write behind the command's output: its mark and a number (bytes).
_TAIL = 64


@dataclass(frozen=True, slots=True)
class Ended:
    """Exit code or minus signal, CPU seconds, begin and end (time.monotonic) if they are known, bytes written if they were counted."""

    code: int
    cpu_seconds: float
    begin: float | None = None
    end: float | None = None
    written: int | None = None


class Tree(Protocol):
    """What differs between sandboxes once the process that holds the others is started."""

    def stop(self) -> None:
        """Kill the command and all that it started."""
        ...

    def outcome(self, status: int, cpu_seconds: float) -> Ended:
        """Of the holding process's wait status and CPU time: how the command ended."""
        ...


@dataclass(slots=True)
class _Streams:
    """What the command has written, and what of its input is still to be fed. It begins after the mark on stderr, and ends where that comes
    again; behind it stands how many bytes were written in all.
    """

    limit: int
    mark: bytes
    stdin: memoryview
    kept: dict[int, bytearray] = field(default_factory=dict)
    seen: int = 0
    began: float | None = None
    count: bytes = b""

    def read(self, descriptor: int) -> bool:
        """Take what is there; False at the end of the stream."""
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return True
        room = max(0, (self.limit + _TAIL if self.began is not None else _CHUNK) - self.seen)
        kept = self.kept[descriptor]
        kept += data[:room]
        self.seen += len(data)
        if self.began is None and (place := kept.find(self.mark)) >= 0:
            self.began = time.monotonic()
            # Before it stands what the sandbox said of itself.
            del kept[: place + len(self.mark)]
            self.seen = len(kept)
        if self.began is not None and (place := kept.find(self.mark, max(0, len(kept) - _TAIL))) >= 0:
            self.count = bytes(kept[place + len(self.mark) :])
            self.seen -= len(kept) - place
            del kept[place:]
        return bool(data)

    def output(self, stdout: int, stderr: int) -> tuple[bytes, bytes]:
        """Both streams, no more than the limit together."""
        out, error = self.kept[stdout], self.kept[stderr]
        over = max(0, len(out) + len(error) - self.limit)
        from_error = min(over, len(error)) if len(error) > len(out) else 0
        return bytes(out[: len(out) - (over - from_error)]), bytes(error[: len(error) - from_error])

    def feed(self, descriptor: int) -> bool:
        """Write what fits; False when all is written or nobody reads."""
        try:
            self.stdin = self.stdin[os.write(descriptor, self.stdin[:_CHUNK]) :]
        except BlockingIOError:
            return True
        except OSError:
            return False
        return len(self.stdin) > 0


def execute(
    command: Sequence[str],
    request: Request,
    environment: Mapping[str, str],
    tree: Callable[[subprocess.Popen[bytes]], Tree],
    mark: bytes,
    descriptors: Sequence[int] = (),
    trace: int | None = None,
) -> Completed:
    """Start the holding `command` in a session of its own and see it to its end or the request's limits.

    `tree` is called as soon as it is started; `mark` is written to stderr just before the command begins, and is no part
    of its output; where it comes once more, the bytes that were written follow it. `descriptors` are handed on, all others closed;
    what comes out of `trace` goes to the request's. Errors: ChathpcError if the command could not be begun at all, with what the sandbox
    said.
    """
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd="/",
            pass_fds=tuple(descriptors),
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        raise ChathpcError(f"{command[0]} cannot be started: {error.strerror}.", hint="See chathpc doctor.") from error
    with contextlib.ExitStack() as stack:
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            stack.callback(pipe.close)
            os.set_blocking(pipe.fileno(), False)
        handle = os.pidfd_open(process.pid)
        stack.callback(os.close, handle)
        watch = _Watch(process, handle, mark, request, trace)
        # Whatever goes wrong here, an interrupt by the user among it: nothing is left running.
        stack.callback(watch.make_sure)
        watch.tree = tree(process)
        return watch.run()


class _Watch:
    """One running tree: feeds it, reads it, counts it, ends it."""

    def __init__(
        self, process: subprocess.Popen[bytes], handle: int, mark: bytes, request: Request, trace: int | None
    ) -> None:
        self.process = process
        self.handle = handle
        self.trace = trace
        self.mark = mark
        self.request = request
        self.begun = time.monotonic()
        self.tree: Tree | None = None
        self.status: Status = "exited"
        self.reason = ""
        self.spent = 0.0
        self.gone = False
        self.free = _free(request.folder)

    def run(self) -> Completed:
        """See it to its end."""
        assert self.tree is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        stdin, stdout, stderr = (
            pipe.fileno() for pipe in (self.process.stdin, self.process.stdout, self.process.stderr)
        )
        limits = self.request.limits
        streams = _Streams(
            limits.output, self.mark, memoryview(self.request.stdin), {stdout: bytearray(), stderr: bytearray()}
        )
        ended = 0.0
        with selectors.DefaultSelector() as selector:
            selector.register(self.handle, selectors.EVENT_READ)
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stderr, selectors.EVENT_READ)
            if self.trace is not None:
                selector.register(self.trace, selectors.EVENT_READ)
            if self.request.stdin:
                selector.register(stdin, selectors.EVENT_WRITE)
            else:
                self.process.stdin.close()
            stopped: float | None = None
            while selector.get_map():
                now = time.monotonic()
                if self.gone and now > ended + _GRACE:
                    break
                if stopped is None and (status := self._why(now, streams)) is not None:
                    # What is killed is not collected by a parent, so it is asked before; 0 of those that are gone by themselves.
                    self.status, stopped, self.spent = status, now, cpu_time(self.process.pid)
                    self.tree.stop()
                elif stopped is not None and not self.gone and now > stopped + _GRACE:
                    # Not Popen.kill, which may collect it and lose what it used.
                    os.kill(self.process.pid, signal.SIGKILL)
                for key, _ in selector.select(_LOOK):
                    if key.fd == self.handle:
                        ended, self.gone = time.monotonic(), True
                        selector.unregister(self.handle)
                    elif key.fd == stdin:
                        if not streams.feed(stdin):
                            selector.unregister(stdin)
                            self.process.stdin.close()
                    elif key.fd == self.trace:
                        if not self._traced():
                            selector.unregister(self.trace)
                    elif not streams.read(key.fd):
                        selector.unregister(key.fd)
                if self.gone and not {stdout, stderr, self.trace} & set(selector.get_map()):
                    break
        return self._completed(streams, stdout, stderr, ended)

    def _traced(self) -> bool:
        """Hand on what there is of the trace; False at its end."""
        assert self.trace is not None
        assert self.request.trace is not None
        data = os.read(self.trace, _CHUNK)
        if data:
            self.request.trace(data)
        return bool(data)

    def _why(self, now: float, streams: _Streams) -> Status | None:
        """Why it must be ended now, if it must."""
        assert self.tree is not None
        limits = self.request.limits
        if now > (self.begun + _SET_UP if streams.began is None else streams.began) + limits.seconds:
            return "timed-out"
        if streams.began is not None and streams.seen > limits.output:
            return "output-limit"
        if self.gone:
            return None
        if self.request.given_up():
            self.reason = "its caller is gone"
            return "killed"
        if self.free - _free(self.request.folder) > limits.disk:
            self.reason = f"it took more than {limits.disk} bytes of disk"
            return "killed"
        # Cheap first: not more than the machine has in all. What it had before says nothing, since others end too.
        if _tasks() > limits.processes and more_than(limits.processes, self.process.pid):
            self.reason = f"it had more than {limits.processes} processes"
            return "killed"
        return None

    def _completed(self, streams: _Streams, stdout: int, stderr: int, ended: float) -> Completed:
        assert self.tree is not None
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        found = self.tree.outcome(status, usage.ru_utime + usage.ru_stime)
        code = found.code
        out, error = streams.output(stdout, stderr)
        if streams.began is None and self.status == "exited":
            said = error.decode("utf-8", "replace").strip()[-500:]
            raise ChathpcError(f"The sandbox could not begin: {said or 'no message'}.", hint="See chathpc doctor.")
        if self.status != "exited":
            code = -signal.SIGKILL
        elif code < 0:
            self.status = "killed"
        end = ended if found.end is None else found.end
        seen = self.begun if streams.began is None else streams.began
        seconds = max(0.0, end - (seen if found.begin is None else found.begin))
        cpu_seconds = max(self.spent, found.cpu_seconds)
        written = int(streams.count) if streams.count.isdigit() else found.written
        return Completed(self.status, code, out, error, seconds, cpu_seconds, self.reason, written)

    def make_sure(self) -> None:
        """Leave nothing behind, also when reading was broken off."""
        if self.process.returncode is not None:
            return
        if self.tree is not None:
            self.tree.stop()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_GRACE)
        self.process.kill()
        self.process.wait()


def signalled(code: int) -> int:
    """An exit status of 128 + n, by which shells and bubblewrap tell of a signal n, as −n; others as they are."""
    return 128 - code if 129 <= code <= 159 else code


def _free(folder: Path) -> int:
    try:
        state = os.statvfs(folder)
    except OSError:
        return 0
    return state.f_bavail * state.f_frsize


def _tasks() -> int:
    """Tasks of the whole machine."""
    try:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read().split()[3].split(b"/")[1])
    except (OSError, ValueError, IndexError):
        return 0
