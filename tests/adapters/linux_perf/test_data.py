"""perf.data through perf: a stand-in for perf shows each way it can end, and the real one reads its own file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a `perf` that runs `script` first on the PATH."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "perf").write_text(f"#!/bin/sh\n{script}\n")
    (tools / "perf").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")


def test_perf_data_is_recognised_by_its_first_bytes(recorded: Path) -> None:
    assert ADAPTER.recognises(Glance(recorded))


def test_what_perf_writes_is_the_profile(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text").write_text(write(heat()))
    stand_in(tmp_path, monkeypatch, f'[ "$1" = script ] || exit 1; cat {tmp_path}/text')
    profile = opened(ADAPTER, recorded)
    assert profile.total("cpu.time") == pytest.approx(0.4)
    assert profile.format == "Linux perf (perf.data)"
    assert profile.sources[0].path == recorded


def test_a_perf_without_the_option_is_asked_again(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").write_text(write(heat()))
    script = (
        f"case $* in *--no-inline*) echo 'Error: unknown option `no-inline' >&2; exit 129;; esac; cat {tmp_path}/text"
    )
    stand_in(tmp_path, monkeypatch, script)
    assert opened(ADAPTER, recorded).total("cpu.time") == pytest.approx(0.4)


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
    with pytest.raises(AdapterError, match="longer than"):
        opened(ADAPTER, recorded)


def test_a_perf_that_never_stops_writing_is_stopped(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, "exec yes")
    monkeypatch.setattr(data, "LARGEST", 1 << 20)
    with pytest.raises(AdapterError, match="too much"):
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
    assert f"perf script -i {recorded} > samples.txt" in caught.value.hint
    assert "perf" in ADAPTER.needs()
