"""Run a reader on hostile input, each case in a process of its own with limits, and say how it ended.

A server process imports everything once and forks a child for each case. The child has a limit on address space and reports
its time and memory; the parent kills it when it does not come back. So a hang, a blow-up or a crash of the interpreter
is the outcome of a case, not the end of the tests.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from chathpc.errors import AdapterError

#: A case may take this much processor time; the wall clock is only for the watchdog, since tests share their machine.
CPU_SECONDS = 2.0
WALL_SECONDS = 15.0

#: A case may take this much memory on top of the server's: a constant and a multiple of the size of the input.
MEMORY_CONSTANT = 64 << 20
MEMORY_PER_BYTE = 20

#: Address space beyond which the child is refused memory; wide, so that a blow-up is seen as one and not as a polite error.
ADDRESS_SPACE = 1 << 30

#: Environment variable that names the inputs which a server reads before it serves.
WARM = "CHATHPC_TEST_WARM_UP"

GOOD = ("profile", "late", "refused")
NOBODY = 65534


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a case ended.

    `kind`: profile, refused (AdapterError), late (AdapterError when something was read after loading), or what must not be:
    error (another exception), slow, memory, hang, crash.
    `bytes` is the growth of the peak resident set over the server's, `detail` the error or a traceback's last lines.
    """

    kind: str
    detail: str = ""
    seconds: float = 0.0
    bytes: int = 0
    caveats: tuple[str, ...] = ()
    hint: str = ""

    @property
    def good(self) -> bool:
        """True for a profile and for a documented refusal."""
        return self.kind in GOOD


class Server:
    """A process that forks one child a case; `reader` is `module:function`, called with the path of the input.

    `warm` are inputs that the process reads before it serves, so that no case has to import what reading them imports.
    With `batch` a child runs so many cases before the next is forked, which is several times as fast; a case that fails
    is run again in a child of its own, and that is its outcome.
    """

    def __init__(
        self, reader: str = "tests.adapters.everything:read_everything", warm: Sequence[Path] = (), batch: int = 1
    ) -> None:
        command = [sys.executable, "-m", "tests.adapters.contained", "--reader", reader, "--batch", str(batch)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment[WARM] = os.pathsep.join(map(str, warm))
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.stdin is not None and self._process.stdout is not None:
            self._process.stdin.close()
            self._process.wait(WALL_SECONDS * 2)
            self._process.stdout.close()

    def run(
        self, path: Path, *, unprivileged: bool = False, cpu: float = CPU_SECONDS, wall: float = WALL_SECONDS
    ) -> Outcome:
        """Outcome of reading `path`; `unprivileged` gives up root's rights first."""
        request = {"path": str(path), "unprivileged": unprivileged, "cpu": cpu, "wall": wall, "size": size_of(path)}
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the server has no pipes")
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()
        answer = stdout.readline()
        if not answer:
            raise RuntimeError("the server of contained cases has died")
        fields = json.loads(answer)
        return Outcome(**{**fields, "caveats": tuple(fields["caveats"])})


def size_of(path: Path) -> int:
    """Bytes that the input takes on the disk, links and holes not counted."""
    if not path.is_dir():
        return path.lstat().st_blocks * 512 if path.exists() else 0
    return sum(one.lstat().st_blocks * 512 for one in path.rglob("*") if one.is_file() and not one.is_symlink())


def main() -> None:
    """Serve cases from standard input until it ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--reader", required=True)
    parser.add_argument("--batch", type=int, default=1, help="cases that one child may run")
    options = parser.parse_args()
    module, name = options.reader.split(":")
    reader: Callable[[Path], Any] = getattr(importlib.import_module(module), name)
    warm_up = getattr(importlib.import_module(module), "warm_up", None)
    if warm_up is not None:
        warm_up()
    gc.collect()
    gc.freeze()
    # One line at a time: a child must not find the next case in a buffer that it inherited.
    child: _Child | None = None
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        outcome = None
        while outcome is None or not (outcome.good or child is None or child.asked == 1):
            # A case that fails behind others fails if it does so alone.
            used_up = child is not None and (
                outcome is not None or child.asked >= options.batch or child.unprivileged != request["unprivileged"]
            )
            if child is not None and child.alive and used_up:
                child.end()
            if child is None or not child.alive:
                child = _Child(reader, request["unprivileged"])
            outcome = child.ask(request)
        print(json.dumps(asdict(outcome)), flush=True)
    if child is not None and child.alive:
        child.end()


class _Child:
    """A forked process that reads inputs, one after the other, until it is killed, crashes or hangs."""

    def __init__(self, reader: Callable[[Path], Any], unprivileged: bool) -> None:
        requests, self._put = os.pipe()
        self._get, answers = os.pipe()
        self.unprivileged, self.asked, self.alive = unprivileged, 0, True
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._put)
            os.close(self._get)
            _child(reader, unprivileged, requests, answers)
        os.close(requests)
        os.close(answers)

    def ask(self, request: dict[str, Any]) -> Outcome:
        """How reading the input of a request ended."""
        self.asked += 1
        began = time.monotonic()
        deadline = began + float(request["wall"])
        os.write(self._put, json.dumps(request).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            ready, _, _ = select.select([self._get], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                self.end()
                return Outcome("hang", f"did not return within {request['wall']} s", time.monotonic() - began)
            piece = os.read(self._get, 1 << 16)
            if not piece:
                status = self.end()
                return Outcome("crash", f"the process ended with status {status}", time.monotonic() - began)
            answer += piece
        fields = json.loads(answer)
        return _judged(Outcome(**{**fields, "caveats": tuple(fields["caveats"])}), request)

    def end(self) -> int:
        """Kill the process; the status with which it ended."""
        self.alive = False
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        _, status = os.waitpid(self._pid, 0)
        os.close(self._put)
        os.close(self._get)
        return status


def _judged(outcome: Outcome, request: dict[str, Any]) -> Outcome:
    """The outcome, or that it took too much of something."""
    limit = MEMORY_CONSTANT + MEMORY_PER_BYTE * int(request["size"])
    if outcome.good and outcome.bytes > limit:
        return Outcome("memory", f"{outcome.bytes >> 20} MiB, limit {limit >> 20} MiB", outcome.seconds, outcome.bytes)
    if outcome.good and outcome.seconds > float(request["cpu"]):
        return Outcome("slow", f"{outcome.seconds:.1f} s, limit {request['cpu']} s", outcome.seconds, outcome.bytes)
    return outcome


def _child(reader: Callable[[Path], Any], unprivileged: bool, requests: int, answers: int) -> None:
    """Run the cases, write their outcomes and end; never returns."""
    sys.settrace(None)  # a coverage tool that came along with the fork would be measured instead of the reader
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if unprivileged and os.geteuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        before = _memory("VmRSS")
        limit = _memory("VmSize") + ADDRESS_SPACE
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        with os.fdopen(requests) as lines:
            for count, line in enumerate(iter(lines.readline, "")):
                if count:
                    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew (proc(5))
                began = time.process_time()
                fields = _outcome(reader, Path(json.loads(line)["path"]))
                fields["seconds"] = time.process_time() - began
                # What earlier cases left behind counts too: too much is tried again in a process of its own.
                fields["bytes"] = max(0, _memory("VmHWM") - before)
                os.write(answers, json.dumps(fields).encode() + b"\n")
    except BaseException:  # noqa: BLE001  shown, and then a crash for the server
        traceback.print_exc()
    finally:
        os.kill(os.getpid(), signal.SIGKILL)  # ends at once, whatever has been hung into the way out


def _outcome(reader: Callable[[Path], Any], path: Path) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": "profile", "detail": "", "caveats": [], "hint": ""}
    try:
        fields["caveats"] = [str(caveat)[:500] for caveat in getattr(reader(path), "caveats", ())]
    except AdapterError as error:
        late = "late" in getattr(error, "__notes__", ())
        fields.update(kind="late" if late else "refused", detail=error.message[:1000], hint=error.hint[:500])
        unprintable = [c for c in str(error) if not c.isprintable() and c != "\n"]
        if unprintable:
            fields.update(
                kind="error", detail=f"the message of the error holds {unprintable[0]!r}: {error.message[:500]!r}"
            )
    except BaseException as error:  # noqa: BLE001  whatever it is, it is the outcome
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno} in {where.name}"
        fields.update(kind="error", detail=f"{type(error).__name__}: {str(error)[:300]} ({place})")
    return fields


def _memory(field: str) -> int:
    """`VmRSS`, `VmHWM` (its peak) or `VmSize` of this process in bytes."""
    for row in Path("/proc/self/status").read_text().splitlines():
        if row.startswith(field + ":"):
            return int(row.split()[1]) << 10
    raise RuntimeError(f"no {field} in /proc/self/status")


if __name__ == "__main__":
    main()
