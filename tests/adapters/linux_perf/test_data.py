"""perf.data through perf: a stand-in for perf shows each way it can end, and the real one reads its own file."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest

import chathpc
from chathpc.adapters.glance import Glance
from chathpc.adapters.linux_perf import ADAPTER, data
from chathpc.errors import AdapterError
from tests.adapters.opened import opened
from tests.synthetic.perf_script import heat, write


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "perf.data"
    path.write_bytes(b"PERFILE2" + bytes(96))
    return path


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str, version: str = "6.1.192") -> None:
    """Put a `perf` that runs `script` first on the PATH."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "perf").write_text(f"#!/bin/sh\n[ $1 = --version ] && echo perf version {version} && exit\n{script}\n")
    (tools / "perf").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")


def test_perf_data_is_recognised_by_its_first_bytes(recorded: Path) -> None:
    assert ADAPTER.recognises(Glance(recorded))


def test_what_perf_writes_is_the_profile(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text").write_text(write(heat()))
    stand_in(
        tmp_path,
        monkeypatch,
        f'case $* in "script "*+srcline*--show-switch-events*--show-lost-events*) cat {tmp_path}/text;; *) exit 1;; esac',
    )
    profile = opened(ADAPTER, recorded)
    assert profile.total("cpu.time") == pytest.approx(0.4)
    assert profile.format == "Linux perf (perf.data)"
    assert profile.sources[0].path == recorded
    assert not any("source lines" in caveat for caveat in profile.caveats)


def test_a_program_that_perf_asks_for_lines_may_end(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").write_text(write(heat()))
    stand_in(tmp_path, monkeypatch, f"kill -PIPE $$; cat {tmp_path}/text")
    assert not any("source lines" in caveat for caveat in opened(ADAPTER, recorded).caveats)


@pytest.mark.parametrize(
    ("script", "version", "words"),
    [
        ("case $* in *srcline*) echo 'Error: no period' >&2; exit 129;; *--no-inline*) ;; *) exit 1;; esac;", "6.1.192", "Error: no period"),
        ("case $* in *srcline*|*--no-inline*) echo 'unknown option `no-inline' >&2; exit 129;; esac;", "6.1.192", "unknown option"),
        ("case $* in *srcline*) exec sleep 60;; esac;", "6.1.192", "it takes longer than 0.3 s"),
        ("case $* in *srcline*) exit 1;; esac;", "5.15.1", "its version is not 5.16 or later"),
        ("case $* in *srcline*) exit 1;; esac;", "", "its version is not 5.16 or later"),
    ],
)  # fmt: skip
def test_a_perf_that_gives_no_lines_is_asked_again(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, version: str, words: str
) -> None:
    (tmp_path / "text").write_text(write(heat()))
    monkeypatch.setattr(data, "LIMIT_OF_LINES", 0.3)
    stand_in(tmp_path, monkeypatch, f"{script} cat {tmp_path}/text", version)
    profile = opened(ADAPTER, recorded)
    assert profile.total("cpu.time") == pytest.approx(0.4)
    assert any(f"perf gave no source lines: {words}" in caveat for caveat in profile.caveats)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'incompatible file format' >&2; exit 255", "incompatible file format"),
        ("exit 0", "gives no reason"),
        ("exit 3", "gives no reason"),
        ("echo hello", "no sample"),
        ("printf '\\033[2Jbad\\n' >&2; exit 1", "bad"),
    ],
)
def test_a_perf_that_fails_is_an_error_with_its_words(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    stand_in(tmp_path, monkeypatch, script)
    with pytest.raises(AdapterError, match=words) as caught:
        opened(ADAPTER, recorded)
    assert "perf script" in caught.value.hint
    assert str(caught.value).replace("\n", "").isprintable()


def test_a_perf_that_never_ends_is_stopped(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, "exec sleep 60")
    monkeypatch.setattr(data, "LIMIT", 0.3)
    monkeypatch.setattr(data, "LIMIT_OF_LINES", 0.2)
    with pytest.raises(AdapterError, match="longer than"):
        opened(ADAPTER, recorded)


def test_a_perf_that_never_stops_writing_is_stopped(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, "exec yes")
    monkeypatch.setattr(data, "LARGEST", 1 << 20)
    with pytest.raises(AdapterError, match="writes more than"):
        opened(ADAPTER, recorded)


def test_a_perf_that_cannot_be_started_is_an_error(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, "")
    (tmp_path / "tools" / "perf").write_bytes(b"\x7fELF nonsense")
    with pytest.raises(AdapterError, match="perf cannot read it"):
        opened(ADAPTER, recorded)


def test_without_perf_the_error_has_the_exact_command(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(AdapterError) as caught:
        opened(ADAPTER, recorded)
    assert (
        f"perf script --header -F +pid,+srcline --show-switch-events --show-lost-events -i {recorded} > samples.txt"
        in caught.value.hint
    )
    assert "perf" in ADAPTER.needs()


@pytest.mark.skipif(not (shutil.which("perf") and shutil.which("cc")), reason="needs perf and a C compiler")
def test_a_recording_of_a_program_has_its_lines(tmp_path: Path) -> None:
    """The line of the loop is the one that holds nearly all of the time, by construction."""
    (tmp_path / "spin.c").write_text(
        "int main(void) {\n volatile long i = 0;\n while (i < 200000000) i = i + 1;\n return 0;\n}\n"
    )
    run = partial(subprocess.run, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    run(["cc", "-g", "-O1", "-o", "spin", "spin.c"])
    try:
        run(["perf", "record", "-q", "-N", "-e", "cpu-clock:u", "-g", "-o", "perf.data", "./spin"])
    except subprocess.CalledProcessError:
        pytest.skip("the kernel lets nobody measure")
    profile = chathpc.load(tmp_path / "perf.data")
    hottest = profile.table("line", "cpu.time").iloc[0]
    assert (hottest.file, hottest.line) == ("spin.c", 3)
    assert hottest.exclusive > 0.9 * profile.total("cpu.time")
