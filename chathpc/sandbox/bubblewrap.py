"""Bubblewrap: namespaces of its own for files, processes, network, IPC and users; the strongest sandbox that needs no rights."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import resource
import secrets
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from chathpc.errors import ChathpcError
from chathpc.sandbox import system
from chathpc.sandbox.contract import Completed, Request
from chathpc.sandbox.execution import Ended, execute, signalled
from chathpc.sandbox.seccomp import filter_program
from chathpc.sandbox.system import resource_limits
from chathpc.sandbox.tracing import Trace

#: First process inside: says when the command begins, hands its status on, and says how many bytes it and all that it waited for handed to
#: calls that write. Its own words ("Segmentation fault") are nobody's output.
_FIRST = (
    'printf %s "$0" >&2; exec 9>&2 2>/dev/null; (exec 2>&9 9>&-; exec "$@"); status="$?"; '
    'while read -r name value; do [ "$name" = wchar: ] && printf %s%s "$0" "$value" >&9; done </proc/self/io; exit "$status"'
)
#: Seconds within which bubblewrap has made its namespaces.
_SET_UP = 20.0


class Bubblewrap:
    """Runs commands in bubblewrap (bwrap)."""

    name = "bubblewrap"
    relocates = True

    def __init__(self, program: str | None = None) -> None:
        """`program` is bwrap, by default the one on the PATH."""
        self._program = program or shutil.which("bwrap") or "bwrap"

    def run(self, request: Request) -> Completed:
        """Run it to its end or its limits. Errors: UsageError for an impossible request, ChathpcError if bwrap itself fails."""
        system.check(request)
        (status, status_end), (gate_end, gate) = os.pipe(), os.pipe()
        trace = Trace(request)
        handed = [status_end, gate_end, *trace.handed]
        kept = [status, gate, *trace.kept]
        mark = secrets.token_hex(16)
        try:
            options = [*self._options(request)]
            for path, text in _accounts().items():
                handed.append(_held(text))
                options += ["--ro-bind-data", str(handed[-1]), path]
            if steps := filter_program():
                handed.append(_held(steps))
                options += ["--seccomp", str(handed[-1])]
            options += ["--remount-ro", "/", "--chdir", str(request.shown or request.folder)]
            options += ["--json-status-fd", str(status_end), "--block-fd", str(gate_end), "--"]
            command = [self._program, *options, "/bin/sh", "-c", _FIRST, mark, *trace.command]

            def begin(process: subprocess.Popen[bytes]) -> _Namespace:
                while handed:
                    os.close(handed.pop())
                namespace = _Namespace(process)
                kept.extend(namespace.let_go(status, gate, request))
                return namespace

            environment = system.environment(request, "/tmp")  # noqa: S108 - its own
            return execute(command, request, environment, begin, mark.encode(), handed, trace.end)
        finally:
            for descriptor in (*handed, *kept):
                os.close(descriptor)

    def _options(self, request: Request) -> Iterator[str]:
        known = _known_options(self._program)
        yield from (f"--unshare-{what}" for what in ("user", "ipc", "pid", "net", "uts", "cgroup-try"))
        yield from ("--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL", "--hostname", "sandbox")
        if "--disable-userns" in known:
            yield "--disable-userns"
        size = ("--size", str(request.limits.temporary)) if "--size" in known else ()
        for path in system.PROGRAMS:
            if os.path.islink(path):
                yield from ("--symlink", os.readlink(path), path)
            elif os.path.isdir(path):
                yield from ("--ro-bind", path, path)
        for path in system.SETTINGS:
            yield from ("--ro-bind-try", path, path)
        # Root stays the owner of the kernel's settings below /proc, and needs no capability to write some of them (core_pattern).
        yield from ("--proc", "/proc")
        # NVIDIA's driver gives up if it cannot name its threads (/proc/self/task/N/comm).
        for path in system.settings_of_kernel() if request.gpu else ():
            yield from ("--ro-bind-try", path, path)
        yield from (() if request.gpu else ("--remount-ro", "/proc"))
        yield from ("--dev", "/dev", *size, "--tmpfs", "/dev/shm")  # noqa: S108 - its own
        for path in system.gpu_devices() if request.gpu else ():
            yield from ("--dev-bind", path, path)
        yield from ("--remount-ro", "/dev")
        for path in ("/sys",) if request.gpu else system.HARDWARE:
            yield from ("--ro-bind-try", path, path)
        yield from (*size, "--tmpfs", "/tmp", "--symlink", "/tmp", "/var/tmp")  # noqa: S108 - its own
        # Parents before what lies in them: what is named closer to a file decides; writing wins where a path is named twice.
        shown = dict.fromkeys(request.readable, "--ro-bind")
        shown |= dict.fromkeys((*request.writable, request.shown or request.folder), "--bind")
        for shared in sorted(shown, key=lambda path: len(path.parts)):
            yield from (shown[shared], str(request.folder if shared == request.shown else shared), str(shared))


class _Namespace:
    """The process namespace: its first process is the shell around the command, and all in it end with that."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._first: int | None = None

    def let_go(self, status: int, gate: int, request: Request) -> list[int]:
        """Wait for the namespaces, set the limits of the first process, and let it go on. The descriptors that it needs, to close."""
        pid = _child(status)
        try:
            if pid is None:
                raise OSError  # bwrap failed; what it said is read with its stderr
            self._first = os.pidfd_open(pid)
            _limit(pid, request)
            os.write(gate, b".")
        except OSError:
            os.kill(self._process.pid, signal.SIGKILL)  # not a step without its limits
        return [] if self._first is None else [self._first]

    def stop(self) -> None:
        # The first process is killed, not bwrap, so that the CPU time of all is still collected.
        if self._first is None:
            os.kill(self._process.pid, signal.SIGKILL)
        else:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)

    def outcome(self, status: int, cpu_seconds: float) -> Ended:
        return Ended(signalled(os.waitstatus_to_exitcode(status)), cpu_seconds)


def _child(status: int) -> int | None:
    """The process id of the first process, as bwrap tells it; None if it does not."""
    told, deadline = b"", time.monotonic() + _SET_UP
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([status], [], [], left)[0] or not (data := os.read(status, 4096)):
            return None
        told += data
        # The document is written in pieces; its first member is whole when something stands behind it.
        if found := re.search(rb'"child-pid": *(\d+) *[,}]', told):
            return int(found[1])
    return None


def _limit(pid: int, request: Request) -> None:
    """Set the limits of a process that waits; where bwrap is setuid it is ours only after a moment."""
    deadline = time.monotonic() + _SET_UP
    for number, value in resource_limits(request):
        while True:
            hard = resource.prlimit(pid, number)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            try:
                resource.prlimit(pid, number, (value, value))
                break
            except PermissionError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.002)
    # If memory runs out, the kernel looks here first.
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text("1000")


def _accounts() -> dict[str, bytes]:
    """Files below /etc that are made up: the one user, the one host, no name services."""
    user, group = os.getuid(), os.getgid()
    name = "root" if user == 0 else "user"
    lines = [f"{name}:x:{user}:{group}::/tmp:/bin/sh"] + ([] if user == 0 else ["root:x:0:0::/tmp:/bin/sh"])
    return {
        "/etc/passwd": "".join(f"{line}\n" for line in lines).encode(),
        "/etc/group": f"{name}:x:{group}:\n".encode(),
        "/etc/hosts": b"127.0.0.1 localhost sandbox\n::1 localhost\n",
        "/etc/nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files\n",
    }


@functools.lru_cache
def _known_options(program: str) -> frozenset[str]:
    """Options that this version of bwrap has: older ones lack a few, and do without."""
    try:
        text = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=_SET_UP, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ChathpcError(f"{program} cannot be started.", hint="Install the package bubblewrap.") from error
    return frozenset(word for word in (text.stdout + text.stderr).split() if word.startswith("--"))


def _held(data: bytes) -> int:
    """A descriptor from which `data` can be read."""
    descriptor = os.memfd_create("chathpc", os.MFD_CLOEXEC)
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
