"""Recordings of processes that ran one program after another."""

from __future__ import annotations

import shutil
import struct
import subprocess
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chathpc
from chathpc.adapters.linux_perf.images import forget, stale

LIBC, APP = "/usr/lib/libc.so.6", "/opt/app"
MMAP2, COMM, FORK, SAMPLE = 10, 3, 7, 9


class Recording:
    """Builds a perf.data of the records that matter, with their times at the end as `sample_id_all` puts them."""

    def __init__(self) -> None:
        self.records: list[bytes] = []
        self.time = 0

    def _put(self, kind: int, body: bytes, misc: int = 0, time: int | None = None) -> Recording:
        self.time += 1
        body += struct.pack("<QQ", self.time if time is None else time, 7)
        self.records.append(struct.pack("<IHH", kind, misc, 8 + len(body)) + body)
        return self

    def maps(self, pid: int, file: str, start: int, *, time: int | None = None) -> Recording:
        name = file.encode() + b"\0" * (8 - len(file) % 8)
        body = struct.pack("<IIQQQIIQQII", pid, pid, start, 4096, 0, 8, 1, 9, 0, 5, 2) + name
        return self._put(MMAP2, body, time=time)

    def runs(self, pid: int, time: int | None = None) -> Recording:
        return self._put(COMM, struct.pack("<II8s", pid, pid, b"app"), 1 << 13, time)

    def forks(self, pid: int, parent: int) -> Recording:
        return self._put(FORK, struct.pack("<IIIIQ", pid, parent, pid, parent, 0))

    def written(self, path: Path) -> Path:
        data = b"".join(self.records)
        attribute = struct.pack("<II4QQ", 1, 128, 0, 0, 1 << 2 | 1 << 16, 0, 1 << 18).ljust(144, b"\0")
        header = struct.pack("<8s6Q", b"PERFILE2", 104, 144, 104, 144, 104 + 144, len(data)).ljust(104, b"\0")
        path.write_bytes(header + attribute + data)
        return path


def owners(path: Path) -> list[tuple[int, ...]]:
    """Of each mapping its process, of each fork the process and its parent."""
    data, at, found = path.read_bytes(), 104 + 144, []
    while at < len(data):
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if kind in (MMAP2, FORK):
            found.append(struct.unpack_from("<I" if kind == MMAP2 else "<II", data, at + 8))
        at += size
    return found


def test_what_lay_lower_before_is_forgotten(tmp_path: Path) -> None:
    recording = Recording().runs(5).maps(5, LIBC, 0x1000).maps(5, "/bin/sh", 0x9000)
    path = recording.runs(5).maps(5, LIBC, 0x2000).maps(5, APP, 0x8000).written(tmp_path / "perf.data")
    assert forget(path)
    (libc,), *others = owners(path)
    assert libc > 1 << 22
    assert others == [(5,), (5,), (5,)]
    assert not forget(path)


def test_what_lay_higher_before_does_no_harm(tmp_path: Path) -> None:
    path = Recording().runs(5).maps(5, LIBC, 0x3000).runs(5).maps(5, LIBC, 0x2000).written(tmp_path / "perf.data")
    assert not forget(path)


def test_a_rank_takes_nothing_over_from_its_launcher(tmp_path: Path) -> None:
    recording = Recording().runs(5).maps(5, LIBC, 0x1000).forks(6, 5).runs(6).maps(6, LIBC, 0x2000)
    path = recording.forks(7, 5).maps(7, "/lib/plugin.so", 0x500).written(tmp_path / "perf.data")
    assert forget(path)
    (_, (pid, parent), _, still, _) = owners(path)
    assert pid == 6
    assert parent > 1 << 22
    assert still == (7, 5), "it runs the same program still"


def test_records_come_in_the_order_of_their_cores(tmp_path: Path) -> None:
    recording = Recording().runs(5, time=50).maps(5, LIBC, 0x2000, time=60).maps(5, LIBC, 0x1000, time=20)
    assert list(stale(recording.runs(5, time=10).written(tmp_path / "perf.data"))) == [
        104 + 144 + len(recording.records[0]) + len(recording.records[1]) + 8
    ]


def test_threads_are_no_program(tmp_path: Path) -> None:
    recording = Recording().runs(5).maps(5, LIBC, 0x1000).forks(5, 5).maps(5, LIBC, 0x2000)
    assert not stale(recording.written(tmp_path / "perf.data"))


@given(st.integers(0, 2000), st.binary(max_size=16))
def test_damage_is_no_error(tmp_path_factory: pytest.TempPathFactory, at: int, noise: bytes) -> None:
    path = tmp_path_factory.mktemp("damage") / "perf.data"
    recording = Recording().runs(5).maps(5, LIBC, 0x1000).forks(6, 5).runs(6).maps(6, LIBC, 0x2000).written(path)
    data = recording.read_bytes()
    path.write_bytes(data[:at] + noise + data[at + len(noise) :])
    size = path.stat().st_size
    forget(path)
    assert path.stat().st_size == size


@pytest.mark.skipif(not (shutil.which("perf") and shutil.which("cc")), reason="needs perf and a C compiler")
def test_a_program_behind_a_shell_and_a_launcher_keeps_its_callers(tmp_path: Path) -> None:
    """All of the copying is called by `move` by construction, at whatever addresses the libraries come to lie."""
    (tmp_path / "copy.c").write_text(
        "#include <string.h>\nstatic char a[1 << 16], b[1 << 16];\n"
        "__attribute__((noinline)) void move(void) { memcpy(a, b, sizeof a); memcpy(b, a, sizeof b); }\n"
        "int main(void) { for (int i = 0; i < 40000; i++) move(); return a[9]; }\n"
    )
    run = partial(subprocess.run, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    run(["cc", "-g", "-O1", "-o", "copy", "copy.c", "-lm"])
    for number in range(4):
        record = [
            "perf",
            "record",
            "-q",
            "-N",
            "-e",
            "cpu-clock:u",
            "--call-graph",
            "dwarf,4096",
            "-o",
            f"{number}.data",
        ]
        try:
            run([*record, "sh", "-c", "timeout 50 ./copy; exec ./copy"])
        except subprocess.CalledProcessError:
            pytest.skip("the kernel lets nobody measure")
        profile = chathpc.load(tmp_path / f"{number}.data")
        rows = profile.table("function", "cpu.time")
        called = rows[rows["name"] == "move"]["inclusive"].sum()
        assert called > 0.9 * profile.total("cpu.time")
