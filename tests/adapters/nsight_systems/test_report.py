"""Reports in the tool's own format, stale and fresh exports beside them, folders of several ranks; what is recognised."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

import chathpc
from chathpc.adapters.glance import Glance
from chathpc.adapters.nsight_systems import ADAPTER, recognises, report
from chathpc.adapters.nsight_systems.report import read
from chathpc.errors import AdapterError
from tests.synthetic.nsight_systems import AGES, Export, all_features, tid

HEAD = b"NVIDIA Tegra Profiler Report 2025@1@3@140-25133"


@pytest.fixture
def no_nsys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")


def fake_nsys(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """A program `nsys` on the PATH; $out is where it is to write."""
    folder.mkdir(exist_ok=True)
    program = folder / "nsys"
    program.write_text(
        f'#!/bin/sh\nfor a in "$@"; do case "$a" in --output=*) out="${{a#--output=}}";; esac; done\n{body}\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")


def written(folder: Path, name: str = "my report.nsys-rep") -> Path:
    path = folder / name
    path.write_bytes(HEAD + bytes(1_000))
    return path


def test_a_report_without_nsys_asks_for_the_export(tmp_path: Path, no_nsys: None) -> None:
    path = written(tmp_path)
    assert recognises(Glance(path))
    with pytest.raises(AdapterError) as refused:
        chathpc.load(path)
    expected = f"nsys export --type=sqlite --force-overwrite=true --output='{tmp_path}/my report.sqlite' '{path}'"
    assert expected in refused.value.hint
    assert "not on the PATH" in refused.value.message
    assert "nsys" in ADAPTER.needs()


def test_a_report_is_exported_where_nsys_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exported = all_features().write(tmp_path / "elsewhere.sqlite")
    fake_nsys(tmp_path / "bin", monkeypatch, f'test "$1" = export && cp "{exported}" "$out"')
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    profile = read(written(tmp_path))
    assert profile.total("gpu.kernel.count") == 10
    assert ADAPTER.needs() == ""
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("echo 'version too new' >&2; exit 0", "wrote no export (it ended with 0): version too new"),
        ("exit 3", "ended with 3"),
        ('echo nonsense > "$out"', "wrote no export"),
        ("exec sleep 30", "took more than 1 s"),
    ],
)
def test_a_failing_nsys_is_told_and_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, words: str
) -> None:
    fake_nsys(tmp_path / "bin", monkeypatch, body)
    monkeypatch.setattr(report, "SECONDS", 1.0)
    with pytest.raises(AdapterError) as refused:
        read(written(tmp_path))
    assert words in refused.value.message
    assert "nsys export" in refused.value.hint


def test_a_program_that_cannot_be_run_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_nsys(tmp_path / "bin", monkeypatch, "")
    (tmp_path / "bin" / "nsys").write_text("#!/nonexistent/interpreter\n")
    with pytest.raises(AdapterError, match="cannot be run"):
        read(written(tmp_path))


def test_a_younger_export_beside_the_report_is_used_and_named(tmp_path: Path, no_nsys: None) -> None:
    path = written(tmp_path, "run.nsys-rep")
    all_features().write(tmp_path / "run.sqlite")
    profile = read(path)
    assert profile.caveats[0] == "Read from run.sqlite, the export found next to run.nsys-rep."


def test_an_older_export_beside_the_report_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "run.nsys-rep")
    stale = all_features().write(tmp_path / "run.sqlite")
    os.utime(stale, (1, 1))
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(AdapterError, match=r"run\.sqlite beside it is older than the report"):
        read(path)
    fresh = Export()
    fresh.kernel(0, 2_000_000, "fresh(int)")
    fake_nsys(tmp_path / "bin", monkeypatch, f'cp "{fresh.write(tmp_path / "fresh.db")}" "$out"')
    profile = read(path)
    assert profile.total("gpu.kernel.count") == 1
    assert profile.caveats[0].startswith("run.sqlite beside the report is older")


def ranks(folder: Path, *, epoch: int | None = 1_700_000_000_000_000_000, uuids: bool = True) -> Path:
    folder.mkdir()
    for rank in range(3):
        export = Export()
        export.gpu(0, "Synthetic GPU", uuid=f"uuid-{rank}" if uuids else "")
        if epoch is not None:
            export.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=epoch + rank * 1_000_000)
        call = export.call(0, 10, "cudaLaunchKernel", pid=50 + rank)
        export.kernel(100, 5_000_100, "solve(int)", call, pid=50 + rank)
        export.add("MPI_RANKS", globalTid=tid(50 + rank), rank=rank)
        export.write(folder / f"report.{rank}.sqlite")
    return folder


def test_several_exports_of_a_job_become_one_profile(tmp_path: Path) -> None:
    profile = chathpc.load(ranks(tmp_path / "job"))
    assert profile.title == "job"
    assert [profile.tree.label(root) for root in profile.tree.roots.tolist()] == ["rank 0", "rank 1", "rank 2"]
    assert sorted(set(profile.where.rank.tolist())) == [0, 1, 2]
    assert len(profile.sources) == 3
    timeline = profile.timeline
    assert timeline is not None
    assert timeline.devices == (0, 1, 2)  # each rank has a GPU of its own that it calls 0
    assert timeline.end - timeline.begin == 7_000_000  # the sessions began a millisecond after one another
    assert profile.caveats == ()


def test_one_gpu_that_all_ranks_share_is_one_gpu(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    for rank in range(2):
        export = Export()
        export.gpu(0, "Synthetic GPU", uuid="the-same")
        export.kernel(0, 5_000_000, "solve(int)", pid=50 + rank)
        export.write(folder / f"{rank}.sqlite")
    timeline = read(folder).timeline
    assert timeline is not None
    assert timeline.devices == (0,)


@pytest.mark.parametrize(("epoch", "words"), [(None, "do not record when their sessions began"), (1 << 60, "")])
def test_sessions_without_a_clock_in_common_are_laid_on_each_other(
    tmp_path: Path, epoch: int | None, words: str
) -> None:
    profile = read(ranks(tmp_path / "job", epoch=epoch, uuids=False))
    assert profile.timeline is not None
    assert profile.timeline.devices == (0, 1, 2)
    if words:
        assert any(words in sentence for sentence in profile.caveats)
        assert profile.timeline.end - profile.timeline.begin == 5_000_000


def test_sessions_days_apart_are_not_compared(tmp_path: Path) -> None:
    folder = ranks(tmp_path / "job")
    late = Export()
    late.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1_700_900_000_000_000_000)
    late.kernel(0, 5_000_000, "solve(int)", pid=99)
    late.write(folder / "report.9.sqlite")
    profile = read(folder)
    assert any("more than a day apart" in sentence for sentence in profile.caveats)
    assert profile.timeline is not None
    assert profile.timeline.seconds < 1


def test_a_folder_prefers_the_export_of_a_report_over_reading_it_twice(tmp_path: Path, no_nsys: None) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    path = written(folder, "run.nsys-rep")
    all_features().write(folder / "run.sqlite")
    os.utime(path, (1, 1))
    profile = read(folder)
    assert profile.total("gpu.kernel.count") == 10
    assert len(profile.sources) == 1


def test_a_folder_of_one_process_and_several_captures_stays_apart(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    for part in range(2):
        export = Export()
        export.process(7, "solver")
        export.call(0, 10, "cudaFree")
        export.write(folder / f"{part}.sqlite")
    assert len(read(folder).tree.roots) == 2


@pytest.mark.parametrize("age", AGES)
def test_exports_of_every_age_are_recognised(tmp_path: Path, age: int) -> None:
    path = all_features(age).write(tmp_path / "unnamed")
    assert recognises(Glance(path))
    assert chathpc.load(path).format.startswith("Nsight Systems")


@pytest.mark.parametrize("name", ["experiment.xml", "meta.db"])
def test_folders_of_hpctoolkit_are_left_to_it(tmp_path: Path, name: str) -> None:
    folder = ranks(tmp_path / "job")
    (folder / name).write_text("")
    assert not recognises(Glance(folder))


def test_other_databases_and_files_are_not_recognised(tmp_path: Path) -> None:
    import sqlite3
    from contextlib import closing

    for number, tables in enumerate(
        (
            ["rocpd_string_0001", "rocpd_region_0001"],
            ["StringIds"],
            ["rocpd_api", "rocpd_op"],
            [],
            ["NVTX_EVENTS_BACKUP"],
        )
    ):
        path = tmp_path / f"{number}.sqlite"
        with closing(sqlite3.connect(path)) as database:
            for table in tables:
                database.execute(f"CREATE TABLE {table} (id INTEGER)")
            database.commit()
        assert not recognises(Glance(path))
    text = tmp_path / "a.nsys-rep"
    text.write_text("NVIDIA")
    assert not recognises(Glance(text))
    assert not recognises(Glance(tmp_path / "absent"))
    assert not recognises(Glance(tmp_path))
