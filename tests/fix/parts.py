"""What the tests of the loop share: a sandbox that is none, proposers that say what they are told, small programs."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from chathpc.fix.records import Attempt, Candidate, Problem
from chathpc.sandbox import Completed, Request


@dataclass
class Unguarded:
    """A sandbox by its contract alone: nothing is kept from the command."""

    name: str = "none"
    relocates: bool = False
    requests: list[Request] = field(default_factory=list)

    def run(self, request: Request) -> Completed:
        """Run the command in a group of its own, which is killed at the end."""
        self.requests.append(request)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.perf_counter()
        process = subprocess.Popen(
            request.command, cwd=request.folder, env=dict(request.environment), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        status = "exited"
        try:
            out, err = process.communicate(request.stdin, timeout=request.limits.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            status = "timed-out"
        seconds = time.perf_counter() - begin
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if len(out) + len(err) > request.limits.output:
            status = "output-limit"
        return Completed(status, process.returncode, out, err, seconds, cpu)  # type: ignore[arg-type]


@dataclass
class Scripted:
    """Proposes the given candidates in the first round, and nothing afterwards."""

    candidates: Sequence[Candidate]
    name: str = "scripted"
    asked: int = 0

    learns = False

    def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterable[Candidate]:
        """The candidates, meant for the first finding unless they say otherwise."""
        self.asked += 1
        if self.asked > 1:
            return
        finding = problem.diagnosis.findings[0] if problem.diagnosis.findings else None
        for one in self.candidates:
            yield Candidate(one.id, self.name, one.title, one.files, one.flags, one.finding or finding, one.recipe)


def candidate(name: str, files: Mapping[str, str], flags: str | None = None) -> Candidate:
    """A change by whole texts."""
    return Candidate(name, "scripted", name, dict(files), flags)


def texts(folder: Path, *patterns: str) -> dict[str, str]:
    """Files of a folder as texts."""
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for pattern in patterns
        for path in sorted(folder.rglob(pattern))
        if path.is_file()
    }
