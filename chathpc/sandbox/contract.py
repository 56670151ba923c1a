"""What a sandbox is asked and what it answers; every sandbox passes the same suite (tests/sandbox)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

Status = Literal["exited", "killed", "timed-out", "output-limit"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one command and all that it starts: wall seconds, and bytes and counts a process where nothing else is said.

    `seconds` ends the whole tree of processes; `memory` is address space (RLIMIT_AS), `file` the largest file (RLIMIT_FSIZE),
    `processes` those that it has at once (RLIMIT_NPROC on top of those that the user has already; root's, whom the kernel exempts, are
    counted), `output` the bytes of stdout and stderr together. `temporary` is the size of /tmp and of /dev/shm each, where they are
    private; `disk` is by how much the free space of the folder's file system may shrink meanwhile, whoever takes it.
    """

    seconds: float = 600.0
    memory: int = 16 << 30
    file: int = 4 << 30
    processes: int = 1024
    output: int = 10 << 20
    temporary: int = 1 << 30
    disk: int = 32 << 30


@dataclass(frozen=True, slots=True)
class Request:
    """One command. `folder` is its working folder and may be written, as may `writable`; `readable` are shown besides the system.

    All paths are absolute and look the same inside; links in them are followed, so none may be named that other code could have put
    there. `environment` is the whole environment: nothing of the caller's is handed on, and only what it lacks (PATH, HOME, TMPDIR, LANG,
    Open MPI's leave for root) is added. `gpu` shows the devices of GPUs. `trace` takes the pieces of strace's record of all that the
    command asks of the kernel, as they come; None: it is not traced (sandbox/tracing.py). `shown` is where `folder` appears inside, if that
    is not where it is; only a sandbox that `relocates` can do that. `given_up` is asked now and then whether nobody waits for it any more.
    """

    command: tuple[str, ...]
    folder: Path
    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    limits: Limits = Limits()
    gpu: bool = False
    trace: Callable[[bytes], None] | None = None
    shown: Path | None = None
    given_up: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Completed:
    """What came of it. `code` is the exit status, or minus the signal; `seconds` wall time, `cpu_seconds` of all processes.

    A status of 129 to 159, by which a shell says that what it ran fell to a signal, counts as that signal. `seconds` is counted from the
    moment when the command itself begins. `reason` says in words why it was ended where the limit is none of time or output.
    `written` are the bytes that all its processes together handed to calls that write, whatever they wrote to, as the kernel counted
    them (wchar of proc(5)); None where the kernel does not count, or the command was ended. `peak` is what any one of them held at once at
    most (bytes; it counts what the one that started it held); 0 where that is not known. `queued` are the seconds that all its threads
    together, without a profiler's, were seen to wait for a core (proc(5), schedstat), None where nobody looked; `without_core` those in
    which, at least, it lacked one; both counted by `chathpc measure` alone.
    """

    status: Status
    code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    cpu_seconds: float
    reason: str = ""
    written: int | None = None
    peak: int = 0
    queued: float | None = None
    without_core: float = 0.0

    @property
    def succeeded(self) -> bool:
        """It ended by itself with status 0."""
        return self.status == "exited" and self.code == 0

    @property
    def said(self) -> str:
        """What it wrote to stderr, else what it wrote to stdout."""
        return (self.stderr or self.stdout).decode("utf-8", "replace")

    @property
    def last_words(self) -> str:
        """The last line that it wrote to stderr."""
        return self.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]

    @property
    def ending(self) -> str:
        """How it ended: its exit status, or what ended it."""
        return f"status {self.code}" if self.status == "exited" else self.status


class Sandbox(Protocol):
    """Runs a command so that it reaches nothing but what the request names: no network, no keys, no other processes."""

    @property
    def name(self) -> str:
        """bubblewrap, landlock or none."""
        ...

    @property
    def relocates(self) -> bool:
        """Whether a folder can appear inside at another place than where it is."""
        ...

    def run(self, request: Request) -> Completed:
        """Run it to its end or its limits. Never raises for what the command does."""
        ...
