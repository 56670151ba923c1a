"""What every sandbox does, whatever it is made of. Isolation is looked at in test_escapes.py; `none` has none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chathpc.errors import UsageError
from chathpc.sandbox import Completed, Limits, Request, Sandbox, execution
from chathpc.sandbox.supervised import Plain
from chathpc.sandbox.supervisor import descendants
from chathpc.sandbox.system import gpu_devices


def run(sandbox: Sandbox, folder: Path, shell: str, **options: object) -> Completed:
    return sandbox.run(Request(("/bin/sh", "-c", shell), folder, **options))  # type: ignore[arg-type]


def test_output_and_status_come_back(sandbox: Sandbox, folder: Path) -> None:
    done = run(sandbox, folder, "echo out; echo err >&2; exit 3")
    assert (done.status, done.code, done.stdout, done.stderr) == ("exited", 3, b"out\n", b"err\n")
    assert not done.succeeded
    assert run(sandbox, folder, "true").succeeded


@pytest.mark.parametrize("name", ["SEGV", "KILL", "FPE", "TERM"])
def test_a_signal_is_a_negative_code_of_itself_or_of_what_a_shell_ran(
    sandbox: Sandbox, folder: Path, name: str
) -> None:
    number = int(getattr(signal, f"SIG{name}"))
    for shell in (f"kill -{name} $$", f"sh -c 'kill -{name} $$'; exit $?"):
        done = run(sandbox, folder, shell)
        assert (done.status, done.code) == ("killed", -number)


def test_what_is_not_there_is_status_127_and_what_cannot_run_126(sandbox: Sandbox, folder: Path) -> None:
    (folder / "text").write_text("no program")
    assert sandbox.run(Request(("./nothing",), folder)).code == 127
    assert sandbox.run(Request(("./text",), folder)).code == 126


def test_there_is_no_shell_in_between(sandbox: Sandbox, folder: Path) -> None:
    words = ("$HOME", "a b", "*", "`id`", "'", "\\", "-n", "", "é", "\udcff")
    done = sandbox.run(Request(("printf", "%s\\n", *words), folder))
    assert done.stdout == b"".join(os.fsencode(word) + b"\n" for word in words)


def test_input_is_fed_while_output_is_read(sandbox: Sandbox, folder: Path) -> None:
    data = os.urandom(3_000_000)
    done = run(sandbox, folder, "tee /dev/stderr", stdin=data)
    assert done.stdout == data
    assert done.stderr == data


def test_nobody_needs_to_read_the_input(sandbox: Sandbox, folder: Path) -> None:
    assert run(sandbox, folder, "exec <&-; sleep 0.1; echo ok", stdin=b"x" * 1_000_000).stdout == b"ok\n"
    assert run(sandbox, folder, "cat").stdout == b""


def test_the_folder_is_the_working_folder_and_paths_are_the_same_inside(sandbox: Sandbox, folder: Path) -> None:
    done = run(sandbox, folder, "pwd; echo made > made")
    assert done.stdout == f"{folder}\n".encode()
    assert (folder / "made").read_text() == "made\n"


def test_readable_and_writable_are_what_they_say(sandbox: Sandbox, folder: Path) -> None:
    for name in ("work", "work/kept", "more", "shown"):
        (folder / name).mkdir()
        (folder / name / "file").write_text(name)
    request = Request(
        (
            "/bin/sh",
            "-c",
            "cat ../more/file ../shown/file file kept/file; echo x > ../more/new; echo x > ../shown/new; echo x > kept/new",
        ),
        folder / "work",
        writable=(folder / "more",),
        readable=(folder / "shown", folder / "work/kept"),
    )
    done = sandbox.run(request)
    assert done.stdout == b"moreshownworkwork/kept"
    assert (folder / "more/new").exists()
    if sandbox.name != "none":
        assert not (folder / "shown/new").exists()
    if sandbox.name == "bubblewrap":  # Landlock cannot take away below a folder what it has given there
        assert not (folder / "work/kept/new").exists()


def test_the_environment_is_the_requests_alone(sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    done = sandbox.run(Request(("env",), folder, environment={"A": "b=c", "LANG": "C"}))
    found = dict(line.split("=", 1) for line in done.stdout.decode().splitlines())
    assert (found.pop("A"), found.pop("LANG")) == ("b=c", "C")
    assert found.keys() - {"PWD", "OLDPWD", "SHLVL", "_"} == {"HOME", "PATH", "TMPDIR"} | (
        {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"} if os.getuid() == 0 else set()
    )


def test_time_is_up_for_the_whole_tree(sandbox: Sandbox, folder: Path) -> None:
    begun = time.monotonic()
    # Two that ignore what may be ignored, one of which has left the session and its parent.
    done = run(
        sandbox,
        folder,
        "trap '' TERM INT HUP; (setsid sh -c \"trap '' TERM; while :; do :; done\" &); while :; do :; done",
        limits=Limits(seconds=0.7),
    )
    assert (done.status, done.code) == ("timed-out", -9)
    assert 0.7 <= done.seconds < 30 < 60 > time.monotonic() - begun
    assert 0.1 < done.cpu_seconds < 30
    assert descendants(os.getpid()) == []


def test_nothing_is_left_when_the_command_ends_by_itself(sandbox: Sandbox, folder: Path) -> None:
    begun = time.monotonic()
    done = run(
        sandbox,
        folder,
        "for i in 1 2 3; do (setsid sleep 100 &) ; done; (setsid setsid sleep 100 >/dev/null 2>&1 &); echo end",
    )
    assert done.stdout == b"end\n"
    assert time.monotonic() - begun < 60
    assert descendants(os.getpid()) == []


def test_output_is_bounded(sandbox: Sandbox, folder: Path) -> None:
    for shell in ("yes", "yes >&2"):
        done = run(sandbox, folder, shell, limits=Limits(output=100_001))
        assert done.status == "output-limit"
        assert len(done.stdout) + len(done.stderr) == 100_001
    exact = run(sandbox, folder, "printf 0123456789", limits=Limits(output=10))
    assert (exact.status, exact.stdout) == ("exited", b"0123456789")
    assert run(sandbox, folder, "printf 0123456789", limits=Limits(output=9)).status == "output-limit"


def test_a_reader_that_is_late_takes_nothing_from_the_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = execution._Streams.read

    def late(streams: execution._Streams, descriptor: int) -> bool:
        time.sleep(0.2 if streams.began is None else 0.0)
        return read(streams, descriptor)

    monkeypatch.setattr(execution._Streams, "read", late)
    assert 0.5 <= run(Plain(), folder, "sleep 0.5").seconds < 20


def test_times_are_those_of_the_command(sandbox: Sandbox, folder: Path) -> None:
    idle = run(sandbox, folder, "sleep 0.5")
    assert 0.5 <= idle.seconds < 20
    assert idle.cpu_seconds < 0.3
    program = "import os, time\nif os.fork(): os.wait()\nelse:\n    while time.process_time() < 0.5: pass"
    busy = sandbox.run(Request(("python3", "-c", program), folder, readable=_python()))
    assert busy.succeeded, busy.stderr
    assert 0.5 <= busy.cpu_seconds < 3


def _python() -> tuple[Path, ...]:
    return tuple(path for path in (Path("/usr/bin/python3"),) if path.exists()) or (Path(sys.base_prefix),)


def test_resource_limits_are_set(sandbox: Sandbox, folder: Path) -> None:
    done = run(sandbox, folder, "ulimit -v; ulimit -f; ulimit -c", limits=Limits(memory=1 << 30, file=1 << 20))
    assert done.stdout.split() == [b"1048576", b"2048", b"0"]
    large = run(sandbox, folder, "head -c 2000000 /dev/zero > big; echo $?", limits=Limits(file=1 << 20))
    assert (folder / "big").stat().st_size == 1 << 20
    assert large.stdout != b"0\n"


def test_too_many_processes_are_ended_or_never_made(sandbox: Sandbox, folder: Path) -> None:
    done = run(
        sandbox,
        folder,
        "i=0; while [ $i -lt 300 ]; do sleep 9 & i=$((i+1)); done; sleep 1; echo all",
        limits=Limits(processes=40),
    )
    assert b"all" not in done.stdout
    if os.getuid() == 0:
        assert (done.status, done.reason) == ("killed", "it had more than 40 processes")


def test_too_many_processes_are_seen_while_others_end(sandbox: Sandbox, folder: Path) -> None:
    several = "i=0; while [ $i -lt 300 ]; do sleep 1.5 & i=$((i+1)); done; echo; wait"
    with subprocess.Popen(["sh", "-c", several], stdout=subprocess.PIPE) as others:
        assert others.stdout is not None
        others.stdout.readline()
        done = run(
            sandbox,
            folder,
            "sleep 1.7; i=0; while [ $i -lt 100 ]; do sleep 9 & i=$((i+1)); done; sleep 1; echo all",
            limits=Limits(processes=40),
        )
    assert b"all" not in done.stdout


def test_several_at_once_do_not_touch_each_other(sandbox: Sandbox, folder: Path) -> None:
    def one(number: int) -> Completed:
        own = folder / str(number)
        own.mkdir()
        return run(sandbox, own, f"cat; sleep 0.2; exit {number}", stdin=b"%d" % number)

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(one, range(8)))
    assert [done.code for done in found] == list(range(8))
    assert [done.stdout for done in found] == [b"%d" % number for number in range(8)]


def test_no_descriptor_is_lost(sandbox: Sandbox, folder: Path) -> None:
    run(sandbox, folder, "true")
    before = sorted(os.listdir("/proc/self/fd"))
    run(sandbox, folder, "true")
    run(sandbox, folder, "sleep 9", limits=Limits(seconds=0.1))
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_what_calls_may_die(sandbox: Sandbox, folder: Path) -> None:
    program = (
        "import sys\nfrom pathlib import Path\nfrom chathpc.sandbox import Request\n"
        f"from {type(sandbox).__module__} import {type(sandbox).__name__} as S\n"
        "S().run(Request(('/bin/sh', '-c', 'echo here > here; sleep 3; echo late > late'), Path(sys.argv[1])))"
    )
    caller = subprocess.Popen([sys.executable, "-c", program, str(folder)])
    while not (folder / "here").exists():
        assert caller.poll() is None
        time.sleep(0.02)
    caller.kill()
    caller.wait()
    time.sleep(3.5)
    assert not (folder / "late").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"command": ()},
        {"command": ("a\0b",)},
        {"environment": {"A=B": "c"}},
        {"environment": {"": "c"}},
        {"folder": Path("relative")},
        {"folder": Path("/")},
        {"folder": Path("/tmp/..")},
        {"folder": Path.home()},
        {"folder": Path("/nowhere/at/all")},
        {"writable": (Path("/usr"),)},
        {"readable": (Path("/nowhere/at/all"),)},
        {"readable": (Path("/"),)},
    ],
)
def test_what_cannot_be_is_a_usage_error(sandbox: Sandbox, folder: Path, change: dict[str, object]) -> None:
    with pytest.raises(UsageError) as caught:
        sandbox.run(Request(**({"command": ("true",), "folder": folder} | change)))  # type: ignore[arg-type]
    assert caught.value.hint


def test_a_folder_is_neither_a_link_nor_a_file(sandbox: Sandbox, folder: Path) -> None:
    (folder / "file").write_text("")
    (folder / "link").symlink_to("/etc")
    for name in ("file", "link"):
        with pytest.raises(UsageError):
            sandbox.run(Request(("true",), folder / name))


def test_programs_with_a_gpu_name_their_threads_and_write_nothing_else_below_proc(
    sandbox: Sandbox, folder: Path
) -> None:
    """NVIDIA's driver (580) ends with cudaErrorOperatingSystem if it cannot."""
    # Under Landlock root could write the kernel's settings as well, so that it may not name its threads.
    shut = sandbox.name == "landlock" and os.getuid() == 0
    named = run(sandbox, folder, "for task in /proc/self/task/*; do echo x > $task/comm && echo named; done", gpu=True)
    assert named.stdout == (b"" if shut else b"named\n")
    settings = "/proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/irq/default_smp_affinity /proc/mtrr"
    done = run(sandbox, folder, f"for file in {settings}; do (: >> $file) && echo opened $file; done", gpu=True)
    assert done.stdout == b"" or sandbox.name == "none"


def test_asking_for_gpus_shows_their_devices_and_nothing_else(sandbox: Sandbox, folder: Path) -> None:
    done = run(sandbox, folder, "ls /sys/class >/dev/null && echo ok; cat /etc/shadow", gpu=True)
    assert done.stdout.startswith(b"ok\n")
    if sandbox.name != "none":
        assert done.stdout == b"ok\n"
    if sandbox.name == "bubblewrap":
        shown = run(sandbox, folder, "ls /dev", gpu=True).stdout.split()
        assert {name for name in shown if name.startswith((b"nvidia", b"kfd", b"dri"))} == {
            os.fsencode(os.path.basename(path)) for path in gpu_devices()
        }


def test_filling_the_disk_is_ended(sandbox: Sandbox, folder: Path) -> None:
    shell = "i=0; while [ $i -lt 100 ]; do head -c 4000000 /dev/zero > f$i; sleep 0.03; i=$((i+1)); done; echo all"
    done = run(sandbox, folder, shell, limits=Limits(disk=32 << 20))
    assert (done.status, done.code, done.stdout) == ("killed", -9, b"")
    assert done.reason == f"it took more than {32 << 20} bytes of disk"


def test_an_interrupt_by_the_user_leaves_nothing_running(sandbox: Sandbox, folder: Path) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    try:
        with pytest.raises(Interrupted):
            run(sandbox, folder, "(setsid sleep 100 &); sleep 100")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert descendants(os.getpid()) == []


def test_a_folder_appears_elsewhere_where_a_sandbox_can_do_that(sandbox: Sandbox, folder: Path) -> None:
    lane, stage = folder / "lane", folder / "stage"
    lane.mkdir()
    (lane / "file").write_text("here")
    request = Request(("/bin/sh", "-c", f"pwd; cat file; echo made > {stage}/made; ls .."), lane, shown=stage)
    if not sandbox.relocates:
        with pytest.raises(UsageError, match="only where it is"):
            sandbox.run(request)
        return
    done = sandbox.run(request)
    assert done.stdout == f"{stage}\nherestage\n".encode()
    assert (lane / "made").read_text() == "made\n"
    assert not stage.exists()


def test_what_nobody_waits_for_is_ended(sandbox: Sandbox, folder: Path) -> None:
    begun = time.monotonic()
    done = run(sandbox, folder, "sleep 60", given_up=lambda: time.monotonic() > begun + 0.3)
    assert (done.status, done.reason) == ("killed", "its caller is gone")
    assert time.monotonic() < begun + 10
