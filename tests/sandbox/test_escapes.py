"""Every attempt of escapes.py, against every sandbox, as root and as an ordinary user; and once where nothing holds it."""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import os
import secrets
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from chathpc.sandbox import gaps, states
from chathpc.sandbox.choice import GAPS
from tests.sandbox.escapes import ESCAPES, Escape, program

ORDINARY = 65534
ROOT = os.getuid() == 0
WORKING = {name for name, fault in states() if not fault}


class Caller:
    """The process that calls sandboxes; started anew if an attempt has ended it."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.sandbox.caller"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(job).encode() + b"\n")
        stdin.flush()
        found: dict[str, Any] = json.loads(stdout.readline())
        for name in {"stdout", "stderr", "terminal"} & found.keys():
            found[name] = base64.b64decode(found[name])
        return found


@pytest.fixture(scope="module")
def caller() -> Iterator[Caller]:
    caller = Caller()
    yield caller
    caller.process.kill()
    caller.process.communicate()


@dataclass
class Stage:
    """What stands outside, all of it the attacker's own user's: the hardest case."""

    outer: Path
    uid: int
    token: str
    victim: subprocess.Popen[bytes]
    sockets: list[socket.socket]
    environment: dict[str, str]

    @property
    def home(self) -> Path:
        return self.outer / "home"

    @property
    def work(self) -> Path:
        return self.outer / "work"


@pytest.fixture
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    uid = {"root": 0, "user": ORDINARY if ROOT else os.getuid()}[request.getfixturevalue("user")]
    if uid == 0 and not ROOT:
        pytest.skip("the tests are run by an ordinary user")
    token = secrets.token_hex(16)
    with contextlib.ExitStack() as stack:
        # Not pytest's own folder: only its owner may enter that.
        outer = Path(tempfile.mkdtemp(prefix="chathpc-test-"))
        stack.callback(shutil.rmtree, outer, ignore_errors=True)
        outer.chmod(0o755)
        for folder in ("home", "home/.ssh", "work", "shown"):
            (outer / folder).mkdir()
        (outer / "home/.ssh/id_rsa").write_text(f"int x{token};\n")
        (outer / "home/victim").write_text("untouched\n")
        for path in (outer / "home/.ssh/id_rsa", outer / "home/victim"):
            path.chmod(0o600)
        segment = Path("/dev/shm") / f"chathpc-{secrets.token_hex(8)}"
        segment.write_text(token)
        stack.callback(segment.unlink)
        abstract = secrets.token_hex(8)
        sockets = _listeners(outer / "home/socket", abstract, stack)
        if ROOT:
            for path in (segment, *outer.rglob("*")):
                os.chown(path, uid, uid)
            _set_user_id_reader(outer / "shown", token)
        victim = subprocess.Popen(
            ["/bin/sh", "-c", "sleep 300; : $0", token],
            env={"VICTIM_KEY": token},
            cwd=outer / "home",
            user=uid if ROOT else None,
            group=uid if ROOT else None,
            extra_groups=[] if ROOT else None,
            start_new_session=True,
        )
        stack.callback(victim.wait)
        stack.callback(lambda: os.killpg(victim.pid, 9) if victim.poll() is None else None)
        number = secrets.randbelow(1 << 30) + 1
        stack.callback(_shared_segment(number, token, uid))
        environment = {
            "OUTSIDE": str(outer / "home"),
            "SHOWN": str(outer / "shown"),
            "VICTIM": str(victim.pid),
            "PORT": str(sockets[0].getsockname()[1]),
            "ABSTRACT": abstract,
            "SEGMENT": segment.name,
            "SEGMENT_KEY": str(number),
        }
        yield Stage(outer, uid, token, victim, sockets, environment)


def _listeners(named: Path, abstract: str, stack: contextlib.ExitStack) -> list[socket.socket]:
    stream = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    datagram = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    datagram.bind(stream.getsockname())
    found = [stream, datagram]
    for address in (b"\0" + abstract.encode(), str(named).encode()):
        listening = stack.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(address)
        listening.listen()
        found.append(listening)
    return found


def _set_user_id_reader(folder: Path, token: str) -> None:
    """A program of root's with the set-user-id bit, and what only root may read."""
    (folder / "secret").write_text(token)
    (folder / "secret").chmod(0o600)
    source = folder / "reader.c"
    source.write_text(
        '#include <stdio.h>\nint main(void) { FILE *f = fopen("%s", "r"); int c; while (f && (c = getc(f)) != EOF) putchar(c); }'
        % (folder / "secret")
    )
    subprocess.run(["cc", "-o", folder / "reader", source], check=True)
    for name in ("secret", "reader"):
        os.chown(folder / name, 0, 0)
    (folder / "reader").chmod(0o4755)


def _shared_segment(number: int, token: str, uid: int) -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    segment = libc.shmget(number, 4096, 0o1666)
    address = libc.shmat(segment, None, 0)
    ctypes.memmove(address, token.encode() + b"\0", len(token) + 1)
    libc.shmdt(ctypes.c_void_p(address))
    return lambda: libc.shmctl(segment, 0, None)


def _heard(sockets: list[socket.socket]) -> bool:
    return bool(select.select(sockets, [], [], 0.05)[0])


def _escaped(escape: Escape, stage: Stage, found: dict[str, Any]) -> bool:
    """Whether the attempt got what it wanted."""
    victim = stage.home / "victim"
    match escape.sign:
        case "output":
            said = found.get("stdout", b"") + found.get("stderr", b"")
            return stage.token.encode() in said or b"escaped\n" in said
        case "planted":
            return (stage.home / "planted").exists()
        case "victim-file":
            return victim.read_text() != "untouched\n"
        case "victim-mode":
            return victim.stat().st_mode & 0o777 != 0o600
        case "victim-process":
            time.sleep(0.05)
            return stage.victim.poll() is not None
        case "listener":
            return _heard(stage.sockets)
        case "terminal":
            return b"escaped" in found.get("terminal", b"")
        case "late":
            return (stage.work / "late").exists()
        case "size":
            return (stage.work / "big").stat().st_size > 8 << 20
        case "set-id":
            left = stage.work / "left"
            return left.exists() and bool(left.stat().st_mode & 0o6000)


def _attempt(caller: Caller, escape: Escape, stage: Stage, sandbox: str) -> dict[str, Any]:
    if escape.c:
        source = stage.work / "attempt.c"
        source.write_text(program(escape))
        subprocess.run(["cc", "-w", "-O0", "-o", stage.work / "attempt", source], check=True)
        command = ["./attempt"]
    else:
        command = ["/bin/sh", "-c", escape.shell]
    return caller.ask(
        {
            "sandbox": sandbox,
            "uid": stage.uid,
            "command": command,
            "folder": str(stage.work),
            "readable": [str(stage.outer / "shown")],
            "environment": stage.environment,
            "held": {"SOME_API_KEY": stage.token},
            "token": stage.token,
            "open": str(stage.home / "victim"),
            "limits": {"seconds": 20.0} | escape.limits,
            # Nothing holds it: it comes, be the machine as busy as it may.
            "linger": 0 if escape.sign != "late" else 30 if sandbox == "raw" else 1.5,
            "awaited": str(stage.work / "late"),
        }
    )


@pytest.mark.parametrize("user", [pytest.param("root", marks=pytest.mark.privileged), "user"])
@pytest.mark.parametrize("sandbox", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("escape", ESCAPES, ids=lambda escape: escape.name)
def test_nothing_gets_out_but_by_the_gaps_that_are_told(
    caller: Caller, stage: Stage, escape: Escape, sandbox: str, user: str
) -> None:
    if user not in escape.users:
        return
    if sandbox not in WORKING:
        pytest.skip(f"{sandbox} does not work here")
    found = _attempt(caller, escape, stage, sandbox)
    assert "error" not in found
    known = escape.gap in {gap.name for gap in gaps(sandbox)}
    assert _escaped(escape, stage, found) == known, found


@pytest.mark.parametrize("user", [pytest.param("root", marks=pytest.mark.privileged), "user"])
@pytest.mark.parametrize("escape", ESCAPES, ids=lambda escape: escape.name)
def test_each_attempt_succeeds_where_nothing_holds_it(caller: Caller, stage: Stage, escape: Escape, user: str) -> None:
    if user not in escape.free:
        return
    if escape.name == "set-user-id-program" and not ROOT:
        return
    found = _attempt(caller, escape, stage, "raw")
    assert _escaped(escape, stage, found), found


def test_there_are_enough_attempts_and_the_gaps_have_their_words() -> None:
    assert len({escape.name for escape in ESCAPES}) == len(ESCAPES) >= 25
    assert {escape.gap for escape in ESCAPES} - {""} <= {gap.name for gap in GAPS}
    # Whatever is open on a new kernel, whose filter is known, is proved by an attempt.
    assert {gap.name for gap in GAPS if gap.sandbox == "landlock" and gap.until is None and not gap.filtered} <= {
        escape.gap for escape in ESCAPES
    }
