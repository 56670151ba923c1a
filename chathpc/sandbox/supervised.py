"""Runs a request below a supervisor process of its own, which ends only when all that the command started is gone; also without walls."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from chathpc.errors import UsageError
from chathpc.sandbox import supervisor, system
from chathpc.sandbox.contract import Completed, Request
from chathpc.sandbox.execution import Ended, execute, signalled
from chathpc.sandbox.system import resource_limits
from chathpc.sandbox.tracing import Trace


def supervise(request: Request, walls: Callable[[Request, str], Mapping[str, Any] | None]) -> Completed:
    """Run it with a folder of its own for temporary files, behind the walls that `walls` makes of both (what `supervisor._become` builds in
    the child; None for no walls).
    """
    system.check(request)
    temporary = tempfile.mkdtemp(prefix="chathpc-")
    try:
        return _supervise(request, system.environment(request, temporary), walls(request, temporary))
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _supervise(request: Request, environment: Mapping[str, str], walls: Mapping[str, Any] | None) -> Completed:
    if request.shown not in (None, request.folder):
        raise UsageError("This sandbox shows a folder only where it is.", hint="Omit 'shown'.")
    job_end, job = os.pipe()
    report, report_end = os.pipe()
    mark = secrets.token_hex(16)
    trace = Trace(request)
    text = json.dumps(
        {
            "command": trace.command,
            "environment": environment,
            "folder": str(request.folder),
            "limits": resource_limits(request),
            "parent": os.getpid(),
            "mark": mark,
            "walls": walls,
        }
    ).encode()
    handed = [job_end, report_end, *trace.handed]
    kept = [job, report, *trace.kept]
    # Not the virtual environment's: it starts faster, and needs nothing of it.
    interpreter = os.path.realpath(sys.executable)
    command = [interpreter, "-I", "-S", "-c", _source(), str(job_end), str(report_end)]

    def begin(process: subprocess.Popen[bytes]) -> _Supervised:
        while handed:
            os.close(handed.pop())
        kept.remove(job)
        with contextlib.suppress(BrokenPipeError), open(job, "wb") as file:
            file.write(text)
        return _Supervised(process, report)

    try:
        return execute(command, request, {}, begin, mark.encode(), handed, trace.end)
    finally:
        for descriptor in (*handed, *kept):
            os.close(descriptor)


class _Supervised:
    """The supervisor; it kills what is below it when it is asked to end."""

    def __init__(self, process: subprocess.Popen[bytes], report: int) -> None:
        self._process = process
        self._report = report

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, supervisor.STOP)

    def outcome(self, status: int, cpu_seconds: float) -> Ended:
        told = b""
        while data := os.read(self._report, 4096):
            told += data
        if not told.endswith(b"\n"):
            return Ended(signalled(os.waitstatus_to_exitcode(status)), cpu_seconds)  # it was killed itself
        found = json.loads(told)
        begin, end = float(found["begin"]), min(float(found["end"]), time.monotonic())
        return Ended(signalled(int(found["code"])), float(found["cpu"]), begin, end, found["written"])


@functools.cache
def _source() -> str:
    return Path(supervisor.__file__).read_text(encoding="utf-8")


class Plain:
    """Runs commands as they are."""

    name = "none"
    relocates = False

    def run(self, request: Request) -> Completed:
        """Run it to its end or its limits. Errors: UsageError for an impossible request."""
        return supervise(request, lambda *_: None)
