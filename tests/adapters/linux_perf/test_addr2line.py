"""The addr2line that perf finds says what addr2line says, and is quick where a file knows no lines."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from chathpc.adapters.linux_perf import addr2line

_SOURCE = "int twice(int n) { return 2 * n; }\nint main(void) { return twice(0); }\n"


@pytest.fixture
def programs(tmp_path: Path) -> tuple[Path, Path, int]:
    """A program with line information, one without, and an address in both."""
    if not all(map(shutil.which, ("cc", "strip", "addr2line", "readelf"))):
        pytest.skip("no compiler or no binutils")
    (tmp_path / "a.c").write_text(_SOURCE)
    full, bare = tmp_path / "full", tmp_path / "a b"
    subprocess.run(["cc", "-g", "-o", full, tmp_path / "a.c"], check=True)
    subprocess.run(["strip", "-o", bare, full], check=True)
    names = subprocess.run(["nm", full], check=True, capture_output=True, text=True).stdout
    return full, bare, int(next(row.split()[0] for row in names.splitlines() if row.endswith(" twice")), 16)


def asked(command: str, file: Path, address: int, more: dict[str, str], *options: str) -> str:
    """What it says when it is asked as perf does: an address, and then what is none, to see where the answer ends."""
    done = subprocess.run(
        [command, "-e", str(file), *options, "-i", "-f"], input=f"{address:016x}\n,\n", capture_output=True, text=True,
        env={**os.environ, **more}, check=True, timeout=60,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("options", [(), ("-a",)])
def test_the_answer_is_that_of_addr2line(
    programs: tuple[Path, Path, int], tmp_path: Path, options: tuple[str, ...]
) -> None:
    full, bare, address = programs
    folder = tmp_path / "beside"
    folder.mkdir()
    more = addr2line.placed(folder, os.environ["PATH"])
    ours = shutil.which("addr2line", path=more["PATH"])
    assert ours == str(folder / "addr2line")
    # perf puts folders of its own before all others.
    more["PATH"] = f"/usr/lib/perf-core:{more['PATH']}"
    assert asked(ours, full, address, more, *options) == asked("addr2line", full, address, {}, *options)
    assert "a.c:1" in asked(ours, full, address, more, *options)
    assert asked(ours, bare, address, more, *options) == asked("addr2line", bare, address, {}, *options)


def test_where_there_is_none_nothing_is_changed(tmp_path: Path) -> None:
    assert addr2line.placed(tmp_path, "/nowhere") == {}
