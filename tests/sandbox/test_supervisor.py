"""The supervisor by itself: what it reports, what it sweeps, and what it does when it is asked to end or left alone."""

from __future__ import annotations

import json
import os
import resource
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from chathpc.sandbox import supervisor
from chathpc.sandbox.landlock import abi
from chathpc.sandbox.supervisor import cpu_time, descendants, more_than

#: All rights of the first version, everywhere, and a filter that allows everything: the walls stand, but nothing is behind them.
OPEN_WALLS = {
    "masks": [(1 << 13) - 1, 0, 0],
    "rules": [["/", (1 << 13) - 1], ["/dev/null", 6], ["/nowhere/at/all", 4]],
    "inner": 7,
    "filter": struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000).hex(),
    "keyctl": -1,
}


def start(folder: Path, command: list[str], **changes: Any) -> tuple[subprocess.Popen[bytes], int]:
    job = {
        "command": command,
        "environment": {"PATH": "/usr/bin:/bin"},
        "folder": str(folder),
        "limits": [[int(resource.RLIMIT_CORE), 0], [int(resource.RLIMIT_NOFILE), 64]],
        "parent": os.getpid(),
        "mark": "mark",
        "walls": None,
    } | changes
    reading, job_end = os.pipe()
    report, report_end = os.pipe()
    program = "import sys; from chathpc.sandbox.supervisor import main; main(int(sys.argv[1]), int(sys.argv[2]))"
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(reading), str(report_end)],
        pass_fds=(reading, report_end),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(reading)
    os.close(report_end)
    with open(job_end, "wb") as file:
        file.write(json.dumps(job).encode())
    return process, report


def reported(process: subprocess.Popen[bytes], report: int) -> tuple[dict[str, Any], bytes, bytes]:
    out, error = process.communicate(timeout=60)
    with open(report, "rb") as file:
        return json.loads(file.read()), out, error


@pytest.mark.parametrize("walls", [None, OPEN_WALLS], ids=["plain", "walled"])
def test_status_output_and_limits(tmp_path: Path, walls: dict[str, Any] | None) -> None:
    if walls is not None and abi() == 0:
        pytest.skip("this kernel has no Landlock")
    found, out, error = reported(*start(tmp_path, ["sh", "-c", "ulimit -n; ulimit -c; exit 7"], walls=walls))
    assert (found["code"], out, error) == (7, b"64\n0\n", b"mark")
    (tmp_path / "text").write_text("")
    for command, code in (("nothing", 127), ("./text", 126)):
        found, out, error = reported(*start(tmp_path, [command], walls=walls))
        assert (found["code"], out) == (code, b"")
        assert error.startswith(b"mark" + command.encode())


def test_what_cannot_be_set_up_says_why_and_does_not_begin(tmp_path: Path) -> None:
    found, _, error = reported(*start(tmp_path / "nowhere", ["true"]))
    assert found["code"] == 125
    assert b"No such file" in error
    assert b"mark" not in error


def test_it_ends_with_all_below_it_when_it_is_asked_to(tmp_path: Path) -> None:
    process, report = start(
        tmp_path, ["sh", "-c", "trap '' TERM; (setsid sleep 50 &); touch here; while :; do sleep 1; done"]
    )
    while not (tmp_path / "here").exists():
        time.sleep(0.02)
    below = descendants(process.pid)
    assert len(below) >= 2
    process.send_signal(supervisor.STOP)
    found, _, _ = reported(process, report)
    assert found["code"] == -9
    assert not any(Path(f"/proc/{pid}/exe").exists() for pid in below)


def test_it_ends_when_nobody_waits_for_it(tmp_path: Path) -> None:
    found, _, _ = reported(*start(tmp_path, ["sleep", "50"], parent=-1))
    assert found["code"] == -9


def test_orphans_are_swept_and_their_time_is_counted(tmp_path: Path) -> None:
    loop = "import time\nwhile time.process_time() < 9: pass"
    found, _, _ = reported(*start(tmp_path, ["sh", "-c", f"(setsid '{sys.executable}' -S -c '{loop}' &); sleep 1"]))
    assert found["code"] == 0
    assert 0.05 < found["cpu"] < 9


def test_descendants_and_their_time_are_found() -> None:
    assert descendants(os.getpid()) == []
    with subprocess.Popen(["sh", "-c", "sleep 20 & echo; wait"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        below = descendants(os.getpid())
        assert below[0] == process.pid
        assert len(below) == 2
        for pid in reversed(below):
            os.kill(pid, 9)
    used = os.times()
    assert cpu_time(os.getpid()) == pytest.approx(
        used.user + used.system + used.children_user + used.children_system, abs=0.05
    )


@pytest.mark.parametrize("kernel", ["tells children", "does not"])
def test_a_tree_is_counted_whatever_others_end_meanwhile(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if kernel == "does not":
        real = open

        def unknown(path: str, mode: str) -> object:
            if path.endswith("/children"):
                raise FileNotFoundError(path)
            return real(path, mode)

        monkeypatch.setattr(supervisor, "open", unknown, raising=False)
    with subprocess.Popen(
        ["sh", "-c", "sh -c 'sleep 20 & sleep 20 & echo; wait'; wait"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        below = descendants(process.pid)
        assert len(below) == 3
        assert more_than(2, process.pid)
        assert not more_than(3, process.pid)
        for pid in (*below, process.pid):
            os.kill(pid, 9)
    assert not more_than(0, process.pid)
