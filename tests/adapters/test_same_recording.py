"""A recording that is given twice is refused, whatever its files are called and however it is stored."""

from __future__ import annotations

import gzip
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import chathpc
from chathpc.errors import UsageError
from tests.synthetic.hpctoolkit_v4 import TIME, Database, Location, entry, function, line, point, write
from tests.synthetic.perf_script import Fields, Sample, heat
from tests.synthetic.perf_script import write as perf_text


def recorded(path: Path, samples: list[Sample], fields: Fields | None = None) -> Path:
    path.write_text(perf_text(samples, fields or Fields()))
    return path


@pytest.fixture
def perf_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A perf.data, and a stand-in for perf that writes its samples."""
    recorded(tmp_path / "samples", heat())
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "perf").write_text(f'#!/bin/sh\n[ "$1" = script ] || exit 1; cat {tmp_path}/samples\n')
    (tmp_path / "tools" / "perf").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}:{os.environ['PATH']}")
    path = tmp_path / "perf.data"
    path.write_bytes(b"PERFILE2" + bytes(96))
    return path


@pytest.mark.parametrize("fields", [Fields(), Fields(pid=True, cpu=True), Fields(lines=True, offset=False)])
def test_perf_data_and_its_text_are_one_recording_whatever_fields_it_has(
    perf_data: Path, tmp_path: Path, fields: Fields
) -> None:
    text = recorded(tmp_path / "other-name.txt", heat(), fields)
    with pytest.raises(UsageError) as caught:
        chathpc.load(perf_data, text)
    assert caught.value.message == f"{perf_data} and {text} are the same recording."


def test_a_recording_is_refused_among_others_and_when_it_is_packed(tmp_path: Path) -> None:
    first = recorded(tmp_path / "1.txt", heat())
    second = recorded(tmp_path / "2.txt", [replace(one, seconds=one.seconds + 1000.0) for one in heat()])
    packed = tmp_path / "3.txt"
    packed.write_bytes(gzip.compress(first.read_bytes()))
    with pytest.raises(UsageError, match=r"1\.txt and .*3\.txt are the same recording"):
        chathpc.load(first, second, packed)


def test_two_recordings_of_one_program_are_two(perf_data: Path, tmp_path: Path) -> None:
    for other in (
        [replace(one, seconds=one.seconds + 1e-6) for one in heat()],
        heat()[:-1],
        heat()[1:],
    ):
        assert chathpc.load(perf_data, recorded(tmp_path / "other.txt", other)).sample_count is not None


def database(folder: Path, seconds: float) -> Path:
    row = line("src/a.c", 1, point(1, {TIME: {0: seconds}}))
    return write(folder, Database([entry(function("main", row))], sources={"src/a.c": "a\n"})).path


def test_a_database_under_two_names_is_one_recording_also_without_its_source(tmp_path: Path) -> None:
    one = database(tmp_path / "one", 1.0)
    copy = tmp_path / "copy"
    shutil.copytree(one, copy)
    shutil.rmtree(copy / "src")
    with pytest.raises(UsageError, match="are the same recording"):
        chathpc.load(one, copy)
    assert chathpc.load(one, database(tmp_path / "two", 2.0)).total("cpu.time") == 3.0


def test_the_repetitions_of_a_side_of_a_comparison_are_different_recordings(tmp_path: Path) -> None:
    one, copy, other = (recorded(tmp_path / name, heat()) for name in ("1.txt", "2.txt", "3.txt"))
    with pytest.raises(UsageError, match="are the same recording"):
        chathpc.diff([one, copy], other)
    assert chathpc.diff(one, other).verdict == "unchanged"


def test_two_runs_are_no_views_of_one(tmp_path: Path) -> None:
    def ranked(name: str, *ranks: int) -> Path:
        places = [Location(thread=0, rank=rank, core=rank) for rank in ranks]
        row = line("src/a.c", 1, point(1, {TIME: dict.fromkeys(range(len(ranks)), 1.0)}))
        return write(tmp_path / name, Database([entry(function("main", row))], places)).path

    one, four, fifth = ranked("one", 0), ranked("four", 0, 1, 2, 3), ranked("fifth", 4)
    with pytest.raises(UsageError, match="are two runs") as caught:
        chathpc.load(one, four)
    assert "chathpc scale" in caught.value.hint
    assert chathpc.load(four, fifth).total("cpu.time") == 5.0  # files of the ranks of one run


def test_different_programs_are_no_views_of_one_run(tmp_path: Path) -> None:
    def program(name: str, title: str, file: str, place: Location) -> Path:
        row = line(f"src/{file}", 1, point(1, {TIME: {0: 1.0}}))
        return write(tmp_path / name, Database([entry(function("main", row, file=file))], [place], title=title)).path

    one = program("one", "stencil", "a.c", Location(thread=0))
    other = program("other", "CoMD-mpi", "b.c", Location(thread=0, rank=0, core=0))
    with pytest.raises(UsageError, match="are of different programs, stencil and CoMD-mpi"):
        chathpc.load(one, other)
    named = program("named", "another run", "a.c", Location(thread=0, rank=0, core=0))
    assert chathpc.load(one, named).total("cpu.time") == 2.0  # one program, whatever the databases are called


def test_two_measurements_of_one_tool_are_two_runs(tmp_path: Path) -> None:
    def measured(name: str, later: float) -> Path:
        folder = tmp_path / name
        (folder / "profile").mkdir(parents=True)
        recorded(folder / "profile" / "perf.txt", [replace(one, seconds=one.seconds + later) for one in heat()])
        (folder / "measure.json").write_text('{"profile": "profile/perf.txt", "tool": "perf"}')
        return folder

    with pytest.raises(UsageError, match="are two runs"):
        chathpc.load(measured("n=1", 0.0), measured("n=2", 1000.0))
