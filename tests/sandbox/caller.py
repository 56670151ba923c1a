"""The program that calls a sandbox, as a process of its own: it holds a key, a terminal and open files, and may be attacked.

`python -m tests.sandbox.caller` reads jobs, one line of JSON each, and answers each with one. Every job is done in a child, which
becomes the user that the job names. The way `raw` starts the command as it is, to see that an attempt is one.
"""

from __future__ import annotations

import base64
import ctypes
import dataclasses
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path
from typing import Any

from chathpc.errors import ChathpcError
from chathpc.sandbox import supervised
from chathpc.sandbox.bubblewrap import Bubblewrap
from chathpc.sandbox.contract import Completed, Limits, Request, Sandbox
from chathpc.sandbox.landlock import Landlock
from chathpc.sandbox.supervised import Plain
from chathpc.sandbox.supervisor import descendants

SANDBOXES: dict[str, type[Sandbox]] = {"bubblewrap": Bubblewrap, "landlock": Landlock, "none": Plain}
_ADD_KEY, _KEYCTL = (248, 250) if os.uname().machine == "x86_64" else (217, 219)


def request_of(job: dict[str, Any]) -> Request:
    return Request(
        tuple(job["command"]),
        Path(job["folder"]),
        readable=tuple(Path(path) for path in job.get("readable", ())),
        environment=job.get("environment", {}),
        limits=Limits(**job.get("limits", {})),
    )


def _raw(request: Request) -> Completed:
    """What the command does where nothing holds it: the caller's environment, terminal and files."""
    with tempfile.TemporaryFile() as out:
        try:
            done = subprocess.run(
                request.command,
                cwd=request.folder,
                env=os.environ | dict(request.environment) | {"TMPDIR": str(request.folder)},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                close_fds=False,
                timeout=30,
                check=False,
            )
            code = done.returncode
        except subprocess.TimeoutExpired:
            code = -9
        out.seek(0)
        return Completed("exited", code, out.read(), b"", 0.0, 0.0)


def _attacked(job: dict[str, Any], answer: int) -> None:
    """In the child: become the user, hold what is to be taken, and run the attempt."""
    os.setsid()
    terminal, line = os.openpty()
    fcntl.ioctl(line, termios.TIOCSCTTY, 0)
    if job["uid"] is not None and os.getuid() == 0 and job["uid"] != 0:
        os.setgroups([])
        os.setgid(job["uid"])
        os.setuid(job["uid"])
        ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # what changes its user is not dumpable until it is said
    if not os.access(os.path.realpath(sys.executable), os.X_OK):
        sys.executable = shutil.which("python3", path="/usr/local/bin:/usr/bin") or sys.executable
    os.environ["PATH"] = "/usr/local/bin:/usr/bin:/bin"
    os.environ.update(job.get("held", {}))
    libc = ctypes.CDLL(None)
    if "token" in job:
        libc.syscall(_KEYCTL, 1, None)
        libc.syscall(_ADD_KEY, b"user", b"chathpc-test", job["token"].encode(), len(job["token"]), -3)
    if "open" in job:
        os.dup2(os.open(job["open"], os.O_WRONLY | os.O_APPEND), 50, inheritable=True)
    request = dataclasses.replace(
        request_of(job), environment=job.get("environment", {}) | {"CALLER": str(os.getpid())}
    )
    found: dict[str, Any]
    try:
        done = _raw(request) if job["sandbox"] == "raw" else SANDBOXES[job["sandbox"]]().run(request)
        found = dataclasses.asdict(done)
        found |= {name: base64.b64encode(found[name]).decode() for name in ("stdout", "stderr")}
    except ChathpcError as error:
        found = {"error": str(error)}
    seen = b""
    while select.select([terminal], [], [], 0)[0]:
        seen += os.read(terminal, 4096)
    found["terminal"] = base64.b64encode(seen).decode()
    os.write(answer, json.dumps(found).encode() + b"\n")


def _do(job: dict[str, Any]) -> bytes:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reading)
            _attacked(job, writing)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with open(reading, "rb") as file:
        text = file.readline() if select.select([file], [], [], 90)[0] else b""
    # What a raw attempt left: it is seen first, and not kept.
    end = time.monotonic() + job.get("linger", 0)
    while time.monotonic() < end and not os.path.exists(job["awaited"]):
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    for left in descendants(os.getpid()):
        os.kill(left, signal.SIGKILL)
    return text or b'{"error": "the caller did not live to tell"}\n'


def main() -> None:
    # Orphans of raw attempts come here and are ended.
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    supervised._source()
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(_do(json.loads(line)))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
