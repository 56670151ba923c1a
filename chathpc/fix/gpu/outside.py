"""The harness asked from outside: jobs go into the sandbox, outcomes come back, compute-sanitizer looks for races."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import chathpc
from chathpc.fix.gpu.signature import Refusal
from chathpc.fix.runner import Case, Runner
from chathpc.profile.text import clean
from chathpc.sandbox import Completed, Request

#: A module compiled for the device, its answers and its times (bytes).
_OUTPUT = 4 << 20
#: The status of a program in which a tool of compute-sanitizer found something (--error-exitcode).
FOUND = 86
#: Tools of compute-sanitizer (Compute Sanitizer User Manual): races in shared memory; accesses outside of any allocation.
TOOLS = ("racecheck", "memcheck")
_SUMMARY = re.compile(r"^=+ (?:Error|Warning): (.+)$|^=+ (Invalid .+)$", re.MULTILINE)


def ask(runner: Runner, asked: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> tuple[Mapping[str, Any], Completed]:
    """Send a job to the child in the sandbox. Never raises: what gives no answer is a refusal."""
    runner.workspace.stage.mkdir(parents=True, exist_ok=True)
    completed = runner.sandbox.run(request(runner, asked, prefix))
    try:
        # compute-sanitizer writes before and behind it.
        found = json.loads(
            next((line for line in reversed(completed.stdout.splitlines()) if line.startswith(b"{")), b"null")
        )
    except ValueError:
        found = None
    if not isinstance(found, dict):
        said = clean(completed.last_words)[:200]
        found = {
            "status": "refused",
            "statement": f"the harness did not respond ({completed.status}, status {completed.code}): {said}",
        }
    return found, completed


def request(runner: Runner, asked: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> Request:
    """One run of the child: this Python, and this package, to read.

    Packages are found where this process finds them (modules of a cluster name theirs in PYTHONPATH), not where the project says.
    """
    package = Path(chathpc.__file__).resolve().parent.parent
    packages = [
        package,
        *(Path(part) for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part.startswith("/")),
    ]
    readable = (*runner.readable, Path(sys.prefix), Path(sys.base_prefix), *filter(Path.is_dir, packages))
    return Request(
        command=(*prefix, sys.executable, "-m", "chathpc.fix.gpu.child"),
        folder=runner.workspace.stage,
        readable=tuple(dict.fromkeys(path for path in readable if len(path.parts) > 2 or path == package)),
        environment={
            **runner.environment(Case(runner.project.run)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(map(str, packages)),
        },
        stdin=json.dumps(asked).encode(),
        limits=replace(runner.project.limits, output=_OUTPUT, memory=1 << 47),
        gpu=True,
    )


def arch(runner: Runner) -> str | Refusal:
    """The device's architecture as nvcc calls it; a Refusal that says why there is none."""
    found, _ = ask(runner, {"ask": "arch"})
    if "arch" in found:
        return str(found["arch"])
    return Refusal(str(found.get("statement", "The device does not respond.")), str(found.get("hint", "")))


def sanitized(runner: Runner, asked: Mapping[str, Any], tool: str) -> tuple[str, str]:
    """What a tool of compute-sanitizer says of a job: ("clean" | "found" | "absent", its first finding or why it is absent)."""
    prefix = ("compute-sanitizer", "--tool", tool, "--error-exitcode", str(FOUND))
    where = runner.sandbox.run(
        replace(request(runner, {}), command=("/bin/sh", "-c", "command -v compute-sanitizer"), stdin=b"")
    )
    if not where.succeeded:
        return "absent", "compute-sanitizer is not available"
    found, completed = ask(runner, asked, prefix)
    if completed.code == FOUND:
        said = completed.stdout.decode("utf-8", "replace") + completed.stderr.decode("utf-8", "replace")
        first = _SUMMARY.search(said)
        return "found", clean(next(filter(None, first.groups())) if first else tool)[:200]
    if completed.succeeded and found.get("status") != "refused":
        return "clean", ""
    return "absent", f"compute-sanitizer failed: {found.get('statement', '')}"
