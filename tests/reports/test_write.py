"""A file holds its old text or all of the new one, whatever happens meanwhile."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chathpc.errors import ChathpcError, UsageError
from chathpc.reports.write import remove_unfinished, write_atomically


def test_a_file_is_written_and_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    write_atomically(file, "old µ")
    write_atomically(file, "new µ")
    assert file.read_bytes() == "new µ".encode()
    assert list(tmp_path.iterdir()) == [file]


def test_permissions_follow_the_umask_and_stay_when_a_file_is_replaced(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "new", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o604)
    write_atomically(tmp_path / "new", "y")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o604


def test_a_link_is_followed_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_device_is_written_to_not_replaced() -> None:
    write_atomically("/dev/null", "x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_pipe_without_a_name_is_written_to() -> None:
    """As /dev/stdout is one in a shell's pipe, and what >(command) stands for."""
    reading, writing = os.pipe()
    write_atomically(f"/dev/fd/{writing}", "x")
    os.close(writing)
    with open(reading) as stream:
        assert stream.read() == "x"


def test_a_folder_that_does_not_exist_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no folder"):
        write_atomically(tmp_path / "no" / "report.txt", "x")
    with pytest.raises(UsageError, match="is a folder"):
        write_atomically(tmp_path, "x")


def test_a_name_as_long_as_the_file_system_takes_can_be_written(tmp_path: Path) -> None:
    name = "é" * 127 + "x"
    write_atomically(tmp_path / name, "x")
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_full_device_is_told_and_the_old_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    file.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # stands for a full disk: writing fails in the middle
    try:
        with pytest.raises(ChathpcError, match=r"Cannot write .*report\.txt: File too large"):
            write_atomically(file, "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_only_the_unfinished_files_of_one_tag_are_removed(tmp_path: Path) -> None:
    for name in (".report.txt.aa-1.part", ".report.md.aa-2.part", ".report.txt.bb-1.part", "notes.aa-1.part"):
        (tmp_path / name).write_text("")
    remove_unfinished(tmp_path, "aa")
    assert {file.name for file in tmp_path.iterdir()} == {".report.txt.bb-1.part", "notes.aa-1.part"}


WRITER = """
import sys
from chathpc.reports.write import write_atomically
print("ready", flush=True)
for number in range(1_000_000):
    write_atomically(sys.argv[1], f"{number}" + "x" * 200_000 + "end")
"""


def test_a_process_that_is_killed_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    for turn in range(15):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(0.002 + turn * 0.0013)
            process.send_signal(signal.SIGKILL)
        if file.exists():
            text = file.read_text()
            assert text.endswith("end")
            assert text.count("x") == 200_000
