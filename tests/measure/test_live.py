"""The runner that passes a program's output on."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from types import FrameType

import pytest

from chathpc.commands.fix_options import ended_by_term
from chathpc.errors import Terminated
from chathpc.measure.live import Direct
from chathpc.sandbox import Limits, Request


def asked(script: str, folder: Path, **more: object) -> Request:
    return Request(("sh", "-c", script), folder, environment=dict(os.environ), **more)  # type: ignore[arg-type]


def test_status_output_and_times_are_told(tmp_path: Path) -> None:
    done = Direct()(
        asked("echo out; echo err >&2; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 3", tmp_path)
    )
    assert (done.status, done.code, done.stdout, done.stderr) == ("exited", 3, b"out\n", b"err\n")
    assert 0 < done.cpu_seconds <= done.seconds * 1.5 + 0.1


def test_what_a_process_below_held_at_once_is_told(tmp_path: Path) -> None:
    # Long enough to be looked at once more when all of it is there.
    fill = "import time; held = bytearray(300_000_000); held[::4096] = bytes(len(held[::4096])); time.sleep(0.5)"
    hold = f"{sys.executable} -c '{fill}'"
    # Linux counts what the process that started it held at that moment, too.
    own = getrusage(RUSAGE_SELF).ru_maxrss * 1024
    assert 300e6 < Direct()(asked(f"{hold}; true", tmp_path)).peak < 500e6 + own


def test_what_a_small_process_held_is_not_what_the_one_held_that_started_it(tmp_path: Path) -> None:
    done = Direct()(asked("sleep 0.5", tmp_path))
    assert 0 < done.peak < 0.5 * getrusage(RUSAGE_SELF).ru_maxrss * 1024


def test_sleep_is_no_wait_for_a_core(tmp_path: Path) -> None:
    done = Direct()(asked("exec sleep 0.7", tmp_path))
    assert done.queued is not None
    assert done.queued <= done.seconds - 0.7 + 0.05


def test_a_signal_is_told(tmp_path: Path) -> None:
    done = Direct()(asked("kill -TERM $$", tmp_path))
    assert (done.status, done.code) == ("killed", -signal.SIGTERM)


def test_it_runs_in_its_folder_with_its_environment_alone(tmp_path: Path) -> None:
    request = Request(("/bin/sh", "-c", "pwd; echo $ONLY$HOME"), tmp_path, environment={"ONLY": "this"})
    assert Direct()(request).stdout.decode().split() == [str(tmp_path.resolve()), "this"]


def test_standard_input_is_that_of_the_request_or_nothing(tmp_path: Path) -> None:
    assert Direct()(asked("cat", tmp_path, stdin=b"given")).stdout == b"given"
    assert Direct(reads="file")(asked("cat", tmp_path)).succeeded


def test_a_file_is_read_anew_by_each_run(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("lines\n")
    kept = os.dup(0)
    try:
        with (tmp_path / "in").open("rb") as file:
            os.dup2(file.fileno(), 0)
        runs = [Direct(reads="file")(asked("cat", tmp_path)).stdout for _ in range(2)]
        runs.append(Direct(reads="own")(asked("cat", tmp_path)).stdout)
    finally:
        os.dup2(kept, 0)
        os.close(kept)
    assert runs == [b"lines\n"] * 3


def test_what_is_printed_is_passed_on_as_it_comes(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    seen: list[bytes] = []

    def look() -> None:
        seen.append(os.read(reading, 100))
        (tmp_path / "go").touch()

    watcher = threading.Thread(target=look)
    watcher.start()
    done = Direct(shown=(writing, writing))(
        asked("echo first; while [ ! -e go ]; do sleep 0.01; done; echo last", tmp_path)
    )
    watcher.join(10)
    os.close(writing)
    assert seen == [b"first\n"]
    assert os.read(reading, 100) == b"last\n"
    assert done.stdout == b"first\nlast\n"
    os.close(reading)


def test_a_program_behind_a_terminal_has_one_too(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    done = Direct(shown=(theirs, theirs))(asked("test -t 1 && echo yes", tmp_path))
    assert done.stdout == b"yes\n"
    assert b"yes" in os.read(ours, 100)
    os.close(ours)
    os.close(theirs)


def test_a_reader_that_went_away_does_not_end_the_program(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = Direct(shown=(writing, writing))(asked("echo one; echo two; exit 4", tmp_path))
    os.close(writing)
    assert (done.code, done.stdout) == (4, b"one\ntwo\n")


def test_more_than_the_bound_is_not_kept(tmp_path: Path) -> None:
    script = "i=0; while [ $i -lt 1000 ]; do echo 0123456789; i=$((i+1)); done"
    done = Direct()(asked(script, tmp_path, limits=Limits(output=100)))
    assert (done.status, len(done.stdout)) == ("exited", 100)


def test_time_is_held(tmp_path: Path) -> None:
    begin = time.monotonic()
    done = Direct()(asked("exec sleep 60", tmp_path, limits=Limits(seconds=0.3)))
    assert done.status == "timed-out"
    assert time.monotonic() - begin < 30


def test_what_a_program_leaves_running_is_not_waited_for(tmp_path: Path) -> None:
    begin = time.monotonic()
    done = Direct()(asked("sleep 60 & echo $!", tmp_path))
    assert done.code == 0
    assert time.monotonic() - begin < 30
    os.kill(int(done.stdout), signal.SIGKILL)


def test_what_cannot_be_started_is_told(tmp_path: Path) -> None:
    done = Direct()(Request(("/no/such/program",), tmp_path))
    assert done.code == 127
    assert b"/no/such/program" in done.stderr


@pytest.fixture
def interrupts() -> Iterator[list[int]]:
    """Those that came; each is a KeyboardInterrupt.

    Where tests are started in the background of a shell, interrupts are ignored, and so would they be by what the tests start.
    """
    seen: list[int] = []

    def interrupted(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupted)
    yield seen
    signal.signal(signal.SIGINT, before)


def _until_it_is_waited_for(folder: Path) -> None:
    """The program is ready, and the main thread waits for what it prints: on a busy machine that may take a while."""
    main = threading.main_thread().ident
    while not (folder / "ready").exists() or main is None or sys._current_frames()[main].f_code.co_name != "select":
        time.sleep(0.01)


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("code", [0, 6])
def test_the_first_interrupt_is_the_programs_and_its_end_is_waited_for(tmp_path: Path, code: int) -> None:
    script = f"trap 'touch caught; exit {code}' INT; touch ready; while :; do sleep 0.05; done"
    main = os.getpid()

    def interrupt() -> None:
        _until_it_is_waited_for(tmp_path)
        # As a terminal does: the whole group gets the signal; here the two processes one by one.
        child = next(int(entry) for entry in os.listdir("/proc") if entry.isdigit() and _is_ours(int(entry), main))
        os.kill(main, signal.SIGINT)
        os.kill(child, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    if code:
        with pytest.raises(KeyboardInterrupt):  # the program did not end well: it is what the user wants to end
            Direct()(asked(script, tmp_path))
    else:
        assert Direct()(asked(script, tmp_path)).code == 0
    assert (tmp_path / "caught").exists()


def _is_ours(pid: int, parent: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
        return int(status.rpartition(")")[2].split()[1]) == parent and "(sh)" in status
    except (OSError, ValueError):
        return False


def test_a_second_interrupt_ends_it(interrupts: list[int], tmp_path: Path) -> None:
    script = "trap '' INT; touch ready; while :; do sleep 0.05; done"
    main = os.getpid()

    def interrupt() -> None:
        for number in range(2):
            _until_it_is_waited_for(tmp_path)
            os.kill(main, signal.SIGINT)
            while len(interrupts) == number:
                time.sleep(0.01)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        Direct()(asked(script, tmp_path))
    thread.join()


@pytest.mark.parametrize("trap", ["", "trap '' TERM; "])
def test_sigterm_ends_what_the_command_has_started_too(tmp_path: Path, trap: str) -> None:
    script = f"sh -c '{trap}echo $$ > below; touch ready; while :; do sleep 0.05; done'; true"

    def terminate() -> None:
        _until_it_is_waited_for(tmp_path)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=terminate).start()
    with ended_by_term(), pytest.raises(Terminated):
        Direct()(asked(script.replace("''", '""'), tmp_path))
    below = Path(f"/proc/{(tmp_path / 'below').read_text().strip()}/stat")
    until = time.monotonic() + 30  # what is killed ends as soon as the machine has a core for it
    while time.monotonic() < until and _runs(below):
        time.sleep(0.01)
    assert not _runs(below)


def _runs(stat: Path) -> bool:
    try:
        return stat.read_text().split()[2] != "Z"
    except OSError:
        return False
